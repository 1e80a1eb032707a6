"""Columns of a CSV file: a header with names, then one row after another."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.errors import RecordedError, quoted
from pytest_maxrandom.recorded.tables.columns import ColumnBuilder, Rows, present
from pytest_maxrandom.recorded.tables.text_file import opened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from pytest_maxrandom.recorded.tables.columns import Wanted

_PIECE = 1024
"""Rows held at a time; many more would keep the garbage collector busy."""


def read_csv(path: Path, wanted: Sequence[Wanted]) -> Rows:
    """Read the wanted columns; blank lines are skipped.

    Raises
    ------
    RecordedError
        If the file is none in UTF-8 with commas, is empty, or a row is not as long as the header.
    """
    with opened(path, newline="") as file:
        records = _records(path, file)
        line, header = next(records, (1, []))
        if not header:
            raise RecordedError(f"{path}: the file is empty; give a table with a header and rows")
        if len(header) == 1:
            raise RecordedError(
                f"{path}:{line}: found one column, {quoted(header[0])}, expected several with "
                "commas between them; write the file with commas"
            )
        names = present(path, line, header, wanted)
        places = {role: header.index(name) for role, name in names.items()}
        columns = {role: ColumnBuilder() for role in places}
        lines = []
        for starts, cells in _pieces(path, records, len(header)):
            lines.append(np.array(starts, dtype=np.int64))
            by_column = [*zip(*cells, strict=True)]
            for role, place in places.items():
                columns[role].add(by_column[place])
    if not lines:
        raise RecordedError(f"{path}:{line}: no row follows the header; give the rows")
    finished = {role: column.finish() for role, column in columns.items()}
    return Rows(path, tuple(header), finished, np.concatenate(lines))


def _records(path: Path, file: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not blank, with the line on which it starts."""
    reader = csv.reader(file, strict=True)
    start = 1
    try:
        for cells in reader:
            if cells:
                yield start, cells
            start = reader.line_num + 1
    except csv.Error as error:
        raise RecordedError(
            f"{path}:{start}: not valid CSV in the row that starts here: {error}; write the file "
            "with a CSV library"
        ) from error


def _pieces(
    path: Path, records: Iterator[tuple[int, list[str]]], width: int
) -> Iterator[tuple[list[int], list[list[str]]]]:
    starts: list[int] = []
    rows: list[list[str]] = []
    for start, cells in records:
        if len(cells) != width:
            more = len(cells) > width
            raise RecordedError(
                f"{path}:{start}: found {len(cells)} cells, expected {width} as in the header"
                + (
                    "; put a cell that holds a comma in double quotes"
                    if more
                    else "; complete the row, or remove it if a run was stopped while it wrote it"
                )
            )
        starts.append(start)
        rows.append(cells)
        if len(rows) == _PIECE:
            yield starts, rows
            starts, rows = [], []
    if rows:
        yield starts, rows
