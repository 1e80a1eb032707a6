"""What a language of reports is: how it writes data safely, tables, and what a page folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_maxrandom.reports.references import Reference
    from pytest_maxrandom.reports.tables import Detail, Fact, Table


@dataclass(frozen=True, eq=False, slots=True)
class Dialect:
    """A language of reports."""

    name: str
    suffix: str
    """Its templates end with it: ``.md.j2``."""
    plain: Callable[[str], str]
    """Writes a text that no filter has written."""
    writers: Mapping[str, Callable[..., str]]
    """Filters that write a text, by name."""
    cite: Callable[[Sequence[Reference]], str]
    """Cites publications at the end of a sentence."""
    heading: Callable[[str], str]
    """Of a section; empty where tables have captions."""
    table: Callable[[Table], str]
    fact_list: Callable[[Sequence[Fact]], str]
    detail: Callable[[Detail], str]
    """Empty in a language without folds, whose readers have paper."""

    @property
    def report(self) -> str:
        """The template that a report is rendered from."""
        return f"report{self.suffix}"


def in_our_words(text: str, plain: Callable[[str], str], italic: Callable[[str], str]) -> str:
    """Write a text of our own, in which what stands between asterisks is set in italics."""
    parts = text.split("*")
    return "".join(
        italic(part) if place % 2 else plain(part) for place, part in enumerate(parts) if part
    )


def in_brackets(references: Sequence[Reference], link: Callable[[Reference], str]) -> str:
    """Cite publications by authors and year, with a link to each that has an address."""
    parts = [
        f"{one.authors}, {one.year}{f', {link(one)}' if one.link else ''}" for one in references
    ]
    return f" ({'; '.join(parts)})"
