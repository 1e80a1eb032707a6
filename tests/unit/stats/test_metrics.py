from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pytest_maxrandom.stats import maximum, metrics
from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from tests.unit.stats.oracle import best_score

close = pytest.approx


def test_scores_of_one_prompt_match_a_worked_example() -> None:
    gold = ["a", "a", "a", "b", "b", "c"]
    said = ["a", "a", "b", "b", "c", "c"]
    assert metrics.balanced_accuracy(said, gold) == close((2 / 3 + 1 / 2 + 1) / 3)
    assert metrics.macro_f1(said, gold) == close((4 / 5 + 2 / 4 + 2 / 3) / 3)


gold, choices = [0, 0, 0, 1, 1, 2, 0], [2, 2, 3, 2, 3, 3, 3]


@pytest.mark.parametrize("t", [1, 4, 50])
def test_balanced_accuracy_agrees_with_every_way_to_guess(t: int) -> None:
    expected, tails = best_score(lambda said: metrics.balanced_accuracy(said, gold), choices, t)
    baseline = metrics.balanced_accuracy_baseline(gold, choices, t)
    assert baseline.expected == close(expected, rel=1e-12)
    assert baseline.expected_error == 0
    for score, p in tails.items():
        assert baseline.p_value(score) == close(p, rel=1e-11)
        assert baseline.p_value_error(score) == 0


@pytest.mark.parametrize("t", [1, 4, 50])
def test_macro_f1_agrees_with_every_way_to_guess_within_its_stated_error(t: int) -> None:
    expected, tails = best_score(lambda said: metrics.macro_f1(said, gold), choices, t)
    baseline = metrics.macro_f1_baseline(gold, choices, t, seed=3)
    assert abs(baseline.expected - expected) < 4 * baseline.expected_error + 1e-12
    for score, p in tails.items():
        assert abs(baseline.p_value(score) - p) < 4 * baseline.p_value_error(score) + 1e-4


def test_simulated_balanced_accuracy_agrees_with_the_exact_one_within_its_stated_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    labels, sizes = [0] * 60 + [1] * 30 + [2] * 10, [2] * 50 + [4] * 50
    exact = metrics.balanced_accuracy_baseline(labels, sizes, 200)
    monkeypatch.setattr(maximum, "_MOST_VALUES", 1)
    simulated = metrics.balanced_accuracy_baseline(labels, sizes, 200, seed=5)
    assert abs(simulated.expected - exact.expected) < 4 * simulated.expected_error
    assert 0 < simulated.expected_error < 1e-3
    for score in (0.5, 0.6, 0.65, 0.7):
        gap = abs(simulated.p_value(score) - exact.p_value(score))
        assert gap < 5 * simulated.p_value_error(score) + 1e-3


def test_balanced_accuracy_of_too_many_values_to_list_is_simulated() -> None:
    labels = [label for label in range(8) for _ in range(97 + label)]
    baseline = metrics.balanced_accuracy_baseline(labels, [2] * len(labels), 10, draws=5000)
    assert baseline.draws == 5000


def test_the_stated_error_is_the_spread_of_repeated_simulations() -> None:
    labels = [0] * 14 + [1] * 6
    runs = [
        metrics.macro_f1_baseline(labels, [2] * 20, 20, draws=2000, seed=seed)
        for seed in range(300)
    ]
    spread = float(np.std([run.expected for run in runs]))
    stated = float(np.mean([run.expected_error for run in runs]))
    assert stated == close(spread, rel=0.15)


def test_with_equal_classes_balanced_accuracy_is_accuracy() -> None:
    baseline = metrics.balanced_accuracy_baseline([0, 1] * 50, [2] * 100, 200)
    plain = MaxRandomBaseline(100, 0.5, 200)
    assert baseline.expected == close(plain.expected_accuracy, rel=1e-12)
    assert baseline.standard_baseline == close(0.5)
    for correct in (40, 60, 68, 90):
        assert baseline.p_value(correct / 100) == close(plain.p_value(correct), rel=1e-10)
        assert baseline.union_p(correct / 100) == close(plain.union_p(correct), rel=1e-10)


def test_a_constant_answer_gains_nothing_in_balanced_accuracy() -> None:
    labels = [0] * 70 + [1] * 30
    score = metrics.balanced_accuracy([0] * 100, labels)
    assert metrics.balanced_accuracy_baseline(labels, [2] * 100, 200).p_value(score) > 0.99


def test_the_same_seed_gives_the_same_baseline() -> None:
    first, again, other = (
        metrics.macro_f1_baseline([0, 1] * 10, [2] * 20, 10, draws=5000, seed=seed)
        for seed in (1, 1, 2)
    )
    assert first.expected == again.expected != other.expected


def test_a_simulated_p_value_is_never_zero() -> None:
    baseline = metrics.macro_f1_baseline([0, 1] * 100, [2] * 200, 10, draws=1000)
    assert baseline.p_standard(1.0) == close(1 / 1001)


refused: list[tuple[Any, str]] = [
    (lambda: metrics.macro_f1_baseline([0, 1], [2], 10), "choices names 1 examples, gold 2"),
    (lambda: metrics.macro_f1_baseline([], [], 10), "gold must name at least 1 example"),
    (lambda: metrics.macro_f1_baseline([2], [2], 10), "gold must be at most 1"),
    (lambda: metrics.macro_f1_baseline([0], [2], 10, draws=199), "draws must be at least 20 t"),
    (lambda: metrics.macro_f1_baseline([0], [2], 0), "t must be at least 1"),
    (lambda: metrics.balanced_accuracy_baseline([0], [0], 10), "must be at least 1"),
    (lambda: metrics.balanced_accuracy_baseline([0, 1], [2], 10), "choices names 1 examples"),
    (lambda: metrics.balanced_accuracy([1], [1, 2]), "predictions names 1 examples, gold 2"),
    (
        lambda: metrics.balanced_accuracy_baseline([0], [2], 10).p_value(math.nan),
        "score must be a finite number",
    ),
]


@pytest.mark.parametrize(("question", "message"), refused)
def test_questions_outside_the_domain_are_refused(question: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        question()
