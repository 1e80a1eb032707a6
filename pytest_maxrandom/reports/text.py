"""Text from data, made safe to show in a terminal: on one line, and with nothing hidden."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.notation import count

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

# Controls, formats (bidirectional marks, zero-width characters, tags), surrogates, separators.
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# Letters and marks that show nothing: a grapheme joiner, Hangul and Khmer fillers.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")
_SHORT_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}

# Browsers break lines after the hyphen, after the dash, and after the sign.
_EXPONENT = re.compile(r"(?<=\de)-(?=\d)")
_DASH = re.compile(r"(?<=\d)\N{EN DASH}(?=[.\d])")
_SPACE_OF_BOUND = re.compile(r"(&[lg]t;) (?=[.\d])")
# A zero-width joiner between two emoji makes one of them, and hides nothing.
_JOINED_EMOJI = re.compile(
    "(?<=[\u2600-\u27bf\ufe0f\U0001f000-\U0001faff])\u200d(?=[\u2600-\u27bf\U0001f000-\U0001faff])"
)


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


def unbroken(written: str) -> str:
    """Keep each number, and interval, of written HTML or Markdown on one line: ``8.7e-18``."""
    joined = _DASH.sub("\N{EN DASH}&#8288;", _EXPONENT.sub("-&#8288;", written))
    return _SPACE_OF_BOUND.sub(r"\1&nbsp;", joined)


def rewritten(value: Any, write: Callable[[str], str], kept: Container[str] = ()) -> Any:
    """Return a record with all texts within it written anew, but for attributes that are `kept`."""
    if isinstance(value, str):
        return write(value)
    if isinstance(value, list):
        return [rewritten(each, write, kept) for each in value]
    if isinstance(value, dict):
        return {rewritten(key, write): rewritten(each, write, kept) for key, each in value.items()}
    if not is_dataclass(value) or isinstance(value, type):
        return value
    names = [field.name for field in fields(value) if field.name not in kept]
    return replace(value, **{name: rewritten(getattr(value, name), write, kept) for name in names})


def clauses(*parts: object, sep: str = "; ") -> str:
    """Join the parts of a sentence that say something; ``number and f"..."`` may say nothing.

    Examples
    --------
    >>> clauses("one", "", None, 0, "two")
    'one; two'
    """
    return sep.join(str(part) for part in parts if part)


def listed(parts: Sequence[str]) -> str:
    """Join parts of a sentence: ``a, b and c``."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def number_of(number: int, noun: str) -> str:
    """Write a count with its noun: ``1 prompt``, ``1,204 prompts``."""
    return f"{count(number)} {noun}{'s' * (number != 1)}"


def some_of(names: Sequence[str], most: int, sep: str = ", ") -> str:
    """Name the first of several, and say how many others there are: ``a, b and 7 more``."""
    more = f" and {count(len(names) - most)} more" if len(names) > most else ""
    return f"{sep.join(names[:most])}{more}"


def _visible_character(character: str) -> str:
    if unicodedata.category(character) not in _HIDDEN_CATEGORIES and character not in _BLANK:
        return character
    number = ord(character)
    if number > 0xFFFF:
        return f"\\U{number:08x}"
    wide = f"\\u{number:04x}"
    return _SHORT_ESCAPES.get(character, f"\\x{number:02x}" if number <= 0xFF else wide)
