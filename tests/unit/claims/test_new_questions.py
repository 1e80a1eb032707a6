"""What a claim's record says of its best prompt on new questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.stats import beta

from pytest_maxrandom.claims.assessment import new_questions
from pytest_maxrandom.stats import winner
from pytest_maxrandom.stats.metrics import BUILT_IN as METRICS
from pytest_maxrandom.sweeps.labels import label
from tests.unit.claims.test_assessment import assessed, yes_no
from tests.unit.flags.made import answered, seen
from tests.unit.recorded.suites import judged, planned, save, suite_text

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from pytest_maxrandom.tasks.task import Example


def answers(t: int, n: int) -> NDArray[np.int64]:
    return np.random.default_rng(t).integers(0, 2, (t, n))


def test_a_sweep_and_recorded_results_of_the_same_answers_are_worth_the_same(
    tmp_path: Path,
) -> None:
    examples = yes_no("yynyn" * 10)
    said = answers(20, 50)
    right = np.array([[said[p, i] in e.right for i, e in enumerate(examples)] for p in range(20)])

    def choose(each: Example, prompt: int) -> int:
        return int(said[prompt, examples.index(each)])

    run = assessed(examples, choose, t=20)
    save(tmp_path / "m.npz", x__0={"correct": right})
    (claim,) = planned(tmp_path, suite_text("{name: x, chance: 1/2}"))
    recorded = judged(claim)
    assert run.new_questions == recorded.new_questions
    assert run.best_correct is not None
    assert run.new_questions is not None
    expected = beta.ppf(0.05 / 20, run.best_correct, 50 - run.best_correct + 1)
    assert run.new_questions.low == pytest.approx(expected)
    assert run.new_questions.estimate == winner.out_of_bag(right)
    assert run.new_questions.clusters is None


def test_prompts_that_are_not_at_hand_count_for_the_bound(tmp_path: Path) -> None:
    save(tmp_path / "m.npz", x__0={"correct": answers(2, 40) == 1})
    (few,) = planned(tmp_path, suite_text("{name: x, chance: 1/2}"))
    (many,) = planned(tmp_path, suite_text("{name: x, chance: 1/2, t: 500}"))
    of_few, of_many = judged(few).new_questions, judged(many).new_questions
    assert of_few is not None
    assert of_many is not None
    assert of_many.low < of_few.low
    assert of_many.estimate == of_few.estimate


def test_the_bound_is_of_the_examples_that_the_best_prompt_was_scored_on() -> None:
    right = np.array([[True] * 9 + [False], [True] * 4 + [False] * 6])
    evaluated = np.array([[True] * 9 + [False], [True] * 10])
    clusters = (*"aaabbbccc", None)
    found = new_questions(seen(right, evaluated=evaluated, clusters=clusters).answers, 0, 2)
    assert found.clusters == 3
    assert found.low == pytest.approx((0.05 / 2 / np.e) ** (1 / 3))


@pytest.mark.parametrize("metric", [name for name in METRICS if name != "accuracy"])
def test_the_winner_is_selected_by_the_metric_of_the_claim(metric: str) -> None:
    labels, said = label(yes_no("y" * 14 + "n" * 6)), answers(12, 20)
    classes = np.array(labels.classes())
    right = said == classes
    drawn: list[NDArray[np.float32]] = []

    def note(weights: NDArray[np.float32]) -> NDArray[np.float64]:
        drawn.append(weights)
        return np.zeros((len(weights), len(said)))

    winner.out_of_bag(right, select=note)
    values = []
    for weights in np.concatenate(drawn).astype(int):
        gold = classes.repeat(weights).tolist()
        scores = [METRICS[metric].score(row.repeat(weights).tolist(), gold) for row in said]
        best = [place for place, score in enumerate(scores) if score > max(scores) - 1e-6]
        values.append(right[best][:, weights == 0].mean())
    found = new_questions(answered(said, classes.tolist()).answers, 0, 12, metric)
    assert found.estimate == pytest.approx(np.mean(values), abs=1e-6)
    assert found.estimate != winner.out_of_bag(right)
