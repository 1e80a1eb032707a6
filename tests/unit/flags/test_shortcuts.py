"""Shortcuts: what heuristics and answers without the question reach, beside the best prompt."""

from __future__ import annotations

import functools
import operator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.claims.shortcuts import blanked, compare
from pytest_maxrandom.flags import Flag, find
from pytest_maxrandom.flags.kind import Compared
from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt, shown_order
from pytest_maxrandom.tasks.task import Example, Layout
from tests.unit.flags.made import answered, result

if TYPE_CHECKING:
    from numpy.typing import NDArray


N = 100


def row(right: int) -> list[bool]:
    return [True] * right + [False] * (N - right)


def flags(
    correct: int, blank: int | None = None, *, passed: bool = True, **heuristics: int
) -> list[Flag]:
    """Flags of a best prompt with balanced labels, whose answers overlap least with the others'."""
    rules: dict[Any, list[Fraction]] = {
        name: [Fraction(each) for each in reversed(row(right))]
        for name, right in heuristics.items()
    }
    found = compare(row(correct), rules, None if blank is None else row(blank)[::-1])
    gold = np.arange(N) % 4
    answers = np.where(row(correct), gold, (gold + 1) % 4)[np.newaxis]
    judged = result(correct, N, passed=passed)
    return find(answered(answers, gold.tolist(), result=judged, compared=found))


@pytest.mark.parametrize(
    ("correct", "longest", "told"),
    [
        (60, 60, "heuristic"),
        (60, 75, "heuristic"),
        (60, 59, "near_heuristic"),
        (60, 50, "near_heuristic"),
        (60, 20, None),
        (90, 50, None),
    ],
)
def test_a_heuristic(correct: int, longest: int, told: str | None) -> None:
    found = flags(correct, longest=longest, first=25)
    assert [flag.kind for flag in found] == ([told] if told else [])
    assert flags(correct, passed=False, longest=longest) == []


@pytest.mark.parametrize(
    ("blank", "told"),
    [(60, "choices_only"), (61, "choices_only"), (59, "near_choices_only"), (20, None)],
)
def test_blank_inputs(blank: int, told: str | None) -> None:
    found = flags(60, blank, longest=10)
    assert [flag.kind for flag in found] == ([told] if told else [])
    assert flags(60, blank, passed=False, longest=10) == []


def test_both_say_what_is_reached() -> None:
    heuristic, blank = flags(60, 60, shortest=65, longest=20)
    measured = {"measure": "accuracy", "score": 0.65}
    assert heuristic == Flag("heuristic", {**measured, "heuristic": "shortest"})
    assert blank == Flag("choices_only", {"measure": "accuracy", "score": 0.6})
    near, blank = flags(60, 59, first=59)
    for flag, named in ((near, {"heuristic": "first"}), (blank, {})):
        parameters = dict(flag.parameters)
        assert parameters.pop("p") > 0.05
        assert parameters == {"measure": "accuracy", "score": 0.59, "level": 0.05, **named}


def test_that_the_most_frequent_label_is_as_good_is_told_as_majority_only() -> None:
    gold = [0] * 70 + [1] * 30
    right = [label == 0 for label in gold]
    values = [Fraction(each) for each in right]
    found = compare(right, {"most_frequent": values, "longest": values})
    seen = answered(
        np.zeros((1, N), dtype=np.int64), gold, m=2, result=result(70, N), compared=found
    )
    kinds = [flag.kind for flag in find(seen)]
    assert "majority" in kinds
    assert not {"heuristic", "near_heuristic"} & set(kinds)


def test_a_prompt_that_is_always_right_is_not_told_to_be_near_the_most_frequent_label() -> None:
    """All of 24 are right, and 20 of them have one label: the signs of four differ."""
    gold = [0] * 20 + [1] * 4
    label = [each == 0 for each in gold]
    for one_label, told in ((True, []), (False, ["near_choices_only"])):
        found = compare([True] * 24, {"most_frequent": [*map(Fraction, label)]}, label)
        assert found.heuristic_p == found.choices_only_p == 1 / 16
        seen = answered(
            np.array(gold)[np.newaxis],
            gold,
            m=2,
            result=result(24, 24),
            compared=replace(found, one_label=one_label),
        )
        assert [flag.kind for flag in find(seen)] == told


EXAMPLES = [
    Example(f"e{number}", f"question {number}", ("Yes", "No", "Maybe"), (number % 3,))
    for number in range(20)
]


def test_all_but_the_question_stays() -> None:
    shown = Example("turned", "question", ("a", "b"), (0,), (1, 0))
    asked = [*EXAMPLES, shown]
    for before, after in zip(asked, blanked(asked), strict=True):
        assert after.input == ""
        assert (after.presentation, after.choices, after.right) == (
            before.presentation, before.choices, before.right
        )  # fmt: skip
        assert shown_order(after) == shown_order(before)


def test_the_demonstrations_and_the_instruction_keep_their_texts() -> None:
    prompt = Prompt((EXAMPLES[0],), Format(Layout(task_prefix="Answer.", append_choices=False)))
    (blank,) = blanked([EXAMPLES[1]])
    assert prompt.context(blank) == prompt.text + "\nQ: \nA: "
    assert "Answer." in prompt.text
    assert "question 0" in prompt.text
    assert prompt.context(EXAMPLES[1]).replace("question 1", "") == prompt.context(blank)


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
