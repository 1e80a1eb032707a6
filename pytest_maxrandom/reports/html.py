"""HTML that needs nothing from elsewhere."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.reports.dialect import Dialect, Fact
from pytest_maxrandom.reports.text import middle_left_out, unbroken, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_maxrandom.reports.tables import Column, Drawing, Kind, Mark, Table

_SETTING = re.compile(r"`([a-z][\w :.,={}()-]*)`")
_CLASSES: dict[Kind, str] = {"text": "", "prose": ' class="text"'}
_NUMBER = ' class="number"'
_BETWEEN_WORDS = re.compile("(?<!<)[_/](?=[^_/<])")


class Html(Dialect):
    """HTML."""

    TEXTS = (*Dialect.TEXTS, "block")
    name = "HTML"
    suffix = ".html.j2"

    def plain(self, text: str) -> str:
        return unbroken(escape(visible(text)))

    def code(self, text: str) -> str:
        return f"<code>{self.plain(text)}</code>" if text else "<em>(empty)</em>"

    def cell(self, text: str, limit: int = 60) -> str:
        """Write a name, which breaks between its words where a column is narrow."""
        return _BETWEEN_WORDS.sub(r"\g<0><wbr>", super().cell(text, limit))

    def block(self, text: str, limit: int = 4000) -> str:
        """Write lines as they are, without the middle of what is longer than `limit` characters."""
        lines = middle_left_out(text, limit).split("\n")
        return f"<pre>{escape(chr(10).join(map(visible, lines)))}</pre>\n"

    def sentence(self, text: str) -> str:
        return _SETTING.sub(r"<code>\1</code>", self.plain(text))

    def statistics(self, text: str) -> str:
        return self.sentence(text).replace("p_max", "<i>p</i><sub>max</sub>")

    def italic(self, word: str) -> str:
        return f"<i>{self.statistics(word)}</i>"

    def bold(self, written: str) -> str:
        return f"<strong>{written}</strong>"

    def link(self, place: str, address: str) -> str:
        return f'<a href="{escape(address)}">{escape(place)}</a>'

    def heading(self, title: str, of_part: bool = False) -> str:
        level = 3 if of_part else 2
        return f"<h{level}>{self.plain(title)}</h{level}>\n"

    def paragraph(self, written: str) -> str:
        return f"<p>{written}</p>\n"

    def items(self, written: Iterable[str]) -> str:
        return "".join(["<ul>\n", *(f"<li>{item}</li>\n" for item in written), "</ul>\n"])

    def fold(self, written: str, summary: str, folded: bool = True) -> str:
        opened = "" if folded else " open"
        return f"<details{opened}>\n<summary>{summary}</summary>\n{written}</details>\n"

    def table(self, shown: Table) -> str:
        """Write a table that scrolls by itself, with its caption, and its legend below."""
        columns, rows = shown.laid_out("html")
        told = " ".join(filter(None, [shown.caption, shown.left_out]))
        unseen = "" if told or shown.about else ' class="unseen"'  # the title stands above it
        caption = self.words(told or shown.title)
        about = f"{self.code(shown.about)}: " if shown.about else ""
        label = ", ".join(filter(None, [shown.title, shown.about]))
        lines = [
            f'<div class="scroll" tabindex="0" role="region" aria-label="{self.plain(label)}">',
            "<table>",
            f'<caption{unseen}><span class="key">{about}{caption}</span></caption>',
            "<thead>",
            f"<tr>{''.join(_cell(each, self.heading_of(each), 'col') for each in columns)}</tr>",
            "</thead>",
            "<tbody>",
        ]
        for row in rows:
            cells = (
                _cell(column, map(self.piece, pieces), "row" if column.header else "")
                for column, pieces in zip(columns, row, strict=True)
            )
            lines.append(f"<tr>{''.join(cells)}</tr>")
        lines += ["</tbody>", "</table>", "</div>"]
        if legend := shown.legend_of("html"):
            lines.append(f'<p class="soft">{self.words(legend)}</p>')
        return "\n".join(lines) + "\n"

    def fact_list(self, facts: Iterable[Fact]) -> str:
        """Write facts as a list of titles and descriptions."""
        lines = (
            f"<dt>{self.statistics(title)}</dt><dd>{self.phrase(phrase)}</dd>\n"
            for title, phrase in facts
        )
        return f"<dl>\n{''.join(lines)}</dl>\n"

    def mark(self, mark: Mark) -> str:
        sign = f'<span aria-hidden="true">{mark.sign}</span>'
        return f'<span class="mark {mark.word.replace(" ", "-")}">{sign} {mark.word}</span>'

    def drawing(self, drawing: Drawing) -> str:
        """Draw the unit interval."""
        shapes = ['<rect class="all" width="100" height="14"/>']
        if drawing.bar is not None:
            shapes.append(f'<rect class="best" y="2" width="{_place(drawing.bar)}" height="10"/>')
        shapes += [f'<path class="draw" d="M{_place(draw)} 2v10"/>' for draw in drawing.draws]
        for name, value in (("standard", drawing.standard), ("highest", drawing.highest)):
            if value is not None:
                shapes.append(f'<path class="{name}" d="M{_place(value)} 0v14"/>')
        if drawing.needed is not None:
            # A shape of its own, so that it is told from the lines without colours.
            shapes.append(f'<path class="needed" d="M{_place(drawing.needed)} 6l-4 -6h8z"/>')
        size = 'viewBox="0 0 100 14" width="120" height="17" aria-hidden="true"'
        return f"<svg {size}>{''.join(shapes)}</svg>"


def _cell(column: Column[Any], lines: Iterable[str], scope: str) -> str:
    """Write a cell; of a row's or a column's header the scope is that."""
    style, inside = _CLASSES.get(column.kind, _NUMBER), "<br>".join(lines)
    return f'<th scope="{scope}"{style}>{inside}</th>' if scope else f"<td{style}>{inside}</td>"


def _place(value: float) -> str:
    return f"{100 * min(max(value, 0), 1):.1f}"


HTML = Html()
