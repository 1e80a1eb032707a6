"""Numbers are written so that nobody reads a wrong one."""

from __future__ import annotations

import math

import pytest
from hypothesis import assume, given, strategies as st

from pytest_maxrandom.notation import accuracy, count, duration, level, p_value, share, span


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.57678, ".577"), (0.0, ".000"), (1.0, "1.000"), (0.2, ".200"), (0.9999, "1.000")],
)
def test_accuracies_have_three_decimals(value: float, shown: str) -> None:
    assert accuracy(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0313, ".031"),
        (0.976, ".976"),
        (0.5, ".500"),
        (0.00123, ".0012"),
        (2.1e-05, "2.1e-05"),
        (0.99997, "> .999"),
        (1.0, "> .999"),
        (0.0, "0"),
    ],
)
def test_p_values_have_two_digits_or_three_decimals(value: float, shown: str) -> None:
    assert p_value(value) == shown


def test_durations_read_as_a_person_would_say_them() -> None:
    assert [duration(s) for s in (4.4, 61, 3600 + 125)] == ["4 s", "1 min 01 s", "1 h 02 min"]


def test_a_level_is_written_as_it_was_given() -> None:
    assert [level(value) for value in (0.05, 0.0125, 0.1, 1e-05)] == [".05", ".0125", ".1", "1e-05"]
    assert level(0.012345) == ".012345"


def test_a_share_of_a_level_is_rounded() -> None:
    assert level(0.05 / 24) == ".002083"
    assert level(0.1 / 3) == ".03333"


def test_a_score_can_have_more_decimals() -> None:
    assert accuracy(0.66664, 4) == ".6666"


def test_a_p_value_that_underflowed_is_bounded_not_zero() -> None:
    assert p_value(0.0, log_p=-5000.0) == "< 1e-300"
    assert p_value(1e-310) == "< 1e-300"


def test_a_p_value_is_never_rounded_onto_its_level() -> None:
    assert p_value(0.0501, level=0.05) == ".0501"
    assert p_value(0.04999, level=0.05) == ".04999"
    assert p_value(0.05, level=0.05) == ".050"


@given(st.floats(1e-6, 0.99), st.floats(0.001, 0.99))
def test_a_shown_p_value_is_on_the_side_of_its_level_that_the_true_one_is_on(
    value: float, level: float
) -> None:
    assume(value != level)
    shown = float(p_value(value, level=level))
    assert (shown > level, shown < level) == (value > level, value < level)
    assert shown == pytest.approx(value, rel=0.051)


def test_what_was_not_computed_is_a_dash() -> None:
    dashes = accuracy(None), accuracy(math.nan), p_value(None), p_value(math.nan), count(None)
    assert set(dashes) == {"-"}
    assert share(None, 100) == "-/100"
    assert span([]) == "-"


def test_counts_are_exact() -> None:
    assert count(1234567) == "1,234,567"
    assert share(29, 100) == "29/100"
    assert span([20, 200, 60]) == "20 to 200"
    assert span([60, 60]) == "60"
