"""Expected maximum validation accuracy of t of the N prompts that were evaluated.

V-statistic: Dodge et al., "Show Your Work" (2019), biased low. U-statistic: Dodge et al.,
"Expected Validation Performance and Estimation of a Random Variable's Maximum" (2021), unbiased
for t <= N.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from pytest_maxrandom.stats.chances import whole_number
from pytest_maxrandom.stats.maximum import MaxRandomBaseline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.stats.chances import Chance


def maximum_weights(total: int, t: int, statistic: Literal["u", "v"] = "u") -> NDArray[np.float64]:
    """Weights of the ascending order statistics in the expected maximum of t of ``total``.

    Parameters
    ----------
    total
        Number N of prompts evaluated.
    t
        Number of prompts chosen from them.
    statistic
        "v": (i/N)^t - ((i-1)/N)^t, drawn with replacement.
        "u": C(i-1, t-1) / C(N, t), drawn without; t <= N.

    Returns
    -------
    weights
        Shape (N,), summing to one.
    """
    n = whole_number("number of prompts", total, 1)
    if statistic == "v":
        chosen = whole_number("t", t, 1)
        return np.diff((np.arange(n + 1, dtype=np.float64) / n) ** chosen)
    chosen = whole_number("t", t, 1, n)
    ranks = np.arange(n, chosen, -1, dtype=np.float64)
    falling = np.cumprod(np.concatenate(([chosen / n], (ranks - chosen) / (ranks - 1))))
    return np.concatenate((np.zeros(chosen - 1), falling[::-1]))


def expected_maximum(
    scores: Sequence[float] | NDArray[np.floating], t: int, statistic: Literal["u", "v"] = "u"
) -> float:
    """Estimate the expected best score of t prompts from the scores of N prompts.

    Raises
    ------
    ValueError
        If there is no score, a score is not finite, or t > N for the U-statistic.
    """
    ascending = np.sort(np.asarray(scores, dtype=np.float64))
    if ascending.ndim != 1 or not np.isfinite(ascending).all():
        raise ValueError("scores must be one list of finite numbers")
    return math.fsum(maximum_weights(len(ascending), t, statistic) * ascending)


@dataclass(frozen=True)
class SelectionPoint:
    """One point of a selection curve."""

    t: int
    """Number of prompts chosen."""
    v_statistic: float
    u_statistic: float
    """Expected best accuracy of t of the N prompts, biased low and unbiased."""
    max_random_baseline: float
    """Expected best accuracy of t random guessers."""
    p_value: float
    """P(best of t guessers >= u_statistic). It describes the curve at this t; reading off the t
    with the smallest one is no test."""


def selection_curve(
    correct: Sequence[int], n: int | None, chance: Chance
) -> tuple[SelectionPoint, ...]:
    """Compare the expected best of 1 .. N prompts with the best of as many guessers.

    Parameters
    ----------
    correct
        Number correct of each of the N prompts, all on the same ``n`` examples.
    n, chance
        As in `pytest_maxrandom.stats.maximum.MaxRandomBaseline`.

    Raises
    ------
    TypeError, ValueError
        If a count is no integer from 0 to n, or there is none.
    """
    single = MaxRandomBaseline(n, chance, 1)
    counts = [whole_number("correct", count, 0, single.n) for count in correct]
    points = []
    for t in range(1, len(counts) + 1):
        baseline = single.with_t(t)
        expected = expected_maximum(counts, t, "u")
        # Rounding may lift a sum that is an integer by a hair above it.
        reached = min(single.n, math.ceil(expected * (1 - 1e-12)))
        points.append(
            SelectionPoint(
                t=t,
                v_statistic=expected_maximum(counts, t, "v") / single.n,
                u_statistic=expected / single.n,
                max_random_baseline=baseline.expected_accuracy,
                p_value=baseline.p_value(reached),
            )
        )
    if not points:
        raise ValueError("correct must name at least one prompt")
    return tuple(points)
