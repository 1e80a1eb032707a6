"""Columns of a table in a file of any known kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.tables.csv_rows import read_csv
from pytest_maxrandom.recorded.tables.jsonl_rows import read_jsonl
from pytest_maxrandom.recorded.tables.parquet_rows import read_parquet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_maxrandom.recorded.tables.columns import Rows, Wanted


def read_columns(path: Path, wanted: Sequence[Wanted]) -> Rows:
    """Read the wanted columns; the ending of the file's name tells its kind.

    Raises
    ------
    RecordedError
        If the file is of no known kind, cannot be read, or has not the columns that are required.
    """
    match path.suffix.lower():
        case ".csv":
            return read_csv(path, wanted)
        case ".jsonl" | ".ndjson":
            return read_jsonl(path, wanted)
        case ".parquet":
            return read_parquet(path, wanted)
        case ending:
            raise RecordedError(
                f"{path}: found the ending {ending!r}, expected .csv, .jsonl or .parquet for a "
                "table"
            )
