"""Components of variance, against the sums that they estimate."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.stats.components import (
    Components,
    components,
    expected_of,
    more,
    more_of_examples,
)

close = pytest.approx


def test_both_components_are_unbiased_over_every_outcome() -> None:
    """Rates .2 or .9 with equal chance: between .1225, within (.16 + .09) / 2, by listing all."""
    rates, n, k = (0.2, 0.9), 2, 3
    between = within = variance = mean = 0.0
    for own in product(rates, repeat=n):
        for cells in product((0, 1), repeat=n * k):
            scores = np.array(cells).reshape(n, k)
            rows = zip(scores, own, strict=True)
            p = 0.5**n * np.prod([np.prod(np.where(row, r, 1 - r)) for row, r in rows])
            found = components(scores)
            between += p * found.between
            within += p * found.within
            mean += p * found.mean
            variance += p * found.mean**2
    assert between == close(0.1225)
    assert within == close(0.125)
    assert variance - mean**2 == close(0.1225 / n + 0.125 / (n * k))


def test_what_more_samples_and_more_examples_buy() -> None:
    rng = np.random.default_rng(0)
    rates = rng.choice([0.3, 0.8], 4000)
    found = components(rng.random((4000, 4)) < rates[:, None])
    assert found.error(100, 10**9) == close(found.of_data * np.sqrt(40), rel=1e-6)
    for n, k in ((50, 1), (50, 8), (200, 2)):
        truth = np.sqrt(0.0625 / n + 0.185 / (n * k))
        assert found.error(n, k) == close(truth, rel=0.05)
    assert found.of_data**2 + found.of_prediction**2 == close(found.error(4000, 4) ** 2)


def test_identical_samples_have_no_noise_of_prediction() -> None:
    found = components(np.tile([[1], [0], [1]], (1, 5)))
    assert (found.within, found.of_prediction) == (0, 0)
    assert found.between == close(1 / 3)


def test_more_of_either_is_told_beside_what_there_is() -> None:
    told = more(Components(n=100, k=4, mean=0.5, between=0.04, within=0.16))
    assert told["twice the samples"] == close(np.sqrt(0.04 / 100 + 0.16 / 800))
    assert told["any number of samples"] == close(0.02)
    assert told["twice the examples, half the samples"] == close(np.sqrt(0.0002 + 0.16 / 400))


@pytest.mark.parametrize(("one", "other", "k"), [(0.7, 2.0, 3), (3.0, 3.0, 8), (0.2, 0.1, 5)])
def test_any_and_all_of_more_samples_are_those_of_the_beta_binomial_law(
    one: float, other: float, k: int
) -> None:
    rates, law = stats.beta(one, other), stats.betabinom(k, one, other)
    found = Components(n=50, k=4, mean=rates.mean(), between=rates.var(), within=0.1)
    assert expected_of(found, "all", k) == close(law.pmf(k))
    assert expected_of(found, "pass", k) == close(1 - law.pmf(0))
    assert expected_of(Components(n=50, k=4, mean=0.5, between=-0.01, within=0.2), "all", k) is None


def test_a_share_of_examples_takes_more_examples() -> None:
    told = more_of_examples(0.3, 40)
    assert told["now"] == close(stats.binom(40, 0.3).std() / 40)
    assert told["twice the examples"] == close(stats.binom(80, 0.3).std() / 80)


def test_one_sample_shows_no_difference() -> None:
    with pytest.raises(ValueError, match=r"at least 2 of each, found \(5, 1\)"):
        components(np.ones((5, 1)))
