"""Answers, right choices and log-likelihoods in NumPy archives."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.npz import read_npz

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.answers import Answers

NAN = np.nan
ANSWERS = np.array([[0, 2, -1], [1, 1, 0]])
GOLD = np.array([0, 1, 0])
CORRECT = np.array([[True, False, False], [False, True, True]])
EVALUATED = np.array([[True, True, False], [True, True, True]])
CHOICES = np.array([2, 3, 2])
SCORES = np.array(
    [
        [[-1, -2, NAN], [-4, -4, -1], [NAN, NAN, NAN]],
        [[-3, -2, NAN], [-2, -1, -np.inf], [-1, -2, NAN]],
    ]
)


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    return tmp_path / "correct_m.npz"


def read(archive: Path, **content: Any) -> Answers:
    ids = {"prompt_ids": np.array(["p", "q"]), "example_ids": np.array(["a", "b", "c"])}
    kept = {name: array for name, array in (ids | content).items() if array is not None}
    np.savez(archive, **{f"t__0__{name}": array for name, array in kept.items()})
    [sweep] = read_npz(archive)
    return sweep


def test_answers_and_gold_tell_what_is_right_and_what_was_evaluated(archive: Path) -> None:
    sweep = read(archive, answers=ANSWERS, gold=GOLD)
    assert (sweep.correct == CORRECT).all()
    assert (sweep.evaluated == EVALUATED).all()
    assert sweep.answers is not None
    assert (sweep.answers == ANSWERS).all()
    assert sweep.gold == (frozenset({0}), frozenset({1}), frozenset({0}))
    assert sweep.labels == ("0", "1", "2")
    assert sweep.chances is None


def test_arrays_that_agree_may_all_be_there(archive: Path) -> None:
    sweep = read(
        archive,
        answers=ANSWERS,
        gold=GOLD,
        correct=CORRECT,
        evaluated=EVALUATED,
        choices=CHOICES,
        log_likelihoods=SCORES,
    )
    assert (sweep.correct == CORRECT).all()
    assert sweep.chances == (Fraction(1, 2), Fraction(1, 3), Fraction(1, 2))
    assert sweep.log_likelihoods is not None
    assert np.array_equal(sweep.log_likelihoods, SCORES, equal_nan=True)


def test_several_choices_may_be_right(archive: Path) -> None:
    gold = np.array([[True, False, False], [True, False, True], [False, True, False]])
    sweep = read(archive, answers=ANSWERS, gold=gold, choices=CHOICES)
    assert sweep.correct.tolist() == [[True, True, False], [False, False, False]]
    assert sweep.gold == (frozenset({0}), frozenset({0, 2}), frozenset({1}))
    assert sweep.chances == (Fraction(1, 2), Fraction(2, 3), Fraction(1, 2))


def test_log_likelihoods_tell_the_number_of_choices(archive: Path) -> None:
    sweep = read(archive, correct=CORRECT, evaluated=EVALUATED, log_likelihoods=SCORES)
    assert sweep.chances == (Fraction(1, 2), Fraction(1, 3), Fraction(1, 2))
    assert (sweep.answers, sweep.gold, sweep.labels) == (None, None, ())


def test_choices_alone_tell_the_chances(archive: Path) -> None:
    sweep = read(archive, correct=CORRECT, evaluated=EVALUATED, choices=CHOICES)
    assert sweep.chances == (Fraction(1, 2), Fraction(1, 3), Fraction(1, 2))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"gold": None}, "the array t__0__correct is missing"),
        ({"answers": None}, "no array is named TASK__SHOTS__correct, found t__0__prompt_ids"),
        (
            {"answers": None, "correct": CORRECT},
            "the array t__0__evaluated is missing; write it with the others",
        ),
        (
            {"correct": ~CORRECT & EVALUATED},
            "t__0__correct: found False for prompt 'p' and example 'a', but the answer says",
        ),
        (
            {"evaluated": np.ones_like(EVALUATED)},
            "t__0__evaluated: found True for prompt 'p' and example 'c', but the answer says",
        ),
        (
            {"gold": np.array(["A", "B", "B"])},
            "gold: found .* expected integers: number the choices ",
        ),
        ({"answers": ANSWERS.astype(float)}, "answers: found values of the type float64, expected"),
        ({"answers": ANSWERS.T}, r"answers: found the shape \(3, 2\), expected \(2, 3\)"),
        (
            {"answers": ANSWERS - 1},
            "answers: found -2 for prompt 'p' and example 'c', expected a number from -1 on",
        ),
        ({"gold": GOLD[:2]}, r"gold: found the shape \(2,\), expected \(3,\)"),
        ({"gold": GOLD - 1}, "gold: found -1 for example 'a', expected a number from 0 on"),
        ({"gold": np.eye(3)}, "gold: found values of the type float64, expected booleans"),
        ({"gold": np.eye(3, dtype=bool)[:2]}, r"gold: found the shape \(2,\), expected \(3,\)"),
        (
            {"gold": np.eye(3, k=1, dtype=bool)},
            "gold: found no right choice for example 'c'; give it",
        ),
        ({"choices": CHOICES - 1}, "choices: found 1 for example 'a', expected a number from 2 on"),
        (
            {"choices": np.array([2, 2, 2])},
            "answers: found 2 for prompt 'p' and example 'b', which has the choices 0 to 1",
        ),
        (
            {"choices": np.array([2, 3, 2]), "gold": np.array([0, 3, 0])},
            "gold: found 3 for example 'b', which has the choices 0 to 2",
        ),
        (
            {"choices": CHOICES, "gold": np.array([[1, 1, 0]] * 3, dtype=bool)},
            "gold: found 0, 1 for example 'a', which has the choices 0 to 1, not all of them",
        ),
        (
            {"choices": CHOICES + 1, "log_likelihoods": SCORES},
            r"log_likelihoods: found numbers at \[0, 1\] for prompt 'p' and example 'a', which has "
            "the choices 0 to 2",
        ),
        ({"log_likelihoods": SCORES[:1]}, r"found the shape \(1, 3\), expected \(2, 3\)"),
        ({"log_likelihoods": SCORES[0]}, r"found the shape \(3, 3\), expected 3 dimension"),
        ({"log_likelihoods": SCORES[:, :, :1]}, "found 1 numbers for example 'a', expected at lea"),
        ({"log_likelihoods": -SCORES}, "found infinity for prompt 'q' and example 'b'"),
        (
            {"log_likelihoods": SCORES[:, :, ::-1]},
            r"found numbers at \[1, 2\] for prompt 'p' and example 'a', which has the choices 0 to",
        ),
        (
            {"log_likelihoods": np.full((2, 3, 3), -1.5)},
            r"t\[m-0shot\]: every choice of every example has the same log-likelihood",
        ),
        ({"prompt_ids": np.array([], dtype=str)}, "t__0__prompt_ids: holds no id; give a sweep"),
    ],
)
def test_what_contradicts_itself_is_told_in_one_sentence(
    archive: Path, changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(RecordedError, match=message) as caught:
        read(archive, **{"answers": ANSWERS, "gold": GOLD} | changed)
    assert str(caught.value).startswith(f"{archive}: ")
    assert "\n" not in str(caught.value)


def test_prompts_must_agree_on_how_many_choices_an_example_has(archive: Path) -> None:
    scores = SCORES.copy()
    scores[1, 1, 2] = NAN
    with pytest.raises(RecordedError, match="prompt 'q' and example 'b', which has the choices 0 "):
        read(archive, answers=ANSWERS, gold=GOLD, log_likelihoods=scores)


def test_an_example_that_nobody_was_asked_leaves_the_chances_open(archive: Path) -> None:
    evaluated = EVALUATED & [True, True, False]
    sweep = read(archive, correct=CORRECT & evaluated, evaluated=evaluated, log_likelihoods=SCORES)
    assert sweep.chances is None


def test_scores_that_differ_once_are_let_pass(archive: Path) -> None:
    scores = np.where(np.isnan(SCORES), NAN, -1.5)
    with pytest.raises(RecordedError, match="the same log-likelihood"):
        read(archive, answers=ANSWERS, gold=GOLD, log_likelihoods=scores)
    scores[1, 0, 1] = -1.25
    assert read(archive, answers=ANSWERS, gold=GOLD, log_likelihoods=scores).answers is not None


def test_scores_that_are_all_minus_infinity_tell_nothing(archive: Path) -> None:
    scores = np.where(np.isnan(SCORES), NAN, -np.inf)
    with pytest.raises(RecordedError, match="the same log-likelihood"):
        read(archive, answers=ANSWERS, gold=GOLD, log_likelihoods=scores)


def test_choices_may_have_texts(archive: Path) -> None:
    texts = np.array([["yes", "no", ""], ["a", "b", "c"], ["no", "yes", ""]])
    sweep = read(archive, answers=ANSWERS, gold=GOLD, choice_texts=texts)
    assert sweep.offered == (("yes", "no"), ("a", "b", "c"), ("no", "yes"))
    assert sweep.labels == ()
    assert sweep.chances == (Fraction(1, 2), Fraction(1, 3), Fraction(1, 2))
    with pytest.raises(RecordedError, match="found 3 texts for example 'b', which has the choices"):
        read(archive, answers=ANSWERS, gold=GOLD, choices=np.full(3, 2), choice_texts=texts)
    with pytest.raises(RecordedError, match="give a text for each choice"):
        read(archive, answers=ANSWERS, gold=GOLD, choice_texts=texts[:, ::-1])
