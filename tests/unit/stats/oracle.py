"""Independent truth: exact rational arithmetic, term by term."""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def counts(chances: Sequence[Fraction]) -> list[Fraction]:
    """P(X = k) for k = 0 .. n, multiplying one trial at a time."""
    masses = [Fraction(1)]
    for chance in chances:
        longer = [mass * (1 - chance) for mass in masses] + [Fraction(0)]
        for k, mass in enumerate(masses):
            longer[k + 1] += mass * chance
        masses = longer
    return masses


def at_least(masses: Sequence[Fraction], k: int) -> Fraction:
    """P(X >= k)."""
    return sum(masses[max(0, k) :], Fraction(0))


def best_at_least(masses: Sequence[Fraction], k: int, t: int) -> Fraction:
    """P(max of t >= k)."""
    return 1 - (1 - at_least(masses, k)) ** t


def expected_best(masses: Sequence[Fraction], t: int) -> Fraction:
    """E[max of t] as a count."""
    n = len(masses) - 1
    return sum((best_at_least(masses, k, t) for k in range(1, n + 1)), Fraction(0))


def best_variance(masses: Sequence[Fraction], t: int) -> Fraction:
    """Var[max of t] as a count."""
    n = len(masses) - 1
    mean = expected_best(masses, t)
    exactly = [best_at_least(masses, k, t) - best_at_least(masses, k + 1, t) for k in range(n + 1)]
    return sum(((k - mean) ** 2 * mass for k, mass in enumerate(exactly)), Fraction(0))


def best_score(
    score: Callable[[list[int]], float], choices: Sequence[int], t: int
) -> tuple[float, dict[float, float]]:
    """Expected best score and P(best >= x), by listing every way to guess."""
    masses: dict[float, Fraction] = defaultdict(Fraction)
    for guess in product(*map(range, choices)):
        masses[round(score(list(guess)), 12)] += Fraction(1, math.prod(choices))
    expected, tails, below = 0.0, {}, Fraction(0)
    for value in sorted(masses):
        tails[value] = float(1 - below**t)
        expected += value * float((below + masses[value]) ** t - below**t)
        below += masses[value]
    return expected, tails
