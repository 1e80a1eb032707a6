"""Which prompts were tried, on which examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.flags.flag import Flag
from pytest_maxrandom.stats.clusters import effective_n

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.flags.flag_input import FlagInput

_WORTH = 0.8
"""Share of n examples that they must be worth, so that their number is not misleading."""
_CANDIDATES = 200
"""Sets of examples that are tried: where most prompts agree, one of them is among so many."""


def repeated(read: FlagInput, tried: FlagInput) -> Iterator[Flag]:
    """Find fewer distinct prompts than were asked for.

    Parameters
    ----------
    read, tried : FlagInput
        All prompts, and the distinct ones.
    """
    distinct = len(tried.prompts)
    if read.asked is None or distinct >= read.asked:
        return
    yield Flag("repeated_prompts", {"distinct": distinct, "asked": read.asked, "t": read.t})


def unpassable(seen: FlagInput) -> Iterator[Flag]:
    """Find a claim that no result of so many prompts and so few examples could pass."""
    if seen.outcome is not None and seen.outcome.impossible:
        reasons = [each.parameters() for each in seen.outcome.impossible]
        yield Flag("unpassable", {"reasons": reasons, "t": seen.t})


def unsteady(read: FlagInput) -> Iterator[Flag]:
    """Find prompts that are the same and answer otherwise."""
    first: dict[str, int] = {}
    earlier = [first.setdefault(each, place) for place, each in enumerate(read.identities)]
    differ = (read.correct != read.correct[earlier]) | (read.evaluated != read.evaluated[earlier])
    if times := int(differ.any(axis=1).sum()):
        yield Flag("unsteady_prompts", {"repeating": times, "prompts": len(earlier)})


def colliding_ids(tried: FlagInput) -> Iterator[Flag]:
    """Find fewer example ids than there are examples."""
    ids, declared = len(tried.examples), tried.declared_n
    if declared is not None and ids < declared:
        yield Flag("colliding_ids", {"ids": ids, "stated": declared})


def repeated_examples(tried: FlagInput) -> Iterator[Flag]:
    """Find examples that are copies of others, so that they say less than n different ones.

    A guesser guesses each of them anew, a model answers copies alike: with k copies of each its
    accuracy varies as that of n^2 / sum(k^2) examples (the design effect of Kish 1965).
    """
    if tried.copies is not None:
        yield from copied(tried.copies)


def copied(copies: Sequence[int]) -> Iterator[Flag]:
    """Find copies, given for each example the place of the first one that is the same."""
    n = len(copies)
    if effective_n(copies) < _WORTH * n:
        yield Flag("repeated_examples", {"n": n, "different": len(set(copies))})


def other_examples(tried: FlagInput) -> Iterator[Flag]:
    """Find prompts that were not scored on the examples of the others.

    A prompt may lack its own demonstrations, and no more: of the commonest examples, and they of
    its own.
    """
    common = _commonest(tried)
    lacks = (common & ~tried.evaluated).sum(axis=1)
    more = (tried.evaluated & ~common).sum(axis=1)
    alike = int(((lacks <= tried.shots) & (more <= tried.shots)).sum())
    lacking, having = lacks > tried.shots, more > tried.shots
    best = tried.outcome.best if tried.outcome else -1
    for case, where in (
        ("other", lacking & having),
        ("fewer", lacking & ~having),
        ("more", ~lacking & having),
    ):
        rows = np.flatnonzero(where)
        if not len(rows):
            continue
        one = best if best in rows else int(rows[0])
        size = int(tried.sizes[one])
        parameters = {
            "case": case,
            "told": len(rows),
            "prompts": len(tried.prompts),
            "agreeing": alike,
            "prompt": tried.prompts[one],
            "is_best": one == best,
            "size": size,
            "shared": size - int(more[one]),
            "usual": int(common.sum()),
        }
        yield Flag("other_examples", parameters)


def _commonest(tried: FlagInput) -> NDArray[np.bool_]:
    """Return the examples with which those of most prompts agree, shape (n,)."""
    sets, first, times = np.unique(tried.evaluated, axis=0, return_index=True, return_counts=True)
    # Products of zeros and ones are exact, and fast as floating-point numbers only.
    numbers = sets.astype(np.float32)
    sizes = numbers.sum(axis=1)
    best, agreeing = 0, -1
    for place in np.lexsort((first, -times))[:_CANDIDATES]:
        shared = numbers @ numbers[place]
        differ = np.maximum(sizes - shared, sizes[place] - shared)
        if (here := int(times[differ <= tried.shots].sum())) > agreeing:
            best, agreeing = place, here
        if agreeing == len(tried.prompts):
            break
    common: NDArray[np.bool_] = sets[best]
    return common
