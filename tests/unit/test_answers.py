"""Answers that are right or wrong, and answers with a score: one matrix."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.answers import Answers
from pytest_maxrandom.claims.assessment import View, assess
from pytest_maxrandom.claims.nulls import Guessers
from pytest_maxrandom.claims.verdict import Claim
from pytest_maxrandom.errors import RecordedError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def graded(scores: NDArray[np.float64], /, **more: Any) -> Answers:
    """Answers with these scores, and what follows from them."""
    t, n = scores.shape[:2]
    samples = scores.reshape(t, n, -1)
    usual: dict[str, Any] = {
        "model": "m",
        "shots": 0,
        "prompts": tuple(f"p{row}" for row in range(t)),
        "identities": tuple(f"p{row}" for row in range(t)),
        "examples": tuple(f"e{column}" for column in range(n)),
        "correct": (samples == 1).all(axis=2),
        "evaluated": ~np.isnan(samples).any(axis=2),
        "scores": scores,
    }
    return Answers(**(usual | more))


def without_own(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores where each prompt lacks one example."""
    found = scores.copy()
    for row in range(len(found)):
        found[row, row] = np.nan
    return found


@pytest.mark.parametrize("seed", range(20))
def test_right_or_wrong_is_the_score_of_0_or_1_to_the_last_bit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = without_own(rng.integers(0, 2, (7, 31)).astype(np.float64))
    with_scores, plain = graded(scores), graded(scores, scores=None)
    assert with_scores.accuracies.tobytes() == plain.accuracies.tobytes()
    assert with_scores.best == plain.best
    assert with_scores.values.tobytes() == plain.values.tobytes()
    assert with_scores.correct_counts.tolist() == plain.correct_counts.tolist()


def test_truth_values_of_a_package_may_be_numbers() -> None:
    scores = without_own(np.random.default_rng(0).integers(0, 2, (7, 31)).astype(np.float64))
    told, plain = graded(scores, scores=None, correct=(scores == 1) * 1), graded(scores)
    assert told.correct_counts.tolist() == plain.correct_counts.tolist()


def test_a_prompt_is_worth_the_mean_over_examples_of_the_mean_over_samples() -> None:
    rng = np.random.default_rng(1)
    eighths = rng.integers(0, 9, (5, 12, 4))
    answers = graded(without_own(eighths / 8))
    for row, accuracy in enumerate(answers.accuracies):
        asked = [column for column in range(12) if column != row]
        total = sum(Fraction(int(each), 8) for each in eighths[row, asked].flat)
        assert accuracy == pytest.approx(float(total / (4 * 11)), rel=1e-15)
    assert answers.best == int(np.argmax(answers.accuracies))


def test_the_best_score_need_not_have_most_right_answers() -> None:
    answers = graded(np.array([[1.0, 0.0, 0.0], [0.75, 0.75, 0.75]]))
    assert answers.best == 1
    assert answers.correct_counts.tolist() == [1, 0]


def test_an_answer_is_right_where_all_its_samples_are() -> None:
    scores = np.array([[[1.0, 1.0], [1.0, 0.5]]])
    assert graded(scores).correct.tolist() == [[True, False]]
    with pytest.raises(RecordedError, match="'correct' True exactly where all of them are 1"):
        graded(scores, correct=np.array([[True, True]]))


def test_scores_go_with_their_prompts() -> None:
    scores = np.random.default_rng(2).random((4, 6, 2))
    answers = graded(scores, identities=("a", "b", "a", "c"))
    assert answers.of_prompts([2, 0]).scores is not None
    kept = answers.distinct()
    assert kept.scores is not None
    assert kept.scores.tolist() == scores[[0, 1, 3]].tolist()


@pytest.mark.parametrize("value", [1.5, -0.25, np.inf, np.nan])
def test_a_score_is_a_number_from_0_to_1(value: float) -> None:
    scores = np.full((2, 3), 0.5)
    scores[1, 2] = value
    message = f"the scores of prompt 'p1' on example 'e2' are [{value}]; expected numbers from 0"
    with pytest.raises(RecordedError, match=re.escape(message)):
        graded(scores, evaluated=np.ones((2, 3), dtype=np.bool_))


def test_what_was_not_asked_has_no_score() -> None:
    evaluated = np.array([[True, False]])
    with pytest.raises(RecordedError, match="NaN where 'evaluated' is False"):
        graded(np.array([[0.5, 0.5]]), evaluated=evaluated)
    assert graded(np.array([[0.5, np.nan]]), evaluated=evaluated).accuracies.tolist() == [0.5]


@pytest.mark.parametrize("shape", [(2, 3), (3, 2, 1), (2, 2, 0), (2, 2, 2, 2)])
def test_scores_have_a_place_for_each_prompt_and_example(shape: tuple[int, ...]) -> None:
    known = graded(np.zeros((2, 2)))
    with pytest.raises(RecordedError, match=re.escape(f"'scores' has the shape {shape}")):
        graded(
            np.zeros(shape), prompts=known.prompts, identities=known.identities,
            examples=known.examples, correct=known.correct, evaluated=known.evaluated,
        )  # fmt: skip


def test_a_task_needs_no_choices() -> None:
    answers = graded(np.array([[0.2, 0.9], [0.4, 0.8]]), inputs=("a", "b"))
    assert (answers.choices, answers.chances, answers.gold, answers.answers) == (None,) * 4
    assert (answers.tried, answers.best) == (2, 1)


def test_a_claim_judges_scores_of_0_and_1_and_refuses_those_between() -> None:
    rng = np.random.default_rng(2)
    scores = without_own(rng.integers(0, 2, (5, 40)).astype(np.float64))
    null = replace(Guessers.alike(40, Fraction(1, 2), 5), kinds=(0,) * 5)

    def judged(answers: Answers) -> Any:
        view = View(read=answers, t=5, chance=Fraction(1, 2), shuffles=[])
        found = assess(Claim(p_max=0.05), null, null.best, [view], thrifty=True)
        return found.best_correct, found.p_max, found.passed

    plain = judged(graded(scores, scores=None))
    assert judged(graded(scores)) == judged(graded(np.stack([scores] * 3, axis=2))) == plain
    scores[1, 3] = 0.25
    expected = "prompt 'p1' has the score 0.25 on example 'e3', which no guesser is compared with"
    with pytest.raises(RecordedError, match=expected):
        judged(graded(scores))
    scores[1, 3] = 1
    samples = np.stack([scores, scores], axis=2)
    samples[1, 3] = (0, 1)
    with pytest.raises(RecordedError, match=r"has the score 0\.5 on"):
        judged(graded(samples))
