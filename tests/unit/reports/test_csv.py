"""The CSV report has every number of every claim once, and no formula."""

from __future__ import annotations

import csv as reader
import io
import json
import math
from dataclasses import asdict, fields, is_dataclass, replace
from typing import Any, get_args, get_type_hints

import pytest
from hypothesis import example, given, settings, strategies as st

from pytest_maxrandom.record import ClaimRecord, Remark, RunRecord, Tries
from pytest_maxrandom.reports.csv import columns, csv
from pytest_maxrandom.reports.text import visible
from tests.unit.reports.page import any_text
from tests.unit.reports.samples import (
    claim,
    flag,
    hand_written,
    recorded,
    run,
    scored,
    several,
    untested,
)
from tests.unit.reports.test_latex import TEST_SET

LONG = {
    "correct_counts", "validation_ids", "text", "question", "answers", "demonstration_ids",
    "losses",
}  # fmt: skip
TRIES = Tries(run=20, claim=40, task=60, counted="claim", look=2, level=0.0083, holds=True)

FLAGS = [flag("a", severity="fail"), flag("b"), flag("c", kind="max_t")]


def read(record: RunRecord) -> list[dict[str, str]]:
    text = csv(record)
    assert text.encode("utf-8").count(b"\n") == text.count("\r\n") == len(record.claims) + 1
    rows = list(reader.reader(io.StringIO(text, newline=""), strict=True))
    assert {len(row) for row in rows} == {len(columns())}
    return [dict(zip(rows[0], row, strict=True)) for row in rows[1:]]


def flat(claim: ClaimRecord) -> dict[str, Any]:
    """Return all that is one value of a claim, by the name of its column."""
    values: dict[str, Any] = {}
    for name, value in asdict(claim).items():
        if is_dataclass(getattr(claim, name)):
            values |= {f"{name}_{key}": inner for key, inner in value.items() if key not in LONG}
        elif name not in LONG and name != "red_flags":
            values["assert" if name == "asserted" else name] = value
    return values


def _remarks(value: list[Any]) -> bool:
    return any(isinstance(each, dict) for each in value)


def parsed(field: str, value: Any) -> Any:
    """Read a field as what the value in the record is."""
    if isinstance(value, bool):
        return {"true": True, "false": False}[field]
    if isinstance(value, (int, float)):
        return type(value)(field)
    if isinstance(value, dict):
        return json.loads(field) if field else {}
    if isinstance(value, list):
        found = field.split("; ") if field else []
        return [dict(asdict(Remark()), text=text) for text in found] if _remarks(value) else found
    return field or None if value is None else field


CLAIMS = [
    claim(best=41, tries=TRIES, test=TEST_SET, permutation_p=1 / 3, red_flags=FLAGS),
    recorded(published="below standard", adjusted_p=1e-300, log_p_max=-690.7755278982137),
    scored(),
    hand_written(),
    untested(),
    *several(),
]


def test_every_claim_parses_back_to_the_same_values() -> None:
    rows = read(run(*CLAIMS))
    assert len(rows) == len(CLAIMS)
    for row, each in zip(rows, CLAIMS, strict=True):
        values = flat(each)
        columns_of_flags = {"red_flags_fail", "red_flags_warn"}
        assert {name for name in row if row[name]} - columns_of_flags <= values.keys()
        for name, value in values.items():
            if value is None and name not in row:  # a part that the claim does not have
                assert not any(row[column] for column in row if column.startswith(f"{name}_"))
                continue
            assert parsed(row[name], value) == value, name


def test_red_flags_stand_in_the_column_of_what_they_do() -> None:
    flagged, plain = read(run(CLAIMS[0], claim()))
    assert flagged["red_flags_fail"] == "majority: a"
    assert flagged["red_flags_warn"] == "majority: b; max_t: c"
    assert plain["red_flags_fail"] == plain["red_flags_warn"] == ""


@given(st.floats(allow_nan=True), st.integers())
def test_numbers_have_all_their_digits_and_what_is_no_number_is_empty(
    value: float, whole: int
) -> None:
    (row,) = read(run(replace(recorded(), p_max=value, n=whole)))
    assert int(row["n"]) == whole
    if math.isfinite(value):
        assert float(row["p_max"]) == value
    else:
        assert row["p_max"] == ""


@given(any_text)
@example("=1+1")
@example("-2")
@example("+x")
@example("@SUM(A1)")
@example("'=x")
@example("\uff1d1")
@example('a"b,c\r\nd')
@settings(deadline=None)
def test_names_stand_on_one_line_and_are_never_formulas(text: str) -> None:
    (row,) = read(run(recorded(task=text)))
    assert row["task"][:1] not in set("=+-@\t\r\uff1d\uff0b\uff0d\uff20")
    assert row["task"] in (visible(text), f"'{visible(text)}")


@given(any_text, any_text)
@settings(deadline=None)
def test_different_names_stay_different(one: str, other: str) -> None:
    rows = read(run(recorded(task=one), recorded(task=other)))
    same = visible(one) == visible(other)
    assert (rows[0]["task"] == rows[1]["task"]) is same


def test_the_columns_are_the_same_for_every_run_and_each_there_is_once() -> None:
    header = csv(run()).removesuffix("\r\n").split(",")
    assert header == columns()
    assert len(set(header)) == len(header)
    for name in ("n", "t", "best_correct", "p_max", "adjusted_p", "verdict", "outcome"):
        assert name in header
    for name in ("published_n", "published_changes", "test_correct", "recorded_path"):
        assert name in header


@pytest.mark.parametrize("field", fields(ClaimRecord), ids=lambda field: field.name)
def test_each_attribute_of_a_claim_has_its_columns(field: Any) -> None:
    hint = get_type_hints(ClaimRecord)[field.name]
    parts = [kind for kind in (hint, *get_args(hint)) if is_dataclass(kind)]
    if field.name in LONG or field.name == "red_flags":
        return
    if not parts or parts == [Remark]:
        assert {"asserted": "assert"}.get(field.name, field.name) in columns()
        return
    for inner in fields(parts[0]):
        assert (f"{field.name}_{inner.name}" in columns()) == (inner.name not in LONG)
