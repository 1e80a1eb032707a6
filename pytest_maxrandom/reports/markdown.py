"""Markdown as GitHub reads it (GFM 0.29, https://github.github.com/gfm/).

Names of tasks and models, messages and prompts come from files that nobody may have read. Written
here they cannot hide characters, break a table, run HTML, mention anyone or refer to an issue.
"""

from __future__ import annotations

import html as _html
import re
from typing import TYPE_CHECKING

from pytest_maxrandom.reports.dialect import Detail, Dialect
from pytest_maxrandom.reports.text import middle_left_out, unbroken, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_maxrandom.reports.tables import Mark, Table

# GitHub looks for mentions, issues, links and emoji in the rendered text, where a backslash is
# gone: only an (invisible) character in between stops it. What stands at an end of the text may
# become one of them with what stands beside it.
_BREAK = "&#8203;"
_MARKUP = re.compile(
    r"""(?ix) [\\`*\[\]~|&<>@\#$]
    | (?<![a-z0-9])_ | _(?![a-z0-9])
    | :(?= // | (?: [+-]1 | 100 | 1234 | [\w+-]*[a-z][\w+-]* ): | [\w+-]*\Z )
    | (?<=www)\. | (?<=h)- | \A-(?=\d)
    """
)
_MARKUP_ESCAPES = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    "@": f"@{_BREAK}",
    "#": f"\\#{_BREAK}",
    ":": f":{_BREAK}",
    ".": f"{_BREAK}.",
    "-": f"-{_BREAK}",
    # So GitHub's manual writes a dollar sign that starts no formula.
    "$": "<span>$</span>",
}
# What would make a list, a heading, a rule or a table of a line: one character becomes an entity.
_LINE_START = re.compile(r"\A(?:(\d{1,9})([.)])(?= |\Z)|([-+])(?= |\Z)|([-=:])(?=[-=: ]*\Z))")
# Where `plain` escapes nothing of it, it may as well be code.
_SETTING = re.compile(r"\\`([a-z][\w :.,={}()-]*)\\`")
# Spaces at the ends would make a code block or a line break.
_END_SPACE = re.compile(r"\A | \Z")


class Markdown(Dialect):
    """Markdown, with the HTML that GitHub reads in it."""

    TEXTS = (*Dialect.TEXTS, "block", "html")
    name = "Markdown"
    suffix = ".md.j2"

    def plain(self, text: str) -> str:
        """Write `text` as running text that reads as it stands: nothing in it is markup."""
        escaped = _MARKUP.sub(
            lambda found: _MARKUP_ESCAPES.get(found[0], f"\\{found[0]}"), visible(text)
        )
        return unbroken(_END_SPACE.sub("&#32;", _LINE_START.sub(_start_line, escaped)))

    def sentence(self, text: str) -> str:
        return _SETTING.sub(r"`\1`", self.plain(text))

    def code(self, text: str) -> str:
        """Write `text` as a code span, in which Markdown, HTML and mentions mean nothing."""
        shown = visible(text)
        if not shown:
            return "*(empty)*"
        fence = "`" * (_longest_run_of_backticks(shown) + 1)
        # CommonMark 6.1: one space is removed at both ends; a backtick must not touch the fence.
        touches = shown[0] == "`" or shown[-1] == "`"
        spaced = shown[0] == shown[-1] == " " and not shown.isspace()
        pad = " " if touches or spaced else ""
        return f"{fence}{pad}{shown}{pad}{fence}"

    def cell(self, text: str, limit: int = 60) -> str:
        r"""Write `text` as a code span in a table's cell, shortened to `limit` characters.

        GFM 4.10: cells are split before code spans are seen, so ``|`` is ``\|`` even there.
        """
        return super().cell(text, limit).replace("|", "\\|")

    def block(self, text: str, limit: int = 4000) -> str:
        """Write `text` as a fenced code block, keeping its lines.

        Beyond `limit` characters the middle is left out, and a line of its own says so.
        """
        lines = [visible(line) for line in middle_left_out(text, limit).split("\n")]
        fence = "`" * max(3, max(map(_longest_run_of_backticks, lines)) + 1)
        return "\n".join([f"{fence}text", *lines, fence, "", ""])

    def html(self, text: str) -> str:
        """Write `text` as HTML code, where Markdown is not read, such as in a summary."""
        return f"<code>{_html.escape(visible(text))}</code>"

    def italic(self, word: str) -> str:
        return f"*{word}*"

    def bold(self, written: str) -> str:
        return f"**{written}**"

    def link(self, place: str, address: str) -> str:
        return f"[{self.plain(place)}]({address})"

    def heading(self, title: str, of_part: bool = False) -> str:
        return f"{self.bold(self.plain(title)) if of_part else f'### {title}'}\n\n"

    def paragraph(self, written: str) -> str:
        return f"{written}\n\n"

    def items(self, written: Iterable[str]) -> str:
        return "".join(f"- {item}\n" for item in written) + "\n"

    def fold(self, written: str, summary: str, folded: bool = True) -> str:
        """Fold what is long; what need not be folded stands as it is."""
        if not folded:
            return written
        return f"<details>\n<summary>{summary}</summary>\n\n{written}\n</details>\n\n"

    def section(self, written: str, title: str) -> str:
        """Fold a section: short pages show the verdict, its reasons and one table."""
        return self.fold(written, title)

    def quote(self, written: str) -> str:
        return "".join(f"> {line}".rstrip() + "\n" for line in written.strip().split("\n")) + "\n"

    def mark(self, mark: Mark) -> str:
        return f"{mark.sign}&nbsp;{mark.word}"

    def summary(self, shown: Detail) -> str:
        told = f": {self.plain(shown.told)}" if shown.told else ""
        return f"{shown.mark.sign} {self.html(shown.name)} {shown.mark.word}{told}"

    def table(self, shown: Table) -> str:
        """Write a table as rows of pipes, with its legend folded below."""
        columns, rows = shown.laid_out("markdown")
        edges = [":--" if column.kind in ("text", "prose") else "--:" for column in columns]
        lines = [["<br>".join(self.heading_of(column)) for column in columns], edges]
        lines += [["<br>".join(map(self.piece, cell)) for cell in row] for row in rows]
        text = f"Of {self.code(shown.about)}:\n\n" if shown.about else ""
        text += "".join(f"| {' | '.join(line)} |\n" for line in lines) + "\n"
        if shown.left_out:
            text += self.paragraph(shown.left_out)
        if legend := shown.legend_of("markdown"):
            text += self.fold(self.paragraph(legend), "How to read this table")
        return text

    def words(self, text: str) -> str:
        """Write a text of our own, which is Markdown."""
        return text


def _longest_run_of_backticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _start_line(match: re.Match[str]) -> str:
    digits, *signs = match.groups(default="")
    return f"{digits}&#{ord(''.join(signs))};"


MARKDOWN = Markdown()
