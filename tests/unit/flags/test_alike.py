"""Prompts that are one answer pattern, where only right and wrong are known."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.flags import Flag, find
from tests.unit.flags.made import answered, result, seen

T, N = 30, 200


def said(correct: np.ndarray, chance: Fraction = Fraction(1, 2), **given: Any) -> list[Flag]:
    """Return the flag on a claim of p_max that is judged of these results alone."""
    counts = correct.sum(axis=1)
    best = int(counts.argmax())
    p_max = -np.expm1(len(correct) * stats.binom.logcdf(counts[best] - 1, N, float(chance)))
    judged = result(int(counts[best]), N, best=best, p_max=float(p_max), passed=bool(p_max <= 0.05))
    usual: dict[str, Any] = {"chance": chance, "result": judged}
    found = find(seen(correct, **(usual | given)))
    return [flag for flag in found if flag.kind == "near_identical_prompts"]


def right(share: float = 0.7) -> np.ndarray:
    return np.arange(N) < round(share * N)


def constant(seed: int, share: float, saying: float) -> np.ndarray:
    """Return right and wrong of prompts that say a label to nearly all examples."""
    answers = np.random.default_rng(seed).random((T, N)) >= saying
    return np.asarray(answers != right(share))


def test_one_vector_of_unbalanced_labels_is_told() -> None:
    """They pass: 140 of 200 has p_max = 2e-7 at t = 30."""
    (flag,) = said(np.tile(right(), (T, 1)))
    assert flag.parameters == {"told": 29, "prompts": 30, "differing": 0.0, "reached": 0.7}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.65, 0.7, 0.75])
def test_nearly_constant_answers_are_told(seed: int, share: float) -> None:
    assert said(constant(seed, share, 0.98))


def test_constant_answers_of_either_label_are_told() -> None:
    each = constant(0, 0.7, 0.98)
    each[::2] = ~each[::2]
    assert said(each)


def test_other_labels_of_many_are_told_where_most_prompts_say_the_best() -> None:
    few = np.tile(right(0.5), (T, 1))
    few[:10] = np.arange(N) >= 150  # another label
    assert said(few, Fraction(1, 4))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("accuracy", "steady"), [(0.7, 0.93), (0.6, 0.9), (0.78, 0.94)])
def test_prompts_of_a_model_that_knows_are_not(seed: int, accuracy: float, steady: float) -> None:
    """They agree beyond their accuracy: easy examples are easy for all; kappa is about .7."""
    rng = np.random.default_rng(seed)
    easy = rng.random(N) < accuracy
    results = np.where(rng.random((T, N)) < steady, easy, ~easy)
    assert said(results) == []


@pytest.mark.parametrize("steady", [0.98, 1.0])
def test_of_a_model_that_is_nearly_always_right_it_is_not_told(steady: float) -> None:
    rng = np.random.default_rng(0)
    results = np.where(rng.random((T, N)) < steady, right(0.95), ~right(0.95))
    assert said(results) == []


@pytest.mark.parametrize("t", [1, 2, 4])
def test_few_prompts_say_nothing(t: int) -> None:
    assert said(np.tile(right(), (t, 1))) == []


def test_where_labels_tell_it_they_do() -> None:
    golds = (~right()).astype(int).tolist()
    judged = result(140, N, permutation_p=1.0)
    told = [f.kind for f in find(answered(np.zeros((T, N), int), golds, m=2, result=judged))]
    assert "near_identical_prompts" not in told
    assert {"majority", "max_t", "constant_answers"} <= {*told}


def test_a_claim_that_does_not_pass_is_not_told_again() -> None:
    assert said(np.tile(right(0.5), (T, 1))) == []
    assert said(np.tile(right(), (T, 1)), result=result(140, N, passed=False)) == []
    assert said(np.tile(right(), (T, 1)), result=None) == []
