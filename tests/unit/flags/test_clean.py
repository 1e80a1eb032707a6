"""Sweeps that have no fault raise no red flag, whatever their shape."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.flags import find
from tests.unit.flags.made import answered, result

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHAPES = [
    (1, 10, 2),
    (1, 500, 4),
    (5, 20, 3),
    (10, 60, 2),
    (50, 100, 4),
    (200, 200, 2),
    (40, 30, 8),
]


def scores_of(answers: NDArray[np.int64], m: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return log-likelihoods of which those of the answers are the highest."""
    scores = np.log(rng.dirichlet(np.ones(m), size=answers.shape))
    best = scores.argmax(axis=2)
    told = np.where(answers < 0, best, answers)[..., np.newaxis]
    top = scores.max(axis=2, keepdims=True)
    np.put_along_axis(scores, best[..., np.newaxis], np.take_along_axis(scores, told, 2), 2)
    np.put_along_axis(scores, told, top, 2)
    return scores


@pytest.mark.parametrize(("t", "n", "m"), SHAPES)
@pytest.mark.parametrize("seed", range(5))
def test_guessers(t: int, n: int, m: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    answers, gold = rng.integers(m, size=(t, n)), rng.integers(m, size=n)
    best = int((answers == gold).sum(axis=1).max())
    sweep = answered(
        answers,
        gold.tolist(),
        m=m,
        choices=(m,) * n,
        log_likelihoods=scores_of(answers, m, rng),
        labelled=np.ones(t, dtype=np.bool_),
        inputs=tuple(f"Which one is number {place}?" for place in range(n)),
        copies=tuple(range(n)),
        asked=t,
        result=result(best, n, passed=False, p_max=0.5, permutation_p=0.5),
    )
    assert find(sweep) == []


@pytest.mark.parametrize(("t", "n", "m"), SHAPES)
def test_models_that_know(t: int, n: int, m: int) -> None:
    rng = np.random.default_rng(0)
    gold = rng.permutation(np.arange(n) % m)
    answers = np.where(rng.random((t, n)) < 0.9, gold, rng.integers(m, size=(t, n)))
    perfect = np.tile(gold, (t, 1))
    for given in (answers, perfect):
        sweep = answered(
            given,
            gold.tolist(),
            m=m,
            choices=(m,) * n,
            log_likelihoods=scores_of(given, m, rng),
            labelled=np.ones(t, dtype=np.bool_),
            result=result(int((given[0] == gold).sum()), n),
        )
        assert find(sweep) == []


def test_models_that_know_though_nearly_all_right_answers_are_the_same() -> None:
    gold = np.array([0] * 95 + [1] * 5)
    sweep = answered(np.tile(gold, (8, 1)), gold.tolist(), m=2, result=result(100, 100))
    assert find(sweep) == []


@pytest.mark.parametrize("shots", [1, 4])
@pytest.mark.parametrize("n", [5, 8, 40])
@pytest.mark.parametrize("seed", range(5))
def test_prompts_that_leave_out_their_own_demonstrations(shots: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    answers = rng.integers(4, size=(30, n))
    for row in answers:
        row[rng.choice(n, size=rng.integers(shots + 1), replace=False)] = -1
    sweep = answered(
        answers,
        rng.integers(4, size=n).tolist(),
        shots=shots,
        log_likelihoods=scores_of(answers, 4, rng),
    )
    assert find(sweep) == []


def test_examples_with_different_numbers_of_choices() -> None:
    rng = np.random.default_rng(1)
    choices = np.array([2, 3, 5] * 30)
    answers = rng.integers(choices, size=(50, 90))
    scores = scores_of(answers, 5, rng)
    scores[:, np.arange(5) >= choices[:, np.newaxis]] = np.nan
    sweep = answered(
        answers,
        rng.integers(choices).tolist(),
        m=5,
        chance=Fraction((90 // 3) * 31, 30 * 90),  # 1/2 + 1/3 + 1/5 = 31/30
        choices=tuple(choices.tolist()),
        log_likelihoods=scores,
    )
    assert find(sweep) == []


def test_choices_that_repeat_a_text_are_no_ties() -> None:
    """Their scores are not there twice."""
    rng = np.random.default_rng(2)
    answers = rng.integers(3, size=(20, 50))
    scores = scores_of(answers, 4, rng)
    scores[:, :, 3] = np.nan
    sweep = answered(answers, rng.integers(3, size=50).tolist(), log_likelihoods=scores)
    assert find(sweep) == []


def test_scores_in_16_bits() -> None:
    rng = np.random.default_rng(3)
    answers, gold = rng.integers(2, size=(50, 200)), rng.integers(2, size=200)
    scores = scores_of(answers, 2, rng).astype(np.float16).astype(np.float64)
    assert find(answered(answers, gold.tolist(), m=2, log_likelihoods=scores)) == []
