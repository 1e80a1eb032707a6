"""The comment on a pull request: the verdict and its reasons, what changed, a row for each record.

What a reader knows already is folded. A comment is as long as a forge allows and no longer: whole
rows are left out, the least important first.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from markupsafe import Markup

from pytest_maxrandom.errors import ReportError
from pytest_maxrandom.record import LISTS, ClaimRecord, Outcome, Reservation, Reserved, RunRecord
from pytest_maxrandom.reports import headlines, summary
from pytest_maxrandom.reports.changes import Change, changes, counted, is_partial, lacking
from pytest_maxrandom.reports.details import designs_table
from pytest_maxrandom.reports.headlines import Question
from pytest_maxrandom.reports.markdown import MARKDOWN
from pytest_maxrandom.reports.origins import held_out, looks
from pytest_maxrandom.reports.phrases import new_questions
from pytest_maxrandom.reports.points import PLACES, flag_points, points_of, short, weight
from pytest_maxrandom.reports.rendering import checked
from pytest_maxrandom.reports.searches import of_searches
from pytest_maxrandom.reports.sections import claims_table
from pytest_maxrandom.reports.text import clauses, rewritten, shorten, visible
from pytest_maxrandom.reports.trend import written_moment
from pytest_maxrandom.reports.unfolded import within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pytest_maxrandom.reports.tables import Table

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
    key: str = "",
    report: str | None = None,
    page: str | None = None,
    branch: str | None = None,
    commit: str | None = None,
    untrusted: bool = False,
    limit: int = LIMIT,
    words: int = 150,
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
    key : str
        Which of several comments of a repository it is.
    report, page : str, optional
        Addresses of the run, and of its report as a page to look into.
    branch : str, optional
        Name of the branch that the base is of.
    commit : str, optional
        What was tested.
    untrusted : bool
        Whether the run comes from a pull request's own code; that is said.
    limit : int
        Bytes in UTF-8 that the comment may have.
    words : int
        Words that are seen before anything is unfolded, by our own templates.
    templates : Path, optional
        A folder with the user's own templates.

    Returns
    -------
    str
        Markdown. The same records make the same text.

    Raises
    ------
    ReportError
        If a template is wrong, or an address is none of the web.
    """
    compared = None if isinstance(base, str) or run is None else base
    reported, run = run is not None, run or RunRecord([], "", {})
    names = _brief({**({} if compared is None else summary.names(compared)), **summary.names(run)})
    where, arms = _brief(summary.files(run)), _brief(summary.variants(run))
    shown = rewritten(run, short, _NOT_SHOWN)
    if compared is None:
        compared_claims = [Change(record, None, "same") for record in summary.records(shown)]
    else:
        compared_claims = changes(shown, compared)
    held = shown
    shown = replace(shown, reservations=[*shown.reservations, *_of_changes(compared_claims, shown)])
    points = points_of(compared_claims, headlines.brief_names(_all_of(shown, compared)))
    points += flag_points(shown, compared)
    rows = [change for change in sorted(compared_claims, key=weight) if change.now is not None]
    claims = claims_table(
        shown,
        [change.now for change in rows if isinstance(change.now, ClaimRecord)],
        [change.before for change in rows if isinstance(change.now, ClaimRecord)],
        (where, arms),
    )
    others = [change for change in rows if not isinstance(change.now, ClaimRecord)]
    designs = designs_table(
        [change.now for change in others], [change.before for change in others], names
    )
    facts: dict[str, Any] = {
        "run": shown,
        "held": held,
        "claims": shown.claims,
        "names": names,
        "files": where,
        "variants": arms,
        "outcome": visible(shorten(outcome, _LONGEST_OUTCOME)),
        "reported": reported,
        "since": "" if compared is None else counted(compared_claims),
        "base_created": "" if compared is None else short(written_moment(compared.created)),
        "base_lacks": "" if compared is None else lacking(compared),
        "no_base": short(base) if reported and isinstance(base, str) else "",
        "branch": short(branch or ""),
        "key": key,
        "differs": any(change.now and change.before and change.why for change in compared_claims),
        "compared": compared is not None,
        "beside": _beside(shown) if len(shown.claims) <= _FEW else [],
        "link": _link(page, report),
        "commit": visible(commit)[:10] if commit else "",
        "untrusted": untrusted,
    }

    def tables(kept: list[Change]) -> list[Table]:
        number = sum(isinstance(change.now, ClaimRecord) for change in kept)
        cut = claims.first(number), designs.first(len(kept) - number)
        return [table for table in cut if table.cells]

    def written(most_points: int, most_rows: int) -> str:
        kept = points[:most_points]
        text = template.render(
            **{where: [each for place, each in kept if place == where] for where in PLACES},
            more_points=max(0, len(points) - most_points),
            tables=tables(rows[:most_rows]),
            more_rows=max(0, len(rows) - most_rows),
            **facts,
        )
        text = text.strip("\n") + "\n"
        return within(text, words) if templates is None else text

    with checked(MARKDOWN, "comment.md.j2", templates) as template:
        failing = sum(place == "failing" for place, _ in points)
        return _cut(written, failing, len(points), len(rows), limit)


def _cut(
    written: Callable[[int, int], str], failing: int, points: int, rows: int, limit: int
) -> str:
    """Leave out as few rows, and points, as fit.

    Points may take half of the room; the first of them, which tell what fails, more if that is
    enough for all of these.
    """

    def size(most_points: int, most_rows: int) -> int:
        return len(written(most_points, most_rows).encode())

    def most(total: int, room: int, measured: Callable[[int], int]) -> int:
        return bisect_right(range(1, min(total, limit) + 1), room, key=measured)

    if points + rows <= limit // 100 and size(points, rows) <= limit:
        return written(points, rows)
    kept = most(points, limit // 2, lambda number: size(number, 0))
    if kept < failing and size(failing, 0) <= limit:
        kept = failing
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


def _link(page: str | None, run: str | None) -> Markup:
    """Link to the full report; without its address, to the run that keeps it, if that is known."""
    if page is None and run is None:
        return Markup("The full report is a file of this run.")
    links = [_linked("Full report", page or run or "")]
    if page and run:
        links.append(_linked("run", run))
    return Markup(" · ").join(links)


def _linked(text: str, report: str) -> Markup:
    try:
        parts = urlsplit(report)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ReportError(
            f"the address of the report is {short(report)!r}, expected one that begins with "
            "https://"
        )
    return Markup(f"[{text}](<{quote(report, safe=_URL_CHARACTERS)}>)")


_EXCUSED: dict[Outcome | None, Reserved] = {"xfailed": "xfailed", "skipped": "skipped"}


def _of_changes(found: list[Change], run: RunRecord) -> Iterator[Reservation]:
    """Yield what the reports themselves hold against a run, where its gate holds nothing such.

    A report may come from a gate that knew no base, or from anybody.
    """
    known = {each.kind for each in run.reservations}
    for change in found:
        kind: Reserved | None = None
        if change.kind in ("weakened", "fell") and change.now is not None:
            weaker: Reserved | None = "weakened" if change.kind == "weakened" else None
            kind = _EXCUSED.get(change.now.outcome, weaker)
        elif change.kind == "gone" and not is_partial(run):
            kind = "gone"
        if kind is not None and kind not in known:
            yield Reservation(kind, change.record.id)


_URL_CHARACTERS = "%/:=&?~#+!$,;@()*"
"""Those of a URL that mean nothing in Markdown between angle brackets."""

_NOT_SHOWN = frozenset(("id", "claim", "suite", "revision", "model_digest", "task_digest"))
"""Texts that a comment compares, and does not show."""
_FEW = 20
"""Claims of which a comment says more, folded; the full report does of all."""


def _beside(run: RunRecord) -> list[Question]:
    """Say of each claim what it is worth on new questions and on the test set, and its looks."""
    named = headlines.brief_names(run)
    told = {
        claim.id: clauses(new_questions(claim), held_out(claim), looks(claim), of_searches(claim))
        for claim in run.claims
    }
    return [Question("", (named[name],), what=said) for name, said in told.items() if said]


def _all_of(run: RunRecord, base: RunRecord | None) -> RunRecord:
    """Put what only the base has behind a run, so that all can be named."""
    if base is None:
        return run
    here = {record.id for record in summary.records(run)}
    both: dict[str, Any] = {
        name: [*getattr(run, name), *(one for one in getattr(base, name) if one.id not in here)]
        for name in LISTS
    }
    return replace(run, **both)
