"""CSV files that pyarrow reads, beside the `csv` module: the same cells, or none at all."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.files import opened
from pytest_maxrandom.recorded.tables import arrow
from pytest_maxrandom.recorded.tables.arrow import NotPlain, csv_columns
from pytest_maxrandom.recorded.tables.files import csv_records, read_columns
from tests.unit.recorded.reading import read_table

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("pyarrow", reason="Arrow reads the columns")
HEADER = "prompt,example,correct\n"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are read in pieces of a few rows, however small they are."""
    monkeypatch.setattr(arrow, "_PIECE", 40)
    monkeypatch.setattr("pytest_maxrandom.recorded.tables.files.FROM_BYTES", 0)


def by_arrow(path: Path) -> list[list[str]] | None:
    """Return all columns; None of a file that Arrow must not read."""
    found: list[list[str]] = [[], [], []]
    try:
        for piece in csv_columns(path, ",", 3, [0, 1, 2]):
            for column, part in zip(found, piece, strict=True):
                column += part.to_pylist()
    except NotPlain:
        return None
    return found


def by_module(path: Path) -> list[list[str]] | None:
    """Return all columns; None of a file that is refused."""
    try:
        with opened(path, newline="") as file:
            _, *rows = [cells for _, cells in csv_records(path, file)]
    except RecordedError:
        return None
    return [[row[place] for row in rows] for place in range(3)]


def test_cells_are_those_of_the_csv_module_whatever_the_text(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    path = tmp_path / "x.csv"
    alphabet = ["a", "b", '"', '""', "\n", "\r\n", "\r", " ", "é", "\0", ",", '","', '"\n"', "\n\n"]
    chances = [0.3, 0.2, 0.04, 0.04, 0.02, 0.02, 0.005, 0.05, 0.05, 0.001, 0.08, 0.05, 0.04]
    chances.append(1 - sum(chances))
    read = refused = 0
    for _ in range(200):
        rows = [
            ",".join(
                '"' + "".join(generator.choice(alphabet, 3, p=chances)).replace('"', '""') + '"'
                if generator.random() < 0.3
                else "".join(generator.choice(["a", "b", " ", "é", "'"], generator.integers(4)))
                for _ in range(3)
            )
            for _ in range(generator.integers(1, 12))
        ]
        text = HEADER + str(generator.choice(["\n", "\r\n"])).join(rows)
        if generator.random() < 0.5:  # whatever may be wrong anywhere
            at = generator.integers(len(HEADER), len(text) + 1)
            text = text[:at] + str(generator.choice(alphabet)) + text[at:]
        path.write_bytes(text.encode())
        cells, expected = by_arrow(path), by_module(path)
        if cells is None:
            refused += expected is None
        else:
            assert cells == expected, text
            read += 1
    assert read > 60
    assert refused > 15


@pytest.mark.parametrize(
    "rows",
    [
        "p,a,1\np,b,\xff\n".encode("latin-1"),
        b"p,a,1\np,b\n",
        b"p,a,1\np,b,1,\n",
        b'p,a,1\np,"b,1\n',
        b'p,a,1\np,b"b,1\n',
        b"p,a,1\rp,b,1\n",
        b"p,a,1\np,\0,1\n",
        b"p,a,1\np," + b"b" * 200_000 + b",1\n",
        b'p,a,1\np,"' + b"b\n" * 100_000 + b'",1\n',
    ],
)
def test_what_may_mean_something_else_is_left_to_the_csv_module(
    tmp_path: Path, rows: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(HEADER.encode() + rows)
    assert by_arrow(path) is None
    monkeypatch.setattr(arrow, "_PIECE", 2**22)
    assert by_arrow(path) is None
    assert csv.field_size_limit() == 131_072


def test_a_bad_cell_is_named_by_its_line_however_it_was_read(tmp_path: Path) -> None:
    rows = [f'p{row // 10},"{row % 10}",{row % 2}' for row in range(200)]
    rows[50] = 'p5,"0\n\n0",0'
    path = tmp_path / "x.csv"
    path.write_text(HEADER + "\n\n".join(rows) + "\n\np20,0,2\n")
    assert by_arrow(path) is not None
    with pytest.raises(RecordedError, match=r"x.csv:404: correct is '2', expected 0 or 1"):
        read_table(path, model="m", task="t", shots=0)


def test_columns_may_be_none_repeat_or_stand_in_any_order(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"\xef\xbb\xbfb,prompt,a\n" + b"".join(b"1,p%d,e\n" % n for n in range(99)))
    assert read_columns(path, {}).count == 99
    wanted = {"example": ("a", True), "input": ("a", True), "prompt": ("prompt", True)}
    rows = read_columns(path, wanted)
    assert rows.read("prompt", str).of_rows() == [f"p{n}" for n in range(99)]
    assert rows.read("input", str).of_rows() == rows.read("example", str).of_rows() == ["e"] * 99
