"""Text from data means nothing to TeX, and reads as it stands."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given

from pytest_maxrandom.reports.latex import LATEX
from pytest_maxrandom.reports.text import visible
from tests.unit.reports.page import any_text

cell, code, plain = LATEX.cell, LATEX.code, LATEX.plain
statistics = LATEX.statistics

SIGNS = {
    "textbackslash": "\\",
    "textasciitilde": "~",
    "textasciicircum": "^",
    "textless": "<",
    "textgreater": ">",
    "textbar": "|",
    "textasciigrave": "`",
    "textquotesingle": "'",
    "textendash": "–",  # noqa: RUF001
    "textemdash": "—",
    "textquoteleft": "\N{LEFT SINGLE QUOTATION MARK}",
    "textquoteright": "\N{RIGHT SINGLE QUOTATION MARK}",
    "textquotedblleft": "\N{LEFT DOUBLE QUOTATION MARK}",
    "textquotedblright": "\N{RIGHT DOUBLE QUOTATION MARK}",
    "ldots": "\N{HORIZONTAL ELLIPSIS}",
    "allowbreak": "",
    "ss": "ß",
    "ae": "æ",
    "AE": "Æ",
    "oe": "œ",
    "OE": "Œ",
    "o": "ø",
    "O": "Ø",
    "l": "ł",
    "L": "Ł",
    "i": "ı",  # noqa: RUF001
}
MATHS = {"times": "×", "pm": "±", "leq": "≤", "geq": "≥", "rightarrow": "→"}  # noqa: RUF001
ACCENTS = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    "~": "\u0303",
    "=": "\u0304",
    "u": "\u0306",
    ".": "\u0307",
    '"': "\u0308",
    "r": "\u030a",
    "H": "\u030b",
    "v": "\u030c",
    "d": "\u0323",
    "c": "\u0327",
    "k": "\u0328",
}
ACCENT = re.compile(
    r"""\\([`'^~="urHvdck.])\{((?:[A-Za-z]|\\[ij]|[^\x00-\x7f])[\u0300-\u036f]*)\}"""
)
TOKEN = re.compile(
    r"""(?P<named>\{\[\}U\+(?P<point>[0-9A-F]{4,6})\{\]\})
    | \\symbol\{34\}(?P<quote>)
    | \\ensuremath\{\\(?P<math>[a-z]+)\}
    | \\(?P<word>[A-Za-z]+)\{\}
    | \\(?P<sign>[{}$&\#_%])
    | \{(?P<braced>[\[\]*])\}
    | (?P<space>~)
    | (?P<broken>[-,'])\{\}
    | (?P<letter>[^\\{}$&\#_%~^<>|"`*\[\]])
    """,
    re.VERBOSE,
)


def read(tex: str) -> str:
    """Read what `plain` may write, and nothing else."""
    assert tex.isascii()
    assert tex.isprintable()
    while (after := ACCENT.sub(accented, tex)) != tex:
        tex = after
    shown, place = "", 0
    while place < len(tex):
        match = TOKEN.match(tex, place)
        assert match, f"a command or an active character: {tex[place:]!r}"
        shown += meaning(match)
        place = match.end()
    return shown


def accented(match: re.Match[str]) -> str:
    return unicodedata.normalize("NFC", match[2].removeprefix("\\") + ACCENTS[match[1]])


def meaning(match: re.Match[str]) -> str:
    kind, value = next(
        (kind, value)
        for kind, value in match.groupdict().items()
        if value is not None and kind != "point"
    )
    match kind:
        case "named":
            return chr(int(match["point"], 16))
        case "quote":
            return '"'
        case "math":
            return MATHS[value]
        case "word":
            return SIGNS[value]
        case "space":
            return "\N{NO-BREAK SPACE}"
        case _:
            return value


def normal(text: str) -> str:
    return unicodedata.normalize("NFC", visible(text))


@given(any_text)
@example("café ǭ ế ị Å ñ łß ø – … ≤ 5 × 3\N{NO-BREAK SPACE}%")  # noqa: RUF001
@example("".join(map(chr, range(32, 127))))
@example("-- ,, '' ``")
def test_escaped_text_is_ascii_and_reads_back(text: str) -> None:
    assert read(plain(text)) == normal(text)


@given(any_text)
def test_code_and_cells_read_back_too(text: str) -> None:
    for written in (code(text), cell(text, 10_000)):
        inner = written.removeprefix(r"\texttt{").removesuffix("}")
        assert len(inner) == len(written) - len(r"\texttt{}")
        assert read(inner) == normal(text)


@pytest.mark.parametrize("text", ["-" * 4, ",,", "''", "a--b---c"])
def test_no_two_signs_become_one(text: str) -> None:
    assert not re.search("--|,,|''", plain(text))


def test_nothing_at_all_is_said_to_be_empty() -> None:
    assert code("") == cell("") == r"\emph{(empty)}"


def test_a_cell_is_shortened() -> None:
    assert cell("emoji_movie", 7) == r"\texttt{emo\ldots{}vie}"


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        ("p_max = 8.7e-18", r"$p_{\max}$ = $8.7\times10^{-18}$"),
        ("p_max > .999 (best of 5)", r"$p_{\max}$ \textgreater{} .999 (best of 5)"),
        ("union p = 1e-05", r"union p = $1\times10^{-5}$"),
        ("100 % of a_b", r"100 \% of a\_b"),
    ],
)
def test_statistics_are_set_as_formulas(text: str, tex: str) -> None:
    assert statistics(text) == tex


@pytest.mark.parametrize(
    ("piece", "tex"),
    [
        (".683", ".683"),
        ("12,345", "12,345"),
        ("-", "--"),
        ("-.02", "$-$.02"),
        ("1.0e-04", r"$1.0\times10^{-4}$"),
        ("< 1e-300", r"\textless{} $1\times10^{-300}$"),
    ],
)
def test_a_number_of_a_table_is_written_as_in_a_sentence(piece: str, tex: str) -> None:
    assert LATEX.piece(piece) == tex
    if piece != "-":
        assert tex == statistics(piece)
