r"""Text from data, made safe to stand in a LaTeX document.

What is written is ASCII, so that it compiles with pdflatex, xelatex and lualatex alike, whatever
the encoding of the document: accented Latin letters become accents (``\'{e}``), a few signs become
commands, and any other character is named by its code point (``[U+52A8]``), because no one font of
pdflatex has all of them.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

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
_DOTTED = {"i": r"\i", "j": r"\j"}
_BELOW = frozenset("dck")
_LIGATURES = re.compile("-(?=-)|,(?=,)|'(?=')")
_BREAKS = re.compile(r"(\\_|(?<!\\)[/.:-](?:\{\})?|\{\]\})(?=.)")
_BREAK = r"\1\\allowbreak{}"
_MINUS = re.compile(r"(?<!\S)-(?=\d?\.\d)")
_NUMBER = re.compile(r"[+-]?(\d*)(?:\.(\d+))?")
_PROBABILITY = re.compile(r"(?:[<>] )?[+-]?[\d,]*\.?\d+(?:e-\d+)?")
_POWER = re.compile(r"(\d(?:\.\d+)?)e-0*(\d+)")


class Latex(Dialect):
    """LaTeX with booktabs, siunitx and longtable."""

    TEXTS = (*Dialect.TEXTS, "number", "probability")
    name = "LaTeX"
    suffix = ".tex.j2"

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

    def number(self, text: str) -> str:
        """Write a number, as :mod:`pytest_maxrandom.notation` does, for a column of siunitx.

        Examples
        --------
        >>> [LATEX.number(text) for text in (".683", "1,234", "-", "-.02")]
        ['0.683', '1234', '{--}', '-0.02']
        """
        if text == NONE:
            return "{--}"
        return re.sub(r"^([+-]?)\.", r"\g<1>0.", text.replace(",", ""))

    def probability(self, text: str) -> str:
        r"""Write a p-value, as :mod:`pytest_maxrandom.notation` does.

        Examples
        --------
        >>> print(LATEX.probability("8.7e-18"), LATEX.probability("> .999"))
        \num{8.7e-18} $>$\,\num{0.999}
        """
        if text == NONE:
            return "--"
        sign, space, bare = text.rpartition(" ")
        shown = rf"\num{{{self.number(bare)}}}"
        return rf"${sign}$\,{shown}" if space else shown

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
        if isinstance(piece, str) and (piece == NONE or _PROBABILITY.fullmatch(piece)):
            return self.probability(piece)
        return super().piece(piece)

    def table(self, shown: Table) -> str:
        """Write a table with its caption: a float, or one over several pages where it is long."""
        columns, rows = shown.laid_out("latex")
        cells = [[self._cell_of(*each) for each in zip(columns, row, strict=True)] for row in rows]
        kinds = [
            _aligned(column, [row[place] for row in cells]) for place, column in enumerate(columns)
        ]
        caption = self.words(" ".join(filter(None, [shown.caption, shown.legend_of("latex")])))
        if shown.about:
            caption = f"{self.code(shown.about)}: {caption}"
        label = rf"\label{{tab:maxrandom{shown.key and f'-{shown.key}'}}}"
        head = " & ".join(map(self._heading_of, columns))
        body = [rf"{' & '.join(row)} \\" for row in cells]
        small = r"\footnotesize\setlength{\tabcolsep}{4pt}"
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
                r"\begin{table}",
                rf"\centering{small}",
                rf"\caption{{{caption}}}{label}",
                rf"\begin{{tabular}}{{{' '.join(kinds)}}}",
                r"\toprule",
                *lines,
                *body,
                r"\bottomrule",
                r"\end{tabular}",
                r"\end{table}",
            ]
        return "\n".join(lines) + "\n"

    def _heading_of(self, column: Column[Any]) -> str:
        shown = " ".join(self.heading_of(column))
        return f"{{{shown}}}" if column.kind in NUMBERS else shown

    def _cell_of(self, column: Column[Any], pieces: Cell) -> str:
        if column.kind in NUMBERS:
            return ", ".join(self.number(str(piece)) for piece in pieces) or "{--}"
        return " ".join(map(self.piece, pieces))

    def _straight(self, text: str) -> str:
        """Write `text` with straight quotation marks, as a program has them."""
        return r"\textquotesingle{}".join(map(self.plain, text.split("'")))


def _aligned(column: Column[Any], cells: Sequence[str]) -> str:
    """Align numbers at their points."""
    if column.kind not in NUMBERS:
        return _COLUMNS.get(column.kind, "r")
    found = [match for each in cells if (match := _NUMBER.fullmatch(each))]
    whole, decimals = (max((len(one[part] or "") for one in found), default=0) for part in (1, 2))
    return f"S[table-format={max(whole, 1)}.{decimals}]"


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
