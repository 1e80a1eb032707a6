"""The best prompt beside what knows nothing."""

from __future__ import annotations

import functools
import operator
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.claims.shortcuts import compare
from pytest_maxrandom.flags.kind import Compared

if TYPE_CHECKING:
    from numpy.typing import NDArray

HALF = Fraction(1, 2)


def test_by_hand() -> None:
    found = compare(
        [True, True, True, False],
        {"longest": [HALF] * 4, "first": [Fraction(1)] + [Fraction(0)] * 3},
        [True, False, False, False],
    )
    assert (found.best, found.hardest) == (Fraction(3, 4), "longest")
    assert found.heuristics == {"longest": HALF, "first": Fraction(1, 4)}
    # Of the signs of four halves, at least three are positive.
    assert found.heuristic_p == 5 / 16
    # Two of four differ, both in favour.
    assert (found.choices_only, found.choices_only_p) == (Fraction(1, 4), 1 / 4)
    recorded = found.record()
    assert (recorded.measure, recorded.heuristic) == ("accuracy", "longest")
    assert (recorded.best, recorded.heuristic_score, recorded.choices_only) == (0.75, 0.5, 0.25)


def test_without_a_control_nothing_is_said_of_it() -> None:
    found = compare([True, False], {"longest": [HALF, HALF]})
    assert (found.choices_only, found.choices_only_p) == (None, None)
    assert found.record().choices_only is None


def test_thirds_that_add_up_to_the_best_are_reached_exactly() -> None:
    """In floating point ten times 1/10, added one by one, is less than 1."""
    values = [Fraction(1, 10)] * 10
    found = compare([True] + [False] * 9, {"longest": values})
    assert found.best == found.heuristics["longest"]
    # sum() makes up for what is rounded, from Python 3.12 on.
    assert functools.reduce(operator.add, [0.1] * 10) < 1


def test_the_same_answers_show_nothing() -> None:
    right = [True, False, True]
    assert compare(right, {"longest": [*map(Fraction, right)]}, right).choices_only_p == 1


@pytest.mark.parametrize("n", [12, 200])
def test_p_is_that_of_scipys_sign_flips(n: int) -> None:
    rng = np.random.default_rng(n)
    right = rng.random(n) < 0.7
    values = [Fraction(int(k), 6) for k in rng.integers(0, 7, n)]
    differences: NDArray[np.float64] = right - np.array(values, dtype=np.float64)
    exact = n <= 12
    truth = stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", alternative="greater",
        n_resamples=np.inf if exact else 20_000, rng=rng, vectorized=True,
    ).pvalue  # fmt: skip
    found = compare(right.tolist(), {"longest": values}).heuristic_p
    assert found == pytest.approx(truth, abs=1e-9 if exact else 0.02)


def test_guessers_are_above_a_heuristic_by_more_than_chance_at_the_level_at_most() -> None:
    rng = np.random.default_rng(0)
    runs = 1_000
    values = [Fraction(int(k), 2) for k in rng.integers(0, 3, 24)]
    chance = np.array(values, dtype=np.float64)
    passed = sum(
        compare((rng.random(24) < chance).tolist(), {"longest": values}).heuristic_p <= 0.05
        for _ in range(runs)
    )
    assert passed <= stats.binom.ppf(0.999, runs, 0.05)


def test_clusters_are_units() -> None:
    right, values = [True, True, False, True, True, True], [HALF] * 6
    single = compare(right, {"longest": values})
    fourfold = compare(
        right * 4, {"longest": values * 4}, clusters=[number % 6 for number in range(24)]
    )
    assert fourfold.heuristic_p == single.heuristic_p
    assert fourfold.best == single.best
    assert compare(right * 4, {"longest": values * 4}).heuristic_p < single.heuristic_p / 2


def test_classes_weigh_the_same_whatever_their_size() -> None:
    gold = ["y"] * 6 + ["n"] * 2
    always_yes = [Fraction(label == "y") for label in gold]
    right = [True] * 3 + [False] * 3 + [True] * 2
    found = compare(right, {"most_frequent": always_yes}, classes=gold)
    assert found.best == Fraction(3, 4)
    assert found.heuristics["most_frequent"] == HALF
    assert found.record().measure == "balanced_accuracy"
    plain = compare(right, {"most_frequent": always_yes})
    assert plain.best < plain.heuristics["most_frequent"]
    # Differences are -1/12 three times and 1/4 twice: the sum, 1/4, is reached by 8 + 4 of 32
    # choices of signs: both quarters positive, and one of them with all three twelfths.
    assert found.heuristic_p == pytest.approx(_exact([-1, -1, -1, 3, 3]))


def _exact(differences: list[int]) -> float:
    signs = np.array(np.meshgrid(*[[-1, 1]] * len(differences))).reshape(len(differences), -1)
    sums = np.array(differences) @ signs
    return float((sums >= sum(differences)).mean())


def test_of_equally_good_heuristics_the_first_counts() -> None:
    made = Compared("accuracy", HALF, {"most_frequent": HALF, "longest": HALF}, 1.0)
    assert made.hardest == "most_frequent"
