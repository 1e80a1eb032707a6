"""Scores that tell nothing: constant, tied, or of texts that the model would not write."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.answers import Unread
from pytest_maxrandom.flags import Flag, find
from tests.unit.flags.made import answered, result, seen, worded

T, N, M = 20, 100, 4


def normal(seed: int = 0, shape: tuple[int, ...] = (T, N, M)) -> np.ndarray:
    return np.random.default_rng(seed).normal(-6, 2, size=shape)


def never(told: int, prompts: int, guessers: int, log_p: float) -> dict[str, Any]:
    """Return what is said of prompts that are never right."""
    close = pytest.approx(log_p, rel=1e-9)
    return {"told": told, "prompts": prompts, "guessers": guessers, "log_p": close}


def of(scores: np.ndarray, **given: object) -> list[str]:
    gold = np.random.default_rng(9).integers(M, size=N).tolist()
    answers = np.nan_to_num(scores, nan=-np.inf).argmax(axis=2)
    return [flag.kind for flag in find(answered(answers, gold, log_likelihoods=scores, **given))]


def test_prompts_that_are_never_right_are_told() -> None:
    correct = np.random.default_rng(0).random((T, N)) < 0.25
    correct[[3, 7]] = False
    (flag,) = find(seen(correct))
    none = stats.binom.pmf(0, N, 0.25)
    assert flag == Flag("never_right", never(2, T, 2, stats.binom.logsf(1, T, none)))
    (only,) = find(seen(correct[3:4]))
    assert only.parameters == never(1, 1, 1, math.log(none))


def test_few_examples_may_all_be_wrong_by_accident() -> None:
    correct = np.ones((3, 10), dtype=np.bool_)
    correct[1] = False
    assert find(seen(correct)) == []


@pytest.mark.parametrize(
    ("n", "zeros", "told"),
    [
        (50, 1, False),  # of 200 guessers .00011 are right nowhere
        (50, 2, True),
        (50, 10, True),
        (50, 200, True),
        (20, 1, False),  # .63
        (20, 5, False),
        (20, 8, True),
        (20, 200, True),
    ],
)
def test_the_more_prompts_are_never_right_the_less_it_is_an_accident(
    n: int, zeros: int, *, told: bool
) -> None:
    correct = np.ones((200, n), dtype=np.bool_)
    correct[:zeros] = False
    assert (stats.binom.sf(zeros - 1, 200, 0.75**n) <= 1e-4) == told
    assert [flag.kind for flag in find(seen(correct))] == ["never_right"] * told


def test_half_of_all_prompts_never_right_on_few_examples_are_no_accident() -> None:
    correct = np.ones((200, 10), dtype=np.bool_)
    correct[:100] = False
    (flag,) = find(seen(correct))
    named = [flag.parameters[name] for name in ("told", "prompts")]
    assert named == [100, 200]


def test_a_prompt_with_few_examples_does_not_hide_one_that_is_never_right_on_many() -> None:
    correct = np.ones((50, N), dtype=np.bool_)
    evaluated = np.ones_like(correct)
    evaluated[0, 5:] = False
    correct[:2] = False
    (flag,) = (
        f for f in find(seen(correct, evaluated=evaluated, shots=95)) if f.kind != "majority"
    )
    one_of_two_looks = 2 * stats.binom.sf(0, 50, stats.binom.pmf(0, N, 1 / 4))
    assert flag == Flag("never_right", never(2, 50, 1, math.log(one_of_two_looks)))


def written(why: np.ndarray, **given: Any) -> list[Flag]:
    """Return what is found in generated answers, of which these could not be read."""
    rng = np.random.default_rng(9)
    gold = rng.integers(M, size=N).tolist()
    answers = np.where(rng.random((T, N)) < 0.6, gold, rng.integers(M, size=(T, N)))
    answers[why > 0] = M
    found = find(answered(answers, gold, unread=why, labels=("A", "B", "C", "D", "?"), **given))
    return [flag for flag in found if flag.kind == "unread_answers"]


def test_answers_that_cannot_be_read_are_told_above_a_twentieth() -> None:
    why = np.zeros((T, N), dtype=np.int64)
    assert written(why) == []
    why.flat[: T * N // 20] = Unread.CUT
    assert written(why) == []
    why.flat[-1] = Unread.REFUSED
    why.flat[-2] = Unread.UNREADABLE
    (flag,) = written(why)
    assert flag.parameters == {
        "told": T * N // 20 + 2, "answers": T * N, "best": None,
        "cut": T * N // 20, "refused": 1, "unreadable": 1,
    }  # fmt: skip
    assert worded(flag).startswith("In 102 of 2,000 answers (5.1 %) nothing could be read")


def test_answers_of_the_best_prompt_that_cannot_be_read_are_told() -> None:
    why = np.zeros((T, N), dtype=np.int64)
    why[3, :6] = Unread.UNREADABLE
    assert written(why, result=result(60, N, best=2)) == []
    (flag,) = written(why, result=result(60, N, best=3))
    assert (flag.parameters["told"], flag.parameters["best"]) == (6, "3")
    assert flag.parameters["unreadable"] == 6


def test_answers_that_are_all_unread_are_called_so() -> None:
    gold, answers = np.arange(N) % M, np.full((T, N), M)
    why = np.full((T, N), Unread.CUT)
    found = find(answered(answers, gold.tolist(), unread=why, labels=(), choices=(M,) * N))
    (flag,) = (flag for flag in found if flag.kind == "constant_answers")
    assert flag.parameters["label"] == "no choice"


def test_tied_best_scores_are_told_where_they_are_more_than_a_few() -> None:
    scores = normal()
    scores[:, :10, 1:] = scores[:, :10, :1]
    assert of(scores) == []
    scores[:, 10:20, 1:] = scores[:, 10:20, :1]
    assert of(scores) == ["tied_scores"]


def test_the_share_of_ties_is_told() -> None:
    scores = normal()
    top = scores.argmax(axis=2)[..., np.newaxis]
    second = np.argsort(scores, axis=2)[..., -2:-1]
    best = np.take_along_axis(scores, top, 2)
    np.put_along_axis(scores[:, :30], second[:, :30], best[:, :30], 2)
    gold = np.random.default_rng(9).integers(M, size=N).tolist()
    (flag,) = find(answered(scores.argmax(axis=2), gold, log_likelihoods=scores))
    told = {"case": "equal", "told": 600, "answers": 2000, "best": None}
    assert flag == Flag("tied_scores", told)


def test_one_tie_in_a_few_answers_is_an_accident() -> None:
    for ties, told in ((4, []), (5, ["tied_scores"])):
        scores = normal(shape=(1, 9, M))
        scores[:, :ties, 1:] = scores[:, :ties, :1]
        sweep = answered(scores.argmax(axis=2), [0, 1, 2, 3, 0, 1, 2, 3, 0], log_likelihoods=scores)
        assert [flag.kind for flag in find(sweep)] == told


def test_ties_of_the_best_prompt_are_told_though_others_have_none() -> None:
    scores = normal()
    scores[7, :60, 1:] = scores[7, :60, :1]
    gold = np.random.default_rng(9).integers(M, size=N).tolist()
    given = {"log_likelihoods": scores}
    answers = scores.argmax(axis=2)
    assert find(answered(answers, gold, **given, result=result(40, N, best=6))) == []
    (flag,) = find(answered(answers, gold, **given, result=result(60, N, best=7)))
    told = {"case": "equal", "told": 60, "answers": 100, "best": "7"}
    assert flag == Flag("tied_scores", told)


def test_scores_of_the_best_prompt_that_are_no_numbers_are_told() -> None:
    scores = normal()
    scores[7, :15, 2] = np.nan  # 15 of 2,000
    gold = np.random.default_rng(9).integers(M, size=N).tolist()
    answers = np.nan_to_num(scores, nan=-np.inf).argmax(axis=2)
    (flag,) = find(answered(answers, gold, log_likelihoods=scores, result=result(60, N, best=7)))
    told = {"case": "no_numbers", "told": 15, "answers": 100, "best": "7"}
    assert flag == Flag("tied_scores", told)


def test_ties_below_the_best_are_none() -> None:
    scores = np.sort(normal(), axis=2)[..., ::-1].copy()
    scores[..., 2] = scores[..., 1]
    assert "tied_scores" not in of(scores)


def test_choices_without_any_probability_tie() -> None:
    scores = normal()
    scores[:, :30] = -np.inf
    assert "tied_scores" in of(scores)


def test_scores_that_are_no_numbers_are_told() -> None:
    scores = normal()
    scores[0, :15, 2] = np.nan  # 15 of 2,000
    assert of(scores) == []
    scores[1, :15, 2] = np.nan
    assert of(scores) == ["tied_scores"]


def test_answers_without_any_number_are_told_once() -> None:
    scores = normal()
    scores[:, :30] = np.nan
    assert of(scores) == ["tied_scores"]


def test_examples_with_fewer_choices_lack_no_scores() -> None:
    scores = normal()
    scores[:, :40, 3] = np.nan
    assert of(scores) == []


@pytest.mark.parametrize(("mass", "told"), [(0.5, []), (0.011, []), (0.004, ["label_mass"])])
def test_labels_that_the_model_hardly_ever_gives_are_told(mass: float, told: list[str]) -> None:
    rng = np.random.default_rng(5)
    scores = np.log(mass * rng.dirichlet(np.ones(M), size=(T, N)))
    assert of(scores, labelled=np.ones(T, dtype=np.bool_)) == told
    assert of(scores, labelled=np.zeros(T, dtype=np.bool_)) == []
    assert of(scores) == []


def test_the_labels_of_the_best_prompt_matter_most() -> None:
    rng = np.random.default_rng(5)
    scores = np.log(rng.dirichlet(np.ones(M), size=(T, N)))
    scores[4] -= 10
    every = np.ones(T, dtype=np.bool_)
    assert of(scores, labelled=every, result=result(30, N, passed=False, best=3)) == []
    failed = result(30, N, passed=False, best=4)
    assert of(scores, labelled=every, result=failed) == ["label_mass"]


def test_the_mass_is_a_mean_over_the_examples_of_the_prompt() -> None:
    scores = np.full((1, N, M), np.log(0.004 / M))
    scores[0, 0] = np.log(0.7 / M)  # in all .0110
    scores += np.random.default_rng(0).normal(0, 1e-6, scores.shape)
    every = np.ones(1, dtype=np.bool_)
    answers, gold = scores.argmax(axis=2), np.random.default_rng(9).integers(M, size=N)
    given = {"log_likelihoods": scores, "labelled": every, "shots": 1}
    assert find(answered(answers, gold.tolist(), **given)) == []
    answers[0, 0] = -1  # its own demonstration
    (flag,) = find(answered(answers, gold.tolist(), **given))
    assert flag.parameters["least"] == pytest.approx(0.004, rel=1e-4)


def test_prompts_that_show_no_labels_are_counted_too() -> None:
    scores = np.log(0.004 * np.random.default_rng(5).dirichlet(np.ones(M), size=(T, N)))
    gold = np.random.default_rng(9).integers(M, size=N).tolist()
    some = np.arange(T) == 3
    (flag,) = find(answered(scores.argmax(axis=2), gold, log_likelihoods=scores, labelled=some))
    named = [flag.parameters[name] for name in ("told", "prompts", "below")]
    assert named == [1, 20, 0.01]
