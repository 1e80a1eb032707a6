"""Two runs compared, for a person: what fell, rose, is new or gone, and why.

`changes` compares; here it is written: for a terminal, as Markdown, and for programs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pytest_maxrandom.notation import NONE, P_VALUES, accuracy, count
from pytest_maxrandom.record import OUTCOMES, ClaimRecord, Record, RunRecord
from pytest_maxrandom.reports.changes import KINDS, SIGNS, Change, Kind, changes, counted, lacking
from pytest_maxrandom.reports.layout import Line, Markup, wrapped
from pytest_maxrandom.reports.markdown import MARKDOWN
from pytest_maxrandom.reports.phrases import decisive_p
from pytest_maxrandom.reports.quantities import best_value, examples, needed_score
from pytest_maxrandom.reports.reasons import REASONS
from pytest_maxrandom.reports.summary import became, names, records
from pytest_maxrandom.reports.tables import Column, Mark, Name, tabulate
from pytest_maxrandom.reports.text import clauses, visible
from pytest_maxrandom.reports.trend import written_moment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SEEN = frozenset({"newly fails", "newly passes", "more prompts were tried", "is gone"})
"""What the kind of change says already."""
_COLUMNS = ("best", "needed", "n", "t", "p")
_MARKUP: dict[Kind, tuple[Markup, ...]] = {"fell": ("red",), "rose": ("green",)}
_LEGEND = (
    "n: examples; t: prompts tried; needed: the least that passes; p: the p-value that decides."
)


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed between two runs."""

    since: str
    base: RunRecord
    until: str
    """How a person calls the earlier run and the later one."""
    head: RunRecord
    """The earlier and the later run."""
    changes: tuple[Change, ...]
    """What is not as it was, the most important first."""

    @property
    def fell(self) -> bool:
        """Whether anything fell."""
        return any(change.kind == "fell" for change in self.changes)

    @property
    def as_before(self) -> int:
        """How many results are as they were."""
        known = sum(change.now is not None for change in self.changes)
        return len(records(self.head)) - known


def difference(
    since: str,
    base: RunRecord,
    until: str,
    head: RunRecord,
    gone: Literal["all", "of the suites", "none"] = "all",
) -> Difference:
    """Compare two runs; those results of which nothing changed are left out.

    Parameters
    ----------
    since, until : str
        How a person calls them.
    base, head : RunRecord
        The earlier and the later run.
    gone : str
        Which results that only the earlier run has are said to be gone: none where the later run
        is of selected tests, and those of its suites where it is of selected files.
    """
    suites = {record.suite for record in records(head)}
    differing = [
        change
        for change in changes(head, base)
        if change.kind != "same"
        and (
            change.now is not None
            or gone == "all"
            or (gone == "of the suites" and change.before and change.before.suite in suites)
        )
    ]
    ordered = sorted(differing, key=lambda change: KINDS.index(change.kind))
    return Difference(since, base, until, head, tuple(ordered))


def lines(compared: Difference, width: int = 80, most: int | None = None) -> Iterator[Line]:
    """Yield the lines for a terminal; rows of numbers are as wide as they are.

    Beyond `most` changes the others are counted.
    """
    yield from wrapped(
        _headline(compared), width, indent="  ", markup=("red",) if compared.fell else ()
    )
    for note in _notes(compared):
        yield from wrapped(note, width, indent="  ")
    shown = compared.changes[:most]
    if any(isinstance(change.record, ClaimRecord) for change in shown):
        yield Line(_row("", _COLUMNS, "result"))
    called = {**names(compared.base), **names(compared.head)}
    for change in shown:
        head = f"{SIGNS[change.kind][1]}: {visible(called[change.record.id])}"
        yield Line(head, _MARKUP.get(change.kind, ()))
        for when, one in (("before", change.before), ("now", change.now)):
            if isinstance(one, ClaimRecord):
                # A claim that the store alone knows was not run, so nothing became of it.
                stored = one is change.before and not compared.base.created
                word = "stored answers" if stored else OUTCOMES[became(one)].word
                yield Line(_row(when, _numbers(one), word))
        if why := _why(change):
            yield from wrapped(f"    {visible(why)}", width, indent="    ")
    if left := len(compared.changes) - len(shown):
        yield Line(f"{count(left)} more: maxrandom diff shows all")


def markdown(compared: Difference) -> str:
    """Write the difference for GitHub."""
    called = {**names(compared.base), **names(compared.head)}

    def name(change: Change) -> Name:
        return Name(called[change.record.id], 80)

    def both(place: int) -> Any:
        def written(change: Change) -> str:
            shown = [
                _numbers(one)[place]
                for one in (change.before, change.now)
                if isinstance(one, ClaimRecord)
            ]
            return " → ".join(dict.fromkeys(shown)) or NONE

        return written

    columns: list[Column[Change]] = [
        Column("change", lambda change: Mark(*SIGNS[change.kind])),
        Column("claim", name, header=True),
        *(Column(title, both(place), "right") for place, title in enumerate(_COLUMNS)),
        Column("why", lambda change: _why(change) or NONE, "prose"),
    ]
    told = "".join(MARKDOWN.paragraph(MARKDOWN.plain(note)) for note in _notes(compared))
    text = f"{MARKDOWN.bold(MARKDOWN.plain(_headline(compared)))}\n\n{told}"
    if compared.changes:
        text += MARKDOWN.table(tabulate("Changes", columns, compared.changes, legend=_LEGEND))
    return text.rstrip("\n") + "\n"


def content(compared: Difference) -> dict[str, Any]:
    """Return the difference for programs, in builtin types; numbers are unrounded."""
    return {
        "base": {"name": compared.since, "created": compared.base.created},
        "head": {"name": compared.until, "created": compared.head.created},
        "fell": compared.fell,
        "counted": counted(list(compared.changes)),
        "as_before": compared.as_before,
        "changes": [
            {
                "id": change.record.id,
                "kind": change.kind,
                "what": change.what,
                "because": change.because,
                "reasons": [{"kind": one.kind, "text": one.text} for one in change.reasons],
                "before": _values(change.before),
                "now": _values(change.now),
            }
            for change in compared.changes
        ],
    }


def _headline(found: Difference) -> str:
    told = counted(list(found.changes))
    same = found.as_before
    rest = f"; {count(same)} {'is' if same == 1 else 'are'} as before" if same else ""
    created = f" ({written_moment(found.base.created)})" if found.base.created else ""
    return f"Since {visible(found.since)}{created}: {told}{rest}"


def _notes(found: Difference) -> Iterator[str]:
    for run, named in ((found.base, found.since), (found.head, found.until)):
        if told := lacking(run):
            yield f"The run of {visible(named)} is incomplete: {told}"
    own = "pytest-maxrandom"
    now, before = found.head.versions.get(own), found.base.versions.get(own)
    if now and before and now != before:
        yield f"{own} from {visible(before)} to {visible(now)}"


def _why(change: Change) -> str:
    """Say what decides and what is different, but for what stands in columns."""
    of_claim = isinstance(change.record, ClaimRecord)
    what = "" if change.kind == "new" or change.what in _SEEN else change.what
    shown = (one for one in change.reasons if not (of_claim and REASONS[one.kind].in_columns))
    return clauses(what, change.because, *(reason.text for reason in shown))


def _numbers(claim: ClaimRecord) -> tuple[str, ...]:
    return (
        accuracy(best_value(claim)),
        accuracy(needed_score(claim)),
        count(examples(claim)),
        count(claim.t),
        decisive_p(claim),
    )


def _values(record: Record | None) -> dict[str, Any] | None:
    if not isinstance(record, ClaimRecord):
        return None if record is None else {"outcome": record.outcome}
    return {
        "outcome": record.outcome,
        "best": best_value(record),
        "needed": needed_score(record),
        "n": examples(record),
        **{name: getattr(record, name) for name in ("t", *P_VALUES) if name != "union_p"},
        "best_prompt": record.best_prompt.digest if record.best_prompt else None,
        "red_flags": [flag.kind for flag in record.red_flags],
    }


def _row(when: str, numbers: Sequence[str], result: str) -> str:
    best, needed, n, t, p = numbers
    return f"{when:>10}{best:>7}{needed:>8}{n:>9}{t:>9}{p:>9}  {result}".rstrip()
