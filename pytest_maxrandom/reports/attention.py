"""What a reader has to look at; the same reason of many is said once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_maxrandom.reports.phrases import finding
from pytest_maxrandom.reports.red_flags import MOST_NAMES, described, not_in_finding, raised
from pytest_maxrandom.reports.summary import SETTLED, SYMBOLS, became, names, records

if TYPE_CHECKING:
    from pytest_maxrandom.record import RunRecord

_FLAG = "🚩"
_EACH = ("failed", "xpassed")
"""Outcomes of which each is told by itself, whatever its reason."""


@dataclass(frozen=True, slots=True)
class Question:
    """One thing to look at."""

    symbol: str
    names: tuple[str, ...]
    """The first ones that it is said of."""
    more: int
    """How many others it is said of as well."""
    what: str


def open_questions(run: RunRecord) -> list[Question]:
    """List what did not end as it should, then the other red flags, the most serious ones first.

    A pass or an expected failure without a red flag is no question. Those that could not be
    tested, or were skipped, for the same reason are one question.
    """
    known = names(run)
    found: dict[tuple[str, str, str], list[str]] = {}
    for record in records(run):
        if record.outcome not in SETTLED:
            own = record.id if record.outcome in _EACH else ""
            key = (SYMBOLS[became(record)], finding(record), own)
            found.setdefault(key, []).append(known[record.id])
    claims = sorted(run.claims, key=lambda claim: claim.outcome in SETTLED)
    for told in raised(claims, not_in_finding):
        key = (_FLAG, described(told.flag), "")
        found.setdefault(key, []).extend(known[name] for name in told.ids)
    return [
        Question(symbol, tuple(about[:MOST_NAMES]), max(0, len(about) - MOST_NAMES), what)
        for (symbol, what, _), about in found.items()
    ]
