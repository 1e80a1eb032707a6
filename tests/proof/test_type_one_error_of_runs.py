"""Guessers as sweeps of a model: what only those suites have, judged by the function that does."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.proof.guessers import GUESSERS, N, labels, saying
from tests.proof.scale import LEVEL, most, scaled
from tests.unit.claims.test_assessment import assessed, example, yes_no

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.record import ClaimRecord
    from pytest_maxrandom.suite.claims import Metric
    from pytest_maxrandom.tasks.task import Example
    from tests.proof.conftest import Measured

pytestmark = pytest.mark.proof

T = 50
RUNS = scaled(300, 20)
OTHERS: tuple[Metric, ...] = ("balanced_accuracy", "macro_f1")


def judged(
    examples: tuple[Example, ...],
    words: Sequence[Sequence[str]],
    answers: NDArray[np.int64],
    metric: Metric = "accuracy",
) -> ClaimRecord:
    """Judge a sweep with the claim that a suite makes by default.

    Parameters
    ----------
    words : sequence
        Length n: what answers 0 and 1 are to each example.
    answers : ndarray of int
        Shape (t, n).
    """
    place = {each.id: number for number, each in enumerate(examples)}

    def answer(each: Example, prompt: int) -> int:
        number = place[each.id]
        return each.choices.index(words[number][answers[prompt, number]])

    return assessed(examples, answer, t=len(answers), metric=metric)


def passed(records: Sequence[ClaimRecord]) -> int:
    return sum(bool(record.passed) for record in records)


def by_p_max(records: Sequence[ClaimRecord]) -> int:
    return sum(record.p_max is not None and record.p_max <= LEVEL for record in records)


@pytest.mark.parametrize("name", GUESSERS)
def test_other_metrics_pass_guessers_no_more_often(name: str, measured: Measured) -> None:
    generator = np.random.default_rng(16)
    balanced: list[ClaimRecord] = []
    f1: list[ClaimRecord] = []
    for _ in range(RUNS):
        sweep = GUESSERS[name](generator, T)
        examples = yes_no("".join("yn"[right] for right in sweep.gold))
        for metric, found in zip(OTHERS, (balanced, f1), strict=True):
            found.append(judged(examples, [("Yes", "No")] * N, sweep.answers, metric))
    shares = (passed(balanced) / RUNS, passed(f1) / RUNS)
    measured(f"type I, other metrics ({RUNS} runs)", name, *shares)
    assert max(passed(balanced), passed(f1)) <= most(RUNS)


def test_choices_that_are_called_otherwise_in_half_of_the_examples_help_no_guesser(
    measured: Measured,
) -> None:
    """A model that always affirms, where 70 of 100 right answers do."""
    generator = np.random.default_rng(16)
    pairs = itertools.cycle([("Yes", "No"), ("True", "False")])
    words = [pair for _, pair in zip(range(N), pairs, strict=False)]
    records = []
    for _ in range(RUNS):
        gold = labels(generator, 0.7)
        shown = [pair[:: generator.choice([1, -1])] for pair in words]
        examples = tuple(
            example(number, choices, pair[right])
            for number, (choices, pair, right) in enumerate(zip(shown, words, gold, strict=True))
        )
        records.append(judged(examples, words, saying(generator, T, 0.97)))
    name = "Yes/No beside True/False, always affirms, 70/30"
    measured(
        f"type I, choices ({RUNS} runs)", name, by_p_max(records) / RUNS, passed(records) / RUNS
    )
    assert passed(records) <= most(RUNS)
