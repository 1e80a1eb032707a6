"""Columns of a Parquet file, read with pyarrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.tables.columns import ColumnBuilder, Rows, Unreadable, present

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_maxrandom.recorded.tables.columns import Wanted


def read_parquet(path: Path, wanted: Sequence[Wanted]) -> Rows:
    """Read the wanted columns.

    Raises
    ------
    RecordedError
        If pyarrow is not installed, the file is no Parquet, or it has no row.
    """
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
            header = tuple(file.schema_arrow.names)
            names = present(path, None, header, wanted)
            columns = {role: ColumnBuilder() for role in names}
            start = 0
            for batch in file.iter_batches(columns=[*names.values()]):
                for role, name in names.items():
                    _add(columns[role], batch.column(name), path, role, start)
                start += batch.num_rows
    except OSError as error:
        reason = error.strerror or str(error).splitlines()[0]
        raise RecordedError(f"{path}: cannot be read: {reason}") from error
    except pa.ArrowException as error:
        raise RecordedError(
            f"{path}: not a Parquet file, or a damaged one: {str(error).splitlines()[0]}"
        ) from error
    if not start:
        raise RecordedError(f"{path}: the file has no row; give the rows")
    return Rows(path, header, {role: column.finish() for role, column in columns.items()}, None)


def _add(column: ColumnBuilder, values: Any, path: Path, role: str, start: int) -> None:
    """Append an Arrow array; its distinct values are converted once."""
    import pyarrow as pa

    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()  # its dictionary may hold values of no row
    nested = pa.types.is_nested(values.type)
    codes = np.arange(len(values))
    if not nested:
        values = values.dictionary_encode(null_encoding="encode")
        codes, values = values.indices.to_numpy(), values.dictionary
    texts = values.to_pylist()
    if pa.types.is_float64(values.type):
        texts = [_in_full(value) for value in texts]
    try:
        column.add_coded(codes, texts)
    except Unreadable as error:
        row = start + int(np.argmax(codes == error.place)) + 1
        raise RecordedError(f"{path}: row {row}: {role} {error}") from None


def _in_full(value: float | None) -> Any:
    """Write a double with all its digits: .6 was computed here, and not rounded from .57."""
    return value if value is None or value.is_integer() else f"{value:.17g}"
