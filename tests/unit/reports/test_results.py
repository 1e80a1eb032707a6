"""The JSON report is strict JSON, has a published schema, and is read back as it was."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from hypothesis import given, settings, strategies as st
from jsonschema import Draft202012Validator

from pytest_maxrandom.errors import ReportError
from pytest_maxrandom.record import RedFlag, RunRecord
from pytest_maxrandom.reports import schema
from pytest_maxrandom.reports.results import dump, load
from pytest_maxrandom.reports.wording import word
from tests.unit.reports.page import any_text
from tests.unit.reports.samples import claim, run, untested

if TYPE_CHECKING:
    from pathlib import Path


CORE = set(
    """
    id task model quantization shots n t best_correct best_accuracy standard_baseline
    max_random_baseline p_standard p_max union_p permutation_p majority_rate verdict passed
    outcome red_flags validation_ids test engine
    """.split()  # noqa: SIM905
)
RUNS = [
    run(broken=["a.yaml:1: no tasks"]),
    run(claim()),
    run(claim(), claim(best=41), untested(), interrupted=True, not_run=2),
]


def refuse(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is not JSON")


def strictly(text: str) -> Any:
    return json.loads(text, parse_constant=refuse)


def reread(record: RunRecord, tmp_path: Path) -> RunRecord:
    path = tmp_path / "report.json"
    path.write_text(dump(record), encoding="utf-8")
    return load(path)


@pytest.mark.parametrize("record", RUNS)
def test_a_report_is_read_back_as_it_was(record: RunRecord, tmp_path: Path) -> None:
    for each in record.claims:
        word(each)
    assert reread(record, tmp_path) == record


def test_an_old_report_is_worded_anew_where_its_numbers_tell(tmp_path: Path) -> None:
    flags = [
        RedFlag("colliding_ids", "warn", "Some ids are one.", {"ids": 5, "stated": 6}),
        RedFlag("cut_text", "warn", "Some texts were cut."),
    ]
    old = claim(best=41, message="41 are too few", red_flags=flags)
    errors = untested(message="the model is not there")
    numbers, error = reread(run(old, errors), tmp_path).claims
    assert str(numbers.message).endswith(", needs .700 (p_max = .060; t = 20, n = 60)")
    first, second = (flag.text for flag in numbers.red_flags)
    assert first.startswith("The results hold 5 example ids, but the stated n is 6: check ")
    assert second == "Some texts were cut."
    assert error.message == "the model is not there"


@given(any_text, st.floats(), st.integers())
@settings(max_examples=50)
def test_a_report_of_anything_is_strict_json(text: str, number: float, integer: int) -> None:
    record = replace(claim(), task=text, p_max=number, n=integer, asserted={text: number})
    content = strictly(dump(run(record)))["claims"][0]
    assert (content["task"], content["n"]) == (text, integer)
    expected = number if math.isfinite(number) else None
    assert content["p_max"] == content["assert"][text] == expected


@pytest.mark.parametrize("record", RUNS)
def test_a_report_validates_against_the_published_schema(record: RunRecord) -> None:
    published = json.loads(schema.PATH.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(published)
    Draft202012Validator(published).validate(strictly(dump(record)))


def test_the_published_schema_is_that_of_the_records() -> None:
    """Refresh it with ``python -m pytest_maxrandom.reports.schema``."""
    assert schema.PATH.read_text(encoding="utf-8") == schema.dump_schema()


def test_the_schema_refuses_what_is_no_report_and_promises_the_stable_core() -> None:
    made = Draft202012Validator(schema.schema())
    content = strictly(dump(run(untested())))
    assert made.is_valid(content)
    (sound,) = content["claims"]
    wrong = [{**sound, "n": "60"}, {**sound, "outcome": "fine"}, {**sound, "p_max": [1]},
             {**sound, "engine": {}}]  # fmt: skip
    lacking = [{key: sound[key] for key in sound if key != left_out} for left_out in CORE]
    assert sound.keys() >= CORE
    for each in (*wrong, *lacking):
        content["claims"] = [each]
        assert not made.is_valid(content), each


def test_the_schema_tells_what_the_keys_mean() -> None:
    properties = schema.schema()["$defs"]["ClaimRecord"]["properties"]
    assert properties["critical_count"]["description"].startswith("Fewest correct answers")
    assert properties["assert"]["description"].startswith("`assert` of the suite")


def test_keys_are_those_of_the_records_in_their_order() -> None:
    content = strictly(dump(run(claim())))
    keys = ["assert" if key == "asserted" else key for key in asdict(claim())]
    assert list(content["claims"][0]) == keys
    assert next(iter(content)) == "schema_version"
    assert content["claims"][0]["assert"] == {"p_max": 0.05}


def test_numbers_are_not_rounded() -> None:
    content = strictly(dump(run(claim(p_max=0.1 + 0.2))))
    assert content["claims"][0]["p_max"] == 0.30000000000000004


def test_keys_of_a_later_release_are_passed_over(tmp_path: Path) -> None:
    content = strictly(dump(run(claim())))
    content["new"] = content["claims"][0]["new"] = content["claims"][0]["engine"]["new"] = 1
    path = tmp_path / "report.json"
    path.write_text(json.dumps(content))
    assert load(path) == run(claim())


def failure(path: Path, content: object) -> str:
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text)
    with pytest.raises(ReportError) as caught:
        load(path)
    return str(caught.value)


def test_a_report_of_a_newer_schema_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    content = strictly(dump(run(claim()))) | {"schema_version": 2}
    assert failure(path, content) == (
        f"{path}: schema version 2 is newer than 1, the newest known here; upgrade pytest-maxrandom"
    )


@pytest.mark.parametrize("content", [[], {}, {"schema_version": "1", "claims": []}, 5, "null"])
def test_another_json_file_is_refused(tmp_path: Path, content: object) -> None:
    path = tmp_path / "report.json"
    assert failure(path, content) == (
        f"{path}: not a report of pytest-maxrandom, because 'schema_version' or 'claims' is "
        "missing; give a file that --maxrandom-json wrote"
    )


def test_a_wrong_value_is_named_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    content = strictly(dump(run(claim(), claim())))
    content["claims"][1]["n"] = "sixty"
    assert failure(path, content).startswith(f"{path}: 'claims[1].n': found 'sixty', but ")
    del content["claims"][0]["assert"]
    assert failure(path, content).startswith(f"{path}: 'claims[0].assert' is missing; ")
    assert failure(path, content | {"claims": [5]}).startswith(f"{path}: 'claims[0]': found 5, ")


def test_a_file_that_is_no_json_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    assert failure(path, '{\n"claims": [,]}').startswith(f"{path}:2: not valid JSON: ")
    assert failure(path, '{"claims": NaN}') == f"{path}: not JSON: NaN is not a JSON number"
    said = f"{path}: not JSON: the key 'n' appears twice; keep one"
    assert failure(path, '{"claims": [{"n": 60, "n": 600}]}') == said
    path.write_bytes(b"\xff")
    with pytest.raises(ReportError, match="not UTF-8"):
        load(path)
    with pytest.raises(ReportError, match="cannot be read: No such file"):
        load(tmp_path / "none.json")
