from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_maxrandom.stats.maximum import (
    max_random_baseline,
    max_random_F,
    max_random_p_value,
    max_random_pmf,
)

close = pytest.approx


def test_the_four_functions_take_the_arguments_of_the_reference_package() -> None:
    # The figures are those of max-random-baseline 0.1.1, which adds a small error to each mass.
    assert max_random_baseline(n=100, arg=0.5, t=10) == close(0.5767798066819103, rel=1e-12)
    assert max_random_baseline(100, {2: 50, 5: 50}, 10) == close(0.42017187381946597, rel=1e-12)
    assert max_random_p_value(acc=0.6, n=100, arg=0.5, t=10) == close(0.2506606659136389, rel=1e-12)
    assert max_random_pmf(num_correct=60, n=100, arg=0.5, t=10) == close(
        0.08796452994139203, rel=1e-12
    )
    assert max_random_F(num_correct=60, n=100, arg=0.5, t=10) == close(
        0.8373038640277531, rel=1e-12
    )


def test_a_list_of_chances_is_one_for_each_example() -> None:
    assert max_random_baseline(4, [0.5] * 4, 10) == max_random_baseline(4, 0.5, 10)


def test_p_values_are_never_negative_and_far_tails_are_not_lost() -> None:
    assert 0 < max_random_p_value(1.0, 100, 0.5, 10) == close(10 * 0.5**100, rel=1e-12)
    assert max_random_p_value(1.0, 1000, 0.25, 200) == 0.0


@pytest.mark.parametrize(
    "arg",
    [1, (0.5, 0.5), np.array([0.5, 0.5]), np.float32(0.5)],
    ids=lambda arg: type(arg).__name__,
)
def test_chances_of_every_numeric_type_are_taken_and_never_end_the_process(arg: float) -> None:
    assert 0.5 < max_random_baseline(2, arg, 3) <= 1.0


def test_a_list_longer_than_n_is_refused() -> None:
    with pytest.raises(ValueError, match="names 4 examples, but n is 3"):
        max_random_p_value(1 / 3, 3, [0.5] * 4, 3)


@pytest.mark.parametrize("t", [0, -1])
def test_no_guesser_is_refused(t: int) -> None:
    with pytest.raises(ValueError, match="t must be at least 1"):
        max_random_p_value(1.0, 100, 0.5, t)


@pytest.mark.parametrize("acc", [1.2, -0.1, math.nan, math.inf])
def test_an_accuracy_outside_zero_to_one_is_refused(acc: float) -> None:
    with pytest.raises(ValueError, match="acc must be an accuracy from 0 to 1"):
        max_random_p_value(acc, 100, 0.5, 10)


@pytest.mark.parametrize(("acc", "n"), [(0.605, 100), (0.333, 3), (0.5, 101)])
def test_an_accuracy_that_is_no_multiple_of_one_example_is_refused(acc: float, n: int) -> None:
    with pytest.raises(ValueError, match=f"no multiple of 1/{n}"):
        max_random_p_value(acc, n, 0.5, 10)


@pytest.mark.parametrize("acc", ["0.6", True, None])
def test_an_accuracy_that_is_no_number_is_refused(acc: float) -> None:
    with pytest.raises(TypeError, match="acc must be a number"):
        max_random_p_value(acc, 100, 0.5, 10)


def test_every_accuracy_in_floating_point_means_the_count_it_was_made_from() -> None:
    # Taking the floor of n * acc - 1 is wrong for one in 27 of these pairs.
    for n in (3, 7, 49, 100, 200, 997):
        tails = [max_random_p_value(k / n, n, 0.5, 1) for k in range(0, n + 1, max(1, n // 40))]
        expected = [1 - max_random_F(k - 1, n, 0.5, 1) for k in range(0, n + 1, max(1, n // 40))]
        assert tails == close(expected, abs=1e-12)
    assert max_random_p_value(float(np.float32(29 / 100)), 100, 0.2, 9) == close(
        max_random_p_value(0.29, 100, 0.2, 9)
    )


@pytest.mark.parametrize("count", [60.5, "60", None])
def test_a_count_that_is_no_integer_is_refused(count: int) -> None:
    for function in (max_random_F, max_random_pmf):
        with pytest.raises(TypeError, match="must be an integer"):
            function(count, 100, 0.5, 10)


def test_counts_beyond_the_examples_have_no_mass() -> None:
    assert (max_random_F(-1, 100, 0.5, 10), max_random_F(100, 100, 0.5, 10)) == (0.0, 1.0)
    assert (max_random_pmf(-1, 100, 0.5, 10), max_random_pmf(101, 100, 0.5, 10)) == (0.0, 0.0)
