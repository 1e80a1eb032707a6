"""The sign-flip test beside a count of all choices of signs, and beside SciPy's."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from pytest_maxrandom.stats.differences import SignFlip, sign_flip

WHOLE = st.lists(st.integers(-9, 9), min_size=1, max_size=8)
MARGINS = st.fractions(-5, 5, max_denominator=4)


def share_of_signs(values: list[int], margin: Fraction, side: int) -> Fraction:
    """Share of sign choices whose sum of (value - margin) is as far on a side as the observed."""
    shifted = [side * (value * margin.denominator - margin.numerator) for value in values]
    signs = np.array([*itertools.product((1, -1), repeat=len(values))])
    sums = signs @ np.array(shifted)
    return Fraction(int((sums >= sum(shifted)).sum()), len(signs))


@given(WHOLE, MARGINS)
def test_p_values_are_shares_of_all_choices_of_signs(values: list[int], margin: Fraction) -> None:
    test = sign_flip(values)
    greater, less = (share_of_signs(values, margin, side) for side in (1, -1))
    assert test.p_greater(float(margin)) == greater
    assert test.p_less(float(margin)) == less
    assert test.p_value(float(margin)) == min(1, 2 * min(greater, less))


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(1, 5)), min_size=1, max_size=8), MARGINS)
def test_weights_are_what_a_sign_turns(pairs: list[tuple[int, int]], margin: Fraction) -> None:
    values, weights = zip(*pairs, strict=True)
    test = sign_flip(values, weights=weights)
    assert test.mean == pytest.approx(np.average(values, weights=weights))
    centred = [weight * (value - margin) for value, weight in pairs]
    reached = [
        sum(sign * each for sign, each in zip(signs, centred, strict=True)) >= sum(centred)
        for signs in itertools.product((1, -1), repeat=len(pairs))
    ]
    assert test.p_greater(float(margin)) == pytest.approx(sum(reached) / len(reached))
    mirror = sign_flip([-value for value in values], weights=weights)
    assert mirror.p_less(float(-margin)) == test.p_greater(float(margin))


@pytest.mark.parametrize("weights", [[1.0], [1.0, 0.0], [1.0, math.inf]])
def test_what_is_no_weight_is_refused(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="weights must be 2 finite numbers above 0"):
        sign_flip([1.0, 2.0], weights=weights)


@settings(max_examples=50)
@given(WHOLE, st.sampled_from([0.5, 0.89, 0.95]))
def test_the_interval_holds_the_margins_that_are_not_rejected(
    values: list[int], confidence: float
) -> None:
    low, high = sign_flip(values).interval(confidence)
    means = sorted({Fraction(sum(part), len(part)) for part in subsets(values)})
    between = [(a + b) / 2 for a, b in itertools.pairwise(means)]
    for margin in [*means, *between, means[0] - 1, means[-1] + 1]:
        smaller = min(share_of_signs(values, margin, side) for side in (1, -1))
        kept = low - 1e-9 <= margin <= high + 1e-9
        assert kept == (min(Fraction(1), 2 * smaller) > 1 - Fraction(str(confidence)))


def subsets(values: list[int]) -> list[tuple[int, ...]]:
    sizes = range(1, len(values) + 1)
    return [part for size in sizes for part in itertools.combinations(values, size)]


@pytest.mark.parametrize("units", [2, 7, 11])
def test_exact_p_values_are_those_of_scipys_permutation_test(units: int) -> None:
    values = np.random.default_rng(units).normal(0.3, 1, units)
    test = sign_flip(values)
    for alternative, found in (
        ("greater", test.p_greater()),
        ("less", test.p_less()),
        ("two-sided", test.p_value()),
    ):
        expected = stats.permutation_test(
            (values,),
            np.mean,
            permutation_type="samples",
            n_resamples=2**12,
            alternative=alternative,
        )
        assert found == pytest.approx(expected.pvalue, abs=1e-12)


def test_twenty_five_tasks_are_counted_and_not_drawn() -> None:
    values = np.random.default_rng(3).normal(0.0, 1.0, 25)
    exact = sign_flip(values)
    assert exact.draws is None
    drawn = sign_flip(values, most_exact=0, draws=200_000)
    assert drawn.draws == 200_000
    for margin in (-0.2, 0.0, 0.1):
        assert drawn.p_greater(margin) == pytest.approx(exact.p_greater(margin), abs=0.005)
        assert drawn.p_value(margin) == pytest.approx(exact.p_value(margin), abs=0.01)
    assert drawn.interval(0.89) == pytest.approx(exact.interval(0.89), abs=0.01)


def test_an_effect_far_beyond_the_noise_has_the_smallest_p_value_there_is() -> None:
    values = 1 + np.arange(40) / 100
    for test in (sign_flip(values[:9]), sign_flip(values, draws=999)):
        assert test.p_value() == test.smallest_p
        assert test.p_less() == 1.0
    assert sign_flip(values[:9]).smallest_p == 2 / 2**9
    assert sign_flip(values, draws=999).smallest_p == 2 / 1000


@pytest.mark.parametrize(("confidence", "fewest"), [(0.95, 6), (0.89, 5), (0.99, 8)])
def test_too_few_units_leave_the_interval_open(confidence: float, fewest: int) -> None:
    values = [0.1 * (1 + unit) for unit in range(fewest)]
    assert sign_flip(values[1:]).interval(confidence) == (-math.inf, math.inf)
    low, high = sign_flip(values).interval(confidence)
    assert values[0] <= low <= high <= values[-1]


def both_kinds(values: list[float]) -> list[SignFlip]:
    return [sign_flip(values), sign_flip(values, most_exact=0, draws=199, seed=5)]


FLOATS = st.lists(st.floats(-1, 1, allow_subnormal=False), min_size=1, max_size=12)


@given(FLOATS, st.floats(-1, 1, allow_subnormal=False))
def test_negated_differences_give_the_mirror_image(values: list[float], margin: float) -> None:
    pairs = zip(both_kinds(values), both_kinds([-value for value in values]), strict=True)
    for test, mirrored in pairs:
        assert mirrored.mean == -test.mean
        assert mirrored.p_greater(-margin) == test.p_less(margin)
        assert mirrored.p_less(-margin) == test.p_greater(margin)
        assert mirrored.p_value(-margin) == test.p_value(margin)
        low, high = test.interval(0.6)
        assert mirrored.interval(0.6) == (-high, -low)


@given(st.data(), FLOATS)
def test_the_order_of_the_differences_does_not_matter(
    data: st.DataObject, values: list[float]
) -> None:
    shuffled = data.draw(st.permutations(values))
    for test, other in zip(both_kinds(values), both_kinds(shuffled), strict=True):
        assert (test.mean, test.p_value(), test.p_greater(0.1)) == (
            other.mean,
            other.p_value(),
            other.p_greater(0.1),
        )
        assert test.interval(0.7) == other.interval(0.7)


@pytest.mark.parametrize("units", [6, 25, 60])
def test_arms_that_never_differ_have_p_1_and_the_interval_0(units: int) -> None:
    test = sign_flip(np.zeros(units))
    assert (test.mean, test.p_value(), test.p_greater(), test.p_less()) == (0, 1, 1, 1)
    assert test.interval(0.95) == (0, 0)
    assert test.p_greater(-0.02) == test.smallest_p / 2


@given(FLOATS)
def test_a_larger_margin_is_harder_to_exceed(values: list[float]) -> None:
    for test in both_kinds(values):
        by_margin = [test.p_greater(margin) for margin in np.linspace(-1.5, 1.5, 31)]
        assert by_margin == sorted(by_margin)


def test_a_seed_repeats_the_draws() -> None:
    values = np.random.default_rng(0).normal(0.1, 1, 50)
    first, again, other = (sign_flip(values, seed=seed, draws=499).p_value() for seed in (1, 1, 2))
    assert first == again != other


@pytest.mark.parametrize(
    ("values", "options", "said"),
    [
        ([], {}, "must be a row of numbers, found shape"),
        ([[1.0]], {}, "must be a row of numbers, found shape"),
        ([1.0, math.nan], {}, "must be finite"),
        ([1.0], {"draws": 0}, "draws must be at least 1"),
        ([1.0], {"most_exact": 41}, "most_exact must be at most 40"),
    ],
)
def test_what_cannot_be_tested_is_refused(
    values: list[float], options: dict[str, int], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        sign_flip(values, **options)


@pytest.mark.parametrize("confidence", [0, 1, math.nan])
def test_a_confidence_lies_between_0_and_1(confidence: float) -> None:
    with pytest.raises(ValueError, match="confidence must be between 0 and 1"):
        sign_flip([1.0]).interval(confidence)
