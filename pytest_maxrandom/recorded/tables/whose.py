"""Whose results the rows of a table are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pytest_maxrandom.errors import RecordedError, listed
from pytest_maxrandom.recorded.tables.cells import as_id, as_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from pytest_maxrandom.recorded.tables.columns import Rows

_WAYS = {
    "model": "give `results: {model: ...}`",
    "task": "let the suite have one task",
    "shots": "give `results: {shots: ...}`",
}
"""How a suite says it of a whole file."""


class Owner(NamedTuple):
    """What was asked of which model."""

    model: str
    task: str
    shots: int

    def __str__(self) -> str:
        return f"{self.task}[{self.model}-{self.shots}shot]"


def owners(
    rows: Rows, model: str | None, task: str | None, shots: int | None
) -> tuple[list[Owner], NDArray[np.int64]]:
    """Return the owners in the order of their first rows, and per row the place of its own.

    Parameters
    ----------
    model, task, shots : optional
        What is meant where the file has no such column.

    Raises
    ------
    RecordedError
        If the file has no such column and it is not given, or a value of it is not valid.
    """
    codes: NDArray[np.int64] = np.zeros(rows.count, dtype=np.int64)
    parts: list[tuple[list[Any], NDArray[np.int64]]] = []
    firsts = codes[:1]
    for role, parse, given in (
        ("model", as_id, model),
        ("task", as_id, task),
        ("shots", lambda text: as_number(text, 0), shots),
    ):
        values, of_row = _part(rows, role, parse, given)
        parts.append((values, of_row))
        firsts, codes = by_first_row(codes * len(values) + of_row, len(firsts) * len(values))
    found = [Owner(*(values[of_row[first]] for values, of_row in parts)) for first in firsts]
    return found, codes


def by_first_row(
    codes: NDArray[np.integer[Any]], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Give the codes that occur new numbers, in the order of their first rows.

    Parameters
    ----------
    codes : ndarray of int
        Per row, from 0 to size - 1.

    Returns
    -------
    firsts : ndarray of int
        The first row of each.
    renumbered : ndarray of int
        The new number of each row.
    """
    if size > 8 * len(codes):  # sorting the rows is then faster than going through all codes
        distinct, codes = np.unique(codes, return_inverse=True)
        size = len(distinct)
    first = np.full(size, len(codes))
    first[codes[::-1]] = np.arange(len(codes))[::-1]
    seen = np.flatnonzero(first < len(codes))
    order = seen[np.argsort(first[seen])]
    place = np.empty(size, dtype=np.int64)
    place[order] = np.arange(len(order))
    return first[order], place[codes]


def _part(
    rows: Rows, role: str, parse: Callable[[str], Any], given: object
) -> tuple[list[Any], NDArray[np.int64]]:
    if role in rows.columns:
        values = rows.read(role, parse)
        return values.distinct, values.codes.astype(np.int64)
    if given is None:
        raise RecordedError(
            f"{rows.path}: no column tells the {role}; name it as `columns: {role}:` (found "
            f"{listed(rows.header)}), or {_WAYS[role]}"
        )
    return [given], np.zeros(rows.count, dtype=np.int64)
