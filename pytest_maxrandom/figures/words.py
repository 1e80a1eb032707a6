"""Texts in figures: names from data that fit, numbers, ranges of n and t."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Protocol

from matplotlib.font_manager import findfont, get_font

from pytest_maxrandom.notation import span
from pytest_maxrandom.reports.text import shorten, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LONGEST = 32
"""Characters of a name beside or below an axis."""


class Sized(Protocol):
    """What has examples and prompts."""

    @property
    def n(self) -> int:
        """Number of examples."""

    @property
    def t(self) -> int:
        """Number of prompts."""


def plain(text: str) -> str:
    r"""Replace what would not be seen, or what the font has no shape for, by its code: ``\u4e2d``.

    Examples
    --------
    >>> plain("中 $x$")
    '\\u4e2d $x$'
    """
    return "".join(
        character if ord(character) in _shapes() else _code(character)
        for character in visible(text)
    )


def short(texts: Sequence[str], limit: int = LONGEST) -> list[str]:
    """Make names fit, without making two of them alike.

    Examples
    --------
    >>> short(["emoji_movie", "emu_movie"], 7)
    ['emo…vie', 'emu…vie']
    """
    shown = [plain(text) for text in texts]
    fitting = [shorten(text, limit) for text in shown]
    alike = {
        cut
        for cut, text in zip(fitting, shown, strict=True)
        for other, whole in zip(fitting, shown, strict=True)
        if cut == other and text != whole
    }
    return [text if cut in alike else cut for cut, text in zip(fitting, shown, strict=True)]


def counts(results: Iterable[Sized]) -> str:
    """State the examples and prompts of some results.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> counts([SimpleNamespace(n=60, t=20), SimpleNamespace(n=200, t=20)])
    'n = 60 to 200, t = 20'
    """
    known = list(results)
    return f"n = {span([each.n for each in known])}, t = {span([each.t for each in known])}"


def decimal(value: float, _place: int | None = None) -> str:
    """Write the number at a tick as reports do; matplotlib gives the tick's place too.

    Examples
    --------
    >>> decimal(0.25), decimal(1.0), decimal(0.0), decimal(1e-4)
    ('.25', '1', '0', '1e-04')
    """
    if value < 0:
        return f"\N{MINUS SIGN}{decimal(-value)}"
    if 0 < value < 0.001:
        return f"{value:.0e}"
    return f"{value:g}".removeprefix("0") or "0"


@functools.cache
def _shapes() -> frozenset[int]:
    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())


def _code(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
