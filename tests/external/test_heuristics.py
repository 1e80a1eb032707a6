"""What heuristics reach on the seven real BIG-bench tasks, against a plain reading of the JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.claims.shortcuts import heuristics
from pytest_maxrandom.tasks.task import share_choices
from tests.external.test_bigbench_tasks import TASKS, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_maxrandom.record import HeuristicName


def plain(examples: list[dict[str, Any]], of: Callable[[str], int]) -> float:
    """Mean accuracy of whoever takes a choice with the highest number, one of several by lot."""
    total = 0.0
    for example in examples:
        scores: dict[str, int] = example["target_scores"]
        best = max(map(of, scores))
        taken = [right for choice, right in scores.items() if of(choice) == best]
        total += sum(taken) / len(taken)
    return total / len(examples)


def reached(data_dir: Path, name: str) -> dict[HeuristicName, float]:
    examples = load(data_dir, name).examples
    found = heuristics(examples, shared=share_choices(examples), listed=True)
    return {rule: float(sum(values)) / len(examples) for rule, values in found.items()}


@pytest.mark.parametrize("name", TASKS)
def test_lengths_are_those_of_a_plain_reading(data_dir: Path, name: str) -> None:
    raw = json.loads((data_dir / "bigbench" / f"{name}.json").read_text(encoding="utf-8"))
    found = reached(data_dir, name)
    assert found["longest"] == pytest.approx(plain(raw["examples"], len))
    assert found["shortest"] == pytest.approx(plain(raw["examples"], lambda text: -len(text)))


@pytest.mark.parametrize("name", TASKS)
def test_the_order_in_which_choices_are_shown_tells_nothing(data_dir: Path, name: str) -> None:
    examples = load(data_dir, name).examples
    found = reached(data_dir, name)
    chances = [float(example.chance) for example in examples]
    expected = sum(chances) / len(chances)
    deviation = sum(chance * (1 - chance) for chance in chances) ** 0.5 / len(chances)
    for place in (found["first"], found["last"]):
        assert abs(place - expected) < 3 * deviation


def test_real_choices_have_traces_of_the_right_one(data_dir: Path) -> None:
    """Half again of chance, and a quarter more, without a look at the question."""
    assert reached(data_dir, "ruin_names")["shortest"] > 0.25 * 1.5
    assert reached(data_dir, "date_understanding")["most_shared_words"] > 0.172 * 1.25
