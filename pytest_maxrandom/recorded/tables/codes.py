"""Columns as small numbers: the place of each row's text among the distinct ones.

A column is kept by what it takes. Where its numbers go up and begin again they follow from those of
the rows, and where the rows of an example agree there is one for each example; what is left has a
number for each row. Where NumPy takes numbers as places it makes eight bytes of each, so that
whatever has one for each row is gone through in pieces.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    Numbers = NDArray[np.integer[Any]]

S = TypeVar("S", bound=np.generic)

PIECE = 2**16
"""Rows that are looked at at a time."""


class Column(Protocol):
    """A number for each row, as an array has them: by a row, by rows, or by a slice of them."""

    def __len__(self) -> int: ...
    def __getitem__(self, rows: Any, /) -> Any: ...


@dataclass(frozen=True, slots=True)
class Cycle:
    """The numbers from 0 to size - 1, each for so many rows, and again from the first."""

    each: int
    size: int
    count: int

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, rows: Any, /) -> Any:
        if isinstance(rows, slice):
            start, stop, step = rows.indices(self.count)
            if step == 1:
                return self._between(start, max(start, stop))
            rows = np.arange(start, stop, step)
        turns = rows // self.each
        return np.asarray(turns % self.size, dtype=_smallest(self.size))

    def _between(self, start: int, stop: int) -> Numbers:
        """Return the numbers of adjacent rows, without the division of each, which is slow."""
        if start == stop:
            return np.zeros(0, dtype=_smallest(self.size))
        first, last = start // self.each, -(-stop // self.each)
        number, turns = first % self.size, last - first
        if number + turns <= self.size:
            numbers = np.arange(number, number + turns).astype(_smallest(self.size))
        else:
            again = np.arange(self.size).astype(_smallest(self.size))
            numbers = np.tile(again, -(-(number + turns) // self.size))[number : number + turns]
        if self.each == 1:
            return numbers
        ends = np.arange(first, last + 1) * self.each
        return np.repeat(numbers, np.diff(ends.clip(start, stop)))


@dataclass(frozen=True, slots=True)
class Looked:
    """What a table has for each number of a column, in its first rows."""

    table: NDArray[Any]
    column: Column
    count: int

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, rows: Any, /) -> Any:
        if isinstance(rows, slice):
            rows = slice(*rows.indices(self.count))
        return self.table[self.column[rows]]


class Codes:
    """The texts of a column, each of them kept once, and per row the place of its own.

    Parameters
    ----------
    by : Codes, optional
        Those of the examples, which get their rows first.
    """

    def __init__(self, by: Codes | None = None) -> None:
        self.of: defaultdict[str, int] = defaultdict()
        self.of.default_factory = self.of.__len__
        self._loose = array("i")
        self._texts: list[str] = []
        self._places = np.zeros(0, dtype=np.int32)
        self._ways: list[_Way] = [_Ordered(), *([_Agreeing(by)] if by else [])]

    def extend(self, texts: Iterable[str]) -> None:
        """Append a row for each text."""
        self._loose.extend(map(self.of.__getitem__, texts))
        if len(self._loose) >= PIECE:
            self._settle()

    def append(self, texts: Iterable[str], of_row: Column) -> None:
        """Append rows, given the place of each one's text; what no row has is left out."""
        self._texts = [*texts]
        self._settle()
        self._places = np.array([self.of.get(text, -1) for text in self._texts], dtype=np.int32)
        self.again(of_row)

    def again(self, of_row: Column) -> None:
        """Append rows, given the place of each one's text among those appended last."""
        for part in pieces(len(of_row)):
            places = of_row[part]
            codes = self._places[places]
            if codes.min(initial=0) < 0:
                new = places[codes < 0]
                for place in new[by_first_row(new, len(self._texts))[0]].tolist():
                    self._places[place] = self.of[self._texts[place]]
                codes = self._places[places]
            self._put(codes)

    def repeat(self, times: int) -> None:
        """Have all rows so often, one time after the other."""
        rows, size = self.rows()[:], len(self.rows()) * times
        self._ways = [_Repeated(Looked(rows, Cycle(1, len(rows), size), size))]

    def rows(self) -> Column:
        """Return the place of each row's text."""
        self._settle()
        return self._ways[0].column()

    def _settle(self) -> None:
        if self._loose:
            self._put(np.frombuffer(self._loose, dtype=self._loose.typecode))
            self._loose = array("i")

    def _put(self, codes: Numbers) -> None:
        ways = [way for way in self._ways if way.takes(codes)]
        if not ways:
            before, stored = self._ways[0].column(), _Stored()
            for part in pieces(len(before)):
                stored.takes(before[part])
            stored.takes(codes)
            ways = [stored]
        self._ways = ways


class _Way(Protocol):
    """A way to keep rows, which takes the next ones if it can, and else has those before."""

    def takes(self, codes: Numbers, /) -> bool: ...
    def column(self) -> Column: ...


class _Ordered:
    """Rows whose numbers go up by one after each so many rows, and begin again, if they do."""

    def __init__(self) -> None:
        self._each = self._size = self._count = 0

    def takes(self, codes: Numbers, /) -> bool:
        repeats, size, before = self._each, self._size, self._count
        count = before + len(codes)
        if not repeats and codes.any():
            repeats = before + int(np.argmax(codes != 0))
            if not repeats:
                return False
        if repeats and not size and (other := codes != Cycle(repeats, count, count)[before:]).any():
            size, within = divmod(before + int(np.argmax(other)), repeats)
            if within:  # the rows before have taken this number, and would be given another
                return False
        if size and (codes != Cycle(repeats, size, count)[before:]).any():
            return False
        self._each, self._size, self._count = repeats, size, count
        return True

    def column(self) -> Cycle:
        each = self._each or max(1, self._count)
        return Cycle(each, self._size or -(-self._count // each), self._count)


class _Agreeing:
    """Rows of which those of an example agree."""

    def __init__(self, by: Codes) -> None:
        self._by, self._count = by, 0
        self._of = np.zeros(0, dtype=np.int32)

    def takes(self, codes: Numbers, /) -> bool:
        by = self._by.rows()[self._count : self._count + len(codes)]
        if len(by) < len(codes):
            return False
        more = np.full(max(0, len(self._by.of) - len(self._of)), -1, dtype=np.int32)
        self._of = np.append(self._of, more) if len(more) else self._of
        new = self._of[by] < 0
        self._of[by[new]] = codes[new]
        if (self._of[by] != codes).any():
            return False
        self._count += len(codes)
        return True

    def column(self) -> Looked:
        size = int(self._of.max(initial=0)) + 1
        return Looked(self._of.astype(_smallest(size)), self._by.rows(), self._count)


class _Stored:
    """Rows that have a number each, in as few bytes as the largest takes."""

    def __init__(self) -> None:
        self._kept, self._type = bytearray(), np.dtype(np.uint8)

    def takes(self, codes: Numbers, /) -> bool:
        needed = np.promote_types(self._type, _smallest(int(codes.max(initial=0)) + 1))
        if needed != self._type:
            self._kept = bytearray(self.column().astype(needed).tobytes())
            self._type = needed
        self._kept += codes.astype(needed).tobytes()
        return True

    def column(self) -> Numbers:
        return np.frombuffer(self._kept, dtype=self._type)


@dataclass
class _Repeated:
    """Rows that are whole."""

    rows: Column

    def takes(self, codes: Numbers, /) -> bool:
        return not len(codes)

    def column(self) -> Column:
        return self.rows


def _smallest(count: int) -> np.dtype[Any]:
    """Return the type of fewest bytes that holds the places of so many things."""
    return np.min_scalar_type(max(count - 1, 0))


def pieces(rows: int) -> Iterator[slice]:
    """Yield the rows in pieces."""
    return (slice(start, min(start + PIECE, rows)) for start in range(0, rows, PIECE))


def taken(table: NDArray[S], codes: Column) -> NDArray[S]:
    """Return what a table has for each row: the same as `table[codes]`."""
    found = np.empty(len(codes), dtype=table.dtype)
    for part in pieces(len(codes)):
        found[part] = table[codes[part]]
    return found


def unlike(codes: Column, expected: Numbers, of_row: Column) -> int | None:
    """Return the first row that has not the code that is expected where it stands, if any."""
    for part in pieces(len(codes)):
        wrong = np.flatnonzero(codes[part] != expected[of_row[part]])
        if len(wrong):
            return int(part.start + wrong[0])
    return None


def first_of(codes: Column, code: int) -> int:
    """Return the first row that has a code, which one has."""
    for part in pieces(len(codes)):
        if (found := codes[part] == code).any():
            return int(part.start + np.argmax(found))
    raise ValueError(f"no row has the code {code}")


def counted(codes: Column, size: int) -> NDArray[np.int64]:
    """Return how many rows have each of the codes from 0 to size - 1."""
    counts = np.zeros(size, dtype=np.int64)
    for part in pieces(len(codes)):
        counts += np.bincount(codes[part], minlength=size)
    return counts


def by_first_row(codes: Column, size: int) -> tuple[NDArray[np.int64], Column]:
    """Give the codes that occur, from 0 to size - 1, new numbers in the order of their first rows.

    Returns
    -------
    firsts, renumbered : ndarray of int, Column
        The first row of each, and the new number of each row.
    """
    if isinstance(codes, Cycle):
        return np.arange(0, min(codes.count, codes.each * codes.size), codes.each), codes
    if size > 8 * len(codes):  # sorting the rows is then faster than going through all codes
        distinct, codes = np.unique(codes[:], return_inverse=True)
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
    return first[order], Looked(place, codes, len(codes))
