"""Columns that pyarrow reads, which is an extra: those of Parquet files, and of large CSV files.

What pyarrow might read otherwise than the `csv` module is not read here, so that answers do not
depend on what is installed.
"""

from __future__ import annotations

import codecs
import csv
import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from pytest_maxrandom.recorded.tables.columns import Rows

FROM_BYTES = 8_000_000
"""Of a CSV file from which on it is worth the import."""
_PIECE = 2**21
"""Bytes that are read at a time."""


class NotPlain(Exception):
    """A CSV file is damaged, or may mean something else to another reader."""


def csv_columns(
    path: Path, delimiter: str, width: int, columns: Sequence[int]
) -> Iterator[list[Any]]:
    """Yield some columns of a CSV file in pieces, as Arrow arrays of texts without the header.

    Parameters
    ----------
    width : int
        How many columns there are.
    columns : sequence of int
        The places of those to read.

    Raises
    ------
    NotPlain
        If it must be read by the `csv` module.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow

    names = [str(place) for place in range(width)]
    wanted = [*dict.fromkeys(str(place) for place in columns)]
    text = pa.dictionary(pa.int32(), pa.string())
    converted = arrow.ConvertOptions(
        column_types=dict.fromkeys(wanted, text), include_columns=wanted, strings_can_be_null=False
    )
    header = 1
    for piece in _pieces(path, delimiter):
        try:
            read = arrow.read_csv(
                pa.BufferReader(piece),
                arrow.ReadOptions(column_names=names, block_size=len(piece) + 1, use_threads=False),
                arrow.ParseOptions(
                    delimiter=delimiter,
                    quote_char='"' if b'"' in piece else False,
                    newlines_in_values=True,
                ),
                converted,
            )
        except pa.ArrowInvalid as error:
            raise NotPlain from error
        if not read.num_rows:
            continue
        if read.num_rows < piece.count(b"\n") and _is_long(_quoted(delimiter).findall(piece)):
            raise NotPlain  # a cell of many lines
        table = read.slice(header).combine_chunks()
        header = 0
        if table.num_rows:
            yield [table.column(str(place)).chunk(0) for place in columns]
    pa.default_memory_pool().release_unused()


def _quoted(delimiter: str) -> re.Pattern[bytes]:
    """Return what matches the cells in quotes."""
    by = re.escape(delimiter).encode()
    return re.compile(rb'(?:(?<=[\n%b])|^)"(?:[^"]++|"")*+"(?=[\r\n%b])' % (by, by))


def _is_long(cells: list[bytes]) -> bool:
    """Tell whether a cell is larger than the `csv` module reads."""
    return max(map(len, cells), default=0) > csv.field_size_limit()


def _pieces(path: Path, delimiter: str) -> Iterator[bytes]:
    """Yield whole rows, with the header, that every reader takes for the same cells."""
    quoted, left = _quoted(delimiter), b""
    # Of a row without content, which spreadsheets write, and of a line that says what separates.
    other = re.compile(rb'^(?:(?:""|%b)+|"?sep=.?"?)\r?$' % re.escape(delimiter).encode(), re.M)
    with path.open("rb") as file:
        for read in iter(lambda: file.read(_PIECE), b""):
            data = left + read
            if len(data) > 8 * _PIECE:
                raise NotPlain
            end = _end(data)
            piece, left = data[:end], data[end:]
            if piece:
                yield _plain(piece.removeprefix(codecs.BOM_UTF8), quoted, other)
    if left:
        yield _plain(left.removeprefix(codecs.BOM_UTF8) + b"\n", quoted, other)


def _end(data: bytes) -> int:
    """Return behind which byte the last row ends that is whole: one outside of quotes."""
    end = data.rfind(b"\n") + 1
    inside = data.count(b'"', 0, end) % 2
    while end and inside:
        before = data.rfind(b"\n", 0, end - 1) + 1
        inside = (inside + data.count(b'"', before, end)) % 2
        end = before
    return end


def _plain(piece: bytes, quoted: re.Pattern[bytes], other: re.Pattern[bytes]) -> bytes:
    """Return rows unless they may mean something else to another reader."""
    ends = np.flatnonzero(np.frombuffer(piece, dtype=np.uint8) == ord("\n"))
    try:
        if not piece.isascii():
            piece.decode()
    except UnicodeDecodeError as error:
        raise NotPlain from error
    if (
        b"\0" in piece
        or other.search(piece)
        or piece.count(b"\r") != piece.count(b"\r\n")
        or np.diff(ends, prepend=-1).max() > csv.field_size_limit()
        or (b'"' in piece and b'"' in quoted.sub(b"", piece))
    ):
        raise NotPlain
    return piece


def add_columns(rows: Rows, pieces: Iterable[Sequence[Any]]) -> None:
    """Append pieces of columns, in the order of `rows.names`, each an Arrow array.

    Distinct values are converted once, and not again where the next piece has the same ones.
    """
    import pyarrow as pa

    known: dict[str, Any] = {}
    for columns in pieces:
        for role, column in zip(rows.names, columns, strict=False):
            of_row, values = _coded(column)
            before = known.get(role)
            # Arrow takes 0.0 and -0.0 for equal.
            again = before and not pa.types.is_floating(values.type) and values.equals(before)
            rows.add(role, None if again else _cells(values), of_row)
            known[role] = of_row is not None and values
        rows.count += len(columns[0])


def _coded(values: Any) -> tuple[NDArray[np.int32] | None, Any]:
    """Return per row the place of its value, and distinct values; else None, and all values.

    Of distinct texts there may be some that no row has.
    """
    import pyarrow as pa

    if pa.types.is_dictionary(values.type):
        texts, places = values.dictionary, values.indices
        if (
            pa.types.is_string(texts.type)
            and pa.types.is_int32(places.type)
            and not places.null_count + texts.null_count
        ):
            return _numbers(places), texts
        used = values.indices.dictionary_encode(null_encoding="encode")
        return _numbers(used.indices), values.dictionary.take(used.dictionary)
    if not pa.types.is_nested(values.type):
        values = values.dictionary_encode(null_encoding="encode")
        return _numbers(values.indices), values.dictionary
    return None, values


def _cells(values: Any) -> list[Any]:
    import pyarrow as pa

    cells: list[Any] = values.to_pylist()
    if pa.types.is_float64(values.type):
        # With all digits: .6 was computed here, and not rounded from .57.
        return [x if x is None or x.is_integer() else f"{x:.17g}" for x in cells]
    return cells


def _numbers(places: Any) -> NDArray[np.int32]:
    """Return the places of a dictionary, none of which is missing; `to_numpy` imports pandas."""
    return np.frombuffer(places.buffers()[1], np.int32, len(places), places.offset * 4)
