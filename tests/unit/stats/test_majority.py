"""Constant answers as the chance of a guess, against exact sums."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.stats.majority import FEWEST, View, chances_of_constants

HALF = Fraction(1, 2)


def test_each_set_of_choices_has_its_own_best_constant_answer() -> None:
    words = [{"Yes"}] * 7 + [{"No"}] * 3 + [{"True"}] * 2 + [{"False"}] * 8
    sets = ["Yes/No"] * 10 + ["True/False"] * 10
    rates = chances_of_constants([HALF] * 20, [View(words, sets)])
    assert rates == (Fraction(7, 10),) * 10 + (Fraction(4, 5),) * 10
    [together] = {*chances_of_constants([HALF] * 20, [View(words, [2] * 20)])}
    assert together == HALF  # no single word is right on more


def test_the_larger_rate_counts_and_a_guess_is_never_below_its_chance() -> None:
    by_text = View([{0}] * 6 + [{1}] * 4, ["ab"] * 10)
    by_place = View([{0}] * 5 + [{1}] + [{0}] * 4, [2] * 10)
    assert chances_of_constants([HALF] * 10, [by_text, by_place]) == (Fraction(9, 10),) * 10
    three = View([{0}, {1}, {2}] * 4, [3] * 12)
    assert chances_of_constants([Fraction(1, 3)] * 12, [three]) == (Fraction(1, 3),) * 12
    assert chances_of_constants([HALF] * 12, [three]) == (HALF,) * 12


def test_of_several_right_answers_each_counts_and_small_sets_do_not() -> None:
    view = View([{0, 1}] * 4 + [{1}] * 2, ["ab"] * 6)
    assert chances_of_constants([HALF] * 6, [view]) == (Fraction(1),) * 6
    few = FEWEST - 1
    assert chances_of_constants([HALF] * few, [View([{0}] * few, ["ab"] * few)]) == (HALF,) * few


@pytest.mark.parametrize("n", [6, 20, 60])
@pytest.mark.parametrize("share", [0.6, 0.7, 0.95])
def test_no_label_guesser_has_a_larger_upper_tail_than_its_rate(n: int, share: float) -> None:
    """Compare exact distributions of those who say a label more or less often by example."""
    generator = np.random.default_rng(n)
    gold = np.arange(n) >= round(share * n)
    rate = float(max(gold.mean(), 1 - gold.mean()))
    for _ in range(20):
        says = generator.choice([0.0, 0.3, 0.7, 0.97, 1.0], n) * generator.random() ** 0.2
        right = np.where(gold, 1 - says, says)
        constant = np.full(n, says.mean())  # the same frequency whatever is asked
        for chances in (np.where(gold, 1 - constant, constant), np.minimum(right, rate)):
            masses = np.ones(1)
            for chance in chances:
                masses = np.convolve(masses, [1 - chance, chance])
            tails = np.cumsum(masses[::-1])[::-1]
            counts = np.arange(n + 1)
            above = counts >= n * rate + 1
            assert (tails[above] <= stats.binom.sf(counts[above] - 1, n, rate) + 1e-12).all()
