"""Whether the seven real BIG-bench tasks depend on their order, hold near-copies, or compare."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.flags import KINDS
from pytest_maxrandom.flags.kinds.compared_things import compared_in
from pytest_maxrandom.suite.tasks import BigBenchSpec, ValidationSpec
from pytest_maxrandom.sweeps.labels import label
from pytest_maxrandom.sweeps.predictions import texts_of
from pytest_maxrandom.sweeps.prompts.sampling import validation_set
from pytest_maxrandom.tasks.load import load_task
from tests.unit.flags.made import result, seen

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.flags import JudgedAnswers

NEW = ("ordered_answers", "near_copies", "compared_things")
TASKS = (
    "causal_judgement", "date_understanding", "disambiguation_qa", "geometric_shapes",
    "movie_recommendation", "ruin_names", "snarks",
)  # fmt: skip
T = 10


def passing(data_dir: Path, name: str, n: int, knows: float, t: int = T) -> JudgedAnswers:
    """Return a claim that passes: prompts know some answers, and guess others by their words."""
    spec = BigBenchSpec(name=name, format="bigbench", path=f"bigbench/{name}.json")
    examples = validation_set(load_task(spec, data_dir), ValidationSpec(max_examples=n))
    labels = label(examples)
    random = np.random.default_rng(7)
    words = [re.findall(r"\w+", example.input.casefold()) for example in examples]
    known = {word: place for place, word in enumerate(dict.fromkeys(chain.from_iterable(words)))}
    leaning = random.normal(size=(t, len(known), max(labels.choices)))
    answers = np.empty((t, len(examples)), dtype=np.int64)
    for place, (own, many) in enumerate(zip(words, labels.choices, strict=True)):
        drawn = leaning[:, [known[word] for word in own], :many].sum(axis=1)
        answers[:, place] = drawn.argmax(axis=1)
    right = np.array([min(each) for each in labels.gold])
    answers = np.where(random.random(answers.shape) < knows, right, answers)
    correct = answers == right
    best = int(correct.sum(axis=1).argmax())
    return seen(
        correct,
        answers=answers,
        gold=tuple(map(frozenset, labels.gold)),
        choices=tuple(labels.choices),
        result=result(int(correct[best].sum()), len(examples), best=best),
        **texts_of(examples),
    )


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("knows", [0.4, 0.7])
@pytest.mark.parametrize("n", [200, 1000])
def test_who_knows_some_of_a_real_task_is_not_accused(
    data_dir: Path, name: str, n: int, knows: float
) -> None:
    judged = passing(data_dir, name, n, knows)
    assert [flag for kind in NEW for flag in KINDS[kind].check(judged)] == []


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("t", [4, 6, 8, T])
def test_nor_is_who_was_asked_few_prompts_and_whose_texts_are_not_recorded(
    data_dir: Path, name: str, t: int
) -> None:
    judged = passing(data_dir, name, 200, 0.4, t)
    judged = replace(judged, read=replace(judged.read, inputs=None))
    assert [flag for flag in KINDS["near_copies"].check(judged) if not flag.mild] == []


def test_the_questions_of_real_tasks_with_shared_choices_compare_no_things(data_dir: Path) -> None:
    for name in TASKS:
        spec = BigBenchSpec(name=name, format="bigbench", path=f"bigbench/{name}.json")
        examples = load_task(spec, data_dir).examples
        found = compared_in(tuple(example.text for example in examples))
        # Of what "they" may be, 24 sentences about professions; their choices are not shared.
        assert sum(each is not None for each in found) == (24 if name == "disambiguation_qa" else 0)
