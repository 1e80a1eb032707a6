"""Rules without knowledge: the bound against all ways in which right answers could have fallen."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.stats.chances import chance_groups
from pytest_maxrandom.stats.rules import rule_p_value, total

if TYPE_CHECKING:
    from collections.abc import Sequence


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
