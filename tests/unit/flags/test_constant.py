"""Scores that are the same for many examples, with and without knowledge of the examples."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.flags import Flag, JudgedAnswers, find
from tests.unit.flags.made import answered, seen

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


T, N, M = 20, 100, 4
KNOWS = ["right answers told", "only right and wrong told"]


def normal(seed: int = 0, shape: tuple[int, ...] = (T, N, M)) -> np.ndarray:
    return np.random.default_rng(seed).normal(-6, 2, size=shape)


def of(scores: np.ndarray, **given: object) -> list[str]:
    gold = np.random.default_rng(9).integers(M, size=N).tolist()
    answers = np.nan_to_num(scores, nan=-np.inf).argmax(axis=2)
    return [flag.kind for flag in find(answered(answers, gold, log_likelihoods=scores, **given))]


def test_scores_that_are_the_same_for_many_examples_are_told() -> None:
    scores = normal()
    scores[[3, 8]] = scores[3, 0]
    sweep = answered(
        scores.argmax(axis=2),
        np.random.default_rng(9).integers(M, size=N).tolist(),
        log_likelihoods=scores,
    )
    (flag,) = find(sweep)
    counts = {"told": 2, "prompts": 20, "different": 1, "examples": 100}
    assert flag == Flag("constant_scores", counts)


@pytest.mark.parametrize(("values", "told"), [(1, True), (11, True), (60, False)])
def test_few_different_scores_are_those_of_few_answers(values: int, told: bool) -> None:
    """A text that was cut before the question still ends in one of the answers."""
    rng = np.random.default_rng(1)
    scores = normal()
    scores[:] = scores[:, rng.integers(values, size=N)]
    found = of(scores)
    assert ("constant_scores" in found) == told


def test_the_loss_of_the_right_answer_alone_is_enough() -> None:
    losses = normal(shape=(T, 200, 1))
    correct = np.random.default_rng(0).random((T, 200)) < 0.25
    assert find(seen(correct, log_likelihoods=losses)) == []
    losses[:] = np.tile(losses[:, :5], (1, 40, 1))
    (flag,) = find(seen(correct, log_likelihoods=losses))
    counts = {"told": 20, "prompts": 20, "different": 5, "examples": 200}
    assert flag == Flag("constant_scores", counts)


def test_equal_texts_have_equal_scores() -> None:
    scores = normal()
    scores[:, :50] = scores[:, :1]
    assert "constant_scores" in of(scores)
    assert "constant_scores" not in of(scores, copies=(*[0] * 50, *range(50, 100)))


def test_few_scores_that_tell_right_from_wrong_depend_on_the_example() -> None:
    gold = np.random.default_rng(9).integers(M, size=N)
    scores = np.tile(np.where(np.arange(M) == gold[:, np.newaxis], -0.1, -3.0), (T, 1, 1))
    assert of(scores) == []


@pytest.mark.parametrize("exported", [(0.0, 1.0), (-np.inf, 0.0)])
def test_answers_that_were_written_as_scores_are_no_constant_scores(
    exported: tuple[float, float],
) -> None:
    wrong, right = exported
    answers = np.random.default_rng(0).integers(M, size=(T, N))
    scores = np.where(np.arange(M) == answers[..., np.newaxis], right, wrong)
    scores[:, ::5, M - 1] = np.nan  # where examples have three choices
    told = answers[:, ::5] == M - 1
    scores[:, ::5, 0] = np.where(told, right, scores[:, ::5, 0])
    assert of(scores) == []


def told(scores: NDArray[np.float64], gold: NDArray[np.int64], known: str) -> list[Flag]:
    """Return the flags of kind `constant_scores` where answers are the highest scores."""
    answers, m = scores.argmax(axis=2), scores.shape[2]
    whole: JudgedAnswers = answered(answers, gold.tolist(), m=m, log_likelihoods=scores)
    if known == KNOWS[1]:
        whole = seen(answers == gold, log_likelihoods=scores, chance=Fraction(1, m))
    return [flag for flag in find(whole) if flag.kind == "constant_scores"]


def knowing(
    gold: NDArray[np.int64], accuracy: float, m: int, spread: float, seed: int = 0
) -> NDArray[np.float64]:
    """Return log-probabilities of prompts with about this accuracy, shape (T, n, m)."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, spread, size=(T, len(gold), m))
    right = rng.random((T, len(gold))) < (accuracy - 1 / m) / (1 - 1 / m)
    top = np.where(right, gold, logits.argmax(axis=2))[..., np.newaxis]
    best = logits.argmax(axis=2)[..., np.newaxis]
    highest = np.take_along_axis(logits, best, 2)
    np.put_along_axis(logits, best, np.take_along_axis(logits, top, 2), 2)
    np.put_along_axis(logits, top, highest, 2)
    normalised: NDArray[np.float64] = logits - np.log(np.exp(logits).sum(axis=2, keepdims=True))
    return normalised


@pytest.mark.parametrize("known", KNOWS)
@pytest.mark.parametrize("shared", [True, False])
def test_one_row_of_scores_is_told_though_it_is_above_chance(known: str, *, shared: bool) -> None:
    """Always the label that 135 of 200 examples have is 5 standard deviations above a half."""
    gold = np.random.default_rng(0).permutation(np.repeat([0, 1], [135, 65]))
    row = np.random.default_rng(1).normal(-3, 1, size=(1 if shared else T, 1, 2))
    row[..., 0] = row[..., 1] + 0.5
    (flag,) = told(np.broadcast_to(row, (T, 200, 2)).copy(), gold, known)
    parameters = {"told": 20, "prompts": 20, "different": 1, "examples": 200}
    assert flag.parameters == parameters


@pytest.mark.parametrize("known", KNOWS)
def test_one_row_for_each_of_few_answers_is_told_though_right_answers_are_unbalanced(
    known: str,
) -> None:
    rng = np.random.default_rng(2)
    gold = rng.permutation(np.repeat([0, 1], [150, 50]))
    few = rng.normal(-3, 1, size=(T, 8, 2))
    few[:, :6, 0] += 5  # most of them say the label that is mostly right
    (flag,) = told(few[:, rng.integers(8, size=200)], gold, known)
    assert flag.parameters["told"] == 20


@pytest.mark.parametrize("known", KNOWS)
@pytest.mark.parametrize("m", [2, 4])
@pytest.mark.parametrize("cut", [60, 100])
@pytest.mark.parametrize("accuracy", [0.8, 0.95])
def test_a_third_of_the_examples_with_one_row_is_told_though_the_rest_is_known(
    known: str, m: int, cut: int, accuracy: float
) -> None:
    rng = np.random.default_rng(3)
    gold = rng.integers(m, size=200)
    scores = knowing(gold, accuracy, m, 3)
    scores[:, :cut] = rng.normal(-3, 1, size=(T, 1, m))
    (flag,) = told(scores, gold, known)
    parameters = {"told": 20, "prompts": 20, "different": 200 - cut + 1, "examples": 200}
    assert flag.parameters == parameters


def decimals(digits: int) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    def rounded(scores: NDArray[np.float64]) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return np.log(np.exp(scores).round(digits))

    return rounded


def half_precision(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", over="ignore"):
        return np.log(np.exp(scores).astype(np.float16).astype(np.float64))


COARSE = {
    "one decimal": decimals(1),
    "two decimals": decimals(2),
    "log-likelihoods with one decimal": lambda scores: scores.round(1),
    "log-likelihoods in halves": lambda scores: (2 * scores).round() / 2,
    "16 bits": half_precision,
}


@pytest.mark.parametrize("known", KNOWS)
@pytest.mark.parametrize("coarse", COARSE.values(), ids=COARSE)
@pytest.mark.parametrize("m", [2, 4])
@pytest.mark.parametrize("accuracy", [0.75, 0.9, 1.0])
@pytest.mark.parametrize("spread", [1, 3, 12])
def test_coarse_or_saturated_scores_of_a_model_that_knows_are_not_told(
    known: str,
    coarse: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    m: int,
    accuracy: float,
    spread: float,
) -> None:
    gold = np.random.default_rng(4).integers(m, size=200)
    assert told(coarse(knowing(gold, accuracy, m, spread)), gold, known) == []


@pytest.mark.parametrize("known", KNOWS)
def test_scores_that_are_saturated_for_one_label_only_are_not_told(known: str) -> None:
    """It is sure of each example with the first label, and of no other."""
    gold = np.random.default_rng(5).permutation(np.repeat([0, 1], [80, 120]))
    scores = knowing(gold, 0.9, 2, 3)
    scores[:, gold == 0] = [0.0, -30.0]
    assert told(scores, gold, known) == []


def test_a_few_equal_rows_are_not_told() -> None:
    gold = np.random.default_rng(6).integers(2, size=200)
    scores = knowing(gold, 0.6, 2, 3)
    scores[:, :30] = scores[:, :1]
    assert told(scores, gold, KNOWS[0]) == []


@pytest.mark.parametrize("known", KNOWS)
def test_prompts_that_were_cut_are_told_beside_others_that_know(known: str) -> None:
    gold = np.random.default_rng(7).integers(4, size=200)
    scores = knowing(gold, 0.8, 4, 3)
    scores[[3, 8, 11]] = scores[[3, 8, 11], :1]
    (flag,) = told(scores, gold, known)
    assert flag.parameters["told"] == 3


def test_examples_with_fewer_choices_have_a_constant_row_of_their_own() -> None:
    gold = np.random.default_rng(8).integers(2, size=200)
    scores = normal(8, (T, 1, 3)) * np.ones((1, 200, 1))
    scores[:, ::2, 2] = np.nan
    answers = np.where(np.isnan(scores), -np.inf, scores).argmax(axis=2)
    chance = Fraction(5, 12)
    flags = find(answered(answers, gold.tolist(), m=3, chance=chance, log_likelihoods=scores))
    assert "constant_scores" in [flag.kind for flag in flags]
