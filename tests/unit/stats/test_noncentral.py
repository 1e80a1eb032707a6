"""The conditional model beside SciPy's distribution and beside plain numerical integration."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import integrate, stats

from pytest_maxrandom.stats.noncentral import ConditionalLikelihood, conditional_likelihood
from pytest_maxrandom.stats.paired import Pairs, paired

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = tuple[int, int, int, int]
"""Right answers and n of a, right answers and n of b."""

ORDINARY = [(31, 50, 27, 50), (40, 50, 35, 50), (12, 30, 14, 45), (3, 5, 0, 7), (99, 200, 80, 200)]
EXTREME: dict[str, list[Row]] = {
    "one pair of one example": [(1, 1, 0, 1)],
    "all right with a, all wrong with b": [(20, 20, 0, 20), (30, 30, 0, 30)],
    "nearly nothing told": [(10, 10, 10, 10), (0, 5, 0, 5), (1, 3, 0, 2)],
    "a large effect": [(190, 200, 20, 200)],
}


def pairs_of(rows: Sequence[Row]) -> Pairs:
    columns = [list(column) for column in zip(*rows, strict=True)]
    return paired(["task"] * len(rows), range(len(rows)), *columns)


def likelihood(rows: Sequence[Row]) -> ConditionalLikelihood:
    return conditional_likelihood(pairs_of(rows))


def log_likelihood(of: ConditionalLikelihood, beta: float) -> float:
    """Return log P(right answers of a | totals, beta), without the binomial coefficients."""
    return beta * float(of.right.sum()) - float(of.moments(beta).log_normaliser.sum())


def distributions(rows: Sequence[Row], beta: float) -> list[stats.rv_discrete]:
    return [
        stats.nchypergeom_fisher(n_a + n_b, n_a, a + b, math.exp(beta)) for a, n_a, b, n_b in rows
    ]


@pytest.mark.parametrize("beta", [-2.5, -0.3, 0.0, 0.26, 1.7])
def test_moments_are_those_of_scipys_noncentral_hypergeometric(beta: float) -> None:
    found = likelihood(ORDINARY).moments(beta)
    # `paired` keeps replicates 0 to 4 in order.
    known = distributions(ORDINARY, beta)
    assert found.mean == pytest.approx([each.mean() for each in known], rel=1e-9)
    assert found.variance == pytest.approx([each.var() for each in known], rel=1e-7)


@pytest.mark.parametrize("beta", [-2.5, 0.26, 1.7])
def test_the_log_likelihood_is_that_of_scipy_but_for_a_constant(beta: float) -> None:
    def known(at: float) -> float:
        parts = zip(distributions(ORDINARY, at), ORDINARY, strict=True)
        return sum(float(each.logpmf(row[0])) for each, row in parts)

    found = likelihood(ORDINARY)
    expected = known(beta) - known(0.0)
    assert log_likelihood(found, beta) - log_likelihood(found, 0.0) == pytest.approx(expected)


def test_the_level_of_a_pair_drops_out_of_the_likelihood() -> None:
    """Two binomials with any common level, given their total, are what the model says."""
    a, n_a, b, n_b = 7, 12, 4, 10
    beta, total = 0.8, a + b
    for level in (-3.0, 0.0, 2.0):
        chance_a, chance_b = 1 / (1 + np.exp(-level - beta)), 1 / (1 + np.exp(-level))
        k = np.arange(total + 1)
        joint = stats.binom.pmf(k, n_a, chance_a) * stats.binom.pmf(total - k, n_b, chance_b)
        found = likelihood([(a, n_a, b, n_b)])
        mean = (joint * k).sum() / joint.sum()
        assert found.moments(beta).mean[0] == pytest.approx(mean)


@pytest.mark.parametrize("rows", EXTREME.values(), ids=EXTREME)
def test_the_posterior_is_that_of_plain_integration(rows: list[Row]) -> None:
    beta = np.linspace(-8, 8, 3201)
    log_posterior, difference = stats.norm.logpdf(beta), np.zeros_like(beta)
    for a, n_a, b, n_b in rows:
        shape = (n_a + n_b, n_a, a + b, np.exp(beta))
        log_posterior += stats.nchypergeom_fisher.logpmf(a, *shape)
        mean = np.array([stats.nchypergeom_fisher.mean(*shape[:3], odds) for odds in shape[3]])
        difference += (mean / n_a - (a + b - mean) / n_b) / len(rows)
    cumulated = integrate.cumulative_simpson(np.exp(log_posterior), x=beta, initial=0)
    weights = np.gradient(cumulated / cumulated[-1])
    expected_mean = weights @ beta

    effect = likelihood(rows).posterior(0.89)
    assert effect.mean == pytest.approx(expected_mean, abs=2e-4)
    assert effect.sd == pytest.approx(np.sqrt(weights @ (beta - expected_mean) ** 2), abs=2e-4)
    shares = np.interp([effect.low, effect.high], beta, cumulated / cumulated[-1])
    assert shares == pytest.approx([0.055, 0.945], abs=2e-4)
    assert effect.difference == pytest.approx(weights @ difference, abs=2e-4)
    ends = np.interp([effect.low, effect.high], beta, difference)
    assert [effect.difference_low, effect.difference_high] == pytest.approx(ends, abs=1e-5)


def test_the_mode_is_where_the_posterior_is_highest_and_its_spread_the_curvature() -> None:
    for rows in (ORDINARY, *EXTREME.values()):
        found = likelihood(rows)
        mode, spread = found.mode()

        def log_posterior(beta: float, found: ConditionalLikelihood = found) -> float:
            return log_likelihood(found, beta) - beta**2 / 2

        step = 1e-3
        left, at, right = (log_posterior(mode + k * step) for k in (-1, 0, 1))
        assert abs(right - left) < 1e-4 * step
        assert spread == pytest.approx(((2 * at - left - right) / step**2) ** -0.5, rel=1e-4)


@given(st.integers(0, 40), st.integers(1, 5))
def test_pairs_all_right_or_all_wrong_tell_nothing_but_the_prior(n: int, copies: int) -> None:
    rows = [(0, 10, 0, 10), (n + 1, n + 1, n + 1, n + 1)] * copies
    effect = likelihood(rows).posterior(0.89)
    z = stats.norm.ppf(0.945)
    assert (effect.mode, effect.mean) == pytest.approx((0, 0), abs=1e-9)
    assert (effect.sd, effect.low, effect.high) == pytest.approx((1, -z, z), abs=1e-4)
    assert effect.difference == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("rows", [ORDINARY, *EXTREME.values()])
def test_swapping_the_arms_flips_the_effect(rows: list[Row]) -> None:
    effect = conditional_likelihood(pairs_of(rows)).posterior()
    swapped = likelihood([(b, n_b, a, n_a) for a, n_a, b, n_b in rows]).posterior()
    assert (swapped.mode, swapped.mean) == pytest.approx((-effect.mode, -effect.mean), abs=1e-7)
    assert (swapped.low, swapped.high) == pytest.approx((-effect.high, -effect.low), abs=1e-7)
    assert swapped.difference == pytest.approx(-effect.difference, abs=1e-9)
    assert (swapped.sd, swapped.predictive_sd) == pytest.approx((effect.sd, effect.predictive_sd))


def test_a_copied_arm_has_effect_0() -> None:
    rows = [(31, 50, 31, 50), (8, 40, 8, 40)]
    effect = likelihood(rows).posterior()
    assert effect.mode == 0
    assert (effect.mean, effect.difference) == pytest.approx((0, 0), abs=1e-9)
    assert effect.low == pytest.approx(-effect.high)


@pytest.mark.slow
def test_the_predictive_spread_is_that_of_repetitions() -> None:
    rows = [(31, 50, 27, 50), (12, 30, 14, 45), (3, 5, 0, 7)]
    generator = np.random.default_rng(1)
    found = likelihood(rows)
    effect = found.posterior()
    betas = generator.normal(effect.mean, effect.sd, 1500)
    repeated = []
    for beta in betas:
        draws = [each.rvs(random_state=generator) for each in distributions(rows, float(beta))]
        parts = zip(draws, rows, strict=True)
        each = [right / n_a - (a + b - right) / n_b for right, (a, n_a, b, n_b) in parts]
        repeated.append(sum(each) / len(rows))
    assert effect.predictive_sd == pytest.approx(np.std(repeated), rel=0.06)
    assert effect.difference == pytest.approx(np.mean(repeated), abs=0.012)


def test_many_pairs_are_worked_through_in_pieces_with_the_same_result(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = likelihood(ORDINARY).posterior()
    monkeypatch.setattr("pytest_maxrandom.stats.noncentral._CELLS", 300)
    in_pieces = likelihood(ORDINARY).posterior()
    assert in_pieces.mean == pytest.approx(whole.mean, abs=1e-12)
    assert in_pieces.difference_low == pytest.approx(whole.difference_low, abs=1e-12)


def test_a_confidence_of_one_is_refused() -> None:
    with pytest.raises(ValueError, match="confidence must be between 0 and 1"):
        likelihood(ORDINARY).posterior(1.0)


def test_what_does_not_fit_in_memory_is_refused_and_not_begun() -> None:
    n = 10**9
    with pytest.raises(ValueError, match="found 2 pairs with n up to 1,000,000,000; compare fewer"):
        likelihood([(5, n, 7, n), (1, 2, 0, 2)])
