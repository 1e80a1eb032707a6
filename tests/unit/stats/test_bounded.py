"""The test of a bounded mean, compared with exact binomial sums and with simulated weights."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.stats.bounded import BoundedMean


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
