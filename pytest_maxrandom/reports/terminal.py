"""The summary at the end of a run in a terminal."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

from pytest_maxrandom.notation import NONE, accuracy, count
from pytest_maxrandom.reports.phrases import decisive_name, decisive_p
from pytest_maxrandom.reports.summary import WORDS, became, names, unread
from pytest_maxrandom.reports.text import visible

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord, RunRecord

_HEADER = ("n", "t", "best", "chance", "max random", "p_max", "result", "claim")
_LEFT = {5, 6, 7}
_GAP = "  "
_METRICS = {"balanced_accuracy": "bal. acc.", "macro_f1": "macro-F1"}


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
    named = names(run)
    cells = [(*_cells(claim), visible(named[claim.id])) for claim in run.claims]
    table = [_HEADER, *cells] if cells else []
    widths = [max(map(_columns, column)) for column in zip(*table, strict=True)]
    lines = [
        _GAP.join(
            _padded(cell, wide, left=index in _LEFT)
            for index, (cell, wide) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
    if run.not_run or (run.interrupted and not run.broken):
        ended = "interrupted" if run.interrupted else "ended early"
        claims = "claim has" if run.not_run == 1 else "claims have"
        lines.append(f"{ended}: {count(run.not_run)} selected {claims} no result")
    if run.broken:
        lines.append(unread(run))
    lines += dict.fromkeys(visible(told) for claim in run.claims for told in claim.warnings)
    return lines


def _cells(claim: ClaimRecord) -> tuple[str, ...]:
    return (
        count(claim.n),
        count(claim.t),
        _best(claim),
        accuracy(claim.standard_baseline),
        accuracy(claim.max_random_baseline),
        f"{decisive_p(claim)} {decisive_name(claim)}".rstrip(),
        WORDS[became(claim)],
    )


def _best(claim: ClaimRecord) -> str:
    if claim.best_correct is None:
        return NONE
    if claim.metric == "accuracy":
        return f"{count(claim.best_correct)} ({accuracy(claim.best_accuracy)})"
    return f"{accuracy(claim.best_score)} {_METRICS.get(claim.metric, claim.metric)}"


def _columns(text: str) -> int:
    """Count the columns that a terminal takes for a text without hidden characters."""
    return sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.combining(character) or character in "\u200d\ufe0f":
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _padded(text: str, wide: int, *, left: bool) -> str:
    space = " " * (wide - _columns(text))
    return text + space if left else space + text
