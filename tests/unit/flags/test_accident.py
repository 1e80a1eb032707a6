"""How likely it is that several guessers do what one does hardly ever."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.flags.counting import of_several


@pytest.mark.parametrize(
    ("times", "single", "t"), [(1, 5.7e-7, 200), (10, 0.003, 200), (3, 0.2, 3), (1, 1e-310, 7)]
)
def test_equal_prompts_are_counted_as_a_binomial_count(times: int, single: float, t: int) -> None:
    found = of_several([single] * times, t)
    assert found.times == times
    assert found.log_p == pytest.approx(stats.binom.logsf(times - 1, t, single), rel=1e-9)


def test_what_all_of_many_do_is_far_below_the_smallest_number() -> None:
    assert of_several([1e-61] * 200, 200).log_p == pytest.approx(-200 * 61 * np.log(10))


def test_what_cannot_be_is_no_accident() -> None:
    assert of_several([0.0], 5).log_p == -np.inf
    assert of_several([1.0] * 5, 5).log_p == 0


def test_the_bound_holds_for_guessers_with_other_examples_each() -> None:
    """Each of 30 guessers at a half is wrong on all of its 2 to 7 examples or is not."""
    rng = np.random.default_rng(0)
    chances = 0.5 ** rng.integers(2, 8, size=30)
    tables = rng.random((4000, 30)) < chances
    bounds = np.array([of_several(chances[row].tolist(), 30).log_p for row in tables if row.any()])
    for level in (0.5, 0.1, 0.02):
        share = (np.exp(bounds) <= level).sum() / len(tables)
        assert share <= level + 3 * (level * (1 - level) / len(tables)) ** 0.5


def test_one_that_says_little_does_not_hide_another() -> None:
    alone = of_several([1e-13], 50)
    beside = of_several([0.24, 1e-13], 50)
    assert beside.times == 1
    assert np.exp(beside.log_p - alone.log_p) == pytest.approx(2)
