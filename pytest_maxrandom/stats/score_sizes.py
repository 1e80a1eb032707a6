"""How many scores show that a mean is above a bound: of graded scores, or of paired differences.

Scores are taken to be the least, the mean or the greatest, as often as their spread takes. The
lower end of the exact test (`pytest_maxrandom.stats.bounded`) of a sample that is just like that
is compared with the bound, and the sample's mean is taken for normal about the true one, which is
good enough for a plan.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_maxrandom.stats.best_of import narrowed
from pytest_maxrandom.stats.bounded import at_most_zero
from pytest_maxrandom.stats.chances import whole_number

if TYPE_CHECKING:
    from collections.abc import Sequence

POWERS = (0.8, 0.95)
_MOST = 10**7
_ENOUGH = 1e-6
SCORES, DIFFERENCES = (0.0, 1.0), (-1.0, 1.0)
"""Between which values scores, and differences of two scores, can be."""


def power_of_scores(
    n: int,
    true: float,
    bound: float,
    spread: float | None = None,
    *,
    t: int = 1,
    alpha: float = 0.05,
    ends: tuple[float, float] = SCORES,
) -> float:
    """Return about how probable it is that n scores show a mean above a bound, as the best of t.

    Parameters
    ----------
    n
        Number of independent examples.
    true
        True mean.
    spread
        Standard deviation of the scores; the greatest that there can be if not given.
    ends
        `SCORES` or `DIFFERENCES`.

    Raises
    ------
    ValueError
        If a number lies outside its range.
    """
    low, high = ends
    if not low < bound < true < high:
        raise ValueError(
            f"expected {low:g} < bound < true mean < {high:g}, found {bound:g} and {true:g}"
        )
    most = math.sqrt((high - true) * (true - low))
    own = most if spread is None else spread
    if not 0 < own <= most:
        raise ValueError(
            f"the spread of scores with the mean {true:g} is above 0 and at most {most:.3g}, found "
            f"{own:g}"
        )
    values = np.array([low, true, high, low])
    shares = own**2 / (high - low) / np.array([true - low, high - true])
    counts = n * np.array([shares[0], 1 - shares.sum(), shares[1], 1 / n])

    def is_excluded(bound: float) -> bool:
        return at_most_zero(values - bound, counts) <= alpha / t

    lowest, _ = narrowed(low + _ENOUGH, true - _ENOUGH, is_excluded, _ENOUGH)
    return NormalDist().cdf((lowest - bound) * math.sqrt(n) / own)


def scores_for_power(
    target: float,
    true: float,
    bound: float,
    spread: float | None = None,
    *,
    t: int = 1,
    alpha: float = 0.05,
    ends: tuple[float, float] = SCORES,
) -> int | None:
    """Return about how many examples that takes; None where 10 million do not; see there."""

    def is_less(n: int) -> bool:
        return power_of_scores(n, true, bound, spread, t=t, alpha=alpha, ends=ends) < target

    low, high = 0, 1
    while is_less(high):
        low, high = high, 2 * high
        if high > _MOST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_less(middle) else (low, middle)
    return high


def score_plan(
    true: float,
    bound: float,
    spread: float | None = None,
    *,
    n: int | None = None,
    t: int | None = None,
    alpha: float = 0.05,
    ends: tuple[float, float] = SCORES,
    powers: Sequence[float] = POWERS,
) -> dict[str, Any]:
    """Answer what scores can show: how many examples it takes, and what n of them do.

    Raises
    ------
    TypeError, ValueError
        If a number is none, or lies outside its range.
    """
    tried = whole_number("t", 1 if t is None else t, 1)
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be above 0 and below 1, found {alpha!r}")
    given = {"bound": bound, "true": true, "spread": spread, "n": n, "t": tried, "alpha": alpha}
    answers: dict[str, Any] = {
        "given": given,
        "n_for_power": {
            f"{power:g}": scores_for_power(
                power, true, bound, spread, t=tried, alpha=alpha, ends=ends
            )
            for power in powers
        },
    }
    if n is not None:
        size = whole_number("n", n, 1)
        answers["power"] = power_of_scores(
            size, true, bound, spread, t=tried, alpha=alpha, ends=ends
        )
    return answers
