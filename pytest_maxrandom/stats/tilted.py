"""How often an unseen loss goes unseen: tests of a margin where differences may be rare and skewed.

A sign-flip takes differences for symmetric about the margin. With rare losses they are not: of 20
examples on which two arms agree, each is .02 above a margin of -.02, and yet a true loss of 2 %
shows none of them with probability .98 ** 20 = .67. The same holds of a margin of 0 where many
small gains make up for few whole losses.

Here the null distribution is the likeliest one whose mean is the margin, over the values that were
seen and a whole loss, seen or not; the p-value is the probability that a sample from it has a mean
as high. That is the bootstrap of a constrained multinomial (Efron and Tibshirani, "An Introduction
to the Bootstrap", 1993, chapter 16) at the maximum of the empirical likelihood (Owen, "Empirical
likelihood ratio confidence intervals for a single functional", 1988), with the end of the support
added. Nothing is drawn: the distribution of the sum comes by Fourier transform. The test is exact
where all differences are zeros and losses.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.best_of import narrowed
from pytest_maxrandom.stats.signflip import unit_weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_STEPS = 18
"""Halvings of the interval from -1 to the mean: its end is then known to 8e-6."""
_CELLS = 2**16
"""Units times steps from 0 to 1; as many cells has the table of the sum's distribution, twice."""
_FEWEST_STEPS, _MOST_STEPS = 32, 512
_ROUNDING = 1e-9


class TiltedTest:
    """A one-sided test that the mean of values between -1 and 1 is above a margin.

    Parameters
    ----------
    values
        One for each unit; the units are independent. Where they are no fractions with one small
        denominator, or weigh differently, they are rounded: to 1/512 where units are few, to
        1/32 where they are thousands.
    weights
        How much each unit counts, above 0; by default all the same.
    """

    def __init__(self, values: ArrayLike, *, weights: ArrayLike | None = None) -> None:
        row = np.asarray(values, dtype=np.float64)
        shares = unit_weights(weights, len(row))
        pairs = np.round(np.column_stack((row, shares)), 12)
        distinct, self._counts = np.unique(pairs, axis=0, return_counts=True)
        self._values, self._weights = distinct.T
        self._units = len(row)
        self._mean = math.fsum(row * shares) / len(row)
        # The (weighted) mean of a sample is as high where the sum of these is: the loss is last.
        if np.ptp(self._weights) < _ROUNDING:
            parts = np.append(self._values, -1.0)
        else:
            parts = np.append(self._weights * (self._values - self._mean), -1 - self._mean)
        steps = _steps(parts, min(_MOST_STEPS, max(_FEWEST_STEPS, _CELLS // self._units)))
        self._parts = np.rint(parts * steps).astype(np.int64)

    def p_greater(self, margin: float) -> float:
        """P-value of "the mean is above the margin"; 1 where the observed one is not.

        The more, the higher the margin is.
        """
        if margin >= self._mean:
            return 1.0
        if margin <= -1:
            return 0.0
        # What each unit adds to the sum of (value - margin), and what a whole loss would.
        excess = np.append(self._weights * (self._values - margin), -1 - margin)
        chances = _null(excess, self._counts / self._units)
        least = int(self._parts.min())
        one = np.bincount(self._parts - least, chances)
        size = 1 << (self._units * (len(one) - 1)).bit_length()
        sums = np.fft.irfft(np.fft.rfft(one, size) ** self._units, size)
        observed = int(self._counts @ self._parts[:-1]) - self._units * least
        return min(1.0, max(0.0, math.fsum(sums[observed:])))

    def lowest(self, level: float) -> float:
        """Return the highest margin, from -1 on, that the test excludes at this level."""
        enough = 1.5 * (1 + self._mean) / 2**_STEPS  # rounding adds no further halving
        return narrowed(-1.0, self._mean, lambda margin: self.p_greater(margin) <= level, enough)[0]


def _steps(parts: NDArray[np.float64], most: int) -> int:
    """Return of how many steps from 0 to 1 all parts are multiples, or else the most."""
    for steps in range(1, most + 1):
        if (abs(parts * steps - np.rint(parts * steps)) < _ROUNDING * steps).all():
            return steps
    return most


def _null(excess: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the likeliest chances under which the mean of some parts, above 0 as seen, is 0.

    Parameters
    ----------
    excess
        What was seen, and last a loss that need not have been.
    shares
        Of what was seen, how often.
    """
    seen, loss = excess[:-1], float(excess[-1])

    def mean(tilt: float) -> float:
        return float((shares * seen / (1 + tilt * seen)).sum())

    # Chances are shares / (1 + tilt * part), above 0 for all that was seen; the loss gets one from
    # the tilt on at which it would be worth as much as what was seen.
    worst = min(loss, float(seen.min()))
    low, high = 0.0, -1 / worst
    if worst < float(seen.min()) and mean(high) > 0:
        low = high
    tilt, _ = narrowed(low, high, lambda tilt: mean(tilt) > 0)
    chances = shares / (1 + tilt * seen)
    chances = np.append(chances, max(0.0, 1 - float(chances.sum())))
    return np.asarray(chances / chances.sum())
