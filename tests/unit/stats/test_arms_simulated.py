"""Simulated levels and coverage of every test and interval of two arms.

Pairs of a task share its level and its own effect, replicates spread about it far beyond the
binomial noise, as measured where models were trained again for every replicate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.stats.differences import SignFlip, sign_flip
from pytest_maxrandom.stats.noncentral import conditional_likelihood
from pytest_maxrandom.stats.paired import Pairs, overdispersion, paired

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.slow

N = 200
NEAR = 40
"""Runs of which intervals are looked at; each takes as long as many tests."""
TINY = 1e-9
"""Ends of intervals are found to within rounding."""


@dataclass(frozen=True)
class Design:
    """Numbers of tasks and replicates, and how far effects spread, in accuracy."""

    tasks: int
    replicates: int
    between_tasks: float = 0.0
    between_replicates: float = 0.0

    def pairs(self, generator: np.random.Generator, difference: float) -> Pairs:
        """Draw pairs whose expected difference of accuracies is as given."""
        shape = (self.tasks, self.replicates)
        level = generator.uniform(0.4, 0.6, (self.tasks, 1))
        own = generator.normal(0, self.between_tasks, (self.tasks, 1))
        own = own + generator.normal(0, self.between_replicates, shape) + difference
        a, b = (generator.binomial(N, np.clip(level + s * own / 2, 0, 1)) for s in (1, -1))
        names = [str(task) for task in range(self.tasks) for _ in range(self.replicates)]
        n = np.full(a.size, N)
        return paired(names, [*range(self.replicates)] * self.tasks, a.ravel(), n, b.ravel(), n)


DESIGNS = {
    "binomial": Design(12, 4),
    "overdispersed replicates": Design(12, 4, between_replicates=0.12),
    "tasks that differ": Design(12, 4, between_tasks=0.05, between_replicates=0.12),
    "few tasks": Design(7, 3, between_tasks=0.05, between_replicates=0.12),
    "many tasks, one replicate": Design(18, 1, between_replicates=0.15),
    "too many tasks to count signs": Design(40, 1, between_replicates=0.15),
}


def binomial_band(probability: float, runs: int) -> float:
    """Three standard errors of a simulated share."""
    return 3 * math.sqrt(probability * (1 - probability) / runs)


def assert_intervals_hold_what_is_not_rejected(
    tests: Sequence[SignFlip], margin: float, level: float
) -> None:
    """Look at the runs that are nearest to the level: others are held or rejected more clearly."""
    by_p = [(test.p_value(margin), test) for test in tests]
    unequal = [(p, test) for p, test in by_p if abs(p - level) > TINY]  # 1 - .89 is not quite .11
    for p, test in sorted(unequal, key=lambda each: abs(each[0] - level))[:NEAR]:
        low, high = test.interval(1 - level)
        assert (low - TINY <= margin <= high + TINY) is (p > level)


@pytest.mark.parametrize("design", DESIGNS.values(), ids=DESIGNS)
def test_the_sign_flip_keeps_its_level_and_its_interval_covers(design: Design) -> None:
    runs, difference = 1000, 0.03
    generator = np.random.default_rng(8)
    tests = [
        sign_flip(design.pairs(generator, difference).by_task, draws=999, seed=seed)
        for seed in range(runs)
    ]
    for level in (0.05, 0.11):
        rejected = np.mean([test.p_value(difference) <= level for test in tests])
        assert rejected <= level + binomial_band(level, runs)
    # The smallest steps of p with seven tasks are 2 / 2**7: no test is exactly at its level.
    assert rejected >= 0.09 - binomial_band(0.09, runs)
    one_sided = np.mean([test.p_greater(difference) <= 0.05 for test in tests])
    assert one_sided <= 0.05 + binomial_band(0.05, runs)
    assert_intervals_hold_what_is_not_rejected(tests, difference, 0.11)


@pytest.mark.parametrize("units", [7, 10])
def test_skewed_differences_of_few_tasks_cost_coverage_as_they_cost_students_interval(
    units: int,
) -> None:
    runs = 1500
    generator = np.random.default_rng(9)
    drawn = generator.exponential(1, (runs, units)) - 1
    tests = [sign_flip(values) for values in drawn]
    half = stats.t.ppf(0.975, units - 1) * stats.sem(drawn, axis=1)
    by_student = np.mean(abs(drawn.mean(axis=1)) <= half)
    covered = np.mean([test.p_value() > 0.05 for test in tests])
    assert_intervals_hold_what_is_not_rejected(tests, 0.0, 0.05)
    assert 0.86 < covered < 0.95
    assert covered >= by_student


@pytest.mark.parametrize("margin", [-0.02, 0.0, 0.05])
def test_non_inferiority_is_claimed_of_an_arm_at_the_margin_no_oftener_than_its_level(
    margin: float,
) -> None:
    runs = 700
    generator = np.random.default_rng(3)
    design = DESIGNS["overdispersed replicates"]
    at_margin = above = 0
    for _ in range(runs):
        at_margin += sign_flip(design.pairs(generator, margin).by_task).p_greater(margin) <= 0.05
        better = design.pairs(generator, margin + 0.06)
        above += sign_flip(better.by_task).p_greater(margin) <= 0.05
    assert at_margin / runs <= 0.05 + binomial_band(0.05, runs)
    assert above / runs > 0.6


def coverage_of_the_model(spread: float, runs: int) -> tuple[float, float, float]:
    """Share of 89 % intervals that hold the true effect, and difference; mean dispersion.

    The effect of each pair spreads by so much, in log odds, about the true one.
    """
    generator = np.random.default_rng(4)
    effect, pairs = 0.25, 30
    covered = covered_difference = 0
    dispersions = []
    for _ in range(runs):
        level = generator.normal(0, 0.5, pairs)
        own = effect + generator.normal(0, 1, pairs) * spread
        chances = [1 / (1 + np.exp(-level - arm)) for arm in (own, 0)]
        a, b = (generator.binomial(N, chance) for chance in chances)
        drawn = paired(["t"] * pairs, range(pairs), a, [N] * pairs, b, [N] * pairs)
        found = conditional_likelihood(drawn).posterior(0.89)
        covered += found.low <= effect <= found.high
        difference = float(np.mean(1 / (1 + np.exp(-level - effect)) - chances[1]))
        covered_difference += found.difference_low <= difference <= found.difference_high
        dispersions.append(overdispersion(drawn) or math.nan)
    return covered / runs, covered_difference / runs, float(np.mean(dispersions))


def test_the_models_interval_covers_where_answers_are_independent() -> None:
    runs = 400
    covered, covered_difference, dispersion = coverage_of_the_model(0.0, runs)
    assert covered == pytest.approx(0.89, abs=binomial_band(0.89, runs))
    assert covered_difference == pytest.approx(0.89, abs=binomial_band(0.89, runs) + 0.01)
    assert dispersion == pytest.approx(1, abs=0.05)


def test_the_models_interval_is_too_narrow_by_the_root_of_the_dispersion() -> None:
    covered, _, dispersion = coverage_of_the_model(0.5, 400)
    z = 1.598 / math.sqrt(dispersion)
    assert dispersion > 5
    assert covered == pytest.approx(math.erf(z / math.sqrt(2)), abs=0.08)
    assert covered < 0.6
