"""Best prompts that are no better than what knows nothing."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from pytest_maxrandom.claims.shortcuts import compare
from pytest_maxrandom.flags import Flag, find
from tests.unit.flags.made import answered, result

N = 100


def row(right: int) -> list[bool]:
    return [True] * right + [False] * (N - right)


def flags(
    correct: int, blank: int | None = None, *, passed: bool = True, **heuristics: int
) -> list[Flag]:
    """Flags of a best prompt with balanced labels, whose answers overlap least with the others'."""
    rules: dict[Any, list[Fraction]] = {
        name: [Fraction(each) for each in reversed(row(right))]
        for name, right in heuristics.items()
    }
    found = compare(row(correct), rules, None if blank is None else row(blank)[::-1])
    gold = np.arange(N) % 4
    answers = np.where(row(correct), gold, (gold + 1) % 4)[np.newaxis]
    judged = result(correct, N, passed=passed)
    return find(answered(answers, gold.tolist(), result=judged, compared=found))


@pytest.mark.parametrize(
    ("correct", "longest", "told"),
    [
        (60, 60, "heuristic"),
        (60, 75, "heuristic"),
        (60, 59, "near_heuristic"),
        (60, 50, "near_heuristic"),
        (60, 20, None),
        (90, 50, None),
    ],
)
def test_a_heuristic(correct: int, longest: int, told: str | None) -> None:
    found = flags(correct, longest=longest, first=25)
    assert [flag.kind for flag in found] == ([told] if told else [])
    assert flags(correct, passed=False, longest=longest) == []


@pytest.mark.parametrize(
    ("blank", "told"),
    [(60, "choices_only"), (61, "choices_only"), (59, "near_choices_only"), (20, None)],
)
def test_blank_inputs(blank: int, told: str | None) -> None:
    found = flags(60, blank, longest=10)
    assert [flag.kind for flag in found] == ([told] if told else [])
    assert flags(60, blank, passed=False, longest=10) == []


def test_both_say_what_is_reached() -> None:
    heuristic, blank = flags(60, 60, shortest=65, longest=20)
    measured = {"measure": "accuracy", "score": 0.65}
    assert heuristic == Flag("heuristic", {**measured, "heuristic": "shortest"})
    assert blank == Flag("choices_only", {"measure": "accuracy", "score": 0.6})
    near, blank = flags(60, 59, first=59)
    for flag, named in ((near, {"heuristic": "first"}), (blank, {})):
        parameters = dict(flag.parameters)
        assert parameters.pop("p") > 0.05
        assert parameters == {"measure": "accuracy", "score": 0.59, "level": 0.05, **named}


def test_that_the_most_frequent_label_is_as_good_is_told_as_majority_only() -> None:
    gold = [0] * 70 + [1] * 30
    right = [label == 0 for label in gold]
    values = [Fraction(each) for each in right]
    found = compare(right, {"most_frequent": values, "longest": values})
    seen = answered(
        np.zeros((1, N), dtype=np.int64), gold, m=2, result=result(70, N), compared=found
    )
    kinds = [flag.kind for flag in find(seen)]
    assert "majority" in kinds
    assert not {"heuristic", "near_heuristic"} & set(kinds)


def test_a_prompt_that_is_always_right_is_not_told_to_be_near_the_most_frequent_label() -> None:
    """All of 24 are right, and 20 of them have one label: the signs of four differ."""
    gold = [0] * 20 + [1] * 4
    label = [each == 0 for each in gold]
    for one_label, told in ((True, []), (False, ["near_choices_only"])):
        found = compare([True] * 24, {"most_frequent": [*map(Fraction, label)]}, label)
        assert found.heuristic_p == found.choices_only_p == 1 / 16
        seen = answered(
            np.array(gold)[np.newaxis],
            gold,
            m=2,
            result=result(24, 24),
            compared=replace(found, one_label=one_label),
        )
        assert [flag.kind for flag in find(seen)] == told
