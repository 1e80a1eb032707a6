from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from pytest_maxrandom.stats.selection import expected_maximum, maximum_weights, selection_curve

close = pytest.approx
counts = st.lists(st.integers(0, 20), min_size=1, max_size=6)


@given(counts, st.data())
def test_the_u_statistic_is_the_mean_maximum_of_all_subsets(
    scores: list[int], data: st.DataObject
) -> None:
    t = data.draw(st.integers(1, len(scores)))
    subsets = [max(subset) for subset in combinations(scores, t)]
    assert expected_maximum(scores, t, "u") == close(sum(subsets) / len(subsets), rel=1e-13)


@given(counts, st.integers(1, 4))
@settings(max_examples=40)
def test_the_v_statistic_is_the_mean_maximum_of_all_draws_with_replacement(
    scores: list[int], t: int
) -> None:
    draws = [max(draw) for draw in product(scores, repeat=t)]
    assert expected_maximum(scores, t, "v") == close(sum(draws) / len(draws), rel=1e-12)


@pytest.mark.parametrize(("total", "t"), [(200, 1), (200, 17), (200, 200), (5000, 300)])
def test_weights_are_the_exact_ratios_of_binomial_coefficients(total: int, t: int) -> None:
    weights = maximum_weights(total, t, "u")
    everything = math.comb(total, t)
    for i in (1, t, (t + total) // 2, total - 1, total):
        exact = Fraction(math.comb(i - 1, t - 1), everything)
        assert weights[i - 1] == close(float(exact), rel=1e-11)
    assert math.fsum(weights) == close(1.0, rel=1e-12)
    assert math.fsum(maximum_weights(total, t, "v")) == close(1.0, rel=1e-12)


def test_the_u_statistic_is_unbiased_and_the_v_statistic_low() -> None:
    generator = np.random.default_rng(2)
    n, total, t, runs = 50, 30, 20, 4000
    truth = MaxRandomBaseline(n, 0.5, t).expected_count
    samples = generator.binomial(n, 0.5, (runs, total))
    u = np.array([expected_maximum(row, t, "u") for row in samples])
    v = np.array([expected_maximum(row, t, "v") for row in samples])
    error = float(u.std() / math.sqrt(runs))
    assert abs(u.mean() - truth) < 4 * error
    assert v.mean() < truth - 4 * error


def test_a_curve_starts_at_the_mean_and_ends_at_the_best() -> None:
    correct = [40, 55, 61, 48, 52, 52]
    curve = selection_curve(correct, 100, 0.5)
    whole = MaxRandomBaseline(100, 0.5, 6)
    assert [point.t for point in curve] == [1, 2, 3, 4, 5, 6]
    assert curve[0].u_statistic == curve[0].v_statistic == close(sum(correct) / 600)
    assert curve[-1].u_statistic == 0.61
    assert curve[-1].p_value == whole.p_value(61)
    assert curve[-1].max_random_baseline == whole.expected_accuracy
    assert curve[0].p_value == MaxRandomBaseline(100, 0.5, 1).p_value(52)
    for before, after in pairwise(curve):
        assert after.u_statistic >= before.u_statistic
        assert after.v_statistic <= after.u_statistic


def test_selections_that_cannot_be_made_are_refused() -> None:
    with pytest.raises(ValueError, match="t must be at most 3, found 4"):
        expected_maximum([1, 2, 3], 4, "u")
    with pytest.raises(ValueError, match="finite numbers"):
        expected_maximum([1, math.nan], 1)
    with pytest.raises(ValueError, match="number of prompts must be at least 1"):
        expected_maximum([], 1)
    with pytest.raises(ValueError, match="at least one prompt"):
        selection_curve([], 10, 0.5)
    with pytest.raises(ValueError, match="correct must be at most 10"):
        selection_curve([11], 10, 0.5)
