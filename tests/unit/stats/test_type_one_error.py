"""Simulated type-I errors: no prompt knows anything, so every passed claim is a false alarm."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from pytest_maxrandom.stats.permutation import max_t_test

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

pytestmark = pytest.mark.slow

N, T, RUNS, LEVEL = 100, 200, 600, 0.05
HIGHEST = LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / RUNS)


def independent(generator: np.random.Generator) -> NDArray[np.int64]:
    return generator.integers(0, 2, (T, N))


def copied(generator: np.random.Generator) -> NDArray[np.int64]:
    """Every prompt answers as the first one in nine of ten examples."""
    answers = generator.integers(0, 2, (T, N))
    return np.where(generator.random((T, N)) < 0.9, answers[0], answers)


def nearly_constant(generator: np.random.Generator) -> NDArray[np.int64]:
    """Every prompt gives one answer throughout, but for one example in ten."""
    favourite = generator.integers(0, 2, (T, 1))
    return np.where(generator.random((T, N)) < 0.9, favourite, 1 - favourite)


def critical(t: int) -> int:
    """Fewest correct that pass, or one more than there are examples."""
    count = MaxRandomBaseline(N, 0.5, t).critical_count(LEVEL)
    return N + 1 if count is None else count


@functools.cache
def false_alarms(
    guess: Callable[[np.random.Generator], NDArray[np.int64]], majority: float
) -> tuple[float, float]:
    """Share of runs in which p_max and the permutation p are at most .05."""
    generator = np.random.default_rng(20)
    by_maximum = by_permutation = 0
    for run in range(RUNS):
        gold = (generator.random(N) >= majority).astype(np.int64)
        answers = guess(generator)
        by_maximum += int((answers == gold).sum(axis=1).max()) >= critical(T)
        # 99 permutations keep the test exact and the simulation short.
        test = max_t_test(answers, gold, np.full(N, 2), permutations=99, seed=run)
        by_permutation += test.p_value <= LEVEL
    return by_maximum / RUNS, by_permutation / RUNS


@pytest.mark.parametrize("guess", [independent, copied, nearly_constant])
@pytest.mark.parametrize("majority", [0.5, 0.7])
def test_the_permutation_test_keeps_its_level(
    guess: Callable[[np.random.Generator], NDArray[np.int64]], majority: float
) -> None:
    assert false_alarms(guess, majority)[1] <= HIGHEST


@pytest.mark.parametrize("majority", [0.5, 0.7])
@pytest.mark.parametrize("guess", [independent, copied])
def test_p_max_keeps_its_level_where_each_guess_is_right_with_its_stated_chance(
    guess: Callable[[np.random.Generator], NDArray[np.int64]], majority: float
) -> None:
    assert false_alarms(guess, majority)[0] <= HIGHEST


def test_p_max_alone_passes_most_constant_answers_on_unbalanced_labels() -> None:
    assert false_alarms(nearly_constant, 0.7)[0] > 0.75


def test_no_count_of_prompts_makes_up_for_editing_them_by_their_scores() -> None:
    generator = np.random.default_rng(0)
    best = generator.binomial(N, 0.5, 2000)
    passed = np.zeros(2000, dtype=bool)
    for t in range(1, 51):
        passed |= best >= critical(t)
        # Five answers change; the change is kept if more of them become right than wrong.
        spoiled = generator.hypergeometric(best, N - best, 5)
        best = np.maximum(best, best + 5 - 2 * spoiled)
    assert passed.mean() > 0.9
