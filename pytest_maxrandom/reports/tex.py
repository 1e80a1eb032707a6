r"""Text from data, made safe to stand in a LaTeX document.

What is written is ASCII, so that it compiles with pdflatex, xelatex and lualatex alike, whatever
the encoding of the document: accented Latin letters become accents (``\'{e}``), a few signs become
commands, and any other character is named by its code point (``[U+52A8]``), because no one font of
pdflatex has all of them.
"""

from __future__ import annotations

import re
import unicodedata

from pytest_maxrandom.notation import NONE
from pytest_maxrandom.reports.text import shorten, visible

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # Active in some languages of babel.
    '"': r"\symbol{34}",
    "`": r"\textasciigrave{}",
    # Optional arguments, where they follow a line break of a table.
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
}
_SIGNS = {
    "\N{NO-BREAK SPACE}": "~",
    "\N{EN DASH}": r"\textendash{}",
    "\N{EM DASH}": r"\textemdash{}",
    "\N{LEFT SINGLE QUOTATION MARK}": r"\textquoteleft{}",
    "\N{RIGHT SINGLE QUOTATION MARK}": r"\textquoteright{}",
    "\N{LEFT DOUBLE QUOTATION MARK}": r"\textquotedblleft{}",
    "\N{RIGHT DOUBLE QUOTATION MARK}": r"\textquotedblright{}",
    "\N{HORIZONTAL ELLIPSIS}": r"\ldots{}",
    "\N{MULTIPLICATION SIGN}": r"\ensuremath{\times}",
    "\N{PLUS-MINUS SIGN}": r"\ensuremath{\pm}",
    "\N{LESS-THAN OR EQUAL TO}": r"\ensuremath{\leq}",
    "\N{GREATER-THAN OR EQUAL TO}": r"\ensuremath{\geq}",
    "\N{RIGHTWARDS ARROW}": r"\ensuremath{\rightarrow}",
    "\N{LATIN SMALL LETTER SHARP S}": r"\ss{}",
    "\N{LATIN SMALL LETTER AE}": r"\ae{}",
    "\N{LATIN CAPITAL LETTER AE}": r"\AE{}",
    "\N{LATIN SMALL LIGATURE OE}": r"\oe{}",
    "\N{LATIN CAPITAL LIGATURE OE}": r"\OE{}",
    "\N{LATIN SMALL LETTER O WITH STROKE}": r"\o{}",
    "\N{LATIN CAPITAL LETTER O WITH STROKE}": r"\O{}",
    "\N{LATIN SMALL LETTER L WITH STROKE}": r"\l{}",
    "\N{LATIN CAPITAL LETTER L WITH STROKE}": r"\L{}",
    "\N{LATIN SMALL LETTER DOTLESS I}": r"\i{}",
}
_ACCENTS = {
    "\N{COMBINING GRAVE ACCENT}": "`",
    "\N{COMBINING ACUTE ACCENT}": "'",
    "\N{COMBINING CIRCUMFLEX ACCENT}": "^",
    "\N{COMBINING TILDE}": "~",
    "\N{COMBINING MACRON}": "=",
    "\N{COMBINING BREVE}": "u",
    "\N{COMBINING DOT ABOVE}": ".",
    "\N{COMBINING DIAERESIS}": '"',
    "\N{COMBINING RING ABOVE}": "r",
    "\N{COMBINING DOUBLE ACUTE ACCENT}": "H",
    "\N{COMBINING CARON}": "v",
    "\N{COMBINING DOT BELOW}": "d",
    "\N{COMBINING CEDILLA}": "c",
    "\N{COMBINING OGONEK}": "k",
}
_DOTTED = {"i": r"\i", "j": r"\j"}
_BELOW = frozenset("dck")
_LIGATURES = re.compile("-(?=-)|,(?=,)|'(?=')")
_BREAKS = re.compile(r"(\\_|(?<!\\)[/.:-](?:\{\})?|\{\]\})(?=.)")
_BREAK = r"\1\\allowbreak{}"
_MINUS = re.compile(r"(?<!\S)-(?=\d?\.\d)")
_POWER = re.compile(r"(\d(?:\.\d+)?)e-0*(\d+)")


def plain(text: str) -> str:
    r"""Write `text` as running text that reads as it stands: nothing in it is a command.

    Examples
    --------
    >>> plain("50 % of a_b, café")
    "50 \\% of a\\_b, caf\\'{e}"
    """
    composed = unicodedata.normalize("NFC", visible(text))
    return _LIGATURES.sub(r"\g<0>{}", "".join(map(_character, composed)))


def code(text: str) -> str:
    """Write `text` in typewriter letters, with line breaks allowed between its parts."""
    if not text:
        return r"\emph{(empty)}"
    return rf"\texttt{{{_BREAKS.sub(_BREAK, _straight(text))}}}"


def cell(text: str, limit: int = 60) -> str:
    """Write `text` in typewriter letters on one line, shortened to `limit` characters."""
    if not text:
        return r"\emph{(empty)}"
    return rf"\texttt{{{_straight(shorten(visible(text), limit))}}}"


def statistics(text: str) -> str:
    r"""Write `text` with p_max as a formula, 1e-05 as a power of ten, and minus signs."""
    powers = _POWER.sub(r"$\1\\times10^{-\2}$", plain(text))
    return _MINUS.sub("$-$", powers).replace(r"p\_max", r"$p_{\max}$")


def number(text: str) -> str:
    """Write a number, as :mod:`pytest_maxrandom.notation` does, for a column of siunitx.

    Examples
    --------
    >>> number(".683"), number("1,234"), number("-"), number("-.02")
    ('0.683', '1234', '{--}', '-0.02')
    """
    if text == NONE:
        return "{--}"
    return re.sub(r"^([+-]?)\.", r"\g<1>0.", text.replace(",", ""))


def probability(text: str) -> str:
    r"""Write a p-value, as :mod:`pytest_maxrandom.notation` does.

    Examples
    --------
    >>> print(probability("8.7e-18"), probability("> .999"))
    \num{8.7e-18} $>$\,\num{0.999}
    """
    if text == NONE:
        return "--"
    sign, space, bare = text.rpartition(" ")
    shown = rf"\num{{{number(bare)}}}"
    return rf"${sign}$\,{shown}" if space else shown


def _straight(text: str) -> str:
    """Write `text` with straight quotation marks, as a program has them."""
    return r"\textquotesingle{}".join(map(plain, text.split("'")))


def _character(character: str) -> str:
    if character.isascii():
        return _SPECIAL.get(character, character)
    if character in _SIGNS:
        return _SIGNS[character]
    decomposed = unicodedata.normalize("NFD", character)
    letter, marks = decomposed[0], decomposed[1:]
    accents = [_ACCENTS.get(mark, "") for mark in marks]
    if not (letter.isascii() and letter.isalpha() and accents and all(accents)):
        return f"{{[}}U+{ord(character):04X}{{]}}"
    shown = letter if _BELOW & set(accents) else _DOTTED.get(letter, letter)
    for accent in accents:
        shown = f"\\{accent}{{{shown}}}"
    return shown
