"""Markdown as GitHub reads it (GFM 0.29, https://github.github.com/gfm/).

Names of tasks and models, messages and prompts come from files that nobody may have read. Written
here they cannot hide characters, break a table, run HTML, mention anyone or refer to an issue.
"""

from __future__ import annotations

import html as _html
import re
from typing import TYPE_CHECKING

from pytest_maxrandom.reports.tables import Dialect, Mark, Name, in_brackets, in_our_words
from pytest_maxrandom.reports.text import middle_left_out, shorten, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.reports.references import Reference
    from pytest_maxrandom.reports.tables import Cell, Detail, Fact, Piece, Table

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
# Spaces at the ends would make a code block or a line break.
_END_SPACE = re.compile(r"\A | \Z")


def code(text: str) -> str:
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


def cell(text: str, limit: int = 60) -> str:
    r"""Write `text` as a code span in a table's cell, shortened to `limit` characters.

    GFM 4.10: cells are split before code spans are seen, so ``|`` is written ``\|`` even there.
    """
    return code(shorten(visible(text), limit)).replace("|", "\\|")


def block(text: str, limit: int = 4000) -> str:
    """Write `text` as a fenced code block, keeping its lines.

    Beyond `limit` characters the middle is left out, and a line of its own says so.
    """
    lines = [visible(line) for line in middle_left_out(text, limit).split("\n")]
    fence = "`" * max(3, max(map(_longest_run_of_backticks, lines)) + 1)
    return "\n".join([f"{fence}text", *lines, fence])


def plain(text: str) -> str:
    """Write `text` as running Markdown text that reads as it stands: nothing in it is markup."""
    escaped = _MARKUP.sub(_escape_markup, visible(text))
    return _END_SPACE.sub("&#32;", _LINE_START.sub(_start_line, escaped))


def html(text: str) -> str:
    """Write `text` as HTML code, for places where Markdown is not read, such as a summary."""
    return f"<code>{_html.escape(visible(text))}</code>"


def table(shown: Table) -> str:
    """Write a table as rows of pipes, with its legend below."""
    groups, rows = shown.laid_out("markdown")
    edges = [":--" if group.kind in ("text", "prose") else "--:" for group in groups]
    lines = [["<br>".join(group.written(_words, _piece)) for group in groups], edges]
    lines += [["<br>".join(map(_piece, cell)) for cell in row] for row in rows]
    text = f"Of {code(shown.about)}:\n\n" if shown.about else ""
    text += "".join(f"| {' | '.join(line)} |\n" for line in lines)
    for below in (shown.left_out, shown.legend_of("markdown")):
        text += f"\n{_words(below)}\n" if below else ""
    return text


def fact_list(facts: Sequence[Fact]) -> str:
    """Write facts as a list."""
    return "".join(f"- **{plain(title)}:** {_phrase(phrase)}\n" for title, phrase in facts)


def detail(shown: Detail) -> str:
    """Fold all that is known of a record."""
    told = f": {plain(shown.told)}" if shown.told else ""
    summary = f"{shown.mark.sign} {html(shown.name)} {shown.mark.word}{told}"
    text = f"<details>\n<summary>{summary}</summary>\n\n{fact_list(shown.facts)}"
    text += _tables(shown.tables)
    for title, facts, tables in shown.parts:
        text += f"\n**{plain(title)}**\n\n{fact_list(facts)}{_tables(tables)}"
    return f"{text}\n</details>\n\n"


def _tables(shown: Sequence[Table]) -> str:
    return "".join(f"\n{table(each)}" for each in shown)


def _phrase(phrase: str | Cell) -> str:
    return plain(phrase) if isinstance(phrase, str) else "".join(map(_inline, phrase))


def _piece(piece: Piece) -> str:
    if isinstance(piece, Name):
        return f"{plain(piece.before)}{cell(piece.text, piece.limit)}"
    return _inline(piece)


def _inline(piece: Piece) -> str:
    match piece:
        case Name():
            return f"{plain(piece.before)}{code(piece.text)}"
        case Mark():
            return f"{piece.sign} {piece.word}"
        case str():
            return plain(piece)
    return ""


def _words(text: str) -> str:
    return in_our_words(text, _unescaped, lambda word: f"*{word}*")


def _unescaped(text: str) -> str:
    return text


def _longest_run_of_backticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _escape_markup(match: re.Match[str]) -> str:
    return _MARKUP_ESCAPES.get(match[0], f"\\{match[0]}")


def _start_line(match: re.Match[str]) -> str:
    digits, *signs = match.groups(default="")
    return f"{digits}&#{ord(''.join(signs))};"


def _cite(references: Sequence[Reference]) -> str:
    return in_brackets(references, lambda one: f"[{one.place}]({one.link})")


MARKDOWN = Dialect(
    "Markdown",
    ".md.j2",
    plain,
    {"code": code, "cell": cell, "block": block, "html": html, "statistics": plain},
    _cite,
    lambda title: f"### {title}",
    table,
    fact_list,
    detail,
)
