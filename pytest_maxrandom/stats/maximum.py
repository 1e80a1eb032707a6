"""The maximum random baseline: the best of t random guessers on one set of examples.

Expected maximum and p_max follow Yauney and Mimno, "Stronger Random Baselines for In-Context
Learning" (2024), equations for the maximum order statistic of t independent guessers.

Where a score is no count of right answers, the values of one guesser's are listed with their
probabilities, or simulated: of N single guessers

    E[max of t] = sum_i x_(i) [(i/N)^t - ((i-1)/N)^t]

over the ascending scores x_(i), with the standard error of that L-statistic from its influence
function (Serfling, "Approximation Theorems of Mathematical Statistics", 1980, section 8.1).

The functions have the arguments of the package max-random-baseline 0.1.1. Where that package is
wrong these are right: chances of any accepted type, no negative p-values, counts compared as
integers, and a plain `ValueError` or `TypeError` for input outside the domain.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pytest_maxrandom.stats.best_of import MOST_GUESSERS, BestOf
from pytest_maxrandom.stats.chances import Groups, chance_groups, whole_number
from pytest_maxrandom.stats.counts import GuesserCount

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.stats.chances import Chance

    Floats: TypeAlias = NDArray[np.float64]

_MOST_VALUES = 4_000_000  # support points of an exact distribution
_FLOOR = 1e-50  # masses below 1e-60 are not in the windows that the sums start from
_NEAR = 1e-12  # two scores closer than this are the same score, computed differently


class MaxRandomBaseline(BestOf):
    """Best of ``t`` independent random guessers on ``n`` examples.

    Parameters
    ----------
    n
        Number of examples; may be None where ``chance`` tells it.
    chance
        Chance of one guess: one probability (float or Fraction), a mapping
        {number of choices: number of examples}, or one probability for each example.
    t
        Number of guessers, 1 to 10**18.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain, or ``n`` and ``chance`` disagree.

    Examples
    --------
    >>> baseline = MaxRandomBaseline(n=100, chance=0.5, t=10)
    >>> round(baseline.expected_accuracy, 6)
    0.57678
    >>> round(baseline.p_value(correct=60), 6)
    0.250661
    >>> baseline.critical_count(alpha=0.05)
    64
    """

    def __init__(self, n: int | None, chance: Chance, t: int) -> None:
        self._begin(GuesserCount(chance_groups(chance, n)), t)

    def _begin(self, guesser: GuesserCount, t: int) -> MaxRandomBaseline:
        self._guesser = guesser
        super().__init__([(guesser, whole_number("t", t, 1, MOST_GUESSERS))])
        return self

    @classmethod
    def of_groups(cls, groups: Groups, t: int) -> MaxRandomBaseline:
        """Return the baseline of examples whose chances are grouped already."""
        return cls.__new__(cls)._begin(GuesserCount(groups), t)

    @property
    def chance_groups(self) -> Groups:
        """Pairs (exact chance, number of examples with it), ascending by chance."""
        return self._guesser.groups

    def with_t(self, t: int) -> MaxRandomBaseline:
        """Return the baseline of another number of guessers; what was computed is shared."""
        return MaxRandomBaseline.__new__(MaxRandomBaseline)._begin(self._guesser, t)

    def __repr__(self) -> str:
        groups = ", ".join(f"{size} x {chance}" for chance, size in self.chance_groups[:4])
        more = ", .." if len(self.chance_groups) > 4 else ""
        return f"{type(self).__name__}(n={self.n}, chance=[{groups}{more}], t={self.t})"


class BestOfPrompts(BestOf):
    """Best of random guessers of which each has its own examples and chances.

    For prompts that are scored on the validation set without their own demonstrations: their
    number of examples and their mix of chances differ a little. Accuracies are compared as
    fractions, so 2 of 3 equals 4 of 6. `MaxRandomBaseline` is the case of one distribution.

    Parameters
    ----------
    prompts
        Pairs (chance, number of prompts with it). A chance is a mapping
        {number of choices: number of examples} or one probability for each example.

    Examples
    --------
    >>> best = BestOfPrompts([({2: 99}, 150), ({2: 98}, 50)])
    >>> round(best.p_value(correct=66, n=99), 4)
    0.1025
    >>> best.critical_accuracy(alpha=0.05)
    Fraction(67, 99)
    """

    def __init__(self, prompts: Iterable[tuple[Chance, int]]) -> None:
        sizes: Counter[Groups] = Counter()
        listed = []
        for chance, copies in prompts:
            listed.append(chance_groups(chance))
            sizes[listed[-1]] += whole_number("number of prompts", copies, 1)
        places = {groups: place for place, groups in enumerate(sizes)}
        super().__init__(
            [(GuesserCount(groups), copies) for groups, copies in sizes.items()],
            [places[groups] for groups in listed],
        )


@dataclass(frozen=True)
class ScoreBaseline:
    """Best of ``t`` independent random guessers in some score."""

    t: int
    """Number of guessers."""
    values: Floats
    """Possible (or simulated) scores of one guesser, ascending and distinct."""
    masses: Floats
    """Their probabilities."""
    draws: int | None
    """Number of simulated guessers, or None where the distribution is exact."""

    @cached_property
    def expected(self) -> float:
        """Expected best score: the maximum random baseline."""
        above = np.minimum(np.cumsum(self.masses[::-1])[::-1][1:], np.nextafter(1, 0))
        reached = -np.expm1(self.t * np.log1p(-above))
        return math.fsum((self.values[0], *(np.diff(self.values) * reached)))

    @cached_property
    def expected_error(self) -> float:
        """Monte Carlo standard error of `expected`; 0 where it is exact."""
        if self.draws is None:
            return 0.0
        below = np.minimum(1.0, np.cumsum(self.masses[:-1]))
        slopes = self.t * below ** (self.t - 1)
        influence = np.append(np.cumsum((np.diff(self.values) * slopes)[::-1])[::-1], 0.0)
        mean = np.sum(self.masses * influence)
        variance = np.sum(self.masses * (influence - mean) ** 2)
        return math.sqrt(float(variance) / self.draws)

    @cached_property
    def standard_baseline(self) -> float:
        """Expected score of one guesser."""
        return math.fsum(self.values * self.masses)

    def p_standard(self, score: float, prompt: int | None = None) -> float:
        """P(score of one guesser >= score), whichever it is: all prompts share their examples.

        Exact distributions give at least 1e-50. Simulated ones give (1 + #) / (N + 1), which is
        never zero and makes a test at any level valid (Besag and Clifford, 1989).
        """
        if not math.isfinite(score):
            raise ValueError(f"score must be a finite number, found {score!r}")
        tail = self.masses[np.searchsorted(self.values, score - _NEAR) :]
        if self.draws is None:
            return min(1.0, max(_FLOOR, math.fsum(tail)))
        return (1 + round(math.fsum(tail) * self.draws)) / (self.draws + 1)

    def p_value(self, score: float) -> float:
        """P(best score of t guessers >= score)."""
        single = self.p_standard(score)
        return 1.0 if single == 1 else -math.expm1(self.t * math.log1p(-single))

    def p_value_error(self, score: float) -> float:
        """Monte Carlo standard error of `p_value`; 0 where it is exact."""
        if self.draws is None:
            return 0.0
        single = self.p_standard(score)
        slope = self.t * (1 - single) ** (self.t - 1)
        return slope * math.sqrt(single * (1 - single) / self.draws)

    def union_p(self, score: float) -> float:
        """min(1, t * p_standard): holds for every dependence between prompts."""
        return min(1.0, self.t * self.p_standard(score))


def listed(
    counts: Sequence[GuesserCount], *, without_best: bool = False
) -> tuple[Floats, Floats] | None:
    """List the mean over classes of the shares of right answers that one guesser may have.

    Parameters
    ----------
    counts
        The number of right answers of each class; they are independent.
    without_best
        Whether the class with the largest share is left out of the mean, as in the Nvr-X score.

    Returns
    -------
    values, masses
        Ascending, and their probabilities; None where they are too many to list.
    """
    common = math.lcm(*(count.n for count in counts))
    # The sum of the shares so far and the largest, in units of 1 / common, are kept in one number.
    base = common + 1 if without_best else 1
    if base * (common + 1) * len(counts) >= 2**62:
        return None
    states, masses = np.zeros(1, dtype=np.int64), np.ones(1)
    for count in counts:
        window = count.window
        if len(states) * len(window.masses) > _MOST_VALUES:
            return None
        steps = (window.low + np.arange(len(window.masses))) * (common // count.n)
        sums = np.add.outer(states // base, steps) * base
        if without_best:
            sums += np.maximum.outer(states % base, steps)
        states, masses = _merged(sums.ravel(), np.multiply.outer(masses, window.masses).ravel())
    if without_best:
        states, masses = _merged(states // base - states % base, masses)
    return states / (common * (len(counts) - without_best)), masses


def _merged(values: NDArray[np.int64], masses: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Add up the masses of equal values; ascending."""
    distinct, places = np.unique(values, return_inverse=True)
    return distinct, np.bincount(places, weights=masses).astype(np.float64)


def simulated(
    t: int,
    draws: int | None,
    seed: int,
    scores: Callable[[np.random.Generator, int], Floats],
) -> ScoreBaseline:
    """Best of t guessers, by the scores of simulated single ones.

    Parameters
    ----------
    draws
        How many are simulated; by default enough for p-values near .05, which are multiples of
        about t / draws.
    scores
        Simulates so many, or a few more.

    Raises
    ------
    TypeError, ValueError
        If t or ``draws`` is no number, or ``draws`` is too few for t.
    """
    guessers = whole_number("t", t, 1)
    number = min(2_000_000, max(200_000, 1000 * guessers)) if draws is None else draws
    number = whole_number("draws", number, 1)
    if number < 20 * guessers:
        raise ValueError(f"draws must be at least 20 t = {20 * guessers}, found {number}")
    found = np.round(scores(np.random.default_rng(seed), number), 13)
    values, counts = np.unique(found, return_counts=True)
    return ScoreBaseline(guessers, values, counts / len(found), len(found))


def _correct(acc: object, n: int) -> int:
    """Return the number correct of an accuracy, which must be a multiple of 1/n.

    An accuracy that went through single precision, or was summed in floating point, is off by
    a few units in its last place; one that was rounded to a few digits is refused.
    """
    if isinstance(acc, bool) or not isinstance(acc, Real):
        raise TypeError(f"acc must be a number, found {acc!r} ({type(acc).__name__})")
    value = float(acc)
    if not 0 <= value <= 1:
        raise ValueError(f"acc must be an accuracy from 0 to 1, found {acc!r}")
    correct = round(value * n)
    if abs(value * n - correct) > min(0.01, 1e-6 + 1.2e-7 * correct):
        raise ValueError(
            f"acc {acc!r} is no multiple of 1/{n}: pass correct / n unrounded, "
            f"the nearest is {correct}/{n}"
        )
    return correct


def max_random_baseline(n: int, arg: Chance, t: int) -> float:
    """Return the expected maximum accuracy of ``t`` random guessers on ``n`` examples.

    Parameters
    ----------
    n
        Number of examples.
    arg
        One probability, one for each example, or {number of choices: number of examples}.
    t
        Number of guessers.
    """
    return MaxRandomBaseline(n, arg, t).expected_accuracy


def max_random_p_value(acc: float, n: int, arg: Chance, t: int) -> float:
    """Return P(best accuracy of ``t`` guessers >= acc), where acc is a multiple of 1/n."""
    baseline = MaxRandomBaseline(n, arg, t)
    return baseline.p_value(_correct(acc, baseline.n))


def max_random_pmf(num_correct: int, n: int, arg: Chance, t: int) -> float:
    """Return P(best number correct of ``t`` guessers = num_correct)."""
    return MaxRandomBaseline(n, arg, t).pmf(num_correct)


def max_random_F(num_correct: int, n: int, arg: Chance, t: int) -> float:  # noqa: N802
    """Return P(best number correct of ``t`` guessers <= num_correct)."""
    return MaxRandomBaseline(n, arg, t).cdf(num_correct)
