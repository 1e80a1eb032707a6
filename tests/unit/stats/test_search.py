"""The prompts that a search could have tried, and the best of as many guessers."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import binom

from pytest_maxrandom.stats.best_of import MOST_GUESSERS, MOST_OF_A_TREE
from pytest_maxrandom.stats.maximum import BestOfPrompts, MaxRandomBaseline
from pytest_maxrandom.stats.search import (
    Feedback,
    Found,
    Look,
    Searched,
    likely_better,
    prompts_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


def of_tree(branches: int, steps: int) -> int:
    """Count the nodes of a tree one by one: a prompt for each course of answers before it."""
    return sum(1 for depth in range(steps) for _ in product(range(branches), repeat=depth))


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_a_search_tries_one_path_of_a_tree(steps: int) -> None:
    assert prompts_of(steps, [Searched("none", steps, 4, steps)]) == steps
    assert prompts_of(0, [Searched("accept", steps, 4, steps)]) == of_tree(2, steps)
    assert prompts_of(0, [Searched("score", steps, 4, steps)]) == of_tree(5, steps)
    assert prompts_of(0, [Searched("answers", steps, 4, steps)]) is None


def histories(steps: int) -> Iterator[tuple[int, ...]]:
    """Yield all that a search may be told, a bit for each prompt; the first is always the best."""
    for bits in product((0, 1), repeat=steps):
        if not steps or bits[0]:
            yield bits


def better(*told: tuple[int, ...]) -> int:
    return sum(sum(bits[1:]) for bits in told)


def weight(t: int, searches: list[Searched], found: Found) -> Fraction:
    """Return what the better prompts of a tree leave to one node; the rest is that of all alike."""
    alike = prompts_of(t, searches)
    assert alike is not None
    return 2 * share(t, searches, found) * len(searches) - Fraction(1, alike)


def share(t: int, searches: list[Searched], found: Found) -> Fraction:
    """Return the share of the level that one node has."""
    number = prompts_of(t, searches, found=found)
    assert number is not None
    return Fraction(1, number)


@pytest.mark.parametrize("steps", [2, 3, 6, 12])
@pytest.mark.parametrize("t", [0, 1, 5])
def test_the_nodes_of_a_budget_share_the_level(steps: int, t: int) -> None:
    search = [Searched("accept", steps, 10, steps)]
    nodes = [
        weight(t, search, Found(j, better(bits))) for j in range(steps) for bits in histories(j)
    ]
    besides = [t * weight(t, search, Found(steps, better(bits))) for bits in histories(steps)]
    assert (0.4 if steps > 3 else 0.2) < sum(nodes) + sum(besides) <= 1


@pytest.mark.parametrize("steps", [(1, 1), (2, 3), (4, 4), (1, 2, 3)])
@pytest.mark.parametrize("t", [0, 3])
def test_so_do_those_of_several_searches_in_any_order(steps: tuple[int, ...], t: int) -> None:
    searches = [Searched("accept", each, 10, each) for each in steps]
    total = Fraction()
    for own in range(len(steps)):
        others = [each for place, each in enumerate(steps) if place != own]
        for j in range(steps[own]):
            for told in product(histories(j), *map(histories, others)):
                total += weight(t, searches, Found(j + sum(others), better(*told)))
    for told in product(*map(histories, steps)):
        total += t * weight(t, searches, Found(sum(steps), better(*told)))
    assert total <= 1


@pytest.mark.parametrize(
    "budgets",
    [
        [1, 60], [20, 20], [20, 80], [5, 20, 80], [1, 2, 4, 8, 16, 32], [10] * 8, [2] * 12,
    ],
)  # fmt: skip
@pytest.mark.parametrize("declared", [True, False])
def test_so_do_those_of_searches_that_begin_or_not_by_what_others_were_told(
    budgets: list[int], declared: bool
) -> None:
    """After each search its user may ask for a verdict, or begin the next one."""
    total = 0.0
    for place, steps in enumerate(budgets):
        others, bits = sum(budgets[:place]), sum(budgets[:place]) - place
        searches = [Searched("accept", b, 10, b if declared else None) for b in budgets[:place]]
        for j in range(steps):
            made = [
                *searches,
                Searched("accept", *((steps, 10, steps) if declared else (j + 1, 10))),
            ]
            free = bits + max(0, j - 1)  # the first prompt of each search tells nothing
            for i in range(free + 1):
                total += float(math.comb(free, i) * share(0, made, Found(others + j, i)))
    assert 0.1 < total <= 1


@pytest.mark.parametrize("t", [0, 2])
def test_so_do_those_of_a_search_that_stops_where_it_likes(t: int) -> None:
    total = sum(
        weight(t, [Searched("accept", j + 1, 10)], Found(j, better(bits)))
        for j in range(14)
        for bits in histories(j)
    )
    assert 0.1 < total <= 1


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("budget", [5, None])
def test_so_do_those_that_read_results_where_they_like(budget: int | None, seed: int) -> None:
    """Between its steps a search may let a suite run on, or not, by all that it was told."""
    draw, n = np.random.default_rng(seed), 2

    def shares(bits: tuple[int, ...], read: int) -> Fraction:
        if read < 3 and draw.random() < 0.4:
            return sum((shares(bits, read + 1) for _ in range(n + 1)), Fraction())
        search = [Searched("accept", len(bits) + 1, n, budget)]
        found = Found(len(bits), better(bits))
        number = prompts_of(0, search, looks=[Look(1, n)] * read, found=found)
        assert number is not None
        told = () if len(bits) == 4 else ((0,), (1,)) if bits else ((1,),)
        return Fraction(1, number) + sum((shares(bits + each, read) for each in told), Fraction())

    assert 0.1 < shares((), 0) <= 1


@pytest.mark.parametrize("n", [1, 2, 4])
def test_so_do_those_that_are_told_how_good_the_best_is(n: int) -> None:
    """One node for each rising course of counts, which the bits alone leave open."""
    steps = 5
    search, total = [Searched("improved", steps, n, steps)], Fraction()
    for j in range(steps):
        for bits in histories(j):
            for counts in product(range(n + 1), repeat=sum(bits)):
                if list(counts) == sorted(set(counts)):
                    total += weight(0, search, Found(j, better(bits)))
    assert 0.1 < total <= 1


def test_few_better_prompts_are_fewer_prompts() -> None:
    climb = [Searched("accept", 200, 200, 200)]
    # Of a tree of 2^200 prompts, by hand: 2 * 2^(i + 1) * C(t, i + 1).
    assert prompts_of(0, climb, found=Found(150, 4)) == 2 * 2**5 * math.comb(200, 5)
    told = [Searched("improved", 200, 200, 200)]
    of_counts = math.comb(201, 5)
    assert prompts_of(0, told, found=Found(150, 4)) == 2 * 2**5 * math.comb(200, 5) * of_counts
    # Where most prompts were better, nodes that are all alike leave more.
    short = [Searched("accept", 20, 200, 20)]
    most = prompts_of(0, short, found=Found(19, 12))
    assert most is not None
    assert most < 2 * (2**20 - 1) < 2 * 2**13 * math.comb(20, 13)


def test_a_search_without_a_budget_pays_for_every_stop() -> None:
    free = [Searched("accept", 11, 200)]
    by_hand = 2**3 * math.comb(10, 2) * 11 * 12
    found = prompts_of(0, free, found=Found(10, 2))
    alike = prompts_of(0, free)
    assert found is not None
    assert alike is not None
    assert found == math.ceil(Fraction(2 * by_hand * alike, by_hand + alike))


def test_scores_of_all_prompts_leave_nodes_alike() -> None:
    score = [Searched("score", 3, 10, 3), Searched("accept", 3, 10, 3)]
    assert prompts_of(1, score, found=Found(5, 1)) == prompts_of(1, score)


@pytest.mark.parametrize("steps", [2, 20, 200])
def test_the_likely_number_of_better_prompts_is_that_of_any_order(steps: int) -> None:
    """Records of a random order, simulated: hardly ever more than is likely."""
    draws = np.random.default_rng(1).random((4000, steps))
    records = (draws[:, 1:] > np.maximum.accumulate(draws, axis=1)[:, :-1]).sum(axis=1)
    more = np.maximum(records - 1, 0) > likely_better(steps)
    assert more.mean() < 0.05
    if steps > 2:
        assert (np.maximum(records - 1, 0) > likely_better(steps) - 3).mean() > 0.05


def test_what_is_tried_besides_may_come_from_what_was_learned() -> None:
    learned = Searched("accept", 3, 10, 3)
    courses = 2**3
    assert prompts_of(2, [learned]) == of_tree(2, 3) + 2 * courses
    # Searches may take turns: no order of their steps has more prompts.
    wide = Searched("score", 1, 10, 1)
    assert (
        prompts_of(0, [learned, wide]) == prompts_of(0, [wide, learned]) == 1 + 11 * of_tree(2, 3)
    )
    # A second search may begin with all that the first was told.
    assert prompts_of(0, [learned, learned]) == of_tree(2, 3) + courses * of_tree(2, 3)


def test_a_budget_counts_whether_it_is_used_up_or_not() -> None:
    assert prompts_of(0, [Searched("accept", 3, 10, 20)]) == 2**20 - 1


@pytest.mark.parametrize(("steps", "doubling"), [(1, 1), (2, 2), (3, 2), (4, 3), (20, 5)])
def test_without_a_budget_each_doubling_spends_its_share(steps: int, doubling: int) -> None:
    courses = 2 ** (2**doubling - 1) - 1
    assert prompts_of(0, [Searched("accept", steps, 10)]) == courses * doubling * (doubling + 1)
    # The shares of all doublings are no more than the whole.
    assert sum(1 / (d * (d + 1)) for d in range(1, 10_000)) < 1


def test_a_verdict_that_was_seen_tells_a_score() -> None:
    search = [Searched("accept", 4, 30, 4)]
    assert prompts_of(0, search, looks=[Look(4, 30), Look(7, 60)]) == (2**4 - 1) * 4 * 31 * 7 * 61
    none = [Searched("none", 50, 30, 50)]
    assert prompts_of(50, none, looks=[Look(50, 30)]) == 50 * 50 * 31
    assert prompts_of(4, looks=[Look(4, 30)]) == 4


def test_there_is_an_end() -> None:
    assert prompts_of(0, [Searched("accept", 999, 10, 999)]) == 2**999 - 1
    assert prompts_of(0, [Searched("accept", 2000, 10, 2000)]) is None
    assert prompts_of(0, [Searched("accept", 4, 10, 4)], looks=[Look(4, 10)] * 500) is None


@pytest.mark.parametrize(
    ("feedback", "steps", "needed"),
    [
        ("none", 20, 121), ("none", 50, 123), ("none", 200, 125),
        ("accept", 20, 138), ("accept", 50, 158), ("accept", 200, None), ("score", 20, 191),
    ],
)  # fmt: skip
def test_critical_counts_of_two_hundred_questions(
    feedback: Feedback, steps: int, needed: int | None
) -> None:
    others = steps if feedback == "none" else 0
    t = prompts_of(others, [Searched(feedback, steps, 200, steps)])
    assert t is not None
    best = BestOfPrompts([({2: 200}, t)])
    assert best.critical_count() == needed
    if needed is not None:  # by logarithms of SciPy's binomial tails
        at, below = (binom.logsf(k - 1, 200, 0.5) + math.log(t) for k in (needed, needed - 1))
        assert at < math.log(-math.log1p(-0.05)) < below


def test_the_best_of_a_tree_is_the_best_of_as_many_guessers() -> None:
    t = 2**90
    best = BestOfPrompts([({2: 300}, t)])
    tails = [binom.logsf(k - 1, 300, 0.5) for k in range(1, 301)]
    expected = math.fsum(-math.expm1(-math.exp(min(700, math.log(t) + tail))) for tail in tails)
    assert best.expected_accuracy == pytest.approx(expected / 300, rel=1e-12)
    few = BestOfPrompts([({2: 300}, MOST_GUESSERS)]).expected_accuracy
    assert few == MaxRandomBaseline(300, 0.5, MOST_GUESSERS).expected_accuracy
    assert few < best.expected_accuracy < BestOfPrompts([({2: 300}, t * t)]).expected_accuracy


def test_more_than_any_tree_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^t must be at most 2\*\*1000, found "):
        BestOfPrompts([({2: 10}, MOST_OF_A_TREE + 1)])
