"""The trie of the token sequences of one prompt, and how it is cut into forward passes.

Only inner nodes are put through a model: the last token of a sequence is predicted, never fed. The
number of distinct inner nodes is the least that any way of scoring must forward.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.models.hf.requests import common_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.models.hf.requests import Request

    Integers = NDArray[np.int64]

_FORWARD = 16
"""What one more forward pass costs, in tokens: a bin is opened only where that is repaid."""

_FAMILY = 512
"""Sequences that may share one context, at most."""


@dataclass(frozen=True, slots=True)
class Path:
    """One distinct sequence after the prefix, without its last token.

    Attributes
    ----------
    ids : tuple of int
        Its tokens; at least one.
    shared : int
        How many of them, from the first, the path before it in the trie's order has too.
    requests : tuple of int
        Indices of the requests that it serves.
    """

    ids: tuple[int, ...]
    shared: int
    requests: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Trie:
    """The prefix that all requests have in common, and the distinct paths after it, sorted."""

    prefix: tuple[int, ...]
    paths: tuple[Path, ...]

    @property
    def nodes(self) -> int:
        """Distinct inner nodes, those of the prefix included."""
        return len(self.prefix) + sum(len(path.ids) - path.shared for path in self.paths)


@dataclass(frozen=True, slots=True)
class Forest:
    """Some paths of a trie as nodes in preorder, and what is read from them.

    Attributes
    ----------
    tokens : array of int, shape (nodes,)
    positions : array of int, shape (nodes,)
        Index in the whole text, the prefix included.
    ends : array of int, shape (nodes,)
        One past the last descendant: node q sees node k where ``k <= q < ends[k]``.
    queries, targets, owners : lists of int
        A node, the token that should follow it, and the request of which that token is scored.
    """

    tokens: Integers
    positions: Integers
    ends: Integers
    queries: list[int]
    targets: list[int]
    owners: list[int]


def build(requests: Sequence[Request]) -> Trie:
    """Arrange requests, of which there is at least one, as a trie.

    The prefix ends before the first token from which anything is predicted, so that every scored
    position lies in a path.
    """
    served: dict[tuple[int, ...], list[int]] = {}
    for index, request in enumerate(requests):
        served.setdefault(request.ids[:-1], []).append(index)
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


def cut(paths: Sequence[Path], max_tokens: int) -> list[Sequence[Path]]:
    """Cut paths, in order, into bins of at most `max_tokens` nodes.

    A bin repeats what its first path shares with the bin before. Of all ways to cut, this is the
    one with the fewest repeated nodes (a forward pass counting as some nodes); so examples stay
    whole where they fit. A path that is longer than `max_tokens` is a bin of its own.
    """
    lengths = np.array([len(path.ids) for path in paths], dtype=np.int64)
    shared = np.array([path.shared for path in paths], dtype=np.int64)
    new = np.concatenate([[0], np.cumsum(lengths - shared)])
    # A bin of the paths from i up to k has new[k] - saved[i] nodes, and saved never falls.
    saved = new[:-1] - shared
    best = np.zeros(len(paths) + 1, dtype=np.int64)
    first = np.zeros(len(paths) + 1, dtype=np.int64)
    for end in range(1, len(paths) + 1):
        low = int(np.searchsorted(saved[:end], new[end] - max_tokens))
        low = min(low, end - 1)
        costs = best[low:end] + shared[low:end] + _FORWARD
        chosen = int(np.argmin(costs))
        best[end], first[end] = costs[chosen], low + chosen
    return [paths[begin:end] for begin, end in _walk(first)]


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
    queries: list[int] = []
    targets: list[int] = []
    owners: list[int] = []
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
            request = requests[index]
            queries += branch[request.start - 1 - prefix :]
            targets += request.ids[request.start :]
            owners += [index] * (len(request.ids) - request.start)
    for node in branch:
        ends[node] = len(tokens)
    return Forest(
        np.array(tokens, dtype=np.int64),
        np.array(positions, dtype=np.int64),
        np.array(ends, dtype=np.int64),
        queries,
        targets,
        owners,
    )


@dataclass(frozen=True, slots=True)
class Family:
    """Paths that begin with the same tokens, as a question's answers do.

    Attributes
    ----------
    context : int
        How many tokens, from the first, all paths have in common; at least one.
    """

    paths: tuple[Path, ...]
    context: int


def families(paths: Sequence[Path]) -> list[Family]:
    """Arrange a trie's paths in two levels with as few nodes as two levels allow."""
    lengths = np.array([len(path.ids) for path in paths], dtype=np.int64)
    shared = np.array([path.shared for path in paths], dtype=np.int64)
    best = np.zeros(len(paths) + 1, dtype=np.int64)
    first = np.zeros(len(paths) + 1, dtype=np.int64)
    for end in range(1, len(paths) + 1):
        low = max(0, end - _FAMILY)
        # For a family that begins at i: what its paths share, and how often that is spared.
        common = np.minimum.accumulate(shared[low + 1 : end][::-1])[::-1]
        spared = np.append(common * np.arange(end - 1 - low, 0, -1), 0)
        # From a family without a common token nothing is gained.
        values = best[low:end] - np.where(np.append(common, 1) > 0, spared, -lengths.sum())
        chosen = int(len(values) - 1 - np.argmin(values[::-1]))
        best[end], first[end] = values[chosen], low + chosen
    found = []
    for begin, end in _walk(first):
        context = int(shared[begin + 1 : end].min()) if end - begin > 1 else int(lengths[begin])
        found.append(Family(tuple(paths[begin:end]), context))
    return found


def _walk(first: Integers) -> list[tuple[int, int]]:
    """Return the ranges, in order, of which ``first[end]`` is the best beginning."""
    ranges = []
    end = len(first) - 1
    while end:
        begin = int(first[end])
        ranges.append((begin, end))
        end = begin
    return ranges[::-1]
