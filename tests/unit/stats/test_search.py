"""The prompts that a search could have tried, and the best of as many guessers."""

from __future__ import annotations

import math
from itertools import product

import pytest
from scipy.stats import binom

from pytest_maxrandom.stats.best_of import MOST_GUESSERS, MOST_OF_A_TREE
from pytest_maxrandom.stats.maximum import BestOfPrompts, MaxRandomBaseline
from pytest_maxrandom.stats.search import Feedback, Look, Searched, prompts_of


def of_tree(branches: int, steps: int) -> int:
    """Count the nodes of a tree one by one: a prompt for each course of answers before it."""
    return sum(1 for depth in range(steps) for _ in product(range(branches), repeat=depth))


@pytest.mark.parametrize("steps", [1, 2, 5])
def test_a_search_tries_one_path_of_a_tree(steps: int) -> None:
    assert prompts_of(steps, [Searched("none", steps, 4, steps)]) == steps
    assert prompts_of(0, [Searched("accept", steps, 4, steps)]) == of_tree(2, steps)
    assert prompts_of(0, [Searched("score", steps, 4, steps)]) == of_tree(5, steps)
    assert prompts_of(0, [Searched("answers", steps, 4, steps)]) is None


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
