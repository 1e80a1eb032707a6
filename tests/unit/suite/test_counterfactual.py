"""What a suite says of counterfactual scoring."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.errors import SuiteError
from tests.suites import load_suite

if TYPE_CHECKING:
    from pathlib import Path

SUITE = "models: [{name: m}]\ntasks: [{name: t, format: csv, path: t.csv}]\n"
STATED = "counterfactual: {statement: ' was', continuation: ' right'}\n"


def _mistakes(folder: Path, text: str) -> list[str]:
    (folder / "s.yaml").write_text(SUITE + text)
    try:
        load_suite(folder / "s.yaml")
    except SuiteError as error:
        return [str(problem).rpartition("s.yaml:")[2] for problem in error.problems]
    return []


@pytest.mark.parametrize(
    "used",
    [
        "scoring: counterfactual",
        "label_bias: {interactions: counterfactual}",
        "label_bias: {interactions: [cloze, counterfactual]}",
    ],
)
def test_how_choices_are_stated_may_be_said_where_it_is_used(tmp_path: Path, used: str) -> None:
    assert _mistakes(tmp_path, f"{STATED}{used}\n") == []


@pytest.mark.parametrize("other", ["", "scoring: paper\n", "label_bias: {interactions: cloze}\n"])
def test_how_choices_are_stated_is_a_mistake_where_none_is(tmp_path: Path, other: str) -> None:
    assert _mistakes(tmp_path, STATED + other) == [
        "3: counterfactual: this says how choices are stated, but nothing uses it; remove it, or "
        "use `scoring: counterfactual` or `label_bias: {interactions: counterfactual}`"
    ]


def test_a_continuation_without_text_is_a_mistake(tmp_path: Path) -> None:
    wrong = "scoring: counterfactual\ncounterfactual: {continuation: ''}\n"
    (told,) = _mistakes(tmp_path, wrong)
    assert told.startswith("4: `counterfactual.continuation`: ")
