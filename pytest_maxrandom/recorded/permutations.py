"""Which right answers of recorded results can be shuffled among which examples."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.recorded.sweep import RecordedSweep

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from pytest_maxrandom.recorded.sources import Results


_NEARLY = 0.9
"""Share of examples from which on their right answers stand at one place on purpose."""


class NoPermutations(ValueError):
    """Why a permutation test means nothing, in one clause."""


def strata(results: Results, chances: Sequence[Fraction] | None) -> NDArray[np.int64]:
    """Put together examples with as many choices whose labels mean the same.

    A right answer that is shuffled to an example without that choice is never given there, and
    even guessers would look knowing. Places are choices of every example with as many; names are
    where no more of them are right than there are choices. Where more are, examples belong together
    that are connected by answers given to one of them.

    Parameters
    ----------
    results : RecordedSweep or RecordedMaximum
        Must hold answers and right answers.
    chances : sequence of Fraction, optional
        Per example the chance of one guess.

    Returns
    -------
    ndarray of int
        Per example the number of its stratum, from 1.

    Raises
    ------
    NoPermutations
        If it is not known what can be shuffled.
    """
    if not isinstance(results, RecordedSweep) or results.answers is None or results.gold is None:
        raise NoPermutations("it is not told which answers were given and which are right")
    if chances is None:
        raise NoPermutations("it is not told how many choices each example has")
    if results.unshown and _nearly_one(results.gold):
        raise NoPermutations(
            "nearly all right answers stand at one place of the task's file, and it is not told "
            "what that is called or where prompts show it: run the suite that wrote the file again"
        )
    choices = [len(right) / chance for right, chance in zip(results.gold, chances, strict=True)]
    found = np.zeros(len(choices), dtype=np.int64)
    stratum = 0
    for number in sorted(set(choices)):
        members = [place for place, many in enumerate(choices) if many == number]
        known = frozenset().union(*(results.gold[place] for place in members))
        groups = [known]
        if results.labels and len(known) > number:
            groups = _connected([_seen(results, place, known) for place in members])
        for labels in groups:
            if results.labels and len(labels) > number:
                raise NoPermutations(
                    f"{len(labels)} different answers are right to questions with {number} choices "
                    "each, so choices are called otherwise in different examples: call them alike, "
                    "such as A, B, C"
                )
            stratum += 1
            found[[place for place in members if results.gold[place] <= labels]] = stratum
    return found


def _nearly_one(gold: Sequence[frozenset[int]]) -> bool:
    times = Counter(label for right in gold for label in right)
    return max(times.values(), default=0) >= _NEARLY * len(gold)


def _seen(results: RecordedSweep, place: int, known: frozenset[int]) -> frozenset[int]:
    """Return the labels that are certainly choices of an example, of those that are ever right."""
    assert results.answers is not None
    assert results.gold is not None
    return (frozenset(results.answers[:, place].tolist()) & known) | results.gold[place]


def _connected(sets: list[frozenset[int]]) -> list[frozenset[int]]:
    """Unite sets until none has an element of another."""
    united: list[frozenset[int]] = []
    for each in dict.fromkeys(sets):
        apart = [other for other in united if not other & each]
        merged = each.union(*(other for other in united if other & each))
        united = [*apart, merged]
    return united
