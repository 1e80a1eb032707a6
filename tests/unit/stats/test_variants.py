from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_maxrandom.stats.maximum import MaxMinRandomBaseline, MaxRandomBaseline
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
    baseline = MaxMinRandomBaseline(None, mix, t, variants)
    tails = [1 - (1 - oracle.at_least(masses, k) ** variants) ** t for k in range(n + 2)]
    assert baseline.expected_count == close(float(sum(tails[1:])), rel=1e-12)
    for k in range(n + 1):
        single = oracle.at_least(masses, k)
        assert baseline.p_value(k) == close(float(tails[k]), rel=1e-12)
        assert baseline.pmf(k) == close(float(tails[k] - tails[k + 1]), rel=1e-10)
        assert baseline.p_standard(k) == close(float(single**variants), rel=1e-12)
        assert baseline.union_p(k) == close(min(1.0, float(t * single)), rel=1e-12)
    critical = [k for k in range(n + 1) if baseline.p_value(k) <= 0.2]
    assert baseline.critical_count(0.2) == (critical[0] if critical else None)


@given(st.integers(1, 300), st.floats(0.05, 0.95), st.integers(1, 500), st.data())
@settings(max_examples=50)
def test_one_variant_is_the_maximum_random_baseline(
    n: int, chance: float, t: int, data: st.DataObject
) -> None:
    correct = data.draw(st.integers(0, n))
    one, plain = MaxMinRandomBaseline(n, chance, t, 1), MaxRandomBaseline(n, chance, t)
    assert one.expected_accuracy == close(plain.expected_accuracy, rel=1e-12)
    assert one.log_p_value(correct) == close(plain.log_p_value(correct), rel=1e-9, abs=1e-12)
    assert one.standard_baseline == close(plain.standard_baseline, rel=1e-12)


def test_more_variants_make_the_worst_of_them_worse() -> None:
    expected = [MaxMinRandomBaseline(100, 0.25, 50, v).expected_accuracy for v in (1, 2, 4, 8)]
    assert expected == sorted(expected, reverse=True)


def test_simulated_guessers_agree() -> None:
    answers = np.random.default_rng(4).binomial(40, 0.3, (20_000, 25, 3)).min(axis=2).max(axis=1)
    baseline = MaxMinRandomBaseline(40, 0.3, 25, 3)
    assert float(answers.mean()) == close(baseline.expected_count, abs=0.05)
    assert float(answers.std()) == close(baseline.std, abs=0.03)


def test_the_bound_holds_where_the_variants_are_copies_of_each_other() -> None:
    copies = MaxRandomBaseline(100, 0.5, 200)  # the minimum of equal variants is one of them
    baseline = MaxMinRandomBaseline(100, 0.5, 200, 4)
    for correct in (60, 65, 70, 75):
        assert baseline.p_value(correct) < copies.p_value(correct)
        assert baseline.union_p(correct) >= copies.p_value(correct)


def test_no_variant_is_refused() -> None:
    with pytest.raises(ValueError, match="variants must be at least 1"):
        MaxMinRandomBaseline(10, 0.5, 10, 0)
