from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import false_discovery_control

from pytest_maxrandom.stats.multiplicity import (
    above,
    benjamini_hochberg,
    decisive,
    holm,
    joint_p_value,
)

p_values = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(1e-6, 0.5)), min_size=1, max_size=4))
def test_parts_of_a_claim_hold_together_where_each_holds(parts: list[tuple[float, float]]) -> None:
    ps = {f"p{place}": p for place, (p, _) in enumerate(parts)}
    levels = {f"p{place}": level for place, (_, level) in enumerate(parts)}
    joint, decides = joint_p_value(ps, levels), decisive(ps, levels)
    assert joint is not None
    assert decides is not None
    close = any(math.isclose(p, level, rel_tol=1e-9) for p, level in parts)
    assert close or above(joint, max(levels.values())) == above(ps[decides], levels[decides])
    assert close or above(ps[decides], levels[decides]) == any(above(*part) for part in parts)
    # No part is made smaller, so the joint one has its level whichever part is by chance.
    assert joint >= max(ps.values()) * (1 - 1e-12)


def test_parts_with_one_level_have_the_largest_p_value_and_unknown_ones_none() -> None:
    levels = {"a": 0.05, "b": 0.05}
    assert joint_p_value({"a": 0.02, "b": 0.04}, levels) == 0.04
    assert joint_p_value({"a": 0.02, "b": None}, levels) is None
    assert decisive({"a": 0.9, "b": None}, levels) == "b"
    assert (joint_p_value({}, {}), decisive({}, {})) == (None, None)


def rejected_by_holm(ps: list[float], alpha: float) -> set[int]:
    """Holm's procedure as he states it: step down until one p exceeds alpha / (m - i + 1)."""
    rejected: set[int] = set()
    for place in sorted(range(len(ps)), key=ps.__getitem__):
        if (len(ps) - len(rejected)) * ps[place] > alpha:
            break
        rejected.add(place)
    return rejected


@given(p_values, st.floats(0.001, 0.5))
def test_holm_rejects_what_the_step_down_procedure_rejects(ps: list[float], alpha: float) -> None:
    adjusted = holm(ps)
    assert {place for place, p in enumerate(adjusted) if p <= alpha} == rejected_by_holm(ps, alpha)


@given(p_values)
def test_benjamini_hochberg_agrees_with_scipy(ps: list[float]) -> None:
    assert benjamini_hochberg(ps) == pytest.approx(
        false_discovery_control(ps, method="bh").tolist(), rel=1e-12
    )


@given(p_values)
def test_adjusted_p_values_keep_the_order_and_are_never_smaller(ps: list[float]) -> None:
    for adjust in (holm, benjamini_hochberg):
        adjusted = adjust(ps)
        assert all(a >= p * (1 - 1e-15) for a, p in zip(adjusted, ps, strict=True))
        by_p = [a for _, a in sorted(zip(ps, adjusted, strict=True))]
        assert by_p == sorted(by_p)
        assert max(adjusted) <= 1


def test_one_claim_is_not_adjusted_and_no_claim_is_no_mistake() -> None:
    assert holm([0.03]) == benjamini_hochberg([0.03]) == [0.03]
    assert holm([]) == benjamini_hochberg([]) == []


@pytest.mark.parametrize("p", [-0.1, 1.1, math.nan])
def test_a_p_value_outside_zero_to_one_is_refused(p: float) -> None:
    for adjust in (holm, benjamini_hochberg):
        with pytest.raises(ValueError, match="p-value 1 must be a probability"):
            adjust([0.5, p])


@pytest.mark.slow
def test_holm_holds_the_family_wise_error_of_dependent_claims() -> None:
    generator = np.random.default_rng(1)
    shared = generator.random((4000, 1))
    own = generator.random((4000, 8))
    ps = np.where(generator.random((4000, 8)) < 0.5, shared, own)
    wrong = np.mean([min(holm(list(row))) <= 0.05 for row in ps])
    assert wrong <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 4000)


def test_a_p_value_that_is_the_level_but_for_rounding_is_not_above_it() -> None:
    assert not above(0.1 * 3 / 10 * (1 + 1e-15), 0.03)
    assert not above(0.05, 0.05)
    assert above(0.0500001, 0.05)
