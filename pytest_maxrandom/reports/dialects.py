"""The languages that reports are written in, and how data is written safely in each."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from pytest_maxrandom.reports import tex, text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_maxrandom.reports.publications import Reference


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

    @property
    def report(self) -> str:
        """The template that a report is rendered from."""
        return f"report{self.suffix}"


def _cited_markdown(references: Sequence[Reference]) -> str:
    return _in_brackets(references, lambda one: f"[{one.place}]({one.link})")


def _cited_html(references: Sequence[Reference]) -> str:
    return _in_brackets(
        references, lambda one: f'<a href="{escape(one.link)}">{escape(one.place)}</a>'
    )


def _cited_latex(references: Sequence[Reference]) -> str:
    return rf"~\cite{{{','.join(one.key for one in references)}}}"


def _in_brackets(references: Sequence[Reference], link: Callable[[Reference], str]) -> str:
    parts = [
        f"{one.authors}, {one.year}{f', {link(one)}' if one.link else ''}" for one in references
    ]
    return f" ({'; '.join(parts)})"


def _html_plain(value: str) -> str:
    return escape(text.visible(value))


def _html_code(value: str) -> str:
    return text.html(value) if value else "<em>(empty)</em>"


def _html_cell(value: str, limit: int = 60) -> str:
    return _html_code(text.shorten(text.visible(value), limit))


def _html_block(value: str, limit: int = 4000) -> str:
    lines = text.middle_left_out(value, limit).split("\n")
    return f"<pre>{escape(chr(10).join(map(text.visible, lines)))}</pre>"


def _html_statistics(value: str) -> str:
    return _html_plain(value).replace("p_max", "<i>p</i><sub>max</sub>")


MARKDOWN = Dialect(
    "Markdown",
    ".md.j2",
    text.plain,
    {
        "code": text.code,
        "cell": text.cell,
        "block": text.block,
        "html": text.html,
        "statistics": text.plain,
    },
    _cited_markdown,
)
HTML = Dialect(
    "HTML",
    ".html.j2",
    _html_plain,
    {
        "code": _html_code,
        "cell": _html_cell,
        "block": _html_block,
        "statistics": _html_statistics,
    },
    _cited_html,
)
LATEX = Dialect(
    "LaTeX",
    ".tex.j2",
    tex.plain,
    {
        "code": tex.code,
        "cell": tex.cell,
        "statistics": tex.statistics,
        "number": tex.number,
        "probability": tex.probability,
    },
    _cited_latex,
)
