"""Chance that is learnt: what answers without choices reach with the references of other examples.

Nobody knows how probable a guess is where any text may be the answer. But answers that know nothing
of their questions are as often right when references are exchanged among examples that can take
each other's (`pytest_maxrandom.stats.permutation`). Of one prompt the mean over all arrangements is
exact: each example of a stratum has each of its references equally often. Of the best of t it is
the mean of the best over the arrangements that the test draws.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pytest_maxrandom.stats.arranged import ArrangementTest, checked
from pytest_maxrandom.stats.gold import NOT_EVALUATED
from pytest_maxrandom.stats.permutation import exchanged_blocks

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from pytest_maxrandom.stats.gold import Gold
    from pytest_maxrandom.stats.maximum import Floats


class LearntChance(NamedTuple):
    """What the best of t prompts reaches where references are exchanged."""

    standard: float
    """Mean accuracy of the prompts over all arrangements, exact."""
    expected: float
    """Mean of the best accuracy over the arrangements that were drawn, or what the best prompt
    reaches on average over all of them, which is exact, where that is more."""
    error: float
    """Monte Carlo standard error of that; 0 where it is exact."""


def mean_accuracies(
    predictions: ArrayLike,
    gold: Gold,
    *,
    strata: ArrayLike,
    groups: Sequence[Hashable] | None = None,
) -> Floats:
    """Return the mean accuracy of each prompt over all arrangements of the references, shape (t,).

    Parameters
    ----------
    predictions, gold, strata, groups
        As of `pytest_maxrandom.stats.permutation.max_t_test`.

    Raises
    ------
    TypeError, ValueError
        As that does.
    """
    chosen, _, right, apart = checked(predictions, gold, None, strata, groups=groups)
    beyond = np.pad(right, ((0, 0), (0, 1)))  # of what was not evaluated nothing is right
    hits = np.zeros(len(chosen))
    for rows in exchanged_blocks(apart, groups):
        for places in rows.T:  # examples that have each other's references equally often
            shares = beyond[places].mean(axis=0)
            hits += shares[chosen[:, places]].sum(axis=1)
    return np.asarray(hits / (chosen != NOT_EVALUATED).sum(axis=1))


def mean_credits(
    earned: NDArray[np.integer[Any]],
    kinds: NDArray[np.int64],
    unit: int,
    *,
    strata: ArrayLike,
    groups: Sequence[Hashable] | None = None,
) -> Floats:
    """Return the same of mean credits, as of `pytest_maxrandom.stats.permutation.max_t_of_credits`.

    Each example of a stratum has each of its references equally often.
    """
    apart = np.asarray(strata, dtype=np.int64)
    whole = np.zeros(len(earned))
    for rows in exchanged_blocks(apart, groups):
        for places in rows.T:
            whole += earned[:, places][:, :, kinds[places]].mean(axis=2).sum(axis=1)
    return np.asarray(whole / (earned.shape[1] * unit))


def learnt_chance(
    means: NDArray[np.float64],
    test: ArrangementTest,
    alone: ArrangementTest | None = None,
    others: int = 0,
) -> LearntChance:
    """Return what the best of all prompts reaches.

    Parameters
    ----------
    means
        Of the prompts at hand: their `mean_accuracies`.
    test
        The max-T test of accuracy of the prompts at hand.
    alone
        That of the best of them by itself, as which each of the others is taken to be.
    others
        How many others there are, whose answers are not at hand.
    """
    standard, least = math.fsum(means.tolist()) / len(means), float(means.max())
    if len(means) == 1 and not others:
        return LearntChance(standard, standard, 0.0)
    maxima = _unbiased(test)
    if alone is None or not others:
        error = float(maxima.std(ddof=1)) / math.sqrt(len(maxima)) if len(maxima) > 1 else 0.0
        return LearntChance(standard, max(least, float(maxima.mean())), error)
    single = _unbiased(alone)
    values = np.unique(np.concatenate([maxima, single]))
    below = np.searchsorted(np.sort(maxima), values, side="right") / len(maxima)
    of_one = np.searchsorted(np.sort(single), values, side="right") / len(single)
    masses = np.diff(below * of_one**others, prepend=0.0)
    expected = float(np.sum(values * masses))
    spread = math.sqrt(max(0.0, float(np.sum(values**2 * masses)) - expected**2))
    expected = max(least, expected)
    return LearntChance(standard, expected, spread / math.sqrt(min(len(maxima), len(single))))


def _unbiased(test: ArrangementTest) -> Floats:
    """Return the maxima; without the last one where drawing ended because of it."""
    early = test.p_value == test.exceedances / test.permutations
    return test.maxima[:-1] if early and len(test.maxima) > 1 else test.maxima
