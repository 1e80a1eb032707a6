"""The JSON Schema that ships for editors says what the loader says."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from pytest_maxrandom.suite.schema import PATH, dump_schema
from tests.unit.suite.examples import FULL, MINIMAL

if TYPE_CHECKING:
    from tests.unit.suite.conftest import SuiteText


SHIPPED: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def shipped() -> Draft202012Validator:
    return Draft202012Validator(SHIPPED)


def test_the_shipped_file_is_what_the_specs_make() -> None:
    made_with = "made with: python -m pytest_maxrandom.suite.schema"
    assert PATH.read_text(encoding="utf-8") == dump_schema(), made_with


def test_it_is_a_schema_and_says_of_which_draft() -> None:
    Draft202012Validator.check_schema(SHIPPED)
    assert SHIPPED["$schema"] == Draft202012Validator.META_SCHEMA["$id"]


@pytest.mark.parametrize("text", [MINIMAL, yaml.safe_dump(FULL)], ids=["minimal", "full"])
def test_suites_that_load_are_valid(
    suite: SuiteText, shipped: Draft202012Validator, text: str
) -> None:
    suite.load(text)
    assert shipped.is_valid(yaml.safe_load(text))


def test_shots_may_be_one_number_or_a_list(shipped: Draft202012Validator) -> None:
    for shots in (4, [4], [0, 1]):
        assert shipped.is_valid({**FULL, "prompts": {"shots": shots}})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("promts",), {}),
        (("models",), []),
        (("models", 0, "quantization"), "nf5"),
        (("models", 0, "name"), 3),
        (("tasks", 0, "colums"), {}),
        (("tasks", 0, "columns", "choices"), ["a"]),
        (("prompts", "count"), 0),
        (("prompts", "count"), "5"),
        (("prompts", "shots"), [-1]),
        (("prompts", "shots"), []),
        (("prompts", "formats", 1, "labels"), "roman"),
        (("assert", "p_max"), 1),
        (("assert", "p_max"), 0),
        (("scoring",), "mean"),
    ],
)
def test_a_mistake_is_invalid_for_the_loader_and_for_editors(
    suite: SuiteText, shipped: Draft202012Validator, path: tuple[str | int, ...], value: object
) -> None:
    changed: dict[str, Any] = copy.deepcopy(FULL)
    here: Any = changed
    for part in path[:-1]:
        here = here[part]
    here[path[-1]] = value
    assert suite.mistakes(yaml.safe_dump(changed))
    assert not shipped.is_valid(changed)


@pytest.mark.parametrize("part", ["models", "tasks"])
def test_a_missing_part_is_invalid(shipped: Draft202012Validator, part: str) -> None:
    assert not shipped.is_valid({key: value for key, value in FULL.items() if key != part})


def test_every_key_is_explained() -> None:
    told = {"FormatSpec", "CounterfactualSpec"}  # the keys of a format are those of a task
    unexplained = {
        f"{kind}.{key}"
        for kind, definition in SHIPPED["$defs"].items()
        for key, node in definition.get("properties", {}).items()
        if not node.get("description") and kind not in told
    }
    assert {key for key in unexplained if "SuiteSpec." not in key} == set()
