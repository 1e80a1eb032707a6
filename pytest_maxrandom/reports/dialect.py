"""What languages of reports have in common: each writes what a page is made of in its own way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from pytest_maxrandom.reports.tables import Cell, Column, Drawing, Mark, Name, Piece, Table
from pytest_maxrandom.reports.text import shorten, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_maxrandom.reports.references import Reference

Fact: TypeAlias = tuple[str, str | Cell]
"""A title, and a phrase: a text, or pieces that stand beside each other."""


@dataclass(frozen=True, slots=True)
class Detail:
    """All that is known of one record, which a page folds."""

    mark: Mark
    name: str
    told: str
    """What is seen of it before it is unfolded; may be empty."""
    facts: list[Fact]
    tables: Sequence[Table] = ()
    parts: Sequence[tuple[str, list[Fact], list[Table]]] = ()
    """With a heading each."""


class Dialect(ABC):
    """A language of reports, whose methods are filters of its templates.

    Those of `TEXTS` and of what a language adds to them write a text from data; those of `PARTS`
    write what records tell; those of `FRAMES` put what others wrote together.
    """

    TEXTS: ClassVar[tuple[str, ...]] = ("plain", "code", "cell", "statistics", "link")
    PARTS = ("cite", "heading", "table", "fact_list", "detail", "summary", "phrase")
    FRAMES = ("bold", "paragraph", "items", "fold", "section", "quote")
    name: ClassVar[str]
    suffix: ClassVar[str]
    """Its templates end with it: ``.md.j2``."""

    @property
    def report(self) -> str:
        """The template that a report is rendered from."""
        return f"report{self.suffix}"

    @abstractmethod
    def plain(self, text: str) -> str:
        """Write running text that reads as it stands: nothing in it is markup."""

    @abstractmethod
    def code(self, text: str) -> str:
        """Write a name."""

    def cell(self, text: str, limit: int = 60) -> str:
        """Write a name in a table, shortened to `limit` characters."""
        return self.code(shorten(visible(text), limit))

    def sentence(self, text: str) -> str:
        """Write running text in which a setting between backticks, ``looks: spend``, is code."""
        return self.plain(text)

    def statistics(self, text: str) -> str:
        """Write a sentence with p_max as a formula, where the language has them."""
        return self.sentence(text)

    @abstractmethod
    def italic(self, word: str) -> str:
        """Write a word of our own in italics."""

    @abstractmethod
    def bold(self, written: str) -> str:
        """Write in bold what is written."""

    def link(self, place: str, address: str) -> str:
        """Link to an address of our own."""
        raise NotImplementedError

    def cite(self, references: Sequence[Reference]) -> str:
        """Cite publications, at the end of a sentence, with a link to each that has an address."""
        parts = [
            f"{one.authors}, {one.year}{f', {self.link(one.place, one.link)}' if one.link else ''}"
            for one in references
        ]
        return f" ({'; '.join(parts)})"

    @abstractmethod
    def heading(self, title: str, of_part: bool = False) -> str:
        """Write the heading of a section, or of a part of one."""

    @abstractmethod
    def paragraph(self, written: str) -> str:
        """Write a paragraph."""

    @abstractmethod
    def items(self, written: Iterable[str]) -> str:
        """Write a list."""

    def fold(self, written: str, summary: str, folded: bool = True) -> str:
        """Fold, or make ready to fold, what is long; all is shown on paper."""
        return written

    def section(self, written: str, title: str) -> str:
        """Write a section with its title, which is plain text."""
        return f"{self.heading(title)}{written}"

    def quote(self, written: str) -> str:
        """Write what is to be quoted."""
        return written

    @abstractmethod
    def table(self, shown: Table) -> str:
        """Write a table with its caption and its legend."""

    def fact_list(self, facts: Iterable[Fact]) -> str:
        """Write facts as a list."""
        return self.items(
            f"{self.bold(f'{self.statistics(title)}:')} {self.phrase(phrase)}"
            for title, phrase in facts
        )

    def detail(self, shown: Detail) -> str:
        """Fold all that is known of a record."""
        inside = [self.fact_list(shown.facts), *map(self.table, shown.tables)]
        for title, facts, tables in shown.parts:
            inside += [self.heading(title, of_part=True), self.fact_list(facts)]
            inside += map(self.table, tables)
        return self.fold("".join(inside), self.summary(shown))

    def summary(self, shown: Detail) -> str:
        """Write what is seen of a record before it is unfolded."""
        told = f": {self.plain(shown.told)}" if shown.told else ""
        return f"{self.mark(shown.mark)} {self.code(shown.name)}{told}"

    def phrase(self, phrase: str | Cell) -> str:
        """Write pieces beside each other, with names as long as they are."""
        if isinstance(phrase, str):
            return self.statistics(phrase)
        return "".join(
            f"{self.words(piece.before)}{self.code(piece.text)}"
            if isinstance(piece, Name)
            else self._beside(piece)
            for piece in phrase
        )

    def _beside(self, piece: Piece) -> str:
        """Write a piece whose spaces part it from what stands beside it."""
        if not isinstance(piece, str):
            return self.piece(piece)
        start, end = (
            " " * (len(piece) - len(cut)) for cut in (piece.lstrip(" "), piece.rstrip(" "))
        )
        return f"{start}{self.piece(piece.strip(' '))}{end}"

    def piece(self, piece: Piece) -> str:
        """Write a piece of a table's cell."""
        match piece:
            case Name():
                return f"{self.words(piece.before)}{self.cell(piece.text, piece.limit)}"
            case Mark():
                return self.mark(piece)
            case Drawing():
                return self.drawing(piece)
            case str():
                return self.statistics(piece)

    def mark(self, mark: Mark) -> str:
        """Write what became of a record, or a verdict."""
        return f"{mark.sign} {mark.word}"

    def drawing(self, drawing: Drawing) -> str:
        """Draw, where that is possible."""
        return ""

    def heading_of(self, column: Column[Any]) -> list[str]:
        """Write the lines of a column's heading: our own words, or pieces from data."""
        if isinstance(column.heading, str):
            return list(map(self.words, column.heading.split("\n")))
        return list(map(self.piece, column.heading))

    def words(self, text: str) -> str:
        """Write a text of our own, in which what stands between asterisks is set in italics."""
        return "".join(
            self.italic(part) if place % 2 else self.statistics(part)
            for place, part in enumerate(text.split("*"))
            if part
        )
