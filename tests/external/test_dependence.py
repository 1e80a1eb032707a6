"""Whether the seven real BIG-bench tasks depend on their order, hold near-copies, or compare."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.flags import KINDS, Flag, JudgedAnswers
from pytest_maxrandom.flags.kinds.compared_things import compared_in
from pytest_maxrandom.flags.texts import same_text
from pytest_maxrandom.stats.clusters import effective_n
from pytest_maxrandom.suite.tasks import BigBenchSpec, ValidationSpec
from pytest_maxrandom.sweeps.labels import label
from pytest_maxrandom.sweeps.predictions import texts_of
from pytest_maxrandom.sweeps.prompts.sampling import validation_set
from pytest_maxrandom.tasks.load import load_task
from tests.unit.flags.made import result, seen, worded

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.tasks import Task


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


CLUSTERS = ("shared_text", "clustered_answers", "compared_things")
APART = (
    "date_understanding",
    "geometric_shapes",
    "movie_recommendation",
    "ruin_names",
    "snarks",
)


def load(data_dir: Path, name: str) -> Task:
    spec = BigBenchSpec(name=name, format="bigbench", path=f"bigbench/{name}.json")
    return load_task(spec, data_dir)


def flags(task: Task, **validation: Any) -> list[Flag]:
    examples = validation_set(task, ValidationSpec(**validation))
    made = seen(
        np.zeros((1, len(examples))),
        inputs=tuple(example.input for example in examples),
        offered=tuple(tuple(sorted(example.choices)) for example in examples),
        alphabetical=tuple(
            frozenset(sorted(each.choices).index(each.choices[right]) for right in each.right)
            for each in examples
        ),
        clusters=tuple(each.cluster for each in examples),
    )
    return [flag for kind in CLUSTERS for flag in KINDS[kind].check(made)]


@pytest.mark.parametrize("name", APART)
@pytest.mark.parametrize("n", [20, 200, 1000])
def test_questions_that_stand_for_themselves_are_not_accused(
    data_dir: Path, name: str, n: int
) -> None:
    assert flags(load(data_dir, name), max_examples=n) == []


@pytest.mark.parametrize("n", [100, 200, 1000])
def test_three_pronouns_of_one_sentence_are_one_question(data_dir: Path, n: int) -> None:
    """In disambiguation_qa 77 of 82 sets of choices have one right answer, whatever the pronoun."""
    task = load(data_dir, "disambiguation_qa")
    (flag,) = flags(task, max_examples=n)
    assert flag.kind == "clustered_answers"
    assert "examples with the same choices have the same right answer" in worded(flag)
    named = [replace(each, cluster=str(sorted(each.choices))) for each in task.examples]
    assert flags(replace(task, examples=tuple(named)), max_examples=n) == []


def test_the_stories_of_causal_judgement_are_told_and_fail_nothing(data_dir: Path) -> None:
    """Its stories stand there in versions that differ in a few words, and in the answer."""
    task = load(data_dir, "causal_judgement")
    texts = same_text([example.input for example in task.examples])
    assert effective_n(texts) == pytest.approx(34.25, abs=0.01)
    for seed in range(3):
        (flag,) = flags(task, max_examples=150, seed=seed)
        assert flag.kind == "shared_text"


def test_questions_of_one_story_share_its_words(data_dir: Path) -> None:
    raw = json.loads((data_dir / "bigbench" / "causal_judgement.json").read_text("utf-8"))
    words = [set(example["input"].lower().split()) for example in raw["examples"]]
    texts = same_text([example["input"] for example in raw["examples"]])
    alike = [
        (
            len(words[one] & words[other]) / len(words[one] | words[other]),
            texts[one] == texts[other],
        )
        for one in range(len(words))
        for other in range(one)
    ]
    # Jaccard's similarity: what is one text shares most of its words, what is not does not.
    assert np.mean([share for share, same in alike if same]) > 0.5
    assert np.mean([share for share, same in alike if not same]) < 0.2
