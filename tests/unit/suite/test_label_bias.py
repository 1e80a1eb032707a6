"""What a suite may say of label bias, and every mistake with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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


def test_a_suite_checks_no_labels_if_it_does_not_say_so(suite: SuiteText) -> None:
    assert suite.load(MINIMAL).spec.label_bias is None


def test_an_empty_block_asserts_that_recalls_are_above_random(suite: SuiteText) -> None:
    spec = suite.load(f"{MINIMAL}label_bias: {{}}\n").spec.label_bias
    assert spec is not None
    assert (spec.check, spec.interactions, spec.base_rate) == ("recall", None, "control")
    assert (spec.assertion, spec.level) == ("above_random", 0.05)
    assert spec.is_about("t")


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("{check: move, interactions: cloze}", {"check": "move", "interactions": ["cloze"]}),
        ("{interactions: [counterfactual, cloze]}", {"interactions": ["counterfactual", "cloze"]}),
        ("{base_rate: off}", {"base_rate": "off"}),
        ('{base_rate: "off"}', {"base_rate": "off"}),
        ("{calibration: pride, seed: 3}", {"calibration": ["pride"], "seed": 3}),
        ("{assert: above_random, level: .01}", {"assertion": "above_random", "level": 0.01}),
        ("{tasks: t}", {"tasks": ["t"]}),
    ],
)
def test_what_a_suite_says_is_taken_over(
    suite: SuiteText, said: str, expected: dict[str, Any]
) -> None:
    text = f"{MINIMAL}label_bias: {said}\n"
    spec = suite.load(text).spec.label_bias
    assert {key: getattr(spec, key) for key in expected} == expected
    assert Draft202012Validator(schema()).is_valid(yaml.safe_load(text))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "{check: moved}",
            "3: `label_bias.check`: found 'moved', expected 'recall' or 'move' or 'redraw'; did "
            "you mean `move`?",
        ),
        (
            "{chek: move}",
            "3: unknown key `label_bias.chek`; did you mean `check`? (keys here: check, "
            "interactions, base_rate, calibration, tasks, seed, level, assert)",
        ),
        (
            "{interactions: []}",
            "3: `label_bias.interactions`: found an empty list, expected at least one entry",
        ),
        (
            "{interactions: [cloze, cloze]}",
            "3: label_bias.interactions[1] repeats label_bias.interactions[0]; remove one of the "
            "two",
        ),
        (
            "{calibration: [pride, pride]}",
            "3: label_bias.calibration[1] repeats label_bias.calibration[0]; remove one of the two",
        ),
        (
            "{tasks: [tt]}",
            "3: label_bias.tasks[0]: the suite has no task 'tt'; did you mean 't'?",
        ),
        (
            "{tasks: [other]}",
            "3: label_bias.tasks[0]: the suite has no task 'other'; correct the name, or remove it",
        ),
        (
            "{assert: report, level: .01}",
            "3: label_bias.level: `assert: report` asserts nothing, but `level` is a threshold for "
            "a p-value; remove one of the two",
        ),
    ],
)
def test_every_mistake_has_its_line_and_a_way_out(suite: SuiteText, said: str, told: str) -> None:
    with pytest.raises(SuiteError) as caught:
        suite.load(f"{MINIMAL}label_bias: {said}\n")
    assert str(caught.value).removeprefix(f"{suite.path}:") == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "{check: move}",
            "label_bias.check: move asks the model again with other texts, but these results are "
            "recorded; use `check: recall`",
        ),
        (
            "{interactions: counterfactual}",
            "label_bias.interactions: these results are recorded, so the model cannot be asked in "
            "other ways; remove it",
        ),
        (
            "{base_rate: control}",
            "label_bias.base_rate: recorded results have none, because the model is not asked "
            "again; remove it",
        ),
        (
            "{calibration: pride}",
            "label_bias.calibration: the scores of recorded results cannot be calibrated; "
            "remove it",
        ),
    ],
)
def test_recorded_results_are_asked_for_nothing(tmp_path: Path, said: str, told: str) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(f"{RECORDED}label_bias: {said}\n")
    with pytest.raises(SuiteError) as caught:
        load_any_suite(path)
    assert str(caught.value) == f"{path}:3: {told}"


@pytest.mark.parametrize("said", ["{}", "{base_rate: off}", "{interactions: cloze}"])
def test_recorded_results_have_recalls(tmp_path: Path, said: str) -> None:
    path = tmp_path / "suite.yaml"
    path.write_text(f"{RECORDED}label_bias: {said}\n")
    assert load_any_suite(path).spec.label_bias is not None
