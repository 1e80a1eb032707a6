"""Text laid out for a terminal: wrapped between words, tables aligned, nothing wider than it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Literal

from pytest_maxrandom.reports.tables import Mark, Name, Piece, Table
from pytest_maxrandom.reports.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Markup = Literal["red", "green", "yellow", "bold"]

WIDE = 120
"""Columns from which on a table has all that it can show."""
_GAP = "  "
_LEAST_ROOM = 20
"""A column of names that has less room stands on lines of its own."""
# A p-value, "t = 20" and "90 %" are one word.
_WORD = re.compile(r"\S+(?: (?:[=<>]|[-+]) \S+| %\S*)*")
# Names of claims are made of words: task[model-nf4-4shot], folder/suite.yaml::task.
_PART_OF_NAME = re.compile(r"(?<=[\]/_.:,-])(?=[^\]/_.:,-])|(?=\[)")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a terminal, of which the beginning, or all, is marked."""

    text: str
    markup: tuple[Markup, ...] = ()
    lead: int | None = None
    """How many characters are marked; all if None."""


def wrapped(
    text: str,
    width: int,
    *,
    indent: str = "",
    markup: tuple[Markup, ...] = (),
    lead: int | None = None,
) -> list[Line]:
    """Break a text between its words, and a name between its parts, into lines of a width.

    Parameters
    ----------
    text : str
        Without hidden characters; spaces at its beginning stay.
    width : int
        Columns of the terminal.
    indent : str
        What stands before all lines but the first.
    markup, lead
        Of the first line; all lines are marked if `lead` is None.

    Examples
    --------
    >>> [line.text for line in wrapped("needs .640 (p_max = .251; t = 10)", 18, indent="  ")]
    ['needs .640', '  (p_max = .251;', '  t = 10)']
    """
    first = text[: len(text) - len(text.lstrip(" "))]
    lines = list(_filled(_WORD.findall(text), width, first, indent))
    rest = () if lead is not None else markup
    return [
        Line(line, markup if not place else rest, lead if not place else None)
        for place, line in enumerate(lines)
    ]


def _filled(words: Sequence[str], width: int, first: str, indent: str) -> Iterator[str]:
    """Yield lines filled with words; one that is longer than a line is taken apart."""
    room = max(1, width - max(len(first), len(indent)))
    line, is_empty = first, True
    # What stands together where there is room is several words where there is none.
    fitting = ([word] if width_of(word) <= room else word.split(" ") for word in words)
    for word in chain.from_iterable(fitting):
        gap = "" if is_empty else " "
        for part in [word] if width_of(word) <= room else _parts(word, room):
            if not is_empty and width_of(line) + len(gap) + width_of(part) > width:
                yield line
                line, gap = indent, ""
            line, gap, is_empty = f"{line}{gap}{part}", "", False
    yield line


def _parts(word: str, room: int) -> Iterator[str]:
    """Take a word apart that is too long for a line; a part that is too long itself anywhere."""
    for part in _PART_OF_NAME.split(word):
        rest = part
        while width_of(rest) > room:
            size = next(n for n in range(len(rest), 0, -1) if n == 1 or width_of(rest[:n]) <= room)
            yield rest[:size]
            rest = rest[size:]
        if rest:
            yield rest


def table_lines(table: Table, width: int | None = None) -> list[Line]:
    """Align rows below a header; nothing where there are none.

    The last column in a terminal names the row. Names are wrapped to a width in columns; lines are
    as long as they are if none is given.
    """
    is_wide = width is not None and width >= WIDE
    heads, rows = table.laid_out("wide" if is_wide else "terminal")
    if not rows:
        return []
    headings = [str(column.heading).split("\n") for column in heads]
    high = max(map(len, headings))
    top = zip(*([""] * (high - len(each)) + each for each in headings), strict=True)
    written = ([" ".join(_written(one, is_wide) for one in cell) for cell in row] for row in rows)
    cells = [*map(list, top), *written]
    *widths, _ = (max(map(width_of, column)) for column in zip(*cells, strict=True))
    is_left = [column.kind == "text" for column in heads]
    marks: list[tuple[Markup, ...]] = [("bold",)] * high
    marks += [
        tuple(piece.colour for piece in row[0] if isinstance(piece, Mark) and piece.colour)
        for row in rows
    ]
    lines = []
    for number, (line, markup) in enumerate(zip(cells, marks, strict=True)):
        *numbers, name = line
        before = "".join(
            f"{_padded(*each)}{_GAP}" for each in zip(numbers, widths, is_left, strict=False)
        )
        lead = None if number < high else len(line[0])
        lines += _with_name(before, name, width, markup, lead)
    return lines


def _with_name(
    before: str, name: str, width: int | None, markup: tuple[Markup, ...], lead: int | None
) -> list[Line]:
    """Let the name stand last in its line, or below where it has too little room."""
    if width is None or width_of(before) + width_of(name) <= width:
        return [Line(f"{before}{name}".rstrip(), markup, lead)]
    if width - width_of(before) < _LEAST_ROOM:
        return [Line(before.rstrip(), markup, lead), *wrapped(f"{_GAP}{name}", width, indent=_GAP)]
    blank = " " * width_of(before)
    first, *more = wrapped(f"{blank}{name}", width, indent=blank)
    return [Line(before + first.text[len(blank) :], markup, lead), *more]


def _written(piece: Piece, is_wide: bool) -> str:
    match piece:
        case Name():
            return f"{piece.before}{visible(piece.text)}"
        case Mark():
            return piece.word if is_wide else piece.brief or piece.word
        case str():
            return piece
    return ""


def width_of(text: str) -> int:
    """Count the columns that a terminal takes for a text without hidden characters."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.combining(character) or character in "\u200d\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _padded(text: str, wide: int, left: bool) -> str:
    space = " " * (wide - width_of(text))
    return text + space if left else space + text
