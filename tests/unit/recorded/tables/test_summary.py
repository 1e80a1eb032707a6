"""Published results of which only the best are known."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.tables.summary import (
    chance_of,
    counts_of,
)
from pytest_maxrandom.suite.recorded import SummaryColumns
from tests.unit.recorded.reading import read_summary

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.answers import Answers

Told = tuple["Path | None", str, str, int, int, int | None, int, "Fraction | None"]

HEADER = "model,task,shots,n,t,accuracy,best_correct,choices,chance\n"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return tmp_path / "published.csv"


def told(results: list[Answers]) -> list[Told]:
    """Return what is known of each published maximum."""
    found: list[Told] = []
    for each in results:
        assert each.maximum is not None
        n, t, correct = each.maximum
        chances = each.chances or (None,)
        assert len(chances) in (1, n)
        assert len(set(chances)) == 1
        found.append((each.path, each.model, each.task, each.shots, n, t, correct, chances[0]))
    return found


def test_each_row_is_one_result_however_its_numbers_are_given(table: Path) -> None:
    table.write_text(
        HEADER
        + "a,x,0,100,10,.29,,4,\n"
        + "a,x,5,1000,320,,612,,1/3\n"
        + "b,x,0,3,,33.3 %,,,\n"
        + "b,y,0,200,1,0.5000,100,2,.5\n"
    )
    assert told(read_summary(table)) == [
        (table, "a", "x", 0, 100, 10, 29, Fraction(1, 4)),
        (table, "a", "x", 5, 1000, 320, 612, Fraction(1, 3)),
        (table, "b", "x", 0, 3, None, 1, None),
        (table, "b", "y", 0, 200, 1, 100, Fraction(1, 2)),
    ]


def test_json_numbers_follow_the_same_law(tmp_path: Path) -> None:
    path = tmp_path / "published.jsonl"
    rows: list[dict[str, Any]] = [
        {"task": "x", "n": 7, "t": None, "accuracy": 2 / 7, "chance": 1 / 3},
        {"task": "y", "n": 100, "t": 4, "accuracy": 0.29, "chance": 0.25},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert told(read_summary(path, model="m", shots=1)) == [
        (path, "m", "x", 1, 7, None, 2, Fraction(1, 3)),
        (path, "m", "y", 1, 100, 4, 29, Fraction(1, 4)),
    ]


def test_parquet_has_rows_and_no_lines(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    pq = pytest.importorskip("pyarrow.parquet", reason="Parquet needs pyarrow")
    path = tmp_path / "published.parquet"
    columns = {"task": ["x", "y"], "n": [200.0, 50.0], "acc": [0.125, 0.52], "t": [20.0, None]}
    pq.write_table(pa.table(columns), path)
    names = SummaryColumns(accuracy="acc")
    assert told(read_summary(path, names, model="m", shots=0)) == [
        (path, "m", "x", 0, 200, 20, 25, None),
        (path, "m", "y", 0, 50, None, 26, None),
    ]
    pq.write_table(pa.table(columns | {"acc": [0.125, 0.51]}), path)
    with pytest.raises(
        RecordedError, match=f"{path}: row 2: accuracy is '0.51000000000000001', which is no mult"
    ):
        read_summary(path, names, model="m", shots=0)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (
            "a,x,0,100,10,.315,,4,\n",
            ":2: accuracy is '.315', which is no multiple of 1/100: the nearest are 31/100 and "
            "32/100; correct it or n, or give best_correct",
        ),
        (
            "a,x,0,1000,10,.5,,4,\n",
            ":2: accuracy is '.5', which could be any of 450/1000 to 550/1000; give more digits, "
            "or best_correct",
        ),
        (
            "a,x,0,100,10,29,,4,\n",
            ":2: accuracy is '29', expected at most 1; write 29 % or .29 where 29 of 100 is meant",
        ),
        (
            "a,x,0,100,10,good,,4,\n",
            ":2: accuracy is 'good', expected a number such as .29, 29 % or 29/100",
        ),
        ("a,x,0,100,10,,101,4,\n", ":2: best_correct is 101, but n is 100; correct one of them"),
        (
            "a,x,0,100,10,.30,29,4,\n",
            ":2: best_correct is 29 of 100, but accuracy is '.30'; correct one of them",
        ),
        (
            "a,x,0,100,10,,,4,\n",
            ":2: both best_correct and accuracy are empty; give one of them",
        ),
        ("a,x,0,0,10,,0,4,\n", ":2: n is '0', expected a whole number from 1 on"),
        ("a,x,0,,10,,0,4,\n", ":2: n is '', expected a whole number from 1 on"),
        ("a,x,0,9,0,,1,4,\n", ":2: t is '0', expected a whole number from 1 on"),
        ("a,x,0,9,1,,1,1,\n", ":2: choices is '1', expected a whole number from 2 on"),
        ("a,x,0,9,1,,1.5,4,\n", ":2: best_correct is '1.5', expected a whole number from 0 on"),
        (
            "a,x,0,9,1,,1,4,1/3\n",
            ":2: choices is 4, but chance is 1/3; correct one of them",
        ),
        (
            "a,x,0,9,1,,1,,.333\n",
            ":2: chance is '.333', which may be 1/3 rounded; write 1/3, or 333/1000 if that is "
            "meant",
        ),
        (
            "a,x,0,9,1,,1,,25\n",
            ":2: chance is '25', expected a number between 0 and 1 such as 1/5 or .2",
        ),
        (
            "a,x,0,9,1,,1,,\na,y,0,9,1,,1,,\na,x,0,9,1,,2,,\n",
            ":4: x[a-0shot] already has a result in line 2; keep one row for each model, task and "
            "number of shots",
        ),
        (",x,0,9,1,,1,,\n", ":2: model is empty; give every row a value"),
        ("", ": the file has no rows; give a row for each answer"),
    ],
)
def test_what_cannot_be_is_told_in_one_sentence_with_its_line(
    table: Path, rows: str, message: str
) -> None:
    table.write_text(HEADER + rows)
    with pytest.raises(RecordedError) as caught:
        read_summary(table)
    assert str(caught.value) == f"{table}{message}"


def test_a_result_must_be_given_somehow(table: Path) -> None:
    table.write_text("model,task,shots,n,acc\na,x,0,9,1\n")
    with pytest.raises(RecordedError, match="no column 'best_correct' and none 'accuracy', found"):
        read_summary(table)


def test_a_file_with_one_key_is_told_what_it_lacks(tmp_path: Path) -> None:
    path = tmp_path / "published.jsonl"
    path.write_text('{"n": 12}\n')
    with pytest.raises(RecordedError, match="no column 'best_correct' and none 'accuracy', found"):
        read_summary(path)


@st.composite
def counts(draw: st.DrawFn) -> tuple[int, int]:
    n = draw(st.integers(1, 20_000))
    return draw(st.integers(0, n)), n


@given(counts())
@example((285, 2000))
@example((20_000, 20_000))
def test_a_count_is_recovered_from_enough_digits(count: tuple[int, int]) -> None:
    k, n = count
    digits = len(str(n)) + 1
    assert [*counts_of(f"{k / n:.{digits}f}", n)] == [k]
    assert [*counts_of(f"{k / n:.{digits}f}".removeprefix("0"), n)] == [k]
    assert [*counts_of(f"{100 * k / n:.{digits}f} %", n)] == [k]
    assert [*counts_of(f"{k / n:.{digits}e}", n)] == [k]
    assert [*counts_of(f"{k}/{n}", n)] == [k]


@given(counts())
def test_a_count_is_recovered_from_a_binary_number_written_in_full(count: tuple[int, int]) -> None:
    k, n = count
    for value in (k / n, 1 - (n - k) / n, k * (1 / n), float(np.float32(k) / np.float32(n))):
        digits = repr(value).replace(".", "").lstrip("0").split("e")[0]
        # A short text, such as 0.5, may stand for a rounded number, and is another law's.
        if len(digits) >= 15:
            assert [*counts_of(repr(value), n)] == [k]


@given(counts(), st.integers(1, 6))
def test_the_counts_of_an_accuracy_are_those_that_are_rounded_to_it(
    count: tuple[int, int], digits: int
) -> None:
    k, n = count[0] % 200, count[1] % 200 + 1
    if k > n:
        return
    text = f"{k / n:.{digits}f}"
    shown, unit = Fraction(text), Fraction(1, 10**digits)
    expected = [c for c in range(n + 1) if abs(Fraction(c, n) - shown) <= unit / 2]
    assert list(counts_of(text, n)) == expected
    assert k in expected


def test_a_sum_in_binary_may_exceed_one_by_its_last_bit() -> None:
    assert [*counts_of("1.0000000000000002", 30)] == [30]
    with pytest.raises(ValueError, match="expected at most 1"):
        counts_of("1.01", 30)


@given(st.integers(2, 400))
def test_a_chance_is_exact_or_refused(choices: int) -> None:
    assert chance_of(f"1/{choices}") == Fraction(1, choices)
    assert chance_of(repr(1 / choices)) == Fraction(1, choices)
    rounded = f"{1 / choices:.4f}"
    if 1 / Fraction(rounded) == round(1 / Fraction(rounded)):
        assert chance_of(rounded) == Fraction(rounded)
    else:
        with pytest.raises(ValueError, match=r"which may be 1/\d+ rounded"):
            chance_of(rounded)


@pytest.mark.parametrize("text", ["", ".", "%", "-.5", "1/0", "1e999", "٣", "nan", "9" * 5000])
def test_what_is_no_number_is_refused(text: str) -> None:
    for function in (lambda: counts_of(text, 10), lambda: chance_of(text)):
        with pytest.raises(ValueError, match="expected a number such as"):
            function()
