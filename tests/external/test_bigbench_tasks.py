"""The seven real BIG-bench tasks, against known counts and a plain reading of the JSON."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.suite.tasks import BigBenchSpec
from pytest_maxrandom.tasks.load import load_task
from tests.notes import sentences

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.tasks import Task

# Number of examples by (choices, right choices), and exact repetitions.
TASKS: dict[str, tuple[dict[tuple[int, int], int], int]] = {
    "causal_judgement": ({(2, 1): 190}, 0),
    "date_understanding": ({(6, 1): 311, (5, 1): 58}, 0),
    "disambiguation_qa": ({(3, 1): 255, (4, 1): 3}, 0),
    "geometric_shapes": ({(10, 1): 288, (11, 2): 72}, 1),
    "movie_recommendation": ({(4, 1): 500}, 0),
    "ruin_names": ({(4, 1): 447, (3, 1): 1}, 0),
    "snarks": ({(2, 1): 181}, 0),
}

# Two questions of it stand there twice, once with Yes as the right answer and once with No.
CONTRADICTIONS = {
    "causal_judgement": (
        "4 examples have the question and the choices of another example, but a different right "
        "answer (first: #167, #168, #183): no answer can be right in all of them, so correct or "
        "remove the wrong ones.",
    ),
}


def load(data_dir: Path, name: str) -> Task:
    spec = BigBenchSpec(name=name, format="bigbench", path=f"bigbench/{name}.json")
    return load_task(spec, data_dir)


@pytest.mark.parametrize("name", TASKS)
def test_a_real_task_has_its_published_shape(data_dir: Path, name: str) -> None:
    task = load(data_dir, name)
    shapes, duplicates = TASKS[name]
    assert Counter((len(e.choices), len(e.right)) for e in task.examples) == shapes
    assert task.duplicates == duplicates
    assert sentences(task.notes) == CONTRADICTIONS.get(name, ())


@pytest.mark.parametrize("name", TASKS)
def test_the_examples_that_contradict_each_other_are_those_of_the_json(
    data_dir: Path, name: str
) -> None:
    plain = json.loads((data_dir / "bigbench" / f"{name}.json").read_text(encoding="utf-8"))
    asked: dict[tuple[str, frozenset[str]], list[set[str]]] = {}
    for raw in plain["examples"]:
        scores = raw["target_scores"]
        right = {choice for choice, score in scores.items() if score}
        asked.setdefault((raw["input"], frozenset(scores)), []).append(right)
    contradicting = sum(
        any(not right & other for other in answers)
        for answers in asked.values()
        for right in answers
    )
    assert contradicting == (4 if name in CONTRADICTIONS else 0)


@pytest.mark.parametrize("name", TASKS)
def test_a_real_task_is_what_a_plain_reading_of_its_json_gives(data_dir: Path, name: str) -> None:
    task = load(data_dir, name)
    plain = json.loads((data_dir / "bigbench" / f"{name}.json").read_text(encoding="utf-8"))
    for example, raw in zip(task.examples, plain["examples"], strict=True):
        assert example.input == raw["input"]
        scores = dict(zip(example.choices, [0] * len(example.choices), strict=True))
        scores |= {example.choices[index]: 1 for index in example.right}
        assert scores == raw["target_scores"]
    chances = [
        Fraction(sum(raw["target_scores"].values()), len(raw["target_scores"]))
        for raw in plain["examples"]
    ]
    assert sum(e.chance for e in task.examples) == sum(chances)
    layout = task.layout
    assert layout.append_choices == plain["append_choices_to_input"]
    assert layout.task_prefix == plain.get("task_prefix", "")
    assert layout.input_prefix == plain.get("example_input_prefix", "\nQ: ")
    assert layout.output_prefix == plain.get("example_output_prefix", "\nA: ")


def test_ids_are_kept_where_the_file_has_them(data_dir: Path) -> None:
    assert load(data_dir, "disambiguation_qa").examples[0].id == "custom_m_1"
    assert load(data_dir, "snarks").examples[-1].id == "#181"
