"""The best of several independent guessers, whatever the count of the single guesser is.

For guessers with counts X_i on n_i examples, P(max X_i/n_i < a) = prod_i P(X_i < ceil(a n_i)).
All logarithms are taken per guesser, so that neither 1 - F^t nor a product of many factors
loses digits; accuracies are compared as exact fractions.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from pytest_maxrandom.stats.chances import mean_chance, proportion, whole_number
from pytest_maxrandom.stats.counts import GuesserCount, log1m_exp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray


Number = TypeVar("Number", int, float)

MOST_GUESSERS = 10**18
"""Largest t that anybody may ask for; up to it the best guesser stays in the windows of
probability masses."""

MOST_OF_A_TREE = 2**1000
"""Largest number of prompts that a search could have tried: see `pytest_maxrandom.stats.search`."""

_TINY = 1e-280


def first_count(start: int, stop: int, holds: Callable[[int], bool]) -> int:
    """Smallest k of start .. stop - 1 where the monotone ``holds`` is true, else ``stop``."""
    return bisect_left(range(stop), True, start, key=holds)


def narrowed(
    low: float, high: float, below: Callable[[float], bool], enough: float = 0.0
) -> tuple[float, float]:
    """Halve the interval around where ``below`` ends, until it is ``enough`` or two doubles."""
    while high - low > enough and low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if below(middle) else (low, middle)
    return low, high


class BestOf:
    """Distribution of the best accuracy of independent guessers.

    Counts k, ``pmf``, ``cdf``, ``sf``, ``quantile``, ``mean``, ``std`` and ``critical_count``
    speak of the number correct and need guessers that share one number of examples.

    Parameters
    ----------
    guessers
        Pairs (distribution of one guesser, number of guessers with it).
    prompts
        The place in ``guessers`` of each prompt that `p_standard` may be asked of.

    Attributes
    ----------
    t : int
        Number of guessers.
    """

    def __init__(
        self, guessers: Iterable[tuple[GuesserCount, int]], prompts: Sequence[int] = (0,)
    ) -> None:
        self._guessers, self._prompts = tuple(guessers), prompts
        self.t = sum(copies for _, copies in self._guessers)
        if not self._guessers:
            raise ValueError("t must be at least 1, found no guesser")
        if self.t > MOST_OF_A_TREE:
            raise ValueError(f"t must be at most 2**1000, found {self.t}")
        sizes = {guesser.n for guesser, _ in self._guessers}
        self.shared_n = sizes.pop() if len(sizes) == 1 else None

    @property
    def n(self) -> int:
        """Number of examples, where all guessers share it.

        Raises
        ------
        ValueError
            If the guessers differ in their number of examples.
        """
        return self._in_counts(self.shared_n or 0)

    def _in_counts(self, value: Number) -> Number:
        if self.shared_n is None:
            raise ValueError(
                "the prompts differ in their number of examples: give n together with correct, and "
                "use critical_accuracy instead of counts"
            )
        return value

    @property
    def standard_baseline(self) -> float:
        """Expected accuracy of one guesser (mean over guessers)."""
        means = [(mean_chance(guesser.groups), copies) for guesser, copies in self._guessers]
        if len(means) == 1:
            return means[0][0]
        return math.fsum(mean * copies for mean, copies in means) / self.t

    def _unit(self, guesser: GuesserCount) -> int:
        """Denominator of a lattice point: counts where n is shared, else accuracies.

        Two accuracies k/n differ as doubles if and only if they differ as fractions as long as
        the product of their denominators stays below 2**52.
        """
        return guesser.n if self.shared_n is None else 1

    @cached_property
    def _lattice(self) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Start a_0, points a_1 < a_2 < .. and log P(max < a_j); P(max < a_0) is negligible."""
        start = max(g.window.low / self._unit(g) for g, _ in self._guessers)
        beyond = self.t > MOST_GUESSERS  # where the best of them leaves the windows
        ladders = [
            np.arange(g.window.low + 1, (g.n if beyond else g.window.high) + 1, dtype=np.float64)
            / self._unit(g)
            for g, _ in self._guessers
        ]
        logs = [
            np.array([g.log_p_below(k) for k in range(g.window.low + 1, g.n + 1)])
            if beyond
            else g.log_below_window
            for g, _ in self._guessers
        ]
        if len(ladders) == 1:
            [(_, copies)] = self._guessers
            return start, ladders[0], copies * logs[0]
        points = np.unique(np.concatenate(ladders))
        points = points[np.searchsorted(points, start, side="right") :]
        log_below = np.zeros(len(points))
        for (_, copies), ladder, log in zip(self._guessers, ladders, logs, strict=True):
            steps = np.append(log, 0.0)
            log_below += copies * steps[np.searchsorted(ladder, points, side="left")]
        return start, points, log_below

    @cached_property
    def _mean(self) -> float:
        start, points, log_below = self._lattice
        reached = -np.expm1(log_below)
        if self.shared_n is None:
            reached *= np.diff(points, prepend=start)
        return math.fsum([start, *reached.tolist()])

    @cached_property
    def _std(self) -> float:
        start, points, log_below = self._lattice
        below = np.append(log_below, 0.0)
        masses = np.exp(below)
        masses[1:] *= -np.expm1(-np.diff(below))
        values = np.insert(points, 0, start)
        # Taken about the most probable value, nothing cancels in the difference below.
        values -= values[np.argmax(masses)]
        shift = math.fsum((masses * values).tolist())
        return math.sqrt(max(0.0, math.fsum((masses * values**2).tolist()) - shift**2))

    @property
    def expected_accuracy(self) -> float:
        """Expected best accuracy: the maximum random baseline."""
        return self._mean / (self.shared_n or 1)

    @property
    def accuracy_std(self) -> float:
        """Standard deviation of the best accuracy."""
        return self._std / (self.shared_n or 1)

    @property
    def expected_count(self) -> float:
        """Expected number correct of the best guesser."""
        return self._in_counts(self._mean)

    @property
    def std(self) -> float:
        """Standard deviation of the number correct of the best guesser."""
        return self._in_counts(self._std)

    def _accuracy(self, correct: object, n: object | None) -> Fraction:
        examples = self.n if n is None else whole_number("n", n, 1)
        return Fraction(whole_number("correct", correct, 0, examples), examples)

    def _log_below(self, accuracy: Fraction) -> float:
        """Log P(best accuracy < accuracy)."""
        return math.fsum(
            copies * guesser.log_p_below(math.ceil(accuracy * guesser.n))
            for guesser, copies in self._guessers
        )

    def _log_any(self, accuracy: Fraction) -> float:
        """Log of sum_i P(X_i/n_i >= accuracy)."""
        terms = [
            math.log(copies) + guesser.log_p_at_least(math.ceil(accuracy * guesser.n))
            for guesser, copies in self._guessers
        ]
        top = max(terms)
        if top == -math.inf:
            return top
        return top + math.log(math.fsum(math.exp(term - top) for term in terms))

    def _log_p(self, accuracy: Fraction) -> float:
        below = self._log_below(accuracy)
        # For a sum s below 1e-280, log(1 - prod(1 - s_i)) = log s to the last bit.
        return log1m_exp(below) if below < -_TINY else self._log_any(accuracy)

    def _p(self, accuracy: Fraction) -> float:
        below = self._log_below(accuracy)
        return -math.expm1(below) if below < -_TINY else math.exp(self._log_any(accuracy))

    def p_value(self, correct: int, n: int | None = None) -> float:
        """P(best accuracy >= correct / n): p_max.

        Parameters
        ----------
        correct
            Number correct of the best prompt, 0 to n.
        n
            Examples of the best prompt; needed only where prompts differ in it.
        """
        return self._p(self._accuracy(correct, n))

    def log_p_value(self, correct: int, n: int | None = None) -> float:
        """Natural logarithm of `p_value`, also where that is below the smallest double."""
        return self._log_p(self._accuracy(correct, n))

    def p_standard(self, correct: int, prompt: int | None = None) -> float:
        """P(one guesser has at least ``correct`` right).

        Parameters
        ----------
        correct
            Number correct, 0 to the n of that prompt.
        prompt
            Place of its pair in the list given; needed where the pairs differ.
        """
        if prompt is None and len(self._guessers) > 1:
            raise ValueError("the prompts differ in their chances: say which one with prompt=")
        place = whole_number("prompt", prompt or 0, 0, len(self._prompts) - 1)
        return BestOf([(self._guessers[self._prompts[place]][0], 1)]).p_value(correct)

    def union_p(self, correct: int, n: int | None = None) -> float:
        """min(1, sum_i P(X_i/n_i >= correct/n)): p_max at most, however guessers depend.

        The union bound assumes that each guesser is right with its chance on each example: it does
        not hold of guessers that prefer a label which is right more often.
        """
        return math.exp(min(0.0, self._log_any(self._accuracy(correct, n))))

    @property
    def min_p(self) -> float:
        """Smallest `p_value` that any result can have: all examples correct."""
        return self._p(Fraction(1))

    def _passes(self, accuracy: Fraction, alpha: float) -> bool:
        if alpha > _TINY:
            return self._p(accuracy) <= alpha
        return self._log_p(accuracy) <= (math.log(alpha) if alpha else -math.inf)

    def critical_count(self, alpha: float = 0.05) -> int | None:
        """Fewest correct with `p_value` <= alpha, or None where even ``n`` is too few."""
        level, n = proportion("alpha", alpha), self.n

        def holds(k: int) -> bool:
            return self._passes(Fraction(k, n), level)

        _, points, log_below = self._lattice
        place = int(np.searchsorted(np.expm1(log_below), -level, side="left"))
        if place < len(points) and holds(guess := int(points[place])) and not holds(guess - 1):
            return guess
        critical = first_count(0, n + 1, holds)
        return critical if critical <= n else None

    def critical_accuracy(self, alpha: float = 0.05) -> Fraction | None:
        """Smallest attainable accuracy with p <= alpha, or None where there is none."""
        level = proportion("alpha", alpha)
        sizes = sorted({guesser.n for guesser, _ in self._guessers})
        ladder = sorted({Fraction(k, n) for n in sizes for k in range(n + 1)})
        place = first_count(0, len(ladder), lambda j: self._passes(ladder[j], level))
        return ladder[place] if place < len(ladder) else None

    def _log_cdf(self, k: int) -> float:
        return self._log_below(Fraction(whole_number("k", k, -(2**63)) + 1, self.n))

    def cdf(self, k: int) -> float:
        """P(best number correct <= k) for any integer k."""
        return math.exp(self._log_cdf(k))

    def sf(self, k: int) -> float:
        """P(best number correct > k) for any integer k: SciPy's convention, not >=."""
        return self._p(Fraction(whole_number("k", k, -(2**63)) + 1, self.n))

    def pmf(self, k: int) -> float:
        """P(best number correct = k) for any integer k."""
        if not 0 <= whole_number("k", k, -(2**63)) <= self.n:
            return 0.0
        upto = self._log_cdf(k)
        return (
            0.0 if upto == -math.inf else math.exp(upto) * -math.expm1(self._log_cdf(k - 1) - upto)
        )

    def quantile(self, q: float) -> int:
        """Smallest count k >= 0 with cdf(k) >= q."""
        level = proportion("q", q)
        if level > 0.5:
            above = self.critical_count(1 - level)
            return self.n if above is None else max(0, above - 1)
        target = math.log(level) if level else -math.inf
        return first_count(0, self.n, lambda k: self._log_cdf(k) >= target)
