"""How often an unseen loss goes unseen: tests of a margin where differences are rare and skewed.

A sign-flip takes differences for symmetric about the margin. With rare losses they are not: of 20
examples on which two arms agree, each is .02 above a margin of -.02, and yet a true loss of 2 %
shows none of them with probability .98 ** 20 = .67. Here the null distribution is the empirical
one, mixed with so many whole losses that its mean is the margin, and the p-value the probability
that a sample from it has a mean as high: the parametric bootstrap of a constrained multinomial,
exact where all differences are zeros and losses (Efron and Tibshirani, "An Introduction to the
Bootstrap", 1993, chapter 16).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

DRAWS = 4_999
_STEPS = 14
"""Halvings of the interval from -1 to the mean: its end is then known to 1e-4."""
_TIE = 1e-9


class TiltedTest:
    """A one-sided test that the mean of values between -1 and 1 is above a margin.

    Parameters
    ----------
    values
        One for each unit; the units are independent.
    seed
        Of the draws.
    """

    def __init__(self, values: Sequence[float], *, seed: int = 0) -> None:
        self._values, counts = np.unique(np.round(values, 12), return_counts=True)
        self._shares = counts / counts.sum()
        self._units = int(counts.sum())
        self._mean = math.fsum(values) / len(values)
        self._seed = seed

    def p_greater(self, margin: float) -> float:
        """P-value of "the mean is above the margin"; 1 where the observed one is not.

        The more, the higher the margin is.
        """
        if margin >= self._mean:
            return 1.0
        if margin <= -1:
            return 0.0
        losses = (self._mean - margin) / (self._mean + 1)
        shares = np.append((1 - losses) * self._shares, losses)
        drawn = np.random.default_rng(self._seed).multinomial(
            self._units, shares / shares.sum(), size=DRAWS
        )
        means = drawn @ np.append(self._values, -1.0) / self._units
        return (1 + int((means >= self._mean - _TIE).sum())) / (1 + DRAWS)

    def lowest(self, level: float) -> float:
        """Return the highest margin, from -1 on, that the test excludes at this level."""
        low, high = -1.0, self._mean
        for _ in range(_STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.p_greater(middle) <= level else (low, middle)
        return low
