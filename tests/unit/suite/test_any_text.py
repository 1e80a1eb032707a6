"""Any text gives a suite, or mistakes with lines; never an exception of another kind."""

from __future__ import annotations

import copy
import json
import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import example, given, settings, strategies as st
from jsonschema import Draft202012Validator

from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.suite.loader import RecordedSuite, Suite, load_any_suite
from pytest_maxrandom.suite.schema import schema
from tests.unit.suite.examples import MINIMAL, RECORDED, SHORT

if TYPE_CHECKING:
    from pathlib import Path

VALIDATOR = Draft202012Validator(schema())
LINE_BREAKS = re.compile("\r\n|[\n\r\x85\u2028\u2029]")

keys = st.sampled_from(
    ["models", "tasks", "prompts", "assert", "name", "path", "format", "columns", "choices", "<<"]
)
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=2**62),
    st.floats(),
    st.text(max_size=10),
    st.dates(),
    st.binary(max_size=5),
    st.sampled_from(["nf4", "letter", "cross", "bigbench", "none", "\ud800", "\0", "=", "<<"]),
)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.one_of(keys, st.text(max_size=5), st.integers()), inner, max_size=3),
    ),
    max_leaves=5,
)
scraps = st.sampled_from(
    [
        *" \n\t:-?,[]{}#&*!|>'\"%@`~=0x9.eE\\\r\x85\u2028\ufeff",
        *("- ", ": ", "\n  ", "&a ", "*a", "<<: ", "---\n", "...", "{name: m}", "models", "tasks"),
        *("!!", "!!set ", "!!omap ", "!!int ", "!!binary ", "!!timestamp ", "!!float ", "!!null "),
        *("2020-01-01", "\\U9", '"\\', "0x", "1:99", "%YAML ", ".inf", ".nan", "no"),
    ]
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("suites") / "s.yaml"


def outcome(file: Path) -> Suite | RecordedSuite | SuiteError:
    try:
        return load_any_suite(file)
    except SuiteError as error:
        return error


def check(file: Path, content: bytes) -> None:
    file.write_bytes(content)
    found = outcome(file)
    if not isinstance(found, SuiteError):
        assert VALIDATOR.is_valid(found.document.data)
        return
    assert found.problems
    lines = len(LINE_BREAKS.split(content.decode("utf-8", "replace")))
    for problem in found.problems:
        assert problem.line is not None
        assert 1 <= problem.line <= lines
        assert problem.message.isprintable()
        assert len(problem.message) < 1000
    assert str(found).encode()


@given(st.text())
@settings(deadline=None)
def test_any_text(file: Path, text: str) -> None:
    check(file, text.encode("utf-8", "ignore"))


@given(st.binary())
@settings(deadline=None)
def test_any_bytes(file: Path, content: bytes) -> None:
    check(file, content)


@given(st.lists(scraps, max_size=40).map("".join))
@settings(deadline=None)
@example("!!timestamp 2001-12-14t21:59:43.10-99:99")
@example("&a {<<: *a}")
@example("? *a\n: &a b")
@example("!!pairs [a: b, c]")
@example("!!omap [a: b, 3]")
@example('a: !!binary "é"')
def test_text_made_of_scraps_of_yaml(file: Path, text: str) -> None:
    check(file, text.encode())


@given(
    st.sampled_from([MINIMAL, RECORDED]),
    st.text(alphabet="{}[],:&*-a<1! \n", max_size=30),
    st.floats(0, 1),
)
@settings(deadline=None)
def test_a_right_suite_with_something_put_in(
    file: Path, suite: str, text: str, share: float
) -> None:
    place = int(share * len(suite))
    check(file, f"{suite[:place]}{text}{suite[place:]}".encode())


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """All paths below a value, itself included."""
    inner: Any = ()
    if isinstance(value, dict):
        inner = value.items()
    if isinstance(value, list):
        inner = enumerate(value)
    return [path, *(deep for key, item in inner for deep in places(item, (*path, key)))]


@st.composite
def near_suites(draw: st.DrawFn) -> Any:
    """Suites in which one to three parts are replaced, removed, renamed or repeated."""
    right = draw(st.sampled_from([SHORT, yaml.safe_load(RECORDED)]))
    root: dict[str, Any] = {"suite": copy.deepcopy(right)}
    for _ in range(draw(st.integers(1, 3))):
        options = places(root["suite"], ("suite",))
        path: Any
        last: Any
        here: Any = root
        *path, last = draw(st.sampled_from(options))
        for part in path:
            here = here[part]
        match draw(st.sampled_from(["replace", "remove", "rename", "repeat"])):
            case "remove" if path:
                del here[last]
            case "rename" if isinstance(here, dict) and path:
                here[draw(st.one_of(keys, st.text(max_size=8)))] = here.pop(last)
            case "repeat" if isinstance(here, list):
                here.append(here[last])
            case _:
                here[last] = draw(values)
    return root["suite"]


@given(near_suites())
@settings(deadline=None)
def test_a_suite_near_a_right_one(file: Path, data: Any) -> None:
    check(file, yaml.safe_dump(data, allow_unicode=False).encode())


@given(near_suites())
@settings(max_examples=50, deadline=None)
def test_a_suite_near_a_right_one_in_json(file: Path, data: Any) -> None:
    check(file, json.dumps(data, default=str).encode())
