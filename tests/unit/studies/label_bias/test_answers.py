"""From predictions to labels: which answer was given where."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.stats.gold import NOT_EVALUATED
from pytest_maxrandom.studies.label_bias.answers import gold_counts, label_answers, moved_answers
from pytest_maxrandom.studies.label_bias.interactions import further, placements
from pytest_maxrandom.sweeps.labels import label
from pytest_maxrandom.sweeps.prompts.formats import shown_order
from pytest_maxrandom.tasks.task import Example
from tests.unit.studies.label_bias.made import examples, predicted, prompts

if TYPE_CHECKING:
    from tests.unit.studies.label_bias.made import Scores

NAMES = list("ABCDE")


def saying(choice: int) -> Scores:
    """Always the same choice of the file."""
    return lambda _, e: [float(index == choice) for index in range(len(e.choices))]


def test_an_answer_is_the_place_at_which_it_is_shown() -> None:
    shown = examples(12, [2 + i % 4 for i in range(12)])
    generator = np.random.default_rng(1)
    found = predicted(prompts(3), shown, lambda _, e: list(generator.normal(size=len(e.choices))))
    given = label_answers(label(shown, by_place=True), NAMES, found)
    assert given.answers is not None
    assert given.answers.shape == (3, 12)
    for row, one in zip(given.answers, found, strict=True):
        for place, example, chosen in zip(row, shown, one.chosen, strict=True):
            assert shown_order(example)[place] == chosen
    assert given.correct.sum(axis=1).tolist() == [one.correct for one in found]
    assert given.choices == tuple(2 + i % 4 for i in range(12))
    gold = [shown_order(example).index(example.right[0]) for example in shown]
    assert given.gold == tuple(frozenset([place]) for place in gold)
    assert gold_counts(given, 0) == [gold.count(place) for place in range(5)]


def test_clusters_go_with_the_answers() -> None:
    shown = examples(6, [3] * 6)
    apart = [replace(e, cluster=f"c{i // 2}" if i < 4 else None) for i, e in enumerate(shown)]
    for given, groups in ((shown, 6), (apart, 4)):
        found = predicted(prompts(2), given, saying(0))
        known = label_answers(label(given, by_place=True), NAMES[:3], found).groups
        assert len(set(known or range(6))) == groups


def test_moved_answers_stand_where_the_right_answer_was_shown() -> None:
    shown = examples(9, [2 + i % 4 for i in range(9)])
    generator = np.random.default_rng(2)
    table: dict[tuple[int, Example], list[float]] = {}

    def scores(prompt: int, example: Example) -> list[float]:
        drawn = table.setdefault((prompt, example), list(generator.normal(size=5)))
        return drawn[: len(example.choices)]

    asked = prompts(2)
    natural = predicted(asked, shown, scores)
    rest = predicted(asked, further(p for e in shown for p in placements(e)), scores)
    labels = label(shown, by_place=True)
    moved = moved_answers(labels, len(NAMES), natural, rest)
    assert moved.shape == (2, 9, 5)
    for j in range(2):
        for i, example in enumerate(shown):
            m = len(example.choices)
            assert moved[j, i, m:].tolist() == [NOT_EVALUATED] * (5 - m)
            for at in range(m):
                (one,) = [
                    each
                    for each in placements(example)
                    if shown_order(each)[at] == example.right[0]
                ]
                said = int(np.argmax(scores(j, one)))
                assert shown_order(one)[moved[j, i, at]] == said
                assert (moved[j, i, at] == at) == (said == example.right[0])
    given = label_answers(labels, NAMES, natural)
    assert gold_counts(given, 0, moved) == [9, 9, 6, 4, 2]


def test_examples_that_a_prompt_shows_itself_are_not_evaluated() -> None:
    shown = examples(6)
    all_of_them, first = prompts(2)
    one = predicted([all_of_them], shown, lambda _, e: [0.0, 1.0, 2.0, 3.0])
    two = predicted([first], shown[2:], lambda _, e: [0.0, 1.0, 2.0, 3.0])
    given = label_answers(label(shown, by_place=True), NAMES[:4], one + two)
    assert given.evaluated.tolist() == [[True] * 6, [False] * 2 + [True] * 4]
    assert sum(gold_counts(given, 1)) == 4
    assert not given.correct[1, :2].any()


def test_of_several_right_answers_each_is_right_as_the_examples_are() -> None:
    (example,) = examples(1)
    both = Example("e", "", example.choices, (1, 3))
    for chosen, right in ((0, False), (1, True), (3, True)):
        found = predicted(prompts(1), [both], saying(chosen))
        given = label_answers(label([both], by_place=True), NAMES[:4], found)
        assert given.correct.tolist() == [[right]]
        assert sum(gold_counts(given, 0)) == 2


@pytest.mark.parametrize("by_place", [True, False])
def test_texts_that_all_examples_share_are_labels_unless_letters_stand_for_them(
    by_place: bool,
) -> None:
    shown = [Example(e.id, e.input, ("Yes", "No"), (e.right[0],)) for e in examples(8, 2)]
    found = predicted(prompts(1), shown, lambda _, e: [1.0, 0.0])  # says Yes
    labels = label(shown, by_place=by_place)
    given = label_answers(labels, ["A", "B"], found).answers
    places = [shown_order(example).index(0) for example in shown]
    assert given is not None
    assert given[0].tolist() == (places if by_place else [1] * 8)
