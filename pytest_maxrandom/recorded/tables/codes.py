"""Columns as small numbers: the place of each row's text among the distinct ones.

Where NumPy takes numbers as places it makes eight bytes of each, so that whatever has one for each
row is gone through in pieces.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    Numbers = NDArray[np.integer[Any]]

S = TypeVar("S", bound=np.generic)

PIECE = 2**16
"""Rows that are looked at at a time."""


class Codes:
    """The texts of a column, each of them kept once, and per row the place of its own."""

    def __init__(self) -> None:
        self.of: defaultdict[str, int] = defaultdict()
        self.of.default_factory = self.of.__len__
        self._loose = array("i")
        self._pieces: list[Numbers] = []

    def extend(self, texts: Iterable[str]) -> None:
        """Append a row for each text."""
        self._loose.extend(map(self.of.__getitem__, texts))
        if len(self._loose) >= PIECE:
            self._settle()

    def append(self, texts: Iterable[str], of_row: Numbers) -> None:
        """Append rows, given the place of each one's text."""
        places = np.fromiter(map(self.of.__getitem__, texts), np.int32)
        self._settle()
        self._pieces.append(places.astype(_smallest(len(self.of)))[of_row])

    def repeat(self, times: int) -> None:
        """Have all rows so often, one time after the other."""
        self._pieces = [np.tile(self.rows(), times)]

    def _settle(self) -> None:
        if self._loose:
            loose = np.frombuffer(self._loose, dtype=self._loose.typecode)
            self._pieces.append(loose.astype(_smallest(len(self.of))))
            self._loose = array("i")

    def rows(self) -> Numbers:
        """Return the place of each row's text."""
        self._settle()
        if len(self._pieces) != 1:
            nothing = np.zeros(0, dtype=_smallest(len(self.of)))
            self._pieces = [np.concatenate([nothing, *self._pieces])]
        return self._pieces[0]


def _smallest(count: int) -> np.dtype[Any]:
    """Return the type of fewest bytes that holds the places of so many things."""
    return np.min_scalar_type(max(count - 1, 0))


def pieces(rows: int) -> Iterator[slice]:
    """Yield the rows in pieces."""
    return (slice(start, min(start + PIECE, rows)) for start in range(0, rows, PIECE))


def taken(table: NDArray[S], codes: Numbers) -> NDArray[S]:
    """Return what a table has for each row: the same as `table[codes]`."""
    found = np.empty(len(codes), dtype=table.dtype)
    for part in pieces(len(codes)):
        found[part] = table[codes[part]]
    return found


def unlike(codes: Numbers, expected: Numbers, of_row: Numbers) -> int | None:
    """Return the first row that has not the code that is expected where it stands, if any."""
    for part in pieces(len(codes)):
        wrong = np.flatnonzero(codes[part] != expected[of_row[part]])
        if len(wrong):
            return int(part.start + wrong[0])
    return None


def counted(codes: Numbers, size: int) -> NDArray[np.int64]:
    """Return how many rows have each of the codes from 0 to size - 1."""
    counts = np.zeros(size, dtype=np.int64)
    for part in pieces(len(codes)):
        counts += np.bincount(codes[part], minlength=size)
    return counts


def by_first_row(codes: Numbers, size: int) -> tuple[NDArray[np.int64], Numbers]:
    """Give the codes that occur, from 0 to size - 1, new numbers in the order of their first rows.

    Returns
    -------
    firsts, renumbered : ndarray of int
        The first row of each, and the new number of each row.
    """
    if size > 8 * len(codes):  # sorting the rows is then faster than going through all codes
        distinct, codes = np.unique(codes, return_inverse=True)
        size = len(distinct)
    first = np.full(size, len(codes))
    for part in reversed([*pieces(len(codes))]):
        first[codes[part][::-1]] = np.arange(part.start, part.stop)[::-1]
    seen = np.flatnonzero(first < len(codes))
    order = seen[np.argsort(first[seen])]
    if np.array_equal(order, np.arange(size)):  # as where codes were given in that order
        return first, codes
    place = np.empty(size, dtype=_smallest(len(order)))
    place[order] = np.arange(len(order))
    return first[order], taken(place, codes)
