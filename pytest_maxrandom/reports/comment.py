"""The comment on a pull request: what changed since the base, and one row for each record.

It is as long as a forge allows and no longer: whole rows are left out, the least important first.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from markupsafe import Markup

from pytest_maxrandom.errors import ReportError
from pytest_maxrandom.record import ClaimRecord, RunRecord
from pytest_maxrandom.reports.annotations import Question
from pytest_maxrandom.reports.changes import KINDS, SIGNS, Change, changes, counted, is_partial
from pytest_maxrandom.reports.details import designs_table
from pytest_maxrandom.reports.markdown import MARKDOWN
from pytest_maxrandom.reports.phrases import findings
from pytest_maxrandom.reports.red_flags import described, not_in_finding, raised
from pytest_maxrandom.reports.rendering import checked
from pytest_maxrandom.reports.sections import claims_table
from pytest_maxrandom.reports.summary import (
    SYMBOLS,
    files,
    missing,
    names,
    records,
    unread,
    variants,
)
from pytest_maxrandom.reports.text import rewritten, shorten, visible
from pytest_maxrandom.reports.trend import written_moment

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from pytest_maxrandom.reports.tables import Table

TEMPLATE = "comment.md.j2"
LIMIT = 65_536
"""Bytes in UTF-8. GitHub documents this number of characters, and stores more bytes; so many bytes
are few enough however it counts."""
_NAME = 100
_LONGEST_OUTCOME = 1000


def comment(
    run: RunRecord | None,
    base: RunRecord | str | None = None,
    *,
    outcome: str = "",
    report: str | None = None,
    commit: str | None = None,
    untrusted: bool = False,
    limit: int = LIMIT,
    templates: Path | None = None,
) -> str:
    """Render a run as a comment.

    Parameters
    ----------
    run : RunRecord or None
        The claims; None if the run left no report, of which `outcome` says why.
    base : RunRecord or str, optional
        The run to compare with; or why there is none, in a sentence.
    outcome : str
        Why the run does not pass, where its records do not say it; said before all else.
    report : str, optional
        Address of the full report.
    commit : str, optional
        What was tested.
    untrusted : bool
        Whether the run comes from a pull request's own code; that is said.
    limit : int
        Bytes in UTF-8 that the comment may have.
    templates : Path, optional
        A folder with the user's own templates.

    Returns
    -------
    str
        Markdown. The same records make the same text.

    Raises
    ------
    ReportError
        If a template is wrong, or `report` is no web address.
    """
    compared = None if isinstance(base, str) or run is None else base
    reported, run = run is not None, run or RunRecord([], "", {})
    told = _brief({**({} if compared is None else names(compared)), **names(run)})
    where, arms = _brief(files(run)), _brief(variants(run))
    shown = rewritten(run, short, _NOT_SHOWN)
    if compared is None:
        found = [Change(record, None, "same") for record in records(shown)]
    else:
        found = changes(shown, compared)
    points = points_of(found, told)
    rows = [change for change in sorted(found, key=weight) if change.now is not None]
    claims = claims_table(
        shown,
        [change.now for change in rows if isinstance(change.now, ClaimRecord)],
        [change.before for change in rows if isinstance(change.now, ClaimRecord)],
        (where, arms),
    )
    others = [change for change in rows if not isinstance(change.now, ClaimRecord)]
    designs = designs_table(
        [change.now for change in others], [change.before for change in others], told
    )
    lacks = ""
    if compared is not None and is_partial(compared):
        parts = [missing(compared) if compared.not_run else "", unread(compared)]
        lacks = "; ".join(filter(None, parts)) or "it was interrupted"
    facts: dict[str, Any] = {
        "run": shown,
        "claims": shown.claims,
        "names": told,
        "files": where,
        "variants": arms,
        "outcome": visible(shorten(outcome, _LONGEST_OUTCOME)),
        "reported": reported,
        "since": "" if compared is None else counted(found),
        "base_created": "" if compared is None else short(written_moment(compared.created)),
        "base_lacks": lacks,
        "no_base": short(base) if reported and isinstance(base, str) else "",
        "link": _link(report),
        "commit": visible(commit)[:10] if commit else "",
        "untrusted": untrusted,
    }

    def tables(kept: list[Change]) -> list[Table]:
        number = sum(isinstance(change.now, ClaimRecord) for change in kept)
        cut = claims.first(number), designs.first(len(kept) - number)
        return [table for table in cut if table.cells]

    def written(most_points: int, most_rows: int) -> str:
        text = template.render(
            points=points[:most_points],
            more_points=max(0, len(points) - most_points),
            tables=tables(rows[:most_rows]),
            more_rows=max(0, len(rows) - most_rows),
            **facts,
        )
        return text.strip("\n") + "\n"

    with checked(MARKDOWN, TEMPLATE, templates) as template:
        return _cut(written, len(points), len(rows), limit)


def _cut(written: Callable[[int, int], str], points: int, rows: int, limit: int) -> str:
    """Leave out as few rows, and points, as fit; points may take half of the room."""

    def size(most_points: int, most_rows: int) -> int:
        return len(written(most_points, most_rows).encode())

    def most(total: int, room: int, measured: Callable[[int], int]) -> int:
        return bisect_right(range(1, min(total, limit) + 1), room, key=measured)

    if points + rows <= limit // 100 and size(points, rows) <= limit:
        return written(points, rows)
    kept = most(points, limit // 2, lambda number: size(number, 0))
    shown = most(rows, limit, lambda number: size(kept, number))
    text = written(kept, shown)
    if len(text.encode()) > limit:
        raise ReportError(
            f"the comment has {len(text.encode()):,} bytes without a row, more than {limit:,}; "
            "shorten its template"
        )
    return text


def _brief(texts: Mapping[str, str]) -> dict[str, str]:
    return {name: shorten(visible(text), _NAME) for name, text in texts.items()}


def _link(report: str | None) -> Markup:
    """Link to the full report; without its address, say where it is."""
    if report is None:
        return Markup("the full report is a file of this run")
    try:
        parts = urlsplit(report)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ReportError(
            f"the address of the report is {short(report)!r}, expected one that begins with "
            "https://"
        )
    return Markup(f"[full report](<{quote(report, safe=_URL_CHARACTERS)}>)")


_URL_CHARACTERS = "%/:=&?~#+!$,;@()*"
"""Those of a URL that mean nothing in Markdown between angle brackets."""


_TEXT = 300
"""Characters of any one text from data."""
_NOT_SHOWN = frozenset(("id", "claim", "suite", "revision", "task_digest"))
"""Texts that a comment compares, and does not show."""
_FINE = ("passed", "xfailed", "skipped")
_AS_BEFORE: dict[str | None, str] = {
    "failed": "fails as before",
    "xpassed": "passes unexpectedly as before",
    "error": "still cannot be tested",
    None: "still has no result",
}


def weight(change: Change) -> tuple[bool, bool, int]:
    """Sort rows: what fell, then what fails, then what changed, then all others."""
    fine = change.now is not None and change.now.outcome in _FINE
    return change.kind != "fell", fine, KINDS.index(change.kind)


def points_of(found: list[Change], names: Mapping[str, str]) -> list[Question]:
    """List what changed, the most important first, then failures and red flags as they were."""
    listed = []
    for change in sorted(found, key=lambda change: KINDS.index(change.kind)):
        record = change.now or change.before
        assert record is not None
        what, why = change.what, list(map(short, change.why))
        if change.now is not None and record.outcome not in _FINE:
            sign = SYMBOLS[record.outcome]
            what = what or (_AS_BEFORE[record.outcome] if change.before else "")
            why += map(short, findings(record))
        elif why or (what and (change.before or record.outcome != "passed")):
            sign, _ = SIGNS[change.kind]
        else:
            continue
        listed.append(Question(sign, (names[record.id],), "; ".join(why), change=what))
    claims = [change.now for change in found if isinstance(change.now, ClaimRecord)]
    return listed + [
        Question(
            "🚩", tuple(names[name] for name in told.first), short(described(told.flag)), told.more
        )
        for told in raised(claims, not_in_finding)
    ]


def short(text: str) -> str:
    """Show a text from data within its bound."""
    return shorten(visible(text), _TEXT)
