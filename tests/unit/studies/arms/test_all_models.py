"""All models of a suite, compared at the best of their prompts, before and after they answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.studies.arms.all_models import PlannedBestModels
from tests.unit.studies.arms.test_planning import ARMS, HEAD, PROMPTS, Folder

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def planned(folder: Folder, rest: str) -> dict[str, PlannedBestModels]:
    found = folder.planned(HEAD + PROMPTS + ARMS + rest)
    every = [each for each in found if isinstance(each, PlannedBestModels)]
    return {f"{each.task}::{each.name}": each for each in every}


def test_all_arms_are_compared_on_each_task_at_their_best_or_at_one_prompt(folder: Folder) -> None:
    found = planned(folder, "compare: [all, {arms: all, prompt: 2, assert: {best: nf4}}]\n")
    assert sorted(found) == sorted(
        f"{task}::compare[{name}]" for task in "ab" for name in ("all", "all-prompt2")
    )
    arms = ("none", "nf4", "tuned", "terse", "letters")
    for each in found.values():
        assert tuple(name for name, _ in each.arms) == arms
        assert len(each.compared) == len(arms)
    record = found["a::compare[all-prompt2]"].record("id", "s.yaml")
    assert (record.prompt, record.asserted["best"], record.level) == ("2", "nf4", 0.05)
    assert (record.n, record.models, record.passed) == (30, [], None)


@pytest.mark.parametrize(
    ("rest", "told"),
    [
        (
            "compare: [{arms: all, prompt: 5}]",
            "'none' has no prompt 5, but 4",
        ),
        (
            "compare: [{arms: all, assert: {best: nf4, level: 1.0e-9}}]",
            "no model can be shown to be the best: with 30 examples, 4 prompts and 5 models no "
            "p-value is below 1.5e-08, but the level is 1e-09; use more examples, or a higher "
            "level",
        ),
    ],
)
def test_what_can_never_be_told_is_a_mistake(folder: Folder, rest: str, told: str) -> None:
    line = len((HEAD + PROMPTS + ARMS).splitlines()) + 1
    assert folder.mistakes(HEAD + PROMPTS + ARMS + rest) == [
        f"{line}: compare[0]: all models cannot be compared on {task}: {told}" for task in "ab"
    ]
