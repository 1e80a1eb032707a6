"""Confidence intervals of an accuracy."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist


def wilson(
    correct: int, n: int, confidence: float = 0.95, *, effective_n: float | None = None
) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion.

    Wilson (1927), "Probable inference, the law of succession, and statistical inference". With
    clustered examples it is that of the same proportion of the effective n in place of n
    (Kish 1965, "Survey Sampling": a proportion of n examples in clusters varies as one of
    n / design effect independent ones).

    Parameters
    ----------
    correct, n : int
        Right answers, of n >= 1.
    confidence : float
        Share of intervals that hold the true accuracy, between 0 and 1.
    effective_n : float, optional
        How many independent examples the n are worth (`pytest_maxrandom.stats.clusters`), above 0
        and at most n; n if not given.

    Examples
    --------
    >>> [round(bound, 4) for bound in wilson(15, 20)]
    [0.5313, 0.8881]
    >>> wilson(30, 40, effective_n=20) == wilson(15, 20)
    True
    """
    if not 0 <= correct <= n or n < 1:
        raise ValueError(f"expected 0 <= correct <= n and n >= 1, found {correct} and {n}")
    worth = float(n) if effective_n is None else effective_n
    if not 0 < worth <= n:
        raise ValueError(f"expected 0 < effective_n <= n = {n}, found {effective_n}")
    right = correct / n * worth
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    centre = right + z * z / 2
    spread = z * sqrt(right * (worth - right) / worth + z * z / 4)
    low, high = (centre - spread) / (worth + z * z), (centre + spread) / (worth + z * z)
    return (0.0 if correct == 0 else low), (1.0 if correct == n else high)
