"""Is the mean of scores between 0 and 1 above a bound, whatever their distribution?

A mean of n scores is not normal where most are alike and a few are 0, and a sample that happens to
hold none of the few looks as if there were no spread at all. Gaffke ("Three test statistics for a
nonparametric one-sided hypothesis on the mean of a nonnegative variable", 2005) adds the least
score that there can be to the sample, and weighs all n + 1 of them at random (flat Dirichlet
weights, as in a Bayesian bootstrap): the p-value is the probability that their mean is at most the
bound. Of right and wrong answers that is exactly the binomial p-value (Clopper and Pearson 1934);
of many scores it comes to the normal one. That its level holds for every distribution is proven
for right and wrong, and for n = 1 and 2, and no exception is known (Learned-Miller and Thomas, "A
new confidence interval for the mean of a bounded random variable", 2019); the proofs here search
for one.

Nothing is drawn. The weighted mean is at most the bound where a sum of exponential variables, each
times its score's excess over the bound, is at most 0; the probability of that is an integral along
a line through the saddle point of the sum's moment generating function, so that small p-values are
as accurate as large ones (1e-11, relative, down to 1e-278).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.best_of import narrowed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_NODES, _STEP = 200, 0.07
"""Of the trapezoidal rule, in a variable whose hyperbolic sine runs along the line."""
_SMALL = 80.0
"""Twice the logarithm by which a part of the integral is below its largest one, and left out."""
_CLOSE = 1e-10
"""Last step towards the saddle point, beside its distance from the poles on both sides."""
_CELLS = 2**20
_DIGITS = 12
"""Scores that differ less are the same score, computed differently."""


class BoundedMean:
    """A one-sided test of a (weighted) mean of independent scores.

    Parameters
    ----------
    values
        One for each unit, shape (units,): an example's score, or a cluster's mean score.
    least
        The least value that there can be.
    weights
        How much each unit counts, above 0, such as the size of its cluster; by default all the
        same. Clusters, and their sizes, are then independent draws, none larger than these are.
    """

    def __init__(self, values: Floats, least: float, weights: Floats | None = None) -> None:
        heavy = np.ones(len(values)) if weights is None else np.asarray(weights, dtype=np.float64)
        pairs = np.round(np.column_stack((values, heavy)), _DIGITS)
        distinct, counts = np.unique(pairs, axis=0, return_counts=True)
        # The unit that was added: the worst that there can be.
        self._values = np.append(distinct[:, 0], least)
        self._weights = np.append(distinct[:, 1], heavy.max())
        self._counts = np.append(counts, 1).astype(np.float64)
        self._least = least
        self.mean = float((values * heavy).sum() / heavy.sum())

    def p_greater(self, bound: float) -> float:
        """P-value of "the mean is above the bound"; the more, the higher the bound is."""
        return at_most_zero(self._weights * (self._values - bound), self._counts)

    def lowest(self, level: float, enough: float = 1e-7) -> float:
        """Return the highest bound that the test excludes at a level; `least` if it is none."""
        return narrowed(
            self._least, self.mean, lambda bound: self.p_greater(bound) <= level, enough
        )[0]


def at_most_zero(excess: Floats, counts: Floats) -> float:
    """Return P(a sum of exponential variables, each times an excess over a bound, is at most 0).

    Parameters
    ----------
    excess, counts
        Different values, and how often each stands in the sum.
    """
    if excess.max() <= 0:
        return 1.0
    if excess.min() >= 0:
        return 0.0
    parts = excess / np.abs(excess).max()

    # The slope rises from pole to pole: Newton's method, or else the middle of what is left.
    lowest = 1 / float(parts.min())
    below, above, saddle = lowest, 0.0, lowest / 2
    while below < saddle < above:
        with np.errstate(divide="ignore"):  # beside a pole
            turns = parts / (1 - saddle * parts)
        slope = float((counts * turns).sum()) - 1 / saddle
        below, above = (saddle, above) if slope < 0 else (below, saddle)
        step = slope / (float((counts * turns**2).sum()) + saddle**-2)
        if abs(step) <= _CLOSE * min(-saddle, saddle - lowest):
            break
        saddle = moved if below < (moved := saddle - step) < above else (below + above) / 2
    saddle = min(max(saddle, math.nextafter(lowest, 0.0)), math.nextafter(0.0, lowest))
    height = -float((counts * np.log1p(-saddle * parts)).sum()) - math.log(-saddle)
    turns = parts / (1 - saddle * parts)
    scale = 1 / math.sqrt(float((counts * turns**2).sum()) + saddle**-2)
    at = np.arange(_NODES) * _STEP
    line, steps = np.sinh(at) * scale, np.cosh(at) * (_STEP * scale)
    steps[0] /= 2

    def is_small(node: int) -> bool:
        return float((counts * np.log1p((line[node] * turns) ** 2)).sum()) > _SMALL

    # What follows is ever smaller: of many scores a few nodes are left.
    nodes = bisect_left(range(_NODES), True, key=is_small)
    line, steps = line[:nodes], steps[:nodes]
    logs = -np.log(1 + 1j * line / saddle)
    size = max(1, _CELLS // _NODES)
    for start in range(0, len(parts), size):
        own = slice(start, start + size)
        logs -= np.log(1 - 1j * np.outer(line, turns[own])) @ counts[own]
    # Both halves of the line, which are conjugates, over 2 pi.
    total = float((np.exp(logs).real * steps).sum()) / math.pi
    return min(1.0, math.exp(min(0.0, height + math.log(total)))) if total > 0 else 0.0
