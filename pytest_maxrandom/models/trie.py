"""The token sequences of one prompt, as a trie or as rows, and how they are cut into passes.

Only inner nodes are put through a model: the last token of a sequence is predicted, never fed. The
number of distinct inner nodes is the least that any way of scoring must forward.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.models.requests import Picks, Request, common_length

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

_FORWARD = 16
"""What one more forward pass costs, in tokens: a bin is opened only where that is repaid."""

_FAMILY = 512
"""Sequences that may share one context, at most."""


@dataclass(frozen=True, slots=True)
class Path:
    """One distinct sequence after the prefix, without its last token."""

    ids: tuple[int, ...]
    """Its tokens; at least one."""
    shared: int
    """How many of them, from the first, the path before it in the trie's order has too; 0 for a
    row, which stands alone."""
    requests: tuple[int, ...]
    """Indices of the requests that it serves."""


@dataclass(frozen=True, slots=True)
class Trie:
    """The prefix that all requests have in common, and the distinct paths after it, sorted."""

    prefix: tuple[int, ...]
    paths: tuple[Path, ...]

    @property
    def nodes(self) -> int:
        """Distinct inner nodes, those of the prefix included."""
        return len(self.prefix) + size(self.paths)

    def whole(self) -> Trie:
        """Return the same without a prefix of its own: all paths begin with it."""
        length = len(self.prefix)
        return Trie(
            (),
            tuple(
                Path(self.prefix + path.ids, (length if number else 0) + path.shared, path.requests)
                for number, path in enumerate(self.paths)
            ),
        )


@dataclass(frozen=True, slots=True)
class Forest:
    """Some paths of a trie as nodes in preorder, and what is read from them."""

    tokens: Integers
    positions: Integers
    """Index in the whole text, the prefix included."""
    ends: Integers
    """One past the last descendant: node q sees node k where ``k <= q < ends[k]``."""
    picks: Picks
    """What is scored; columns are nodes."""


def build(requests: Sequence[Request]) -> Trie:
    """Arrange requests, of which there is at least one, as a trie.

    The prefix ends before the first token from which anything is predicted, so that every scored
    position lies in a path.
    """
    served = _served(requests)
    inner = sorted(served)
    # What the first and the last in order have in common, all between them have too.
    length = min(common_length(inner[0], inner[-1]), min(request.start for request in requests) - 1)
    rests = [ids[length:] for ids in inner]
    shared = [0, *(common_length(one, other) for one, other in pairwise(rests))]
    return Trie(
        inner[0][:length],
        tuple(
            Path(rest, common, tuple(served[ids]))
            for rest, common, ids in zip(rests, shared, inner, strict=True)
        ),
    )


def size(paths: Sequence[Path]) -> int:
    """Return the nodes of neighbouring paths, of which the first is there as a whole."""
    return paths[0].shared + sum(len(path.ids) - path.shared for path in paths)


def cut(paths: Sequence[Path], max_tokens: int) -> list[Sequence[Path]]:
    """Cut paths, in order, into bins of at most `max_tokens` nodes.

    A bin repeats what its first path shares with the bin before. Of all ways to cut, this is the
    one with the fewest repeated nodes (a forward pass counting as some nodes); so examples stay
    whole where they fit. A path that is longer than `max_tokens` is a bin of its own.
    """
    lengths, shared = _lengths(paths)
    new = np.concatenate([[0], np.cumsum(lengths - shared)])
    # A bin of the paths from i up to k has new[k] - saved[i] nodes, and saved never falls.
    saved = new[:-1] - shared

    def repeated(end: int) -> Integers:
        low = int(np.searchsorted(saved[:end], new[end] - max_tokens))
        return shared[min(low, end - 1) : end] + _FORWARD

    return [paths[part.start : part.stop] for part in _parts(len(paths), repeated)]


def plant(paths: Sequence[Path], requests: Sequence[Request], prefix: int) -> Forest:
    """Lay out neighbouring paths of a trie as nodes in preorder.

    Parameters
    ----------
    prefix : int
        Length of the trie's prefix.
    """
    tokens: list[int] = []
    positions: list[int] = []
    ends: list[int] = []
    picks = Picks()
    branch: list[int] = []
    for number, path in enumerate(paths):
        shared = path.shared if number else 0
        for node in branch[shared:]:
            ends[node] = len(tokens)
        del branch[shared:]
        branch += range(len(tokens), len(tokens) + len(path.ids) - shared)
        tokens += path.ids[shared:]
        positions += range(prefix + shared, prefix + len(path.ids))
        ends += [0] * (len(path.ids) - shared)
        for index in path.requests:
            start = requests[index].start
            picks.add(0, branch[start - 1 - prefix :], index, requests[index].ids[start:])
    for node in branch:
        ends[node] = len(tokens)
    return Forest(
        np.array(tokens, dtype=np.int64),
        np.array(positions, dtype=np.int64),
        np.array(ends, dtype=np.int64),
        picks,
    )


@dataclass(frozen=True, slots=True)
class Family:
    """Paths that begin with the same tokens, as a question's answers do."""

    paths: tuple[Path, ...]
    context: int
    """How many tokens, from the first, all paths have in common; at least one."""


def families(paths: Sequence[Path]) -> list[Family]:
    """Arrange a trie's paths in two levels with as few nodes as two levels allow."""
    lengths, shared = _lengths(paths)

    def gained(end: int) -> Integers:
        low = max(0, end - _FAMILY)
        # For a family that begins at i: what its paths share, and how often that is spared.
        common = np.minimum.accumulate(shared[low + 1 : end][::-1])[::-1]
        spared = np.append(common * np.arange(end - 1 - low, 0, -1), 0)
        # From a family without a common token nothing is gained.
        return -np.where(np.append(common, 1) > 0, spared, -lengths.sum())

    return [
        Family(
            tuple(paths[part.start : part.stop]),
            int(shared[part.start + 1 : part.stop].min(initial=lengths[part.start])),
        )
        for part in _parts(len(paths), gained, prefer=-1)
    ]


def level(lengths: Sequence[int], max_tokens: int) -> list[range]:
    """Cut rows, which are sorted by length from the longest, where the least is padded.

    A batch has at most `max_tokens` with padding; a longer row is a batch of its own.
    """
    widths = np.array(lengths, dtype=np.int64)

    def padded(end: int) -> Integers:
        low = max(0, min(end - 1, end - max_tokens))
        sizes = np.arange(end - low, 0, -1) * widths[low:end]
        fits = (sizes <= max_tokens) | (np.arange(low, end) == end - 1)
        return np.where(fits, sizes + _FORWARD, np.iinfo(np.int64).max // 2)

    return _parts(len(widths), padded)


def rows(requests: Sequence[Request]) -> list[Path]:
    """Return the distinct sequences, longest first."""
    served = sorted(_served(requests).items(), key=lambda item: -len(item[0]))
    return [Path(ids, 0, tuple(indices)) for ids, indices in served]


def batches(rows: Sequence[Path], max_tokens: int) -> Iterator[list[Path]]:
    """Cut rows, which are sorted by length, into batches of at most `max_tokens` with padding.

    A row that is longer than `max_tokens` is a batch of its own.
    """
    batch: list[Path] = []
    for row in rows:
        if batch and (len(batch) + 1) * len(batch[0].ids) > max_tokens:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def _served(requests: Sequence[Request]) -> dict[tuple[int, ...], list[int]]:
    """Return the distinct sequences without their last tokens, with the requests of each."""
    served: dict[tuple[int, ...], list[int]] = {}
    for index, request in enumerate(requests):
        served.setdefault(request.ids[:-1], []).append(index)
    return served


def _lengths(paths: Sequence[Path]) -> tuple[Integers, Integers]:
    """Return how long paths are, and how much of it each shares with the one before."""
    lengths, shared = zip(*((len(path.ids), path.shared) for path in paths), strict=True)
    return np.array(lengths, dtype=np.int64), np.array(shared, dtype=np.int64)


def _parts(count: int, costs: Callable[[int], Integers], *, prefer: int = 0) -> list[range]:
    """Cut a sequence of `count` items into parts, in order, that cost the least together.

    Parameters
    ----------
    costs : callable
        Returns the costs of parts that end before an item: one for each of their beginnings, of
        which the last is the item before.
    prefer : int
        Which of equally good beginnings is taken: 0 the first one, -1 the last.
    """
    best = np.zeros(count + 1, dtype=np.int64)
    first = np.zeros(count + 1, dtype=np.int64)
    for end in range(1, count + 1):
        own = costs(end)
        totals = best[end - len(own) : end] + own
        chosen = np.flatnonzero(totals == totals.min())[prefer]
        best[end], first[end] = totals[chosen], end - len(own) + chosen
    found = []
    while count:
        found.append(range(int(first[count]), count))
        count = found[-1].start
    return found[::-1]
