"""Level and coverage over simulated sweeps: prompts that share examples, and so depend."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_maxrandom.studies.arms.answers import PairedAnswers
from pytest_maxrandom.studies.arms.reduction import Difference

RUNS = 400
T = 8
FEWER = 200
"""Runs of tests that take long."""
NEAR = 16
"""Runs of which intervals are looked at; each takes as long as many tests."""


TINY = 1e-9
"""Ends of intervals are found to within rounding."""


def most(runs: int) -> float:
    """Return what an estimated rate of .05 stays below with probability .999 (binomial)."""
    return 0.05 + 3.1 * math.sqrt(0.05 * 0.95 / runs)


def sweep(generator: np.random.Generator, n: int) -> PairedAnswers:
    """Return new examples, whose ease, and whose reaction to the arm, all prompts share."""
    ease = generator.normal(0.5, 1.5, (1, n))
    reaction = generator.normal(0, 1.2, (1, n))  # of mean zero over all examples
    prompts = generator.normal(0, 0.5, (T, 1))
    first, second = (
        generator.logistic(size=(T, n)) < ease + prompts + sign * reaction / 2 for sign in (1, -1)
    )
    names = tuple(str(number) for number in generator.integers(0, 2**62, n))
    return PairedAnswers(names, first, second, np.ones_like(first))


def runs(replicates: int, n: int, seed: int) -> list[Difference]:
    generator = np.random.default_rng(seed)
    return [Difference([sweep(generator, n) for _ in range(replicates)]) for _ in range(FEWER)]


@pytest.mark.slow
@pytest.mark.parametrize(("replicates", "n"), [(1, 12), (1, 60), (8, 25)])
def test_arms_that_do_not_differ_are_rarely_told_apart(replicates: int, n: int) -> None:
    found = runs(replicates, n, seed=replicates * 1000 + n)
    assert np.mean([each.p_value() <= 0.05 for each in found]) <= most(FEWER)
    assert np.mean([each.p_greater() <= 0.05 for each in found]) <= most(FEWER)
    # An interval holds 0 where the test does not reject it, and so as often as it says.
    for each in sorted(found, key=lambda one: abs(one.p_value() - 0.05))[:NEAR]:
        low, high = each.interval(0.95)
        assert (low - TINY <= 0 <= high + TINY) is (each.p_value() > 0.05)


@pytest.mark.slow
def test_counting_answers_as_independent_would_not_keep_the_level() -> None:
    # The reason for flipping signs of examples: 8 prompts are no 8 times as many examples.
    generator = np.random.default_rng(5)
    wrong = 0
    for _ in range(RUNS):
        made = sweep(generator, 60)
        spread = (made.first.astype(int) - made.second).ravel()
        wrong += abs(spread.mean()) > 1.96 * spread.std() / len(spread) ** 0.5
    assert wrong / RUNS > 0.1


@pytest.mark.slow
def test_replicates_that_share_examples_do_not_pass_for_others() -> None:
    # All replicates have the same examples: over replicates alone the level would be lost.
    generator = np.random.default_rng(9)
    by_both, by_replicates = 0, 0
    for _ in range(RUNS):
        n = 25
        ease, reaction = generator.normal(0, 1, (1, n)), generator.normal(0, 2, (1, n))
        made = []
        for _ in range(8):
            first, second = (
                generator.logistic(size=(T, n)) < ease + sign * reaction / 2 for sign in (1, -1)
            )
            names = tuple(map(str, range(n)))
            made.append(PairedAnswers(names, first, second, np.ones_like(first)))
        found = Difference(made)
        by_both += found.p_value() <= 0.05
        by_replicates += found.tests["replicates"].p_value() <= 0.05
    assert by_both / RUNS <= most(RUNS)
    assert by_replicates / RUNS > 5 * most(RUNS)


@pytest.mark.slow
@pytest.mark.parametrize("replicates", [1, 8])
def test_a_margin_that_is_the_true_difference_is_rarely_exceeded(replicates: int) -> None:
    # Non-inferiority at its edge: first is worse by exactly .1 in expectation.
    generator = np.random.default_rng(17 + replicates)
    passed = 0
    for _ in range(FEWER):
        made = []
        for _ in range(replicates):
            n = 40
            names = tuple(str(number) for number in generator.integers(0, 2**62, n))
            second = np.broadcast_to(generator.random((1, n)) < 0.6, (T, n))
            loses = generator.random((1, n)) < 1 / 3
            gains = generator.random((1, n)) < 1 / 4
            # .6 * 1/3 - .4 * 1/4 = .1
            first = (second & ~loses) | (~second & gains)
            made.append(PairedAnswers(names, first, second.copy(), np.ones((T, n), dtype=bool)))
        passed += Difference(made).p_greater(-0.1) <= 0.05
    assert passed / FEWER <= most(FEWER)
