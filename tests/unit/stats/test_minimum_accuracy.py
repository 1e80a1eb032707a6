from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from pytest_maxrandom.stats.labels.null import minimum_accuracy_baseline
from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from tests.unit.stats import oracle

close = pytest.approx


@given(
    st.dictionaries(st.integers(1, 5), st.integers(1, 5), min_size=1, max_size=3),
    st.integers(1, 20),
    st.integers(1, 4),
)
@settings(max_examples=60)
def test_the_formula_agrees_with_exact_sums_of_fractions(
    mix: dict[int, int], t: int, variants: int
) -> None:
    masses = oracle.counts([Fraction(1, m) for m, size in mix.items() for _ in range(size)])
    n = len(masses) - 1
    baseline = minimum_accuracy_baseline(None, mix, t, variants)
    tails = [1 - (1 - oracle.at_least(masses, k) ** variants) ** t for k in range(n + 2)]
    assert baseline.expected * n == close(float(sum(tails[1:])), rel=1e-12)
    for k in range(n + 1):
        single = oracle.at_least(masses, k)
        assert baseline.p_value(k / n) == close(float(tails[k]), rel=1e-12)
        assert baseline.p_standard(k / n) == close(float(single**variants), rel=1e-12)
        assert baseline.union_p(k / n) == close(min(1.0, float(t * single**variants)), rel=1e-12)


@given(st.integers(1, 300), st.floats(0.05, 0.95), st.integers(1, 500), st.data())
@settings(max_examples=50)
def test_one_variant_is_the_maximum_random_baseline(
    n: int, chance: float, t: int, data: st.DataObject
) -> None:
    correct = data.draw(st.integers(0, n))
    one, plain = minimum_accuracy_baseline(n, chance, t, 1), MaxRandomBaseline(n, chance, t)
    assert one.expected == close(plain.expected_accuracy, rel=1e-12)
    # p-values of listed scores end at t * 1e-50
    assert one.p_value(correct / n) == close(plain.p_value(correct), rel=1e-9, abs=t * 1.01e-50)
    assert one.standard_baseline == close(plain.standard_baseline, rel=1e-12)


def test_more_variants_make_the_worst_of_them_worse() -> None:
    expected = [minimum_accuracy_baseline(100, 0.25, 50, v).expected for v in (1, 2, 4, 8)]
    assert expected == sorted(expected, reverse=True)


def test_the_bound_holds_where_the_variants_are_copies_of_each_other() -> None:
    copies = MaxRandomBaseline(100, 0.5, 200)  # the minimum of equal variants is one of them
    baseline = minimum_accuracy_baseline(100, 0.5, 200, 4)
    for correct in (60, 65, 70, 75):
        assert baseline.p_value(correct / 100) < copies.p_value(correct) <= copies.union_p(correct)


def test_no_variant_is_refused() -> None:
    with pytest.raises(ValueError, match="variants must be at least 1"):
        minimum_accuracy_baseline(10, 0.5, 10, 0)
