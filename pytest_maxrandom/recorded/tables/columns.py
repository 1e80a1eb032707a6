"""Tables by column: every distinct text is kept, and checked, once."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter
from types import NoneType
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import numpy as np

from pytest_maxrandom.errors import RecordedError, described, did_you_mean, listed, quoted
from pytest_maxrandom.recorded.tables.codes import Codes, Cycle, Looked, first_of, pieces

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

    from pytest_maxrandom.recorded.tables.codes import Column
    from pytest_maxrandom.suite.base import Spec

T = TypeVar("T", bound="Hashable")

Wanted: TypeAlias = "Mapping[str, tuple[str, bool]]"
"""Of the columns to read, by their roles, which are keys of ``columns``: what the file calls them,
and whether one without them is refused."""

_PIECE = 256
"""Rows held at a time; many more would keep the garbage collector busy."""

IF_NAMED = ("kind", "input")
"""Columns that are read where a suite names them alone: others call something else so."""

_SHARED = {"example", "input"}
"""Roles that one column may have: examples are often called by their questions."""

_WRITTEN: dict[type, Callable[[Any], str]] = {
    str: str,
    NoneType: lambda _: "",
    bool: lambda value: "true" if value else "false",
    int: str,
    float: lambda value: "" if math.isnan(value) else repr(value),
}


def wanted_columns(columns: Spec, always: Collection[str]) -> Wanted:
    """Return the columns that a suite asks for.

    Parameters
    ----------
    columns : Spec
        Per role a name; None stands for that of the role, an empty text for no column.
    always : collection of str
        Roles without which nothing can be read. Other columns are required where they were given
        another name than their role. A column that is named for one role has no other one by its
        own name.
    """
    taken = {name for role, name in columns if isinstance(name, str) and name and name != role}
    wanted: dict[str, tuple[str, bool]] = {}
    for role, name in columns:
        if isinstance(name, list):
            wanted |= {of_prompt(role, each): (each, True) for each in name}
        elif name is None and (role in IF_NAMED or (role in taken and role not in always)):
            continue
        elif name != "" or role in always:
            own = role if name is None else name
            wanted[role] = (own, role in always or name not in (None, role))
    return wanted


def of_prompt(role: str, column: str) -> str:
    """Return what the column of one prompt is, until all of them are put below each other."""
    return f"{role} of {column}"


@dataclass(frozen=True, eq=False, slots=True)
class Values(Generic[T]):
    """What a column means."""

    role: str
    distinct: list[T]
    """Its different values."""
    codes: Column
    """Per row the place of its value there."""

    def of_rows(self) -> list[T]:
        """Return the value of each row."""
        return [self.distinct[code] for code in self.codes[:]]


class Rows:
    """The columns of a file that are wanted and there, by role.

    Attributes
    ----------
    names : dict of str
        What the file calls the columns, by role.
    count : int
        How many rows there are.

    Parameters
    ----------
    line : int, optional
        That of the header, with the names of all columns; None where a file has no lines.
    again : callable, optional
        Reads the rows again, each with the line on which it starts: to tell where one stands,
        which is not kept.

    Raises
    ------
    RecordedError
        If a column that is required is missing, a name repeats, or two roles share a column that
        cannot.
    """

    def __init__(
        self,
        path: Path,
        line: int | None,
        header: Sequence[str],
        wanted: Wanted,
        again: Callable[[], Iterator[tuple[int, Any]]] | None = None,
    ) -> None:
        self.path = path
        self.header = tuple(header)
        self.names = _present(path if line is None else f"{path}:{line}", self.header, wanted)
        self.count = 0
        self._again = again
        self._codes: dict[str, Codes] = {}
        for role in self.names:
            self._codes[role] = Codes(self._codes.get("example"))
        self._kept: NDArray[np.bool_] | None = None
        self._wide: tuple[str, ...] = ()

    def place(self, row: int | np.integer[Any]) -> int:
        """Return the line of a row, or its number, both from 1."""
        whole = self._whole(row)[0]
        if self._again is None:
            return whole + 1
        for line, _ in islice(self._again(), whole, None):
            return line
        raise RecordedError(
            f"{self.path}: the file changed while it was being read; run this again"
        )

    def _whole(self, row: int | np.integer[Any]) -> tuple[int, str]:
        """Return the place of a row in the file, and the column in it where each prompt has one."""
        whole = int(row if self._kept is None else np.flatnonzero(self._kept)[row])
        if not self._wide:
            return whole, ""
        column, whole = divmod(whole, self._height)
        return whole, f"column {quoted(self._wide[column])}: "

    def called(self, row: int | np.integer[Any]) -> str:
        """Return what a message calls a row."""
        return f"{'row' if self._again is None else 'line'} {self.place(row)}"

    def error(self, row: int, message: str) -> RecordedError:
        """Return an error that says where it is."""
        at = ": row " if self._again is None else ":"
        return RecordedError(f"{self.path}{at}{self.place(row)}: {self._whole(row)[1]}{message}")

    def extend(self, rows: Iterator[Any], keys: Sequence[Any]) -> None:
        """Append rows, given their cells by key.

        The keys are those of the columns in a row, in the order of `names`.

        Raises
        ------
        RecordedError
            If a cell holds no text, number, truth value, list of such, or nothing.
        """
        # Of one key alone it would return no tuple, and of none there is no getter.
        cells = itemgetter(*keys, keys[0]) if keys else lambda row: ()
        for piece in iter(lambda: list(islice(rows, _PIECE)), []):
            columns = zip(*map(cells, piece), strict=True)
            for role, values in zip(self.names, columns, strict=False):
                self.add(role, values)
            self.count += len(piece)

    def add(self, role: str, values: Sequence[Any] | None, of_row: Column | None = None) -> None:
        """Append to a column texts, or other values as JSON has them, behind `count` rows.

        Each row has one, unless `of_row` has per row the place of its value. Values may then be
        None, for those of the last time.
        """
        if values is None:
            assert of_row is not None
            self._codes[role].again(of_row)
            return
        kinds = set(map(type, values))
        texts: Iterable[str] = (
            values
            if kinds == {str}
            else map(str, values)
            if kinds == {int}
            else self._texts(role, values, of_row)
        )
        if of_row is None:
            self._codes[role].extend(texts)
        else:
            self._codes[role].append(texts, of_row)

    def _texts(self, role: str, values: Sequence[Any], of_row: Column | None) -> Iterator[str]:
        for place, value in enumerate(values):
            try:
                yield _as_text(value)
            except ValueError as error:
                row = place if of_row is None else first_of(of_row, place)
                raise self.error(self.count + row, f"{role} {error}") from None

    def lengthen(self, role: str, columns: Sequence[str]) -> None:
        """Put columns that each hold the answers of one prompt below each other.

        Each is of the role `of_prompt` then, and its name that of the prompt. An example without a
        name is called by its row.
        """
        self._wide, self._height = tuple(columns), self.count
        own = [of_prompt(role, column) for column in columns]
        answers = Codes()
        for key in own:
            column = self._codes.pop(key)
            answers.append(column.of, column.rows())
        for other in self._codes.values():
            other.repeat(len(own))
        self._codes[role] = answers
        size = self.count * len(own)
        self.names = {key: name for key, name in self.names.items() if key not in own}
        for name, texts, of_row in (
            ("example", [*map(str, range(1, self.count + 1))], Cycle(1, self.count, size)),
            ("prompt", columns, Cycle(self.count, len(own), size)),
        ):
            if name not in self.names:
                self.names[name] = name
                self._codes[name] = Codes()
                self.add(name, texts, of_row)
        self.names[role] = columns[0]
        self.count = size

    def keep(self, role: str, alternatives: Iterable[Sequence[str]]) -> None:
        """Forget the rows in whose column something else stands, with whatever is wrong with them.

        Where nothing of one of the alternatives does, all rows are kept, so that a message can tell
        what there is.
        """
        codes = self._codes[role].of
        asked = [[codes[text] for text in each if text in codes] for each in alternatives]
        if all(asked) and (wanted := {*chain(*asked)}) < {*codes.values()}:
            is_wanted = np.isin(np.arange(len(codes)), [*wanted])
            self._kept = is_wanted[self._codes[role].rows()[:]]
            self.count = int(np.count_nonzero(self._kept))

    def read(self, role: str, parse: Callable[[str], T]) -> Values[T]:
        """Return what the texts of a column mean.

        Raises
        ------
        RecordedError
            At the first row for whose text `parse` raises a ValueError.
        """
        column = self._codes[role].rows()
        if self._kept is not None:
            column = column[:][self._kept]
        texts = list(self._codes[role].of)
        occurs = np.full(len(texts), self._kept is None)
        for part in pieces(len(column) if self._kept is not None else 0):
            occurs[column[part]] = True
        known: dict[T, int] = {}
        codes = np.zeros(len(texts), dtype=column[:1].dtype)
        for code in np.flatnonzero(occurs):
            try:
                codes[code] = known.setdefault(parse(_encodable(texts[code])), len(known))
            except ValueError as error:
                row = first_of(column, int(code))
                raise self.error(row, f"{role} {error}") from None
        same = np.array_equal(codes, np.arange(len(texts)))
        return Values(role, list(known), column if same else Looked(codes, column, len(column)))


def _present(where: object, header: tuple[str, ...], wanted: Wanted) -> dict[str, str]:
    names: dict[str, str] = {}
    unread = set(header) - {name for name, _ in wanted.values()}
    for role, (name, required) in wanted.items():
        if header.count(name) > 1:
            raise RecordedError(f"{where}: several columns are named {quoted(name)}; keep one")
        other = next((key for key, known in names.items() if known == name), None)
        if other is not None and {other, role} != _SHARED:
            raise RecordedError(
                f"{where}: the column {quoted(name)} cannot hold both the {other} and the {role}; "
                "name another under `columns:`"
            )
        if name in header:
            names[role] = name
        elif required:
            raise RecordedError(
                f"{where}: there is no column {quoted(name)} for `columns: {role}:`; found "
                f"{listed(header) or 'none'}{did_you_mean(name, header)}"
            )
        # Where "model" would be read, "Model" may be meant: to ignore it would merge sweeps.
        for near in sorted(unread):
            if name not in header and near.strip().casefold() == name.casefold():
                raise RecordedError(
                    f"{where}: the column {quoted(near)} looks like {quoted(name)}; write "
                    f"`columns: {role}:` with its name, or with an empty name if the column is "
                    "something else"
                )
    # What rows of an example share is kept by it.
    return {role: names[role] for role in sorted(names, key=lambda role: role != "example")}


def _as_text(value: object) -> str:
    """Write a value as a CSV file would hold it: nothing as an empty text, a list as JSON."""
    if isinstance(value, list):
        return json.dumps([_scalar(each) for each in value], ensure_ascii=False)
    return _scalar(value)


def _scalar(value: object) -> str:
    if isinstance(value, np.generic):  # as lists have that were made of an array
        value = value.item()
    if type(value) not in _WRITTEN:
        raise ValueError(f"holds {described(value)}, expected a text or a number")
    return _WRITTEN[type(value)](value)


def _encodable(text: str) -> str:
    """Refuse half of a surrogate pair, which JSON can spell but no report can show."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"is {quoted(text)}, which is not valid Unicode; repair it") from None
    return text


def as_list(text: str) -> list[str] | None:
    """Return the list that a text spells in JSON, or None if it does not begin like one.

    Raises
    ------
    ValueError
        If it is no list of texts, numbers or truth values after all.
    """
    if not text.lstrip().startswith("["):
        return None
    try:
        return [_scalar(each) for each in json.loads(text, parse_float=str)]
    except (ValueError, RecursionError):
        raise ValueError(
            f'is {quoted(text)}, which begins like a list but is not a JSON list such as ["A", "B"]'
        ) from None


def as_id(text: str) -> str:
    """Return a text that names something.

    Raises
    ------
    ValueError
        If it is blank.
    """
    if not text.strip():
        raise ValueError("is empty; give every row a value")
    return text


def as_number(text: str, least: int) -> int:
    """Return a whole number.

    Raises
    ------
    ValueError
        If it is none, or below `least`.
    """
    digits = text.strip().removesuffix(".0")  # as a column of floats writes it
    number = int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 19 else -1
    if number < least:
        raise ValueError(f"is {quoted(text)}, expected a whole number from {least} on")
    return number
