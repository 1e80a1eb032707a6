"""Columns of a table in a CSV, JSONL or Parquet file."""

from __future__ import annotations

import csv
import json
from contextlib import closing
from importlib.util import find_spec
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any

from pytest_maxrandom.errors import RecordedError, csv_in_words, did_you_mean, quoted, unique_keys
from pytest_maxrandom.host.delimiters import DELIMITERS, delimiter_of
from pytest_maxrandom.host.limits import too_large
from pytest_maxrandom.host.unpacked import parquet_bytes, unpacked_groups
from pytest_maxrandom.recorded.files import json_lines, opened
from pytest_maxrandom.recorded.tables.arrow import FROM_BYTES, NotPlain, add_columns, csv_columns
from pytest_maxrandom.recorded.tables.columns import Rows

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    from pytest_maxrandom.recorded.tables.columns import Wanted

_WAY = (
    "give one JSON object in each line, and remove a line that an interrupted run left unfinished"
)


def read_columns(path: Path, wanted: Wanted) -> Rows:
    """Read the wanted columns; the ending of the file's name tells its kind.

    Raises
    ------
    RecordedError
        If the file is of no known kind, cannot be read, has no row, or has not the columns that
        are required.
    """
    ending = path.suffix.lower()
    if ending not in _READERS:
        raise RecordedError(
            f"{path}: found the ending {ending!r}, expected .csv, .jsonl or .parquet for a table"
        )
    rows = _READERS[ending](path, wanted)
    if not rows.count:
        raise RecordedError(f"{path}: the file has no rows; give a row for each answer")
    return rows


def _read_csv(path: Path, wanted: Wanted) -> Rows:
    """Read a header with names, then one row after another; blank ones are skipped.

    Spreadsheets write rows and columns that have no name and no content, and some of them first a
    line that says what separates cells.
    """
    with opened(path, newline="") as file:
        delimiter, records = _csv_of(path, file)
        line, header = next(records, (1, []))
        if not header:
            raise RecordedError(f"{path}: the file is empty; give a table with a header and rows")
        if len(header) == 1:
            raise RecordedError(
                f"{path}:{line}: found one column, {quoted(header[0])}, expected several columns "
                "separated by commas, semicolons or tabs; write the file with commas"
            )

        def again() -> Iterator[tuple[int, list[str]]]:
            with opened(path, newline="") as file:
                yield from islice(_csv_of(path, file)[1], 1, None)

        rows = Rows(path, line, header, wanted, again)
        keys = [header.index(name) for name in rows.names.values()]
        if path.stat().st_size >= FROM_BYTES and find_spec("pyarrow") is not None:
            try:
                add_columns(rows, csv_columns(path, delimiter, len(header), keys or [0]))
            except NotPlain:  # which the reader below reads, or says where it is wrong
                rows = Rows(path, line, header, wanted, again)
            else:
                return rows
        rows.extend((cells for _, cells in records), keys)
    return rows


def _csv_of(path: Path, file: IO[str]) -> tuple[str, Iterator[tuple[int, list[str]]]]:
    """Return what separates the cells of a file, and its rows, the header among them."""
    delimiter, start = delimiter_of(file)
    return delimiter, csv_records(path, file, delimiter, start)


def csv_records(
    path: Path, file: Iterable[str], delimiter: str = ",", start: int = 1
) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not blank, with the line on which it starts.

    Raises
    ------
    RecordedError
        If the text is not valid CSV, or a row is not as long as the first.
    """
    reader = csv.reader(file, strict=True, delimiter=delimiter)
    before, width = start - 1, 0
    try:
        for cells in reader:
            width = width or len(cells)
            if len(cells) == width > 0:
                if any(cells):
                    yield start, cells
            elif cells:
                way = "complete the row, or remove it if an interrupted run left it unfinished"
                if len(cells) > width:
                    way = f"put a cell that holds a {DELIMITERS[delimiter]} in double quotes"
                raise RecordedError(
                    f"{path}:{start}: found {len(cells)} cells, expected {width} as in the header; "
                    f"{way}"
                )
            start = before + reader.line_num + 1
    except csv.Error as error:
        raise RecordedError(
            f"{path}:{start}: {csv_in_words(error)}; write the file with a CSV library"
        ) from error


def _read_jsonl(path: Path, wanted: Wanted) -> Rows:
    """Read one JSON object from each line that is not blank; the first one tells the columns."""
    decode = json.JSONDecoder(
        object_pairs_hook=unique_keys, parse_float=str, parse_constant=_refuse_constant
    ).decode
    with opened(path, newline="\n") as file:
        objects = json_lines(path, file, _WAY, decode)
        line, first = next(objects, (0, None))
        if first is None:
            raise RecordedError(f"{path}: the file is empty; give one JSON object in each line")

        def again() -> Iterator[tuple[int, dict[str, Any]]]:
            with opened(path, newline="\n") as file:
                yield from json_lines(path, file, _WAY, decode)

        rows = Rows(path, line, [*first], wanted, again)
        names = [*rows.names.values()]
        absent = {name for name, _ in wanted.values()} - first.keys()
        rows.extend(chain([first], _alike(path, objects, first, names, absent)), names)
    return rows


def _alike(
    path: Path,
    objects: Iterator[tuple[int, dict[str, Any]]],
    first: dict[str, Any],
    names: Collection[str],
    absent: Collection[str],
) -> Iterator[dict[str, Any]]:
    """Refuse objects that lack a column that is read, or have one that the first has not."""
    for line, row in objects:
        others = () if row.keys() == first.keys() else (*names, *row)
        for name in others:
            if name in names and name not in row:
                raise RecordedError(
                    f"{path}:{line}: the key {quoted(name)} is missing, which earlier lines have"
                    f"{did_you_mean(name, row)}"
                )
            if name in absent:
                raise RecordedError(
                    f"{path}:{line}: the key {quoted(name)} is new in this line; give every line "
                    "the same keys, with null where there is no value"
                )
        yield row


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not valid JSON; write null where there is no value")


def _read_parquet(path: Path, wanted: Wanted) -> Rows:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise RecordedError(
            f"{path}: Parquet files are read with pyarrow, which is not installed; run "
            'pip install "pytest-maxrandom[parquet]"'
        ) from error
    try:
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            rows = Rows(path, None, schema.names, wanted)
            read = [*dict.fromkeys(rows.names.values())]
            # As dictionaries: a long text that all rows repeat is in memory once.
            plain = [name for name in read if not pa.types.is_nested(schema.field(name).type)]
            known = file.metadata
            if why := too_large(parquet_bytes(known, read)):
                raise RecordedError(f"{path}: {why}")
        with pq.ParquetFile(path, metadata=known, read_dictionary=plain) as file:
            add_columns(rows, _row_groups(path, file, [*rows.names.values()], plain))
            pa.default_memory_pool().release_unused()
    except OSError as error:
        reason = error.strerror or str(error).splitlines()[0]
        raise RecordedError(f"{path}: cannot be read: {reason}") from error
    except pa.ArrowException as error:
        raise RecordedError(
            f"{path}: not a Parquet file, or a damaged one: {str(error).splitlines()[0]}"
        ) from error
    return rows


def _row_groups(
    path: Path, file: Any, names: Sequence[str], plain: Collection[str]
) -> Iterator[list[Any]]:
    """Yield the columns of a Parquet file in pieces, each group as soon as it is known to fit."""
    read = [*dict.fromkeys(names)]
    with closing(unpacked_groups(path, read, plain)) as checked:
        # Of several groups of rows at a time it would hold what it has read.
        for group in range(file.num_row_groups):
            if why := next(checked, ""):
                raise RecordedError(f"{path}: {why}")
            for batch in file.iter_batches(row_groups=[group], columns=read, use_threads=False):
                yield [batch.column(name) for name in names] or [batch]


_READERS = {
    ".csv": _read_csv,
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
    ".parquet": _read_parquet,
}
ENDINGS = tuple(_READERS)
"""Of files that may be tables."""
