"""Best of t prompts where each prompt counts with the worst of v variants.

A prompt that is scored under v ways to map labels is worth its minimum over them. For
independent variants P(max min <= k) = (1 - (1 - F(k))^v)^t. Variants of one prompt are usually
positively dependent, and then that formula promises too much; t * P(X >= k) holds always.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.best_of import MOST_GUESSERS, BestOf
from pytest_maxrandom.stats.chances import chance_groups, whole_number
from pytest_maxrandom.stats.counts import GuesserCount, log1m_exp

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_maxrandom.stats.chances import Chance


def _log1m_exp(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take log(1 - e^x) of an array of negative numbers."""
    half = -math.log(2)
    near, far = np.maximum(x, half), np.minimum(x, half)
    return np.where(x > half, np.log(-np.expm1(near)), np.log1p(-np.exp(far)))


class MinimumCount:
    """Smallest number correct of ``variants`` independent guessers with one distribution.

    Parameters
    ----------
    guesser
        Distribution of one variant.
    variants
        Number of variants v, at least 1.
    """

    def __init__(self, guesser: GuesserCount, variants: int) -> None:
        self.n, self.low, self.high = guesser.n, guesser.low, guesser.high
        self.variants = variants
        self._guesser = guesser

    @cached_property
    def log_below_window(self) -> NDArray[np.float64]:
        """Log P(min < k) for k = low + 1 .. high."""
        return _log1m_exp(self.variants * _log1m_exp(self._guesser.log_below_window))

    @cached_property
    def mean_chance(self) -> float:
        """Expected accuracy of the minimum."""
        return (self.low + math.fsum(-np.expm1(self.log_below_window))) / self.n

    def p_at_least(self, k: int) -> float:
        """P(min >= k) for any integer k."""
        return math.exp(self.log_p_at_least(k))

    def log_p_at_least(self, k: int) -> float:
        """Log P(min >= k) for any integer k."""
        return self.variants * self._guesser.log_p_at_least(k)

    def log_p_below(self, k: int) -> float:
        """Log P(min < k) for any integer k."""
        return log1m_exp(self.log_p_at_least(k))

    def log_step(self, k: int) -> float:
        """Log P(min < k) - log P(min < k + 1); -inf where P(min < k) = 0."""
        below = self.log_p_below(k)
        return below if below == -math.inf else below - self.log_p_below(k + 1)


class MaxMinRandomBaseline(BestOf):
    """Best of ``t`` prompts of the worst of ``variants`` variants, all guessed independently.

    Parameters
    ----------
    n, chance, t
        As in `pytest_maxrandom.stats.maximum.MaxRandomBaseline`.
    variants
        Number of variants of each prompt; 1 gives the maximum random baseline.

    Examples
    --------
    >>> baseline = MaxMinRandomBaseline(n=100, chance=0.5, t=200, variants=2)
    >>> round(baseline.expected_accuracy, 4)
    0.5798
    """

    def __init__(self, n: int | None, chance: Chance, t: int, variants: int) -> None:
        self._guesser = GuesserCount(chance_groups(chance, n))
        self.variants = whole_number("variants", variants, 1)
        copies = whole_number("t", t, 1, MOST_GUESSERS)
        super().__init__([(MinimumCount(self._guesser, self.variants), copies)])

    def p_standard(self, correct: int) -> float:
        """P(one guesser has at least ``correct`` right in every variant)."""
        return math.exp(self.log_p_standard(correct))

    def log_p_standard(self, correct: int) -> float:
        """Natural logarithm of `p_standard`."""
        return self.variants * self._guesser.log_p_at_least(
            whole_number("correct", correct, 0, self.n)
        )

    def union_p(self, correct: int, n: int | None = None) -> float:
        """min(1, t * P(X >= correct)): holds whatever prompts and variants have in common."""
        accuracy = self._accuracy(correct, n)
        single = self._guesser.log_p_at_least(math.ceil(accuracy * self.n))
        return math.exp(min(0.0, math.log(self.t) + single))
