"""Sweeps that pass for what they do not know, from their answers to the record."""

from __future__ import annotations

import dataclasses
import random
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.claims.shortcuts import beside_shortcuts
from pytest_maxrandom.models.questions import Answer
from pytest_maxrandom.suite.claims import AssertSpec
from pytest_maxrandom.sweeps.predictions import PromptPredictions, predict
from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt, shown_order
from pytest_maxrandom.tasks.task import Example, Layout
from tests.unit.claims.test_assessment import always, assessed, knowing, yes_no

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_maxrandom.suite.claims import Metric

CLAIM = AssertSpec(p_max=0.01, permutation_p=0.01)


def telling(n: int = 100) -> tuple[Example, ...]:
    """Questions whose right answer is the shortest of four in three of five."""
    lots = random.Random(0)
    made = []
    for number in range(n):
        sizes = lots.sample(range(3, 12), 4)
        right = sizes.index(min(sizes)) if number % 5 < 3 else sizes.index(max(sizes))
        choices = tuple("".join(lots.choices("abcdefgh", k=size)) for size in sizes)
        made.append(Example(f"e{number}", f"What is {number}?", choices, (right,)))
    return tuple(made)


def shortest(example: Example, _: int) -> int:
    return min(range(4), key=lambda index: len(example.choices[index]))


def test_who_takes_the_shortest_choice_beats_guessers_and_shuffled_answers_and_is_caught() -> None:
    record = assessed(telling(), shortest, t=3, claim=CLAIM, listed=True)
    assert record.holds
    assert record.best_accuracy == 0.6
    assert record.permutation_p == pytest.approx(1e-4)
    assert [flag.kind for flag in record.failing_flags] == ["heuristic"]
    assert record.passed is False
    assert record.shortcuts is not None
    assert (record.shortcuts.heuristic, record.shortcuts.heuristic_score) == ("shortest", 0.6)
    assert record.shortcuts.heuristics["longest"] == 0.4
    assert record.shortcuts.heuristic_p == 1


def test_who_knows_is_above_it() -> None:
    record = assessed(telling(), knowing, t=3, claim=CLAIM, listed=True)
    assert record.passed
    assert not any("heuristic" in flag.kind for flag in record.red_flags)
    assert record.shortcuts is not None
    assert record.shortcuts.heuristic_p == pytest.approx(1e-4)


@pytest.mark.parametrize("metric", ["balanced_accuracy", "macro_f1"])
def test_scores_about_classes_are_compared_in_balanced_accuracy(metric: Metric) -> None:
    examples = yes_no("y" * 30 + "n" * 10)
    record = assessed(examples, always("No"), metric=metric)
    assert record.shortcuts is not None
    assert record.shortcuts.measure == "balanced_accuracy"
    assert record.shortcuts.best == record.shortcuts.heuristics["most_frequent"] == 0.5


def answered(
    examples: tuple[Example, ...], layout: Layout, choose: Callable[[Example], int]
) -> PromptPredictions:
    scores = [
        [Answer((-float(index != choose(example)),), (1,)) for index in range(len(example.choices))]
        for example in examples
    ]
    return predict(Prompt((), Format(layout)), examples, scores, "mean_logprob")


@pytest.mark.parametrize("listed", [False, True])
def test_one_label_is_a_text_that_is_shared_or_a_place_that_is_shown(listed: bool) -> None:
    layout = Layout(append_choices=listed)
    for examples, shared, choose, one in (
        (yes_no("yynyn"), True, lambda each: each.choices.index("Yes"), True),
        (yes_no("yyn" * 10), True, lambda each: each.right[0], False),
        (telling(9), False, lambda each: shown_order(each)[2], listed),
    ):
        said = answered(examples, layout, choose)
        found = beside_shortcuts(said, said, shared=shared, by_class=False)
        assert found.one_label is one
        assert found.choices_only == found.best


def test_clusters_of_examples_are_the_units_of_the_signs() -> None:
    """Of 100 examples in 10 clusters each cluster is right, or wrong, as a whole."""
    single = telling()
    together = tuple(
        dataclasses.replace(each, cluster=str(number // 10)) for number, each in enumerate(single)
    )

    def mostly(each: Example) -> int:
        return each.right[0] if int(each.id[1:]) < 90 else 1 - each.right[0] % 2

    one, other = (
        beside_shortcuts(answered(each, Layout(), mostly), shared=False, by_class=False)
        for each in (single, together)
    )
    assert one.heuristics == other.heuristics
    assert one.heuristic_p < 1 / 1_000 < other.heuristic_p < 1 / 50
