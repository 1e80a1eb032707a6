"""Models beside each other where examples are drawn anew, the same ones for all their prompts.

White's reality check ("A reality check for data snooping", 2000), with each prompt of a model in
turn as what the best prompt of others must beat; see `pytest_maxrandom.stats.best_models`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.incumbents import moved_means, usual_test

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_TIE = 1e-9
_ROUNDING = 1e-6
"""Below a difference of one right answer, and above what a rise is rounded by."""
_CELLS = 4 * 10**7
"""Rises of prompts that are held at once: 160 MB."""
_TOLD = 5
"""Resamples beyond which a rise must lie to be told at the level of one of many pairs."""


def resamples_of(
    rows: Sequence[Floats],
    groups: NDArray[np.int64],
    counts: Sequence[int],
    share: float,
    resamples: int,
) -> int:
    """Return how often examples are drawn anew; 0 where that is no test, or of no use.

    It is one for right or wrong answers of all prompts that were tried to the same examples, as
    many as `usual_test` asks for, and of use where a prompt was chosen.

    Parameters
    ----------
    counts
        Per model how many prompts were tried.
    share
        The level of one of all pairs, at which some resamples must lie.
    resamples
        The most.
    """
    prompts = sum(counts)
    all_at_hand = prompts == sum(map(len, rows)) and max(counts) > 1
    if not all_at_hand or usual_test(len(np.unique(groups))) == "exact":
        return 0
    if not all(np.isin(each, (0.0, 1.0)).all() for each in rows):
        return 0
    found = min(resamples, _CELLS // prompts)
    return found if share * (1 + found) >= _TOLD else 0


class ModelRises:
    """How much the means of all prompts rise where the same examples are drawn anew for them.

    Parameters
    ----------
    rows
        Per model the right answers of its prompts, shape (k, n).
    """

    def __init__(
        self, rows: Sequence[Floats], groups: NDArray[np.int64], resamples: int, seed: int
    ) -> None:
        values = np.vstack(rows)
        there = np.ones(values.shape, dtype=np.bool_)
        parts = moved_means(values, there, groups, resamples, seed)
        moved = np.concatenate([part.astype(np.float32) for part in parts])
        self._rises = np.split(moved, np.cumsum([len(each) for each in rows])[:-1], axis=1)
        self._best_rises = [each.max(axis=1) for each in self._rises]
        self._means = [each.mean(axis=1) for each in rows]

    def p_beaten(self, second: int, firsts: Sequence[int]) -> float:
        """P-value of "the best of some models is better than another one, each at its best"."""
        gaps = max(self._means[first].max() for first in firsts) - self._means[second]
        if gaps.min() <= _TIE:
            return 1.0
        best = np.max([self._best_rises[first] for first in firsts], axis=0)
        reached = (best[:, None] - self._rises[second] >= gaps - _ROUNDING).sum(axis=0)
        return float((1 + reached.max()) / (1 + len(best)))

    def lowest(self, first: int, second: int, level: float) -> float:
        """Return the largest margin by which one model is above another one, at a level."""
        gaps = self._means[first].max() - self._means[second]
        rises = self._best_rises[first][:, None] - self._rises[second]
        place = math.floor(level * (1 + len(rises)) + _TIE)
        highest = np.partition(rises, len(rises) - place, axis=0)[len(rises) - place]
        return max(-1.0, float((gaps - highest).min()))
