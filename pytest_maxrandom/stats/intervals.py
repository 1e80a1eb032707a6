"""Confidence intervals of an accuracy."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist


def wilson(correct: int, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion.

    Wilson (1927), "Probable inference, the law of succession, and statistical inference".

    Parameters
    ----------
    correct, n : int
        Right answers, of n >= 1.
    confidence : float
        Share of intervals that hold the true accuracy, between 0 and 1.

    Examples
    --------
    >>> [round(bound, 4) for bound in wilson(15, 20)]
    [0.5313, 0.8881]
    """
    if not 0 <= correct <= n or n < 1:
        raise ValueError(f"expected 0 <= correct <= n and n >= 1, found {correct} and {n}")
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    centre = correct + z * z / 2
    spread = z * sqrt(correct * (n - correct) / n + z * z / 4)
    low, high = (centre - spread) / (n + z * z), (centre + spread) / (n + z * z)
    return (0.0 if correct == 0 else low), (1.0 if correct == n else high)
