"""What a suite may say of replicates, and every mistake with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml
from jsonschema import Draft202012Validator

from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.suite.loader import load_any_suite
from pytest_maxrandom.suite.schema import schema
from tests.unit.suite.examples import MINIMAL

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.suite.conftest import SuiteText

RECORDED = """\
models: [{name: m, backend: recorded, results: {path: x, format: npz}}]
tasks: [{name: t}]
"""
SHARE = "assert: {p_max: 0.05, in_replicates: .9}"


@pytest.mark.parametrize(
    ("said", "count", "seed"),
    [("20", 20, 0), ("{count: 20}", 20, 0), ("{count: 2, seed: 7}", 2, 7)],
)
def test_replicates_are_a_number_or_a_number_with_a_seed(
    suite: SuiteText, said: str, count: int, seed: int
) -> None:
    text = f"{MINIMAL}replicates: {said}\n{SHARE}\n"
    spec = suite.load(text).spec.replicates
    assert spec is not None
    assert (spec.count, spec.seed) == (count, seed)
    assert Draft202012Validator(schema()).is_valid(yaml.safe_load(text))


def test_a_suite_has_no_replicates_if_it_does_not_say_so(suite: SuiteText) -> None:
    assert suite.load(MINIMAL).spec.replicates is None


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("replicates: 1", "3: `replicates`: found 1, expected a whole number from 2 to 1000"),
        (
            "replicates: {count: 1001}",
            "3: `replicates.count`: found 1001, expected a whole number from 2 to 1000",
        ),
        ("replicates: {seed: 1}", "3: the key `replicates.count` is missing; add it"),
        (
            "replicates: {count: 2, sed: 1}",
            "3: unknown key `replicates.sed`; did you mean `seed`? (keys here: count, seed)",
        ),
        (
            "replicates: yes",
            "3: `replicates`: found true, expected a whole number from 2 to 1000",
        ),
        (
            "replicates: 5\nassert: {in_replicates: 1.5}",
            "4: `assert.in_replicates`: found 1.5, expected a number above 0 and at most 1",
        ),
        (
            SHARE,
            "3: assert.in_replicates: this is a share of the suite's replicates, but the suite has "
            "none; add `replicates: 20` to the suite, or remove this",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line(suite: SuiteText, said: str, told: str) -> None:
    assert suite.mistakes(f"{MINIMAL}{said}\n") == [told]


def test_a_task_may_not_ask_for_a_share_of_replicates_that_there_are_not(suite: SuiteText) -> None:
    text = (
        "models: [{name: m}]\n"
        "tasks:\n- {name: s, format: csv, path: x}\n"
        "- {name: t, format: csv, path: x, assert: {in_replicates: 1}}\n"
    )
    (told,) = suite.mistakes(text)
    assert told.startswith("4: tasks[1].assert.in_replicates: this is a share of")
    assert suite.load(f"{text}replicates: 2\n").spec.tasks[1].assertion is not None


@pytest.mark.parametrize("said", ["replicates: 20", "assert: {in_replicates: 0.9}"])
def test_recorded_results_cannot_be_drawn_anew(tmp_path: Path, said: str) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(f"{RECORDED}{said}\n")
    with pytest.raises(SuiteError) as caught:
        load_any_suite(path)
    (problem,) = caught.value.problems
    assert problem.line == 3
    assert "these results are recorded; remove it, and use `maxrandom replication`" in str(problem)
