"""Answers that are always the same label."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.flags import Flag, find
from pytest_maxrandom.flags.counting import majority
from pytest_maxrandom.record import RedFlag
from pytest_maxrandom.reports.red_flags import remedy
from tests.unit.flags.made import answered, result, seen

T, N, M = 10, 100, 4
GOLD = [0] * 45 + [1] * 20 + [2] * 20 + [3] * 15


def majority_of(correct: int, label: str | None) -> dict[str, Any]:
    shown = {"label": label, "correct": correct, "n": N, "always_right": correct == N}
    return {"case": "accuracy", **shown}


def kinds(answers: np.ndarray, gold: list[int], **given: object) -> list[str]:
    return [flag.kind for flag in find(answered(answers, gold, **given))]


def test_a_constant_answer_beats_the_best_of_ten_guessers_and_is_told_in_three_ways() -> None:
    p_max = 1 - stats.binom.cdf(44, N, 1 / M) ** T
    assert 1e-5 < p_max < 2e-4
    judged = result(45, N, p_max=p_max, permutation_p=1.0)
    constant, best, shuffled = find(answered(np.zeros((T, N), int), GOLD, result=judged))
    assert (constant.kind, constant.mild) == ("constant_answers", False)
    assert constant.parameters == {
        "told": 10, "prompts": 10, "prompt": None, "label": "A", "place": 1, "share": 1.0
    }  # fmt: skip
    assert best == Flag("majority", majority_of(45, "A"))
    assert shuffled == Flag("max_t", {"p_max": p_max, "permutation_p": 1.0, "level": 0.05})


def test_a_best_prompt_above_the_majority_answer_is_not_told() -> None:
    answers = np.array([GOLD])
    answers[0, 46:] = 0
    (constant,) = find(answered(answers, GOLD, result=result(46, N)))
    assert (constant.kind, constant.mild) == ("constant_answers", True)
    assert kinds(np.array([GOLD]), GOLD, result=result(100, N)) == []


def test_the_majority_is_of_the_examples_of_the_best_prompt() -> None:
    answers = np.random.default_rng(0).permutation(GOLD)[np.newaxis]
    answers[0, ::10] = -1  # 90 examples
    right = int(((answers[0] >= 0) & (np.array(GOLD) == 0)).sum())
    assert right == 40  # every tenth of 45 is left out
    equal, above = result(80, 180), result(81, 180)
    assert kinds(answers, GOLD, result=equal, shots=10) == ["majority"]
    assert kinds(answers, GOLD, result=above, shots=10) == []


def test_a_claim_that_fails_needs_no_such_flag() -> None:
    rng = np.random.default_rng(0)
    failed = result(30, N, passed=False, permutation_p=0.5)
    assert kinds(rng.integers(M, size=(T, N)), GOLD, result=failed) == []


def test_places_in_a_list_are_no_words() -> None:
    answers = np.random.default_rng(0).permuted(np.tile(GOLD, (2, 1)), axis=1)
    (flag,) = find(answered(answers, GOLD, labels=(), result=result(40, N)))
    assert flag.parameters == majority_of(45, None)
    assert find(answered(answers, GOLD, labels=(), comparable=False, result=result(40, N))) == []


def test_the_majority_is_of_all_right_choices() -> None:
    gold = tuple(map(frozenset, ([0, 1], [0], [1], [2, 1])))
    constant = majority(seen(np.zeros((1, 4)), gold=gold, comparable=True))
    assert constant is not None
    assert (constant.answer, constant.rate) == (1, 0.75)
    assert majority(answered(np.zeros((1, 4), int), [0, 0, 1, 2], comparable=False)) is None


@pytest.mark.parametrize(("share", "told"), [(0.9, []), (0.97, ["constant_answers"])])
def test_nearly_all_is_enough(share: float, told: list[str]) -> None:
    answers = np.zeros((T, N), dtype=np.int64)
    answers[:, round(share * N) :] = 3
    gold = np.random.default_rng(0).permutation(GOLD).tolist()
    assert kinds(answers, gold) == told


def test_a_few_constant_prompts_are_told_if_one_is_the_best() -> None:
    rng = np.random.default_rng(0)
    answers = rng.integers(M, size=(T, N))
    answers[[2, 6]] = 1
    best = result(45, N, best=6, passed=False)
    assert kinds(answers, GOLD, result=result(45, N, best=5, passed=False)) == []
    (flag,) = find(answered(answers, GOLD, result=best))
    named = [flag.parameters[name] for name in ("told", "prompts", "prompt", "label", "share")]
    assert named == [2, 10, None, "B", 1.0]


def test_one_right_label_leaves_nothing_else_to_say() -> None:
    assert kinds(np.zeros((T, N), int), [0] * N) == []


@pytest.mark.parametrize(
    ("gold", "said"),
    [
        (GOLD, "claim balanced accuracy, or balance the labels"),
        # Balanced accuracy says nothing where one label alone is ever right.
        ([0] * N, "add examples with other right answers"),
    ],
)
def test_what_to_do_about_a_constant_answer_is_what_helps(gold: list[int], said: str) -> None:
    judged = result(gold.count(0), N, permutation_p=0.01)
    flags = find(answered(np.zeros((T, N), int), gold, result=judged))
    [flag] = [each for each in flags if each.kind == "majority"]
    assert flag.parameters == majority_of(gold.count(0), "A")
    assert remedy(RedFlag("majority", "fail", "", dict(flag.parameters))) == said


@pytest.mark.parametrize(
    "parameters",
    [
        # It is balanced accuracy that is claimed; and places have none.
        {"case": "score", "label": "B", "always_right": False},
        {"case": "accuracy", "label": None, "always_right": False},
    ],
)
def test_balanced_accuracy_is_no_way_out_of_itself_or_where_labels_are_places(
    parameters: dict[str, Any],
) -> None:
    assert remedy(RedFlag("majority", "fail", "", parameters)) == "balance the labels"


def test_few_examples_may_have_the_same_answer_by_accident() -> None:
    """Of 200 guessers at 12 examples of two choices, some say the same to all."""
    answers = np.random.default_rng(0).integers(2, size=(200, 12))
    answers[0] = 0
    judged = result(6, 12, passed=False)
    assert kinds(answers, [0, 1] * 6, m=2, result=judged) == []


def test_many_prompts_with_the_same_answer_to_few_examples_are_no_accident() -> None:
    """One of 200 guessers says the same to all of 12 examples with .1, and 20 with 1e-31."""
    answers = np.random.default_rng(0).integers(2, size=(200, 12))
    judged = result(6, 12, passed=False)
    for constant, told in ((1, []), (20, ["constant_answers"]), (200, ["constant_answers"])):
        answers[:constant] = 0
        assert stats.binom.sf(constant - 1, 200, 2 / 2**12) < (1e-25 if told else 1)
        assert kinds(answers, [0, 1] * 6, m=2, result=judged) == told


def test_p_values_on_the_same_side_of_the_level_agree() -> None:
    answers = np.random.default_rng(0).integers(M, size=(T, N))
    for p_max, permutation_p, told in [
        (0.04, 0.049, []),
        (0.04, 0.06, ["max_t"]),
        (0.06, 0.2, []),
        (0.04, None, []),
    ]:
        judged = result(60, N, p_max=p_max, permutation_p=permutation_p)
        assert kinds(answers, GOLD, result=judged) == told


@pytest.mark.parametrize(
    ("best", "told"), [(0.51, []), (0.5 - 1e-14, ["majority"]), (0.4, ["majority"])]
)
def test_a_constant_answer_in_another_score_than_accuracy_is_told(
    best: float, told: list[str]
) -> None:
    answers = np.random.default_rng(0).permuted(np.tile(GOLD, (2, 1)), axis=1)
    judged: dict[str, Any] = {
        "metric": "balanced_accuracy",
        "constants": (0.25, 0.5, 0.25, 0.25),
        "result": result(40, N, best_score=best),
    }
    assert kinds(answers, GOLD, **judged) == told
    if told:
        (flag,) = find(answered(answers, GOLD, **judged))
        parameters = {"case": "score", "label": "B", "score": "balanced accuracy", "value": 0.5}
        assert flag == Flag("majority", {**parameters, "always_right": False})
