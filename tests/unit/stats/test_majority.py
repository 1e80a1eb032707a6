"""Right answers, what constant answers and rules reach of them, and what is no luck."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.stats.chances import chance_groups
from pytest_maxrandom.stats.gold import membership, right_labels, times_given
from pytest_maxrandom.stats.majority import FEWEST, View, chances_of_constants
from pytest_maxrandom.stats.rules import rule_p_value, total

if TYPE_CHECKING:
    from collections.abc import Sequence


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


def test_one_right_label_and_a_set_of_one_are_the_same() -> None:
    assert right_labels([1, {0}, [2, 0]]) == [{1}, {0}, {0, 2}]
    assert right_labels(np.array([1, 0])) == [{1}, {0}]


def test_a_label_is_marked_where_it_is_right() -> None:
    marked = membership(right_labels([1, {0, 2}, 5]), 3)
    assert marked.tolist() == [[False, True, False], [True, False, True], [False] * 3]


@pytest.mark.parametrize(
    ("gold", "error", "told"),
    [
        ([0, []], ValueError, "gold of example 1 names no right choice"),
        ([0, -1], ValueError, "gold of example 1 must be at least 0, found -1"),
        ([{0}, {1.5}], TypeError, "gold of example 1 must be an integer, found 1.5"),
    ],
)
def test_what_is_no_label_is_refused(gold: list[int], error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        right_labels(gold)


def by_counting(kept: Sequence[Sequence[int]], sizes: Sequence[int], least: Fraction) -> Fraction:
    """P(expected result >= least), where one of each example's choices is right by lot.

    Parameters
    ----------
    kept
        Per example the choices that the rule leaves, between which it guesses.
    """
    total = Fraction()
    for gold in itertools.product(*map(range, sizes)):
        reached = sum(
            (Fraction(right in own, len(own)) for right, own in zip(gold, kept, strict=True)),
            Fraction(),
        )
        total += reached >= least
    return total / math.prod(sizes)


@pytest.mark.parametrize("sizes", [(2,) * 9, (3,) * 6, (2, 3, 5, 4, 2, 2), (5, 5, 2, 2)])
def test_a_rule_that_leaves_one_choice_is_judged_exactly(sizes: tuple[int, ...]) -> None:
    n, chances = len(sizes), chance_groups([Fraction(1, size) for size in sizes])
    for right in range(n + 1):
        expected = by_counting([[0]] * n, sizes, Fraction(right))
        values = [1] * right + [0] * (n - right)
        assert rule_p_value(values, chances, range(n)) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.parametrize(
    ("kept", "sizes"),
    [
        ([[0, 1], [0], [0], [0, 1, 2], [0]], (4, 4, 4, 4, 4)),
        ([[0, 1]] * 5, (4,) * 5),
        ([[0], [0, 1], [0, 1], [0], [0, 1], [0]], (2, 3, 2, 5, 4, 2)),
        ([[0, 1]] * 5, (2,) * 5),
    ],
)
def test_a_rule_that_guesses_between_several_is_never_judged_too_small(
    kept: list[list[int]], sizes: tuple[int, ...]
) -> None:
    n, chances = len(sizes), chance_groups([Fraction(1, size) for size in sizes])
    for hits in itertools.product((0, 1), repeat=n):
        values = [Fraction(hit, len(own)) for hit, own in zip(hits, kept, strict=True)]
        exact = by_counting(kept, sizes, sum(values, Fraction()))
        assert rule_p_value(values, chances, range(n), guesses=True) >= float(exact) * (1 - 1e-12)


@pytest.mark.parametrize("m", [2, 4])
@pytest.mark.parametrize(("clusters", "each"), [(10, 5), (25, 4), (6, 20)])
def test_clusters_with_one_right_answer_are_never_judged_too_small(
    m: int, clusters: int, each: int
) -> None:
    rng = np.random.default_rng(clusters)
    units = np.repeat(np.arange(clusters), each).tolist()
    n, chances = clusters * each, ((Fraction(1, m), clusters * each),)
    right = (rng.random((4000, clusters)) < 1 / m).sum(axis=1) * each
    values = {count: [1] * count + [0] * (n - count) for count in set(right.tolist())}
    bounds = {count: rule_p_value(own, chances, units) for count, own in values.items()}
    found = np.array([bounds[count] for count in right.tolist()])
    for level in (0.01, 0.05, 0.2):
        assert (found <= level).mean() <= level + 3 * math.sqrt(level / len(found))
    # Taken for independent they would be "right by no luck" far too often.
    alone = {count: rule_p_value(own, chances, range(n)) for count, own in values.items()}
    assert np.mean([alone[count] <= 0.01 for count in right.tolist()]) > 0.02


def test_what_is_always_right_is_no_luck_and_what_is_never_right_may_be() -> None:
    chances = ((Fraction(1, 4), 50),)
    assert rule_p_value([1] * 50, chances, range(50)) == pytest.approx(0.25**50, rel=1e-9)
    assert rule_p_value([0] * 50, chances, range(50)) == 1.0
    assert rule_p_value([1] + [0] * 49, chances, ["one"] * 50) == 1.0


def test_fractions_are_added_exactly() -> None:
    values = [Fraction(a, b) for b in range(1, 12) for a in range(b + 1)]
    assert total(values) == sum(values, Fraction())
    assert total([1, 0, 1]) == 2
    assert total([]) == 0


@pytest.mark.parametrize("size", [0, 1, 7, 400_000])
@pytest.mark.parametrize("most", [2, 127, 10**6])
def test_labels_are_counted_as_sorting_counts_them(size: int, most: int) -> None:
    said = np.random.default_rng(most).integers(-1, most, size)
    said = said.astype(np.int8) if most < 128 else said
    for found, expected in zip(times_given(said), np.unique(said, return_counts=True), strict=True):
        assert found.tolist() == expected.tolist()
