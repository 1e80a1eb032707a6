"""Tables by column: every distinct text is kept, and checked, once."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from pytest_maxrandom.errors import RecordedError, did_you_mean, listed, quoted
from pytest_maxrandom.recorded.tables.cells import as_text

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Hashable,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )
    from pathlib import Path

    from numpy.typing import NDArray

T = TypeVar("T", bound="Hashable")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A column to read.

    Attributes
    ----------
    role : str
        What it holds: the key of ``columns`` that names it.
    name : str
        What the file calls it.
    required : bool
        Whether a file without it is refused.
    """

    role: str
    name: str
    required: bool


@dataclass(frozen=True, eq=False, slots=True)
class TextColumn:
    """One column; an empty text stands for no value.

    Attributes
    ----------
    codes : ndarray of int
        Per row the place of its text in `texts`.
    texts : list of str
        Distinct, in the order of their first rows.
    """

    codes: NDArray[np.int32]
    texts: list[str]


@dataclass(frozen=True, eq=False, slots=True)
class Rows:
    """The columns of a file that were wanted and are there, by role.

    Attributes
    ----------
    header : tuple of str
        The names of all its columns.
    lines : ndarray of int or None
        On which line each row starts; None where the file has no lines.
    """

    path: Path
    header: tuple[str, ...]
    columns: Mapping[str, TextColumn]
    lines: NDArray[np.int64] | None

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(next(iter(self.columns.values())).codes)

    def place(self, row: int) -> int:
        """Return the line of a row, or its number, both from 1."""
        return row + 1 if self.lines is None else int(self.lines[row])

    def called(self, row: int) -> str:
        """Return what a message calls a row."""
        return f"{'row' if self.lines is None else 'line'} {self.place(row)}"

    def error(self, row: int, message: str) -> RecordedError:
        """Return an error that says where it is."""
        at = f": row {row + 1}" if self.lines is None else f":{self.lines[row]}"
        return RecordedError(f"{self.path}{at}: {message}")

    def read(self, role: str, parse: Callable[[str], T]) -> Values[T]:
        """Return what the texts of a column mean.

        Raises
        ------
        RecordedError
            At the first row for whose text `parse` raises a ValueError.
        """
        column = self.columns[role]
        known: dict[T, int] = {}
        codes = []
        for code, text in enumerate(column.texts):
            try:
                codes.append(known.setdefault(parse(text), len(known)))
            except ValueError as error:
                row = int(np.argmax(column.codes == code))
                raise self.error(row, f"{role} {error}") from None
        if len(known) == len(codes):
            return Values(role, list(known), column.codes)
        return Values(role, list(known), np.array(codes, dtype=np.int32)[column.codes])


@dataclass(frozen=True, eq=False, slots=True)
class Values(Generic[T]):
    """What a column means.

    Attributes
    ----------
    distinct : list
        Its different values.
    codes : ndarray of int
        Per row the place of its value there.
    """

    role: str
    distinct: list[T]
    codes: NDArray[np.int32]

    def any_of(self, rows: NDArray[np.int64]) -> bool:
        """Tell whether the value of any of these rows is true."""
        return any(self.distinct[code] for code in np.unique(self.codes[rows]))


class Unreadable(ValueError):
    """Says what is wrong with the value at a place, from 0."""

    def __init__(self, place: int, message: str) -> None:
        super().__init__(message)
        self.place = place


class ColumnBuilder:
    """Gathers a column from pieces."""

    def __init__(self) -> None:
        self._codes = _Codes()
        self._pieces: list[NDArray[np.int32]] = []

    def add(self, values: Sequence[Any]) -> None:
        """Append texts, or other values as JSON has them.

        Raises
        ------
        Unreadable
            If one of them is no text, number, truth value, list of such, or nothing.
        """
        kinds = set(map(type, values))
        texts: Iterable[str] = (
            values if kinds == {str} else map(str, values) if kinds == {int} else _texts(values)
        )
        codes = map(self._codes.__getitem__, texts)
        self._pieces.append(np.fromiter(codes, np.int32, len(values)))

    def add_coded(self, codes: NDArray[np.integer[Any]], values: Iterable[object]) -> None:
        """Append ``values[code]`` for each code.

        Raises
        ------
        Unreadable
            As `add` does; the place is that of a code.
        """
        known = [self._codes[text] for text in _texts(values)]
        self._pieces.append(np.array(known, dtype=np.int32)[codes])

    def finish(self) -> TextColumn:
        """Return the whole column."""
        return TextColumn(np.concatenate(self._pieces), list(self._codes))


class _Codes(dict[str, int]):
    """Numbers texts in the order in which they are first asked for."""

    def __missing__(self, text: str) -> int:
        code = self[text] = len(self)
        return code


def _texts(values: Iterable[object]) -> Iterator[str]:
    for place, value in enumerate(values):
        try:
            yield as_text(value)
        except ValueError as error:
            raise Unreadable(place, str(error)) from None


def wanted_columns(columns: Any, always: Collection[str]) -> list[Wanted]:
    """Return the columns that a dataclass of their names asks for.

    Parameters
    ----------
    columns : dataclass instance
        Per role a name; None stands for the role's own name, an empty text for no column.
    always : collection of str
        Roles without which nothing can be read. Other columns are required where they were given
        another name than the usual one.
    """
    return [
        Wanted(
            field.name,
            field.name if name is None else name,
            field.name in always or name not in (None, field.default),
        )
        for field in fields(columns)
        for name in [getattr(columns, field.name)]
        if name != "" or field.name in always
    ]


def present(
    path: Path, line: int | None, header: Sequence[str], wanted: Sequence[Wanted]
) -> dict[str, str]:
    """Return, by role, the names of the wanted columns that a file has.

    Parameters
    ----------
    line : int or None
        On which the header stands, for messages.

    Raises
    ------
    RecordedError
        If one that is required is missing, a name repeats, or two roles share a column.
    """
    where = f"{path}" if line is None else f"{path}:{line}"
    names: dict[str, str] = {}
    for column in wanted:
        role, name = column.role, column.name
        if name not in header:
            if column.required:
                raise RecordedError(
                    f"{where}: there is no column {quoted(name)} for `columns: {role}:`; found "
                    f"{listed(header) or 'none'}{did_you_mean(name, header)}"
                )
            _refuse_lookalike(where, column, set(header) - {other.name for other in wanted})
            continue
        if list(header).count(name) > 1:
            raise RecordedError(f"{where}: more than one column is called {quoted(name)}; keep one")
        if name in names.values():
            other = next(key for key, known in names.items() if known == name)
            raise RecordedError(
                f"{where}: the column {quoted(name)} cannot hold both the {other} and the {role}; "
                "name another under `columns:`"
            )
        names[role] = name
    return names


def _refuse_lookalike(where: str, column: Wanted, unread: Iterable[str]) -> None:
    """Ask what is meant by "Model" where "model" would be read: ignoring it merges sweeps."""
    for name in sorted(unread):
        if name.strip().casefold() == column.name.casefold():
            raise RecordedError(
                f"{where}: the column {quoted(name)} is not called {quoted(column.name)}; write "
                f"`columns: {column.role}:` with its name, or with an empty name if it is not meant"
            )
