"""Columns that several tables have: what became of a record, what it is called, what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_maxrandom.notation import count
from pytest_maxrandom.record import OUTCOMES, Record, RunRecord
from pytest_maxrandom.reports.summary import became, names
from pytest_maxrandom.reports.tables import Cell, Column, Mark, Medium, Name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

HTML_ONLY: frozenset[Medium] = frozenset(("html",))
_SELECTED = "with the selection of the best of *t* taken into account."
NOTES = {
    "needed": "*Needed*: what passes, with the other answers as they are; without the permutation "
    "p where no number of right answers alone is enough for it.",
    "beside": "*Beside the incumbent*: the best prompt minus what runs today, on the same "
    f"examples, and its interval, {_SELECTED}",
    "control": "*Beside the control*: the best prompt minus a blank or constant answer that was "
    "scored as all others, and its interval.",
    "baseline": "*Beside the baseline*: the best prompt minus the score that is stated, and its "
    "interval.",
    "new": "between which accuracies on new questions that of the best prompt lies; each end is "
    f"at 95 %, {_SELECTED}",
    "least": f"the least score of the best prompt on new questions, at 95 %, {_SELECTED}",
    "verdict": "A verdict *between baselines* is above the standard baseline only, *above maximum* "
    "above both.",
    "p": "*p*: the p-value that decides the claim; *p_max* where none does.",
    "bar": "Bar: the best prompt, from 0 to 1; solid line: maximum random baseline; dashed line: "
    "standard baseline; triangle: what is needed.",
    "bars": "The bars count replicates from the lowest to the highest best accuracy.",
    "draws": "Thin lines: the best prompt of each replicate, from 0 to 1; thick line: maximum "
    "random baseline of the first.",
}


def mark(record: Record) -> Mark:
    """Write what became of a record."""
    shown = OUTCOMES[became(record)]
    return Mark(shown.sign, shown.word, shown.brief, shown.colour)


def was(
    write: Callable[[Any], str], lead: str = "was\N{NO-BREAK SPACE}"
) -> Callable[[Any, Any], str]:
    """Make what says of a row and the same one of an earlier run how it was written there."""

    def change(now: Any, before: Any) -> str:
        return "" if write(now) == write(before) else f"{lead}{write(before)}"

    return change


def difference(now: float | None, before: float | None, write: Callable[[Any], str] = count) -> str:
    """Write how a number changed: ``+50``; empty where no digit that is shown did.

    Examples
    --------
    >>> difference(200, 50), difference(50, 1200), difference(50, 50), difference(5, None)
    ('+150', '-1,150', '', '')
    >>> difference(0.65, 0.6167, accuracy), difference(0.6, 0.6001, accuracy)
    ('+.033', '')
    """
    if now is None or before is None or write(now) == write(before):
        return ""
    return f"{'+' if now > before else '-'}{write(abs(now - before))}"


RESULT: Column[Any] = Column(
    "result", mark, brief="result", change=was(lambda record: mark(record).word, "before: ")
)
MAXIMUM: Column[Any] = Column(
    "max. random\nbaseline", "max_random_baseline", "score", brief="max\nrandom"
)


def task_column(where: Mapping[str, str]) -> Column[Any]:
    """Name a task with as much of its record's file as tells it from others."""

    def name(record: Any) -> Cell:
        file = where[record.id]
        return (Name(record.task, 40), *([Name(file, 40)] if file else []))

    return Column("task", name, header=True)


def name_column(heading: str, run: RunRecord) -> Column[Any]:
    """Name a record in a terminal, last, where a name can be as long as it is.

    The heading says already what an id ends with.
    """
    known = names(run)
    ending = f"::{heading.replace(' ', '_')}"
    return Column(
        heading,
        lambda row: Name(known[row.id].removesuffix(ending)),
        brief=heading,
        header=True,
        media=frozenset(),
    )


def claim_column(run: RunRecord) -> Column[Any]:
    """Name the claim that a record is about."""
    known = names(run)
    return Column(
        "claim",
        lambda record: Name(known.get(record.claim, known[record.id]), 80),
        header=True,
    )
