"""Many looks at the best of a growing number of guessers, by exact computation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from pytest_maxrandom.stats.best_of import MOST_GUESSERS
from pytest_maxrandom.stats.looks import spent
from pytest_maxrandom.stats.maximum import MaxRandomBaseline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

LEVEL = 0.05


def naive(n: int, chance: float, t: int) -> float:
    """Fewest correct that pass if each look is tested as if it were the only one."""
    return MaxRandomBaseline(n, chance, t).critical_count(LEVEL) or math.inf


def by_doubling(n: int, chance: float, t: int) -> float:
    level, end = spent(LEVEL, t)
    return MaxRandomBaseline(n, chance, end).critical_count(level) or math.inf


def some_look_passes(
    needed: Callable[[int, float, int], float], n: int, chance: float, looks: Iterable[int]
) -> float:
    """Probability that the best of independent guessers passes at some look, exactly.

    The best so far is a Markov chain: another guesser is a factor of its distribution function,
    and what passes at a look is taken out.
    """
    guesser = stats.binom.cdf(np.arange(n + 1), n, chance)
    not_passed = np.ones(n + 1)  # P(best <= count, no look passed)
    tried = 0
    for t in looks:
        not_passed = not_passed * guesser ** (t - tried)
        tried = t
        least = needed(n, chance, t)
        if least <= n:
            not_passed = np.minimum(not_passed, not_passed[int(least) - 1] if least else 0.0)
    return 1 - float(not_passed[-1])


def test_the_chain_gives_the_known_errors_of_looking_again_and_again() -> None:
    for step, known in ((1, 0.20), (10, 0.115), (50, 0.083)):
        found = some_look_passes(naive, 100, 0.5, range(step, 201, step))
        assert found == pytest.approx(known, abs=0.002)
    # The page on what the baseline can tell.
    assert some_look_passes(naive, 100, 0.5, range(1, 11)) == pytest.approx(0.109, abs=5e-4)
    assert some_look_passes(naive, 100, 0.5, range(1, 201)) == pytest.approx(0.201, abs=5e-4)


@pytest.mark.parametrize("n", [10, 60, 100, 1000])
@pytest.mark.parametrize("chance", [0.1, 1 / 3, 0.5])
def test_any_number_of_looks_stays_within_the_level(n: int, chance: float) -> None:
    for looks in (range(1, 1025), range(1, 1025, 7), [2**i - 1 for i in range(1, 30)], [200]):
        assert some_look_passes(by_doubling, n, chance, looks) <= LEVEL


def test_a_level_that_is_spent_by_the_look_or_a_declared_budget_is_valid_too() -> None:
    def by_look(n: int, chance: float, t: int) -> float:
        level = LEVEL / (t * (t + 1))
        return MaxRandomBaseline(n, chance, t).critical_count(level) or math.inf

    def budget(n: int, chance: float, t: int) -> float:
        return naive(n, chance, 200)

    for needed in (by_look, budget):
        assert 0 < some_look_passes(needed, 100, 0.5, range(1, 201)) <= LEVEL


def test_what_two_hundred_looks_cost() -> None:
    assert by_doubling(100, 0.5, 200) == 73
    assert naive(100, 0.5, 200) == 68
    by_look = MaxRandomBaseline(100, 0.5, 200).critical_count(LEVEL / (20 * 21))
    assert by_look == 75


@given(t=st.integers(1, MOST_GUESSERS), alpha=st.floats(0, 1))
def test_looks_of_one_doubling_are_one_test_and_all_of_them_spend_at_most_alpha(
    t: int, alpha: float
) -> None:
    level, end = spent(alpha, t)
    assert t <= end < 2 * t
    assert spent(alpha, end) == (level, end)
    ends, reached = [], 0
    while reached < t:
        reached = spent(alpha, reached + 1).t
        ends.append(reached)
    assert ends[-1] == end
    assert math.fsum(spent(alpha, each).level for each in ends) <= alpha * (1 + 1e-12)


@pytest.mark.parametrize("t", [0, -1, MOST_GUESSERS + 1])
def test_t_is_that_of_a_sweep(t: int) -> None:
    with pytest.raises(ValueError, match="t must be at"):
        spent(0.05, t)


def test_alpha_is_a_probability() -> None:
    with pytest.raises(ValueError, match="alpha must be a probability from 0 to 1, found 5"):
        spent(5, 1)
    with pytest.raises(TypeError, match="t must be an integer"):
        spent(0.05, 1.5)  # type: ignore[arg-type]
