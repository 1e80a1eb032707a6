"""One model of all tables: columns say once what stands in them, and each language writes them.

Nothing here knows of claims. Texts of our own (headings, captions, legends) set what stands between
asterisks in italics; texts from data are pieces of cells, and are escaped where they are written.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from pytest_maxrandom.notation import NONE, accuracy, count, p_value, signed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_maxrandom.record.words import Colour

Medium = Literal["markdown", "html", "latex", "upright", "terminal", "wide"]
"""upright: LaTeX with fewer columns than fit a page in landscape; wide: a terminal that has room
for more columns."""
TERMINALS: frozenset[Medium] = frozenset(("terminal", "wide"))
PAGES: frozenset[Medium] = frozenset(("markdown", "html", "latex", "upright"))
STACKED: frozenset[Medium] = frozenset(("markdown", "html"))
"""Those narrow pages where a column can stand in the cell of another one."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name from data, shown as code."""

    text: str
    limit: int = 60
    """Characters in a table; none in a terminal."""
    before: str = ""
    """In our own words."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A sign and a word that mean the same."""

    sign: str
    word: str
    brief: str = ""
    """The word in a terminal, where that is another one."""
    colour: Colour | None = None
    """Of the row in a terminal."""
    latex: str = ""
    """The sign in LaTeX, which has no font for others and leaves them out."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """Values from 0 to 1 on a line: a bar, thin lines for draws, both baselines, what passes."""

    bar: float | None = None
    draws: tuple[float, ...] = ()
    standard: float | None = None
    highest: float | None = None
    needed: float | None = None


Piece: TypeAlias = str | Name | Mark | Drawing
Cell: TypeAlias = tuple[Piece, ...]
"""Below each other where there is room, beside each other elsewhere; no piece is empty."""
Kind = Literal["text", "prose", "count", "score", "p", "signed", "right"]
"""How a value is written and where it stands; prose: a long text; right: no plain number."""

R = TypeVar("R")
_WRITTEN: dict[Kind, Callable[[Any], str]] = {
    "count": count,
    "score": accuracy,
    "p": p_value,
    "signed": signed,
}
NUMBERS = frozenset(("count", "score"))
"""Kinds of plain numbers, which are aligned at their points."""
NUMBER_OF_ROW = "#"


@dataclass(frozen=True, slots=True)
class Column(Generic[R]):
    """What stands in the rows of a column, and where there is one."""

    heading: str | Cell
    """In our own words; a line break is one where there is room."""
    value: str | Callable[[R], Piece | Cell]
    """Name of an attribute, with dots, that is written as its kind is; or what writes a row."""
    kind: Kind = "text"
    brief: str = ""
    """Its heading in a terminal, where it does not stand without one."""
    wide: str = ""
    """Its heading in a wide terminal, where it stands in such a one only."""
    header: bool = False
    """Whether it names the row: first in HTML and LaTeX, last in a terminal."""
    below: str | None = None
    """Where pages are narrow: its heading in the cell of the column before it; empty for none."""
    lead: str = ""
    """What stands before each value there, such as ``n =``."""
    late: bool = False
    """Whether it stands behind what decides, where pages are narrow."""
    optional: bool = False
    """Whether it is left out where no row has anything in it."""
    media: frozenset[Medium] = PAGES
    note: str = ""
    """A sentence of the legend, where the column is shown."""
    change: Callable[[R, R], str] | None = None
    """Says, of a row and the same one of an earlier run, what is different; may be empty."""

    def cell(self, number: int, row: R, before: R | None = None) -> Cell:
        """Return the pieces of a row, with what changed since an earlier one."""
        written = self._written(number, row)
        pieces = written if isinstance(written, tuple) else (written,)
        if self.change and before is not None and (told := self.change(row, before)):
            pieces = (*pieces, f"({told})")
        return tuple(piece for piece in pieces if piece != "")

    def _written(self, number: int, row: R) -> Piece | Cell:
        if callable(self.value):
            return self.value(row)
        value: Any = row
        for name in self.value.split("."):
            value = number if name == NUMBER_OF_ROW else value and getattr(value, name)
        return _WRITTEN[self.kind](value) if self.kind in _WRITTEN else value or NONE


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its legend; `columns` and the cells of each row have the same order."""

    title: str
    columns: tuple[Column[Any], ...]
    cells: tuple[tuple[Cell, ...], ...]
    key: str = ""
    """Of its label in LaTeX."""
    about: str = ""
    """Name, from data, of what it is about where there are several."""
    caption: str = ""
    """What it shows."""
    legend: str = ""
    """What its words mean."""
    left_out: str = ""
    """Says that it has not all rows."""

    def first(self, rows: int) -> Table:
        """Return the table with its first rows only."""
        return replace(self, cells=self.cells[:rows])

    def legend_of(self, medium: Medium) -> str:
        """Return the legend with what the columns of a medium add to it."""
        notes = (self.columns[place].note for place in self._shown(medium))
        return " ".join(filter(None, [self.legend, *notes]))

    def laid_out(self, medium: Medium) -> tuple[list[Column[Any]], list[list[Cell]]]:
        """Return the columns, with the headings of what stands in their cells, and the rows."""
        groups: list[list[int]] = []
        for place in self._shown(medium):
            if groups and self.columns[place].below is not None and medium in STACKED:
                groups[-1].append(place)
            else:
                groups.append([place])
        if medium in STACKED:
            groups.sort(key=lambda group: self.columns[group[0]].late)
        if medium != "markdown":
            groups.sort(key=lambda group: self.columns[group[0]].header == (medium in TERMINALS))
        columns = [self._column(group, medium) for group in groups]
        rows = [[tuple(self._pieces(row, group, medium)) for group in groups] for row in self.cells]
        return columns, rows

    def _shown(self, medium: Medium) -> Iterator[int]:
        for place, column in enumerate(self.columns):
            empty = column.optional and not any(
                piece != NONE for row in self.cells for piece in row[place]
            )
            in_terminal = column.brief or (medium == "wide" and column.wide)
            if not empty and (in_terminal if medium in TERMINALS else medium in column.media):
                yield place

    def _column(self, places: list[int], medium: Medium) -> Column[Any]:
        first, *others = (self.columns[place] for place in places)
        heading = (first.brief or first.wide) if medium in TERMINALS else first.heading
        for below in filter(None, (each.below for each in others)):
            heading = f"{heading}{'' if below.startswith('(') else ','}\n{below}"
        return replace(first, heading=heading)

    def _pieces(self, row: tuple[Cell, ...], places: list[int], medium: Medium) -> Iterator[Piece]:
        for place in places:
            lead = self.columns[place].lead if medium in STACKED else ""
            for piece in row[place]:
                yield f"{lead}{piece}" if lead and isinstance(piece, str) else piece


def tabulate(
    title: str,
    columns: Sequence[Column[R]],
    rows: Sequence[R],
    before: Sequence[R | None] = (),
    *,
    most: int | None = None,
    of: str = "",
    **told: str,
) -> Table:
    """Make a table.

    Parameters
    ----------
    title : str
        What a reader finds it by.
    columns : sequence of Column
        What is shown of each row.
    rows, before : sequence
        What is shown, and the same of an earlier run, if any.
    most : int, optional
        Rows that are shown of many; the others are said to be left out.
    of : str
        What the rows are: ``replicates``.
    **told
        `key`, `about`, `caption` and `legend` of the table.
    """
    shown = rows if most is None else rows[:most]
    earlier = before or [None] * len(shown)
    cells = tuple(
        tuple(column.cell(number, row, then) for column in columns)
        for number, (row, then) in enumerate(zip(shown, earlier, strict=True), 1)
    )
    left_out = ""
    if len(shown) < len(rows):
        left_out = (
            f"The first {count(len(shown))} of {count(len(rows))} {of}; the JSON report has all of "
            "them."
        )
    return Table(title, tuple(columns), cells, left_out=left_out, **told)
