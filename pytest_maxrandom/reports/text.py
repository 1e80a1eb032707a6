"""Text from data, made safe to show: in a terminal, in Markdown and in the HTML within Markdown.

Names of tasks and models, messages and prompts come from files that nobody may have read. Shown
through these functions they cannot hide characters, break a table, run HTML, mention anyone or
refer to an issue. Markdown is GitHub's (GFM 0.29, https://github.github.com/gfm/).
"""

from __future__ import annotations

import html as _html
import re
import unicodedata

# Controls, formats (bidirectional marks, zero-width characters, tags), surrogates, separators.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Letters and marks that show nothing: a grapheme joiner, Hangul and Khmer fillers.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

# A zero-width joiner between two emoji makes one of them, and hides nothing.
_JOINED_EMOJI = re.compile(
    "(?<=[\u2600-\u27bf\ufe0f\U0001f000-\U0001faff])\u200d(?=[\u2600-\u27bf\U0001f000-\U0001faff])"
)

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


def visible(text: str) -> str:
    r"""Show what a reader could not see as escapes, all on one line.

    Line breaks, control and format characters and lone surrogates become ``\n``, ``\x1b``,
    ``\u202e``. For readers, not for decoding: a backslash stays as it is.

    Examples
    --------
    >>> visible("two\nlines")
    'two\\nlines'
    """
    if text.isascii() and text.isprintable():
        return text
    parts = _JOINED_EMOJI.split(text)
    return "\u200d".join("".join(map(_visible_character, part)) for part in parts)


def shorten(text: str, limit: int) -> str:
    """Leave out the middle of a text that is longer than `limit` characters (at least 1).

    Examples
    --------
    >>> shorten("emoji_movie", 7)
    'emo…vie'
    """
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return text[: limit - 1 - tail] + "…" + text[len(text) - tail :]


def middle_left_out(text: str, limit: int) -> str:
    """Leave out the middle of a text beyond `limit` characters; a line of its own says so."""
    if len(text) <= limit:
        return text
    half = limit // 2
    left_out = f"[… {len(text) - 2 * half:,} characters left out …]"
    return f"{text[:half]}\n{left_out}\n{text[-half:]}"


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


def _visible_character(character: str) -> str:
    if unicodedata.category(character) not in _HIDDEN_CATEGORIES and character not in _BLANK:
        return character
    number = ord(character)
    if number > 0xFFFF:
        return f"\\U{number:08x}"
    wide = f"\\u{number:04x}"
    return _SHORT_ESCAPES.get(character, f"\\x{number:02x}" if number <= 0xFF else wide)


def _longest_run_of_backticks(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def _escape_markup(match: re.Match[str]) -> str:
    return _MARKUP_ESCAPES.get(match[0], f"\\{match[0]}")


def _start_line(match: re.Match[str]) -> str:
    digits, *signs = match.groups(default="")
    return f"{digits}&#{ord(''.join(signs))};"
