r"""Text from data, made safe to stand in a LaTeX document.

What is written is ASCII, so that it compiles with pdflatex, xelatex and lualatex alike, whatever
the encoding of the document: accented Latin letters become accents (``\'{e}``), a few signs become
commands, and any other character is named by its code point (``[U+52A8]``), because no one font of
pdflatex has all of them.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any, Literal

from pytest_maxrandom.notation import NONE
from pytest_maxrandom.reports.dialect import Detail, Dialect
from pytest_maxrandom.reports.tables import NUMBERS, Cell, Column, Kind, Mark, Piece, Table
from pytest_maxrandom.reports.text import shorten, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_maxrandom.reports.references import Reference

MOST_ROWS = 40
"""Of a table on one page; one with more goes over several."""

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
_COLUMNS: dict[Kind, str] = {"text": "l", "prose": "p{7cm}"}
_NOTHING = "--"
_DOTTED = {"i": r"\i", "j": r"\j"}
_BELOW = frozenset("dck")
_LIGATURES = re.compile("-(?=-)|,(?=,)|'(?=')")
_BREAKS = re.compile(r"(\\_|(?<!\\)[/.:-](?:\{\})?|\{\]\})(?=.)")
_BREAK = r"\1\\allowbreak{}"
_MINUS = re.compile(r"(?<!\S)-(?=\d?\.\d)")
_POWER = re.compile(r"(\d(?:\.\d+)?)e-0*(\d+)")


class Latex(Dialect):
    """LaTeX with booktabs and longtable.

    Numbers are written as everywhere else. Those of a column have the same number of decimals, so
    that flush right they are aligned at their points, and no package for numbers is needed. Tables
    of claims have all columns, for a page in landscape, or fewer: those fit an upright page, over
    both columns where it has two.
    """

    name = "LaTeX"
    suffix = ".tex.j2"

    def __init__(self, medium: Literal["latex", "upright"] = "latex") -> None:
        self.medium: Literal["latex", "upright"] = medium

    def plain(self, text: str) -> str:
        r"""Write `text` as running text that reads as it stands: nothing in it is a command.

        Examples
        --------
        >>> LATEX.plain("50 % of a_b, café")
        "50 \\% of a\\_b, caf\\'{e}"
        """
        composed = unicodedata.normalize("NFC", visible(text))
        return _LIGATURES.sub(r"\g<0>{}", "".join(map(_character, composed)))

    def code(self, text: str) -> str:
        """Write `text` in typewriter letters, with line breaks allowed between its parts."""
        if not text:
            return r"\emph{(empty)}"
        return rf"\texttt{{{_BREAKS.sub(_BREAK, self._straight(text))}}}"

    def cell(self, text: str, limit: int = 60) -> str:
        """Write `text` in typewriter letters on one line, shortened to `limit` characters."""
        if not text:
            return r"\emph{(empty)}"
        return rf"\texttt{{{self._straight(shorten(visible(text), limit))}}}"

    def statistics(self, text: str) -> str:
        r"""Write `text` with p_max as a formula, 1e-05 as a power of ten, and minus signs."""
        powers = _POWER.sub(r"$\1\\times10^{-\2}$", self.plain(text))
        return _MINUS.sub("$-$", powers).replace(r"p\_max", r"$p_{\max}$")

    def italic(self, word: str) -> str:
        """Write a word of our own in italics; one letter is that of a formula."""
        if word == "p_max":
            return r"$p_{\max}$"
        return f"${word}$" if len(word) == 1 else rf"\emph{{{self.plain(word)}}}"

    def bold(self, written: str) -> str:
        return rf"\textbf{{{written}}}"

    def cite(self, references: Sequence[Reference]) -> str:
        return rf"~\cite{{{','.join(one.key for one in references)}}}"

    def heading(self, title: str, of_part: bool = False) -> str:
        """Write none: tables have captions."""
        return ""

    def paragraph(self, written: str) -> str:
        return f"{written}\n"

    def items(self, written: Iterable[str]) -> str:
        lines = "".join(rf"\item {item}" + "\n" for item in written)
        return f"\\begin{{itemize}}\n{lines}\\end{{itemize}}\n"

    def detail(self, shown: Detail) -> str:
        """Leave out what other languages fold."""
        return ""

    def mark(self, mark: Mark) -> str:
        return f"{mark.latex} {self.statistics(mark.word)}".lstrip()

    def piece(self, piece: Piece) -> str:
        return _NOTHING if piece == NONE else super().piece(piece)

    def table(self, shown: Table) -> str:
        """Write a table with its caption: a float, or one over several pages where it is long."""
        columns, rows = shown.laid_out(self.medium)
        cells = [[self._cell_of(*each) for each in zip(columns, row, strict=True)] for row in rows]
        kinds = [_COLUMNS.get(column.kind, "r") for column in columns]
        told = [shown.caption, shown.legend_of(self.medium)]
        caption = self.words(" ".join(filter(None, told)))
        if shown.about:
            caption = f"{self.code(shown.about)}: {caption}"
        label = rf"\label{{tab:maxrandom{shown.key and f'-{shown.key}'}}}"
        head = " & ".join(map(self._heading_of, columns))
        body = [rf"{' & '.join(row)} \\" for row in cells]
        float_ = "table" if self.medium == "latex" else "table*"
        gap = 4 if self.medium == "latex" else 3
        small = rf"\footnotesize\setlength{{\tabcolsep}}{{{gap}pt}}"
        lines = [rf"{head} \\", r"\midrule"]
        if len(rows) > MOST_ROWS:
            lines = [
                rf"{{{small}\setlength{{\LTcapwidth}}{{\linewidth}}",
                rf"\begin{{longtable}}{{{' '.join(kinds)}}}",
                rf"\caption{{{caption}}}{label}\\",
                r"\toprule",
                *lines,
                r"\endhead",
                r"\bottomrule",
                r"\endlastfoot",
                *body,
                r"\end{longtable}}",
            ]
        else:
            lines = [
                rf"\begin{{{float_}}}",
                rf"\centering{small}",
                rf"\caption{{{caption}}}{label}",
                rf"\begin{{tabular}}{{{' '.join(kinds)}}}",
                r"\toprule",
                *lines,
                *body,
                r"\bottomrule",
                r"\end{tabular}",
                rf"\end{{{float_}}}",
            ]
        return "\n".join(lines) + "\n"

    def _heading_of(self, column: Column[Any]) -> str:
        lines = self.heading_of(column)
        if len(lines) == 1 or not isinstance(column.heading, str):
            return " ".join(lines)
        side = "l" if column.kind in _COLUMNS else "r"
        stacked = r" \\ ".join(lines)
        return rf"\shortstack[{side}]{{{stacked}}}"

    def _cell_of(self, column: Column[Any], pieces: Cell) -> str:
        written = " ".join(map(self.piece, pieces))
        return written or (_NOTHING if column.kind in NUMBERS else "")

    def _straight(self, text: str) -> str:
        """Write `text` with straight quotation marks, as a program has them."""
        return r"\textquotesingle{}".join(map(self.plain, text.split("'")))


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


LATEX = Latex()
UPRIGHT = Latex("upright")
