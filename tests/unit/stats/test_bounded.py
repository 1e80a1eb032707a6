"""Means of scores between bounds: above a bar, and above a margin below another one."""

from __future__ import annotations

import itertools
import math
from itertools import product

import numpy as np
import pytest
from scipy import optimize, stats

from pytest_maxrandom.stats.bounded import BoundedMean
from pytest_maxrandom.stats.differences import TiltedTest


@pytest.mark.parametrize(
    ("n", "right", "bound"),
    [(30, 20, 0.5), (100, 70, 0.5), (100, 99, 0.5), (30, 30, 0.9), (1, 1, 0.5), (400, 120, 0.31)],
)
def test_of_right_and_wrong_it_is_the_binomial_p_value(n: int, right: int, bound: float) -> None:
    values = np.repeat([1.0, 0.0], [right, n - right])
    expected = stats.binom.sf(right - 1, n, bound)
    assert BoundedMean(values, 0.0).p_greater(bound) == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("bound", [0.3, 0.45, 0.6])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_chance_that_randomly_weighted_scores_are_no_more(
    bound: float, *, weighted: bool
) -> None:
    generator = np.random.default_rng(4)
    values = np.round(generator.beta(2, 3, 25), 3)
    weights = generator.integers(1, 6, 25).astype(float) if weighted else np.ones(25)
    excess = np.append(weights, weights.max()) * (np.append(values, 0.0) - bound)
    drawn = generator.exponential(size=(60_000, 26)) @ excess
    found = BoundedMean(values, 0.0, weights if weighted else None).p_greater(bound)
    assert found == pytest.approx((drawn <= 0).mean(), abs=0.009)


@pytest.mark.parametrize("values", [(0.0, 0.4, 0.5), (0.2, 0.5, 1.0), (0.1, 0.3, 0.31)])
def test_no_three_scores_with_that_mean_pass_more_often_than_the_level(
    values: tuple[float, float, float],
) -> None:
    """All samples of five, each weighted with its probability, at every level that there is."""
    n = 5
    samples = list(product(range(n + 1), repeat=2))
    counts = np.array([(a, b, n - a - b) for a, b in samples if a + b <= n])
    for chances in ((0.05, 0.15, 0.8), (0.3, 0.3, 0.4), (0.02, 0.9, 0.08)):
        mean = float(np.dot(values, chances))
        p = np.array([BoundedMean(np.repeat(values, row), 0.0).p_greater(mean) for row in counts])
        masses = stats.multinomial.pmf(counts, n, chances)
        for level in p:
            assert masses[p <= level].sum() <= level + 1e-9


def test_a_rare_loss_that_the_sample_does_not_hold_is_allowed_for() -> None:
    """Of 30 scores, none is one of the losses that are 5 % of all with probability .95^30."""
    test = BoundedMean(np.full(30, 0.6), 0.0)
    assert test.p_greater(0.6 * 0.95) == pytest.approx(0.95**30)
    assert test.lowest(0.05) == pytest.approx(0.6 * 0.05 ** (1 / 30))


def test_of_many_scores_it_comes_to_the_t_test() -> None:
    values = np.random.default_rng(2).beta(3, 2, 40_000)
    bound = values.mean() - 2 * values.std() / 40_000**0.5
    expected = stats.ttest_1samp(values, bound, alternative="greater").pvalue
    assert BoundedMean(values, 0.0).p_greater(bound) == pytest.approx(expected, rel=0.1)


def test_bounds_at_and_beyond_the_scores() -> None:
    test = BoundedMean(np.array([0.4, 0.7]), 0.0)
    assert (test.p_greater(-0.1), test.p_greater(0.0)) == (0.0, 0.0)
    assert (test.p_greater(0.7), test.p_greater(0.9)) == (1.0, 1.0)
    assert BoundedMean(np.zeros(3), 0.0).p_greater(0.0) == 1.0
    assert BoundedMean(np.zeros(3), 0.0).lowest(0.05) == 0.0


@pytest.mark.parametrize(("n", "losses"), [(20, 0), (100, 0), (150, 1), (300, 3)])
def test_where_there_are_losses_only_the_p_value_is_the_binomial_one(n: int, losses: int) -> None:
    exact = stats.binom.cdf(losses, n, 0.02)
    test = TiltedTest([-1.0] * losses + [0.0] * (n - losses))
    if -losses / n > -0.02:
        assert test.p_greater(-0.02) == pytest.approx(exact, abs=1e-9)
    else:
        assert test.p_greater(-0.02) == 1


def test_a_lower_margin_is_excluded_more_easily() -> None:
    test = TiltedTest([-1.0, 0.4] + [0.0] * 60 + [0.2] * 10)
    ps = [test.p_greater(margin) for margin in (-1.0, -0.5, -0.2, -0.1, -0.05, -0.02, 0.0, 0.2)]
    assert ps == sorted(ps)
    assert (ps[0], ps[-1]) == (0, 1)


def test_the_lowest_margin_is_where_the_test_begins_to_exclude() -> None:
    test = TiltedTest([-1.0] + [0.0] * 99)
    low = test.lowest(0.05)
    assert test.p_greater(low) <= 0.05 < test.p_greater(low + 1e-5)
    # Clopper and Pearson's upper limit of 1 loss of 100.
    assert low == pytest.approx(-stats.beta.ppf(0.95, 2, 99), abs=1e-5)


def enumerated(values: list[float], margin: float) -> float:
    """The p-value by SciPy's optimizer and a sum over all samples."""
    seen, counts = np.unique(values, return_counts=True)
    support = np.append(seen, -1.0) if -1 not in seen else seen
    counts = np.append(counts, [0] * (len(support) - len(counts)))
    found = optimize.minimize(
        lambda chances: -float(counts @ np.log(np.maximum(chances, 1e-300))),
        np.full(len(support), 1 / len(support)),
        bounds=[(1e-12, 1)] * len(support),
        constraints=[
            {"type": "eq", "fun": lambda chances: chances.sum() - 1},
            {"type": "eq", "fun": lambda chances: chances @ support - margin},
        ],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    n, p = len(values), 0.0
    for sample in itertools.product(range(n + 1), repeat=len(support)):
        if sum(sample) == n and np.dot(sample, support) >= sum(values) - 1e-9:
            ways = math.factorial(n) / math.prod(map(math.factorial, sample))
            p += ways * float(np.prod(found.x ** np.array(sample)))
    return p


@pytest.mark.parametrize("margin", [-0.3, 0.0, 0.05])
@pytest.mark.parametrize(
    "values",
    [[0.25] * 5 + [0.0] * 3, [1.0, 1, 0, 0, 0, 0], [-0.5, 0.5, 0.5, 1.0, 1.0, 0], [-1, *[1.0] * 6]],
)
def test_the_null_is_the_likeliest_distribution_with_that_mean(
    values: list[float], margin: float
) -> None:
    assert TiltedTest(values).p_greater(margin) == pytest.approx(
        enumerated(values, margin), abs=2e-4
    )


def test_units_of_equal_weight_need_none_and_values_on_no_grid_are_hardly_rounded() -> None:
    values = [0.25] * 12 + [-0.25, 0.5, -0.5]
    plain = TiltedTest(values)
    assert TiltedTest(values, weights=[3.0] * 15).p_greater(0) == plain.p_greater(0)
    moved = [value + 1e-6 * place for place, value in enumerate(values)]
    assert TiltedTest(moved).p_greater(0.02) == pytest.approx(plain.p_greater(0.02), rel=0.1)


def test_a_heavier_unit_counts_for_more() -> None:
    values, weights = [0.5] * 8 + [-0.5], np.array([1.0] * 8 + [4.0])
    assert TiltedTest(values, weights=weights).p_greater(0) > 3 * TiltedTest(values).p_greater(0)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "loss", "gain"), [(100, 0.04, 0.02), (200, 0.02, 0.0)])
def test_the_level_holds_at_the_margin(n: int, loss: float, gain: float) -> None:
    random = np.random.default_rng(0)
    values = random.choice([-1.0, 0.0, 1.0], size=(400, n), p=[loss, 1 - loss - gain, gain])
    passed = sum(TiltedTest(row).p_greater(gain - loss) <= 0.05 for row in values)
    # Binomial: more than 36 of 400 at .05 has probability .0003.
    assert passed <= 36
