"""The points of a comment: failures, changes and red flags, and where each of them stands."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from pytest_maxrandom.record import (
    FAILING,
    OUTCOMES,
    SETTLED,
    TESTED,
    ClaimRecord,
    RedFlag,
    RunRecord,
)
from pytest_maxrandom.reports import headlines
from pytest_maxrandom.reports.changes import KINDS, SIGNS, Change
from pytest_maxrandom.reports.headlines import Question
from pytest_maxrandom.reports.incumbent import in_brief
from pytest_maxrandom.reports.reasons import REASONS
from pytest_maxrandom.reports.red_flags import raised
from pytest_maxrandom.reports.text import shorten, visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_maxrandom.reports.tables import Cell

Point: TypeAlias = tuple[str, Question]
"""Where it stands, one of `PLACES`, and what it says."""
_TEXT = 300
"""Characters of any one text from data."""
PLACES = ("failing", "changed", "new", "other", "more_new", "known")
"""Where a point stands: failures, changes and the first new red flags unfolded, the rest folded."""
_MOST_NEW = 3


def weight(change: Change) -> tuple[bool, bool, int]:
    """Sort rows: what fell, then what fails, then what changed, then all others."""
    fine = change.now is not None and change.now.outcome not in FAILING
    return change.kind != "fell", fine, KINDS.index(change.kind)


def points_of(found: list[Change], known: Mapping[str, Cell]) -> list[Point]:
    """List what fails, then what changed otherwise, the most important of each first."""
    told_of: dict[tuple[str, Question, str], list[Cell]] = {}
    for change in sorted(found, key=lambda change: KINDS.index(change.kind)):
        record = change.record
        tested = change.now is None or record.outcome in TESTED
        # No number says why something was not tested.
        what, why = change.what, _why(change) if tested else []
        if change.now is not None and record.outcome not in SETTLED:
            place = "changed" if record.outcome == "skipped" else "failing"
            what = what or (OUTCOMES[record.outcome].again if change.before else "")
            line = headlines.headline(record)
            told = "; ".join(filter(None, [short(line.what), *why]))
            # A change says already what became of it.
            reached = "" if what and line.found == OUTCOMES[record.outcome].one else line.found
            question = replace(line, found=reached, what=told, change=what)
        elif why or (what and (change.before or record.outcome != "passed")):
            place = "other" if change.kind == "other" else "changed"
            if change.kind == "rose" and isinstance(record, ClaimRecord):
                beside = in_brief(record)
                why = [*([f"the best prompt is {beside}"] if beside else []), *why]
            question = Question(SIGNS[change.kind][0], (), what="; ".join(why), change=what)
        else:
            continue
        # What could not be tested for the same reason is one point.
        own = record.id if tested else ""
        told_of.setdefault((place, question, own), []).append(known[record.id])
    points = [
        (place, headlines.of(question, about)) for (place, question, _), about in told_of.items()
    ]
    return sorted(points, key=lambda point: PLACES.index(point[0]))


def _why(change: Change) -> list[str]:
    """Say what decides, then what else is different.

    Numbers of a claim stand in its line and in the table, new red flags in full below.
    """
    told = [each for each in change.reasons if not each.new_flag]
    others = [each for each in told if not REASONS[each.kind].in_columns]
    if isinstance(change.record, ClaimRecord) and (change.because or others):
        told = others
    return [short(each) for each in (change.because, *(each.text for each in told)) if each]


def flag_points(run: RunRecord, base: RunRecord | None) -> list[Point]:
    """List red flags: new ones in full, those that are known folded.

    Without an earlier run to compare with, those of claims that pass are named in a few words, and
    all are folded.
    """
    named = headlines.brief_names(run)
    earlier = None
    if base is not None:  # a red flag is the same whatever its numbers
        earlier = {(claim.id, flag.kind) for claim in base.claims for flag in claim.red_flags}

    def questions(new: bool) -> list[Question]:
        def of(claim: ClaimRecord) -> list[RedFlag]:
            return [
                flag
                for flag in claim.red_flags
                if (earlier is not None and (claim.id, flag.kind) not in earlier) == new
            ]

        return [
            headlines.in_full(each, named)
            for each in raised(headlines.failing_first(run.claims), of)
        ]

    new, old = questions(new=True), questions(new=False)
    brief = headlines.flagged(run) if earlier is None else headlines.begun_anew(run)
    return [
        *(("new", each) for each in [*brief, *new[:_MOST_NEW]]),
        *(("more_new", each) for each in new[_MOST_NEW:]),
        *(("known", each) for each in old),
    ]


def short(text: str) -> str:
    """Show a text from data within its bound."""
    return shorten(visible(text), _TEXT)
