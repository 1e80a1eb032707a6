"""Rules that need no knowledge, such as "the longest choice": are they right by luck?"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from pytest_maxrandom.stats.chances import Groups, mean_of
from pytest_maxrandom.stats.clusters import effective_n
from pytest_maxrandom.stats.counts import GuesserCount

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence


def total(values: Iterable[Fraction | int]) -> Fraction:
    """Add up many fractions with few denominators."""
    sums: dict[int, int] = {}
    for value in values:
        sums[value.denominator] = sums.get(value.denominator, 0) + value.numerator
    return sum((Fraction(part, whole) for whole, part in sums.items()), Fraction())


def rule_p_value(
    values: Sequence[Fraction | int],
    groups: Groups,
    units: Sequence[Hashable],
    *,
    guesses: bool = False,
) -> float:
    """Bound the probability that a rule is right so often, if right answers were drawn by lot.

    A rule was fixed without looking at right answers. Where these are drawn uniformly among each
    example's choices, independently, its number of right answers is that of one guesser: the bound
    is then exact. A rule that leaves several choices counts with its expected result, a mean over
    lots; and where units hold several examples, each unit counts as one that is right or wrong as
    a whole, of which there are `effective_n`. Means are never more spread out than what they are
    means of (in convex order), and so at most e times as likely to be far out (Bentkus, "On
    Hoeffding's inequalities", 2004). With units of one size that is a theorem, else an
    approximation.

    Parameters
    ----------
    values
        Per example how probably the rule is right, shape (n,).
    groups
        Pairs (chance of one guess, number of examples with it).
    units
        Per example what belongs together has in common, shape (n,).
    guesses
        Whether the rule may leave several choices, and guess one of them.

    Examples
    --------
    >>> from fractions import Fraction
    >>> round(1024 * rule_p_value([1] * 9 + [0], ((Fraction(1, 2), 10),), range(10)), 9)
    11.0
    """
    n, right = len(values), total(values)
    worth = effective_n(units)
    if worth == n and not guesses:
        return GuesserCount(groups).p_at_least(int(right))
    whole = math.floor(worth)
    guesser = GuesserCount(groups if worth == n else ((mean_of(groups), whole),))
    return min(1.0, math.e * guesser.p_at_least(math.floor(right * whole / n)))
