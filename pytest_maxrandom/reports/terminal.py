"""The summary at the end of a run in a terminal."""

from __future__ import annotations

import unicodedata
from collections import Counter
from typing import TYPE_CHECKING

from pytest_maxrandom.notation import count
from pytest_maxrandom.reports.design_sections import design_tables
from pytest_maxrandom.reports.phrases import decisive_name
from pytest_maxrandom.reports.red_flags import (
    DOES,
    MOST_NAMES,
    ignores_all,
    not_in_finding,
    raised,
)
from pytest_maxrandom.reports.sections import claims_table
from pytest_maxrandom.reports.summary import (
    missing,
    names,
    records,
    simulated,
    unread,
    unverified,
    with_rows,
)
from pytest_maxrandom.reports.tables import Mark, Name
from pytest_maxrandom.reports.text import visible

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_maxrandom.record import RunRecord
    from pytest_maxrandom.reports.tables import Piece, Table

_MOST_FLAGS = 20
_GAP = "  "


def rows(run: RunRecord) -> list[str]:
    """Lay out the claims as a table of plain text.

    Names stand last, where they can be as long as they are without pushing the numbers apart.

    Parameters
    ----------
    run : RunRecord
        Its claims are shown in their order.

    Returns
    -------
    list of str
        Lines without line breaks, the header first; none where there is nothing to tell.
    """
    named = {name: visible(shown) for name, shown in names(run).items()}
    claims = with_rows(run.claims)
    said = filter(None, [simulated(run), unverified(run)])
    lines = [*said, *table_lines(claims_table(run, claims))]
    for table in design_tables(run).values():
        lines += table_lines(table)
    if deciding := Counter(filter(None, map(decisive_name, claims))):
        told = ", ".join(
            f"{name} of {count(number)} {'claim' if number == 1 else 'claims'}"
            for name, number in deciding.items()
        )
        rest = ", p_max of the others" if deciding.total() < len(claims) else ""
        lines.append(f"p is the p-value that decides: {told}{rest}")
    lines += _red_flags(run, named)
    if skipped := len(run.claims) - len(claims):
        lines.append(f"{count(skipped)} claims were skipped")
    if told := missing(run):
        ended = "interrupted" if run.interrupted else "ended early"
        lines.append(f"{ended}: {told.replace(' ', ' selected ', 1)}")
    if run.broken:
        lines.append(unread(run))
    lines += dict.fromkeys(visible(told.text) for each in records(run) for told in each.warnings)
    return lines


def table_lines(table: Table) -> list[str]:
    """Align rows below a header; nothing where there are none."""
    columns, rows = table.laid_out("terminal")
    if not rows:
        return []
    headings = [str(column.heading).split("\n") for column in columns]
    high = max(map(len, headings))
    top = list(zip(*([""] * (high - len(each)) + each for each in headings), strict=True))
    lines = [*map(list, top), *([" ".join(map(_piece, cell)) for cell in row] for row in rows)]
    widths = [max(map(_columns, column)) for column in zip(*lines, strict=True)]
    left = [column.kind == "text" for column in columns]
    return [_GAP.join(map(_padded, line, widths, left)).rstrip() for line in lines]


def _piece(piece: Piece) -> str:
    match piece:
        case Name():
            return f"{piece.before}{visible(piece.text)}"
        case Mark():
            return piece.brief or piece.word
        case str():
            return piece
    return ""


def _red_flags(run: RunRecord, named: Mapping[str, str]) -> list[str]:
    """Tell each red flag once, whatever the number of its claims, and where none are told.

    pytest has told those that are why a claim fails.
    """
    lines = [
        f"red flag {told.flag.kind} ({DOES[told.flag.severity]}), "
        f"{_several([named[name] for name in told.ids])}: {visible(told.flag.text)}"
        for told in raised(run.claims, not_in_finding)
    ]
    if (left_out := len(lines) - _MOST_FLAGS) > 1:
        lines[_MOST_FLAGS:] = [f"{count(left_out)} more red flags are in the reports"]
    tried = (claim for claim in run.claims if claim.outcome != "skipped")
    if unseen := [named[claim.id] for claim in tried if ignores_all(claim)]:
        lines.append(f"all red flags are ignored, by the suite: {_several(unseen)}")
    return lines


def _several(named: Sequence[str]) -> str:
    more = len(named) - MOST_NAMES
    return ", ".join(named[:MOST_NAMES]) + (f" and {count(more)} more" if more > 0 else "")


def _columns(text: str) -> int:
    """Count the columns that a terminal takes for a text without hidden characters."""
    return sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.combining(character) or character in "\u200d\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _padded(text: str, wide: int, left: bool) -> str:
    space = " " * (wide - _columns(text))
    return text + space if left else space + text
