"""A level that is spent per doubling of t, so that a claim may be looked at as often as one likes.

Who tests after each new prompt at the same level passes too often: on 100 two-choice examples one
in five sets of guessers passes by the 200th prompt. Here the looks at t = 1, at 2 and 3, at 4 to 7,
and so on, have a level of their own, and each counts the t at the end of its doubling. The best
accuracy only grows, so whoever passes somewhere within a doubling has a best that would pass at its
end: the looks of one doubling together cost what its last one costs. Over the doublings the levels
sum to alpha (Bonferroni; the sum of 1/(i (i+1)) is 1), however many there are and whatever decides
when to look or to stop.

The same as a test of one declared budget T spends log2(T) (log2(T) + 1) times less of the level,
which is a few right answers: at n = 100, t = 200 and two choices 73 instead of 68.
"""

from __future__ import annotations

from typing import NamedTuple

from pytest_maxrandom.stats.best_of import MOST_GUESSERS
from pytest_maxrandom.stats.chances import proportion, whole_number


class Spent(NamedTuple):
    """What one look may spend."""

    level: float
    """Largest p-value that passes."""
    t: int
    """Number of tries that the p-value must count: that at the end of the doubling."""


def spent(alpha: float, t: int) -> Spent:
    """Return the level of a look at the best of t tries, and the t to test it with.

    Parameters
    ----------
    alpha
        Probability that guessers may pass at some look, 0 to 1.
    t
        Tries so far, 1 to 10**18.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain.

    Examples
    --------
    >>> spent(0.05, 1)
    Spent(level=0.025, t=1)
    >>> level, t = spent(0.05, 200)
    >>> round(level, 6), t
    (0.000694, 255)
    >>> from pytest_maxrandom import MaxRandomBaseline
    >>> MaxRandomBaseline(100, 0.5, t).critical_count(alpha=level)
    73
    """
    doubling = whole_number("t", t, 1, MOST_GUESSERS).bit_length()
    level = proportion("alpha", alpha) / (doubling * (doubling + 1))
    return Spent(level, min(2**doubling - 1, MOST_GUESSERS))
