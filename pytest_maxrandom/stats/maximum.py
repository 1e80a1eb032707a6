"""The maximum random baseline: the best of t random guessers on one set of examples.

Expected maximum and p_max follow Yauney and Mimno, "Stronger Random Baselines for In-Context
Learning" (2024), equations for the maximum order statistic of t independent guessers.

The functions have the arguments of the package max-random-baseline 0.1.1. Where that package is
wrong these are right: chances of any accepted type, no negative p-values, counts compared as
integers, and a plain `ValueError` or `TypeError` for input outside the domain.
"""

from __future__ import annotations

from collections import Counter
from numbers import Real
from typing import TYPE_CHECKING

from pytest_maxrandom.stats.best_of import MOST_GUESSERS, BestOf
from pytest_maxrandom.stats.chances import Groups, chance_groups, whole_number
from pytest_maxrandom.stats.counts import GuesserCount

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_maxrandom.stats.chances import Chance


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
