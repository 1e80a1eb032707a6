"""Columns of a JSONL file: one JSON object with the same keys in each line."""

from __future__ import annotations

import json
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_maxrandom.errors import RecordedError, described, did_you_mean, quoted
from pytest_maxrandom.recorded.tables.columns import ColumnBuilder, Rows, Unreadable, present
from pytest_maxrandom.recorded.tables.text_file import opened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
    from pathlib import Path

    from pytest_maxrandom.recorded.tables.columns import Wanted

_PIECE = 1024
"""Rows held at a time; many more would keep the garbage collector busy."""


def read_jsonl(path: Path, wanted: Sequence[Wanted]) -> Rows:
    """Read the wanted columns; blank lines are skipped.

    The first line tells which of them the file has.

    Raises
    ------
    RecordedError
        If the file is empty or not in UTF-8, or a line does not hold what the first one does.
    """
    with opened(path, newline="\n") as file:
        objects = _objects(path, file)
        line, first = next(objects, (0, None))
        if first is None:
            raise RecordedError(f"{path}: the file is empty; give one JSON object in each line")
        header = tuple(first)
        names = present(path, line, header, wanted)
        absent = {column.name for column in wanted} - set(names.values())
        columns = {role: ColumnBuilder() for role in names}
        lines = []
        for starts, cells in _pieces(path, chain([(line, first)], objects), names, absent):
            lines.append(np.array(starts, dtype=np.int64))
            for role, values in zip(names, zip(*cells, strict=True), strict=True):
                try:
                    columns[role].add(values)
                except Unreadable as error:
                    place = starts[error.place]
                    raise RecordedError(f"{path}:{place}: {role} {error}") from None
    finished = {role: column.finish() for role, column in columns.items()}
    rows = Rows(path, header, finished, np.concatenate(lines))
    for role in names:
        rows.read(role, _encodable)
    return rows


def _objects(path: Path, lines: Iterable[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    decode = json.JSONDecoder(
        object_pairs_hook=_unique, parse_float=str, parse_constant=_refuse_constant
    ).decode
    for number, text in enumerate(lines, start=1):
        if not text.strip():
            continue
        try:
            row = decode(text)
        except json.JSONDecodeError as error:
            if text.lstrip().startswith("["):  # one list over all lines
                raise _no_object(path, number, []) from None
            raise RecordedError(
                f"{path}:{number}: not valid JSON: {error.msg} (column {error.colno}); give one "
                "JSON object in each line, and remove a line that a stopped run left unfinished"
            ) from None
        except ValueError as error:
            raise RecordedError(f"{path}:{number}: not readable as JSON: {error}") from None
        except RecursionError:
            raise RecordedError(
                f"{path}:{number}: not readable as JSON: it is nested too deeply; give one flat "
                "object in each line"
            ) from None
        if not isinstance(row, dict):
            raise _no_object(path, number, row)
        yield number, row


def _no_object(path: Path, line: int, value: object) -> RecordedError:
    return RecordedError(
        f"{path}:{line}: found {described(value)}, expected one JSON object in each line"
    )


def _pieces(
    path: Path,
    objects: Iterable[tuple[int, dict[str, Any]]],
    names: Mapping[str, str],
    absent: Set[str],
) -> Iterator[tuple[list[int], list[tuple[Any, ...]]]]:
    cells = itemgetter(*names.values())
    starts: list[int] = []
    rows: list[tuple[Any, ...]] = []
    for number, row in objects:
        try:
            rows.append(cells(row))
        except KeyError as error:
            name = str(error.args[0])
            raise RecordedError(
                f"{path}:{number}: the key {quoted(name)} is missing, which earlier lines have"
                f"{did_you_mean(name, row)}"
            ) from None
        if not absent.isdisjoint(row):
            name = next(key for key in row if key in absent)
            raise RecordedError(
                f"{path}:{number}: the key {quoted(name)} is here but not in earlier lines; give "
                "every line the same keys, with null where there is no value"
            )
        starts.append(number)
        if len(rows) == _PIECE:
            yield starts, rows
            starts, rows = [], []
    if rows:
        yield starts, rows


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {quoted(twice)} stands there twice; keep one")
    return row


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON; write null where there is no value")


def _encodable(text: str) -> None:
    """Refuse half of a surrogate pair, which JSON can spell but no report can show."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"is {quoted(text)}, which is not valid Unicode; write it again") from None
