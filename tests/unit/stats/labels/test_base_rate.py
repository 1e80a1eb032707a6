from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import pearsonr

from pytest_maxrandom.stats.labels.priors import NoPrior, base_rates, correlation

close = pytest.approx


def test_base_rates_are_the_normalised_mean_of_probabilities() -> None:
    logs = np.log([[0.2, 0.1, 0.1], [0.4, 0.1, 0.3]])
    rates, mass = base_rates(logs)
    assert rates.tolist() == close([0.3 / 0.6, 0.1 / 0.6, 0.2 / 0.6])
    assert mass == close(0.6)
    both = base_rates(np.stack([logs, logs + math.log(0.5)]))
    assert both.rates.tolist() == close(np.stack([rates, rates]))
    assert both.mass.tolist() == close([0.6, 0.3])


def test_labels_of_vanishing_probability_keep_their_proportions() -> None:
    rates, mass = base_rates(np.array([[-2000.0, -2000.0 + math.log(3), -np.inf]]))
    assert rates.tolist() == close([0.25, 0.75, 0])
    assert mass == 0


@pytest.mark.parametrize(
    ("logs", "message"),
    [
        (np.array([[0.1, -1]]), "at most 0"),
        (np.array([[np.nan, -1]]), "at most 0"),
        (np.array([[-np.inf, -np.inf]]), "no label has any probability"),
    ],
)
def test_what_is_no_log_probability_is_refused(logs: np.ndarray, message: str) -> None:
    with pytest.raises(NoPrior, match=message):
        base_rates(logs)


def test_no_text_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 text"):
        base_rates(np.zeros((0, 3)))


finite = st.integers(0, 100).map(lambda x: x / 100)


@given(st.lists(st.tuples(finite, finite), min_size=4, max_size=9))
def test_the_correlation_and_its_interval_are_those_of_scipy(
    points: list[tuple[float, float]],
) -> None:
    rates, recall = np.array(points).T
    found = correlation(rates, recall)
    if len(set(rates)) == 1 or len(set(recall)) == 1:
        assert found is None
        return
    truth = pearsonr(rates, recall)
    assert found is not None
    assert found.r == close(truth.statistic, abs=1e-9)
    if min(len(set(rates)), len(set(recall))) == 2:
        assert (found.low, found.high) == (None, None)
    elif abs(found.r) < 0.999999:
        interval = truth.confidence_interval(0.95)
        assert (found.low, found.high) == close((interval.low, interval.high), abs=1e-6)
    again = correlation(np.append(rates, 0.5), np.append(recall, np.nan))
    assert again is not None
    assert again == close(tuple(found))


def test_four_labels_leave_r_95_nearly_any_value() -> None:
    x = np.array([-3.0, -1.0, 1.0, 3.0])
    off = np.array([1.0, -3.0, 3.0, -1.0])  # orthogonal to x and of its length
    found = correlation(x, 0.95 * x + math.sqrt(1 - 0.95**2) * off)
    assert found == close((0.95, -0.13, 1.0), abs=0.005)


def test_fewer_than_four_labels_have_no_correlation() -> None:
    assert correlation(np.array([0.2, 0.3, 0.5]), np.array([0.1, 0.4, 0.6])) is None
    recall = np.array([0.1, 0.4, 0.6, np.nan])
    assert correlation(np.array([0.2, 0.3, 0.4, 0.1]), recall) is None


def test_a_perfect_correlation_has_an_interval_of_one_point() -> None:
    x = np.array([0.0, 0.25, 0.5, 0.75])
    assert correlation(x, x) == close((1.0, 1.0, 1.0))


def test_one_label_that_stands_out_in_both_makes_no_interval() -> None:
    one, other = np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0, 0.0])
    # Of the 4 labels that could stand out in both, 1 gives r = 1: no certainty.
    for recall in (one, other, np.array([0.9, 0.3, 0.2, 0.1])):
        found = correlation(one, recall)
        assert found is not None
        assert found.r == close(pearsonr(one, recall).statistic)
        assert (found.low, found.high) == (None, None)


@pytest.mark.parametrize(("apart", "told"), [(1e-15, False), (5e-4, False), (2e-3, True)])
def test_values_that_differ_by_rounding_are_one(apart: float, told: bool) -> None:
    found = correlation(np.array([0.9, 0.2, 0.1, 0.0]), np.array([1.0, apart, 0.0, 0.0]))
    assert found is not None
    assert (found.low is not None, found.high is not None) == (told, told)
