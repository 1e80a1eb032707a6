"""What stands on top: the verdict of a run, a line for each record that needs a look, its reason.

A line names a record as a person does, says what was reached and what was needed, the numbers
that decide, and the main reason. All else is folded below, or stands in the JSON report.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from pytest_maxrandom.notation import count, level
from pytest_maxrandom.record import (
    FAILING,
    OUTCOMES,
    RESERVED,
    SETTLED,
    STANDINGS,
    TESTED,
    WEAKER,
    ClaimRecord,
    ContaminationRecord,
    LabelBiasRecord,
    Record,
    ReplicatesRecord,
    Reservation,
    RunRecord,
    Weaker,
)
from pytest_maxrandom.reports import incumbent, phrases, summary
from pytest_maxrandom.reports.label_bias import bias_found
from pytest_maxrandom.reports.quantities import levels_of, p_is
from pytest_maxrandom.reports.red_flags import (
    MOST_NAMES,
    Raised,
    brief,
    does,
    gravity,
    page_of,
    raised,
)
from pytest_maxrandom.reports.tables import Cell, Name
from pytest_maxrandom.reports.text import clauses, listed, number_of, shorten, visible
from pytest_maxrandom.reports.wording import failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from pytest_maxrandom.record.designs import Indication

    _Record = TypeVar("_Record", bound=Record)

_FLAG, _CHANGED = "🚩", "⚠️"
_LONGEST_NAME, _LONGEST_CAUSE = 60, 300
_NUMBERS = re.compile(r"(best [^()]*) \(([^()]*)\).*", re.DOTALL)
"""How the sentence of a claim that fails begins: reached and needed, then the numbers behind it."""
_PLURAL = {"is": "are", "was": "were", "has": "have"}
_VERB = re.compile(rf"\b({'|'.join(_PLURAL)})\b")
_WORTH_SAYING = 0.5
"""Of the claims that luck lets pass; fewer than half of one is no news."""
_FINDINGS: dict[Indication, str] = {
    "tuned on the text": "tuned on the text",
    "no sign of it": "without a sign of it",
    "cannot tell": "that cannot tell",
}
_OF_CLAIM: dict[type, str] = {LabelBiasRecord: ", label bias", ReplicatesRecord: ", replicates"}


@dataclass(frozen=True, slots=True)
class Question:
    """One thing to look at."""

    symbol: str
    names: tuple[Cell, ...]
    """The first ones that it is said of."""
    found: str = ""
    """What was reached and needed: ``.550, needs .683``."""
    numbers: str = ""
    """``p_max = .950; t = 10, n = 60``."""
    what: str = ""
    """The main reason, in a clause."""
    more: int = 0
    """How many others it is said of as well."""
    change: str = ""
    """What became of it since an earlier run."""
    address: str = ""
    """Of a page about what was found."""


def verdict(run: RunRecord) -> str:
    """Say what became of a run in one line, what keeps it from passing first."""
    tested = run.not_run or summary.records(run)
    cut = ("interrupted" if run.interrupted else "ended early") if summary.missing(run) else ""
    told = summary.tally(run) if tested else "no claim was tested"
    return clauses(summary.unread(run), cut, summary.reserved(run), told, summary.leaking(run))


def reservations(run: RunRecord) -> list[Question]:
    """Name what a gate holds against a run, the gravest first; the same of several once."""
    questions: dict[Question, list[Cell]] = {}
    order = [*RESERVED]
    for each in sorted(run.reservations, key=lambda one: order.index(one.kind)):
        why = clauses(*map(_weaker_in(each), each.weaker), sep=", ")
        if each.tries is not None:
            why = "no prompt, but another line, such as a look"
            if each.tries:
                why = number_of(each.tries, "prompt")
        named: Cell = (Name(_short(each.id.partition("::")[2] or each.id, 2 * _LONGEST_NAME)),)
        shown = RESERVED[each.kind]
        questions.setdefault(Question(shown.sign, (), what=why, change=shown.one), []).append(named)
    return [of(question, about) for question, about in questions.items()]


def _weaker_in(reservation: Reservation) -> Callable[[Weaker], str]:
    """Say in what a claim asks less, with what is and was asserted."""

    def weakness(what: Weaker) -> str:
        if what != "asserts":
            return WEAKER[what]
        now, before = map(_asserted, (reservation.now, reservation.before))
        return f"asserts {now}, before: {before}"

    return weakness


def _asserted(parts: Mapping[str, object]) -> str:
    shown = {
        key: level(value) if isinstance(value, float) else value for key, value in parts.items()
    }
    return listed([f"{key}: {value}" for key, value in shown.items()]) if shown else "nothing"


def standing(run: RunRecord) -> str:
    """Count where results stand that claim nothing, and what contamination checks found, if any."""
    reported = (claim for claim in run.claims if claim.verdict and not summary.asserts(claim))
    found = Counter(claim.verdict for claim in reported)
    checks = Counter(check.finding for check in run.contamination if check.finding)
    best = [f"{count(found[key])} {shown.clause}" for key, shown in STANDINGS.items() if found[key]]
    tuned = [f"{count(checks[key])} {said}" for key, said in _FINDINGS.items() if checks[key]]
    told = (("Best accuracies", best), ("Contamination checks", tuned))
    return " ".join(f"{name}: {listed(parts)}." for name, parts in told if parts)


def by_luck(run: RunRecord) -> str:
    """Say how many claims would pass if all answers were guesses, where that is no small number.

    Each passes with at most the probability that its least level says, whatever else it asserts;
    one that only beats a baseline has no level, and then nothing is said of the run.
    """
    tested = [claim for claim in run.claims if claim.outcome in TESTED and summary.asserts(claim)]
    levels = [min(levels_of(claim).values(), default=None) for claim in tested]
    known = [level for level in levels if level is not None]
    if len(known) < len(levels) or sum(known) < _WORTH_SAYING:
        return ""
    if not any(claim.passed for claim in tested):
        return ""
    return (
        f"If all answers were guesses, up to {sum(known):.1f} of these {count(len(tested))} claims "
        "would pass on average."
    )


def brief_names(run: RunRecord) -> dict[str, Cell]:
    """Name each record as briefly as tells it from all others: its task, its shots.

    The model stands there only where there are several, as does the file of the suite.
    """
    where, arms, full = summary.files(run), summary.variants(run), summary.names(run)
    several = len({summary.model_name(each) for each in run.claims if each.model}) > 1
    cells: dict[str, Cell] = {}
    for claim in run.claims:
        told = [summary.model_name(claim)] if several and claim.model else []
        told += filter(None, [arms[claim.id], where[claim.id]])
        of_shots = (f" {claim.shots}-shot",) if summary.shots(claim) else ()
        others = [
            Name(_short(each), before=", " if place else " (") for place, each in enumerate(told)
        ]
        end = (")",) if others else ()
        cells[claim.id] = (Name(_short(claim.task)), *of_shots, *others, *end)
    for record in summary.designs(run):
        about = cells.get(getattr(record, "claim", ""))
        what = _OF_CLAIM.get(type(record), "")
        named: Cell = (Name(_short(full[record.id], 2 * _LONGEST_NAME)),)
        cells[record.id] = (*about, what) if about else named
    return cells


def headline(record: Record) -> Question:
    """Say what became of a record, and why, in a line without its name."""
    if record.outcome == "xpassed":
        return _line(record, OUTCOMES["xpassed"].one, what=_within(phrases.finding(record)))
    if record.outcome not in TESTED or not isinstance(record, ClaimRecord):
        return _other_headline(record)
    if record.outcome == "cannot tell":
        said = (failure(record) or "").removeprefix(f"{OUTCOMES[record.outcome].one}: ")
        return _line(record, OUTCOMES[record.outcome].one, what=_within(said))
    if record.decided is None and (record.best_accuracy is None or not record.n):
        return _other_headline(record)
    if record.passed is False:
        said = failure(record) or ""
        if not (numbers := _NUMBERS.fullmatch(said)):
            return _line(record, "fails", what=_within(said))
        return _line(record, numbers[1], numbers[2], cause(record))
    if (test := record.decided_on_test) is not None:
        result = f"{count(test.correct)} of {count(test.n)} on the test set, which decides"
        return _line(record, result, phrases.decided_by(record))
    needed = phrases.needed_value(record)
    result = f"best {phrases.best_shown(record)}{f', needs {needed}' if needed else ''}"
    if incumbent.alone(record) and record.incumbent is not None:
        reached, p = incumbent.reached(record, "incumbent")
        best = f"best {phrases.best_shown(record)}"
        return _line(record, f"{best} {reached}", clauses(p, _context(record)))
    key = phrases.decisive(record)
    p = "" if getattr(record, key) is None else p_is(record, key)
    return _line(record, result, clauses(p, _context(record)))


def _context(claim: ClaimRecord) -> str:
    return f"t = {count(claim.t)}, n = {count(claim.n)}"


def cause(claim: ClaimRecord) -> str:
    """Say what lies behind the numbers: why they were expected, or the gravest red flag."""
    flags = sorted(claim.red_flags, key=gravity)
    if claim.outcome == "xfailed" or not flags:
        return _within(claim.xfail or "")
    fails = claim.holds and flags[0].severity == "fail"
    return _within(f"a red flag fails it: {brief(flags[0])}" if fails else brief(flags[0]))


def failing_first(found: Iterable[_Record]) -> list[_Record]:
    """Sort records: those that fail the run first, as they are in the run otherwise."""
    return sorted(found, key=lambda record: record.outcome not in FAILING)


def open_questions(run: RunRecord) -> list[Question]:
    """List what did not end as it should; of a single claim, what became of it in any case.

    Those that could not be tested, or were skipped, for the same reason are one question.
    """
    known = brief_names(run)
    told = failing_first(summary.records(run))
    alone = len(told) == 1 and told[0].outcome in TESTED
    found: dict[tuple[Question, str], list[Cell]] = {}
    for record in told:
        if record.outcome not in SETTLED or alone:
            # What fails has a line each, whatever its reason.
            own = record.id if record.outcome in TESTED and record.outcome in FAILING else ""
            found.setdefault((headline(record), own), []).append(known[record.id])
    return [of(question, about) for (question, _), about in found.items()]


def flagged(run: RunRecord) -> list[Question]:
    """Name the red flags of claims that pass, or are reported, in a few words each.

    There they matter most: of a claim that fails they are a reason, and stand behind it.
    """
    known = brief_names(run)
    found: dict[tuple[str, bool], list[Cell]] = {}
    for claim in run.claims:
        if claim.outcome == "passed":
            for said in dict.fromkeys(brief(flag) for flag in sorted(claim.red_flags, key=gravity)):
                found.setdefault((said, summary.asserts(claim)), []).append(known[claim.id])
    return begun_anew(run) + [
        of(Question(_FLAG, (), what=f"{pass_}, but {what}" if claimed else what), about)
        for (what, claimed), about in found.items()
        for pass_ in ["passes" if len(about) == 1 else "pass"]
    ]


def begun_anew(run: RunRecord) -> list[Question]:
    """Name the claims whose questions have changed, so that earlier prompts do not count."""
    known = brief_names(run)
    return [
        Question(_CHANGED, (known[claim.id],), what=warning.text)
        for claim in run.claims
        for warning in claim.warnings
        if warning.kind == "begun_anew"
    ]


def all_flags(run: RunRecord) -> list[Raised]:
    """List all red flags in full, the same of many claims once: first of claims that pass."""
    return raised(sorted(run.claims, key=lambda claim: claim.outcome != "passed"))


def in_full(told: Raised, known: dict[str, Cell]) -> Question:
    """Say a red flag in full, with what to look at."""
    return Question(
        _FLAG,
        tuple(known[name] for name in told.first),
        f"{told.flag.kind} ({does(told.flag)})",
        what=told.flag.text,
        more=told.more,
        address=page_of(told.flag.kind),
    )


def of(question: Question, about: Sequence[Cell]) -> Question:
    """Say of whom it is: the first ones by their names, and how many others."""
    named = replace(question, names=tuple(about[:MOST_NAMES]))
    if len(about) == 1:
        return named
    found, change = (
        _VERB.sub(lambda verb: _PLURAL[verb[0]], said, count=1)
        for said in (question.found, question.change)
    )
    return replace(named, found=found, change=change, more=max(0, len(about) - MOST_NAMES))


def _line(record: Record, found: str, numbers: str = "", what: str = "") -> Question:
    return Question(OUTCOMES[summary.became(record)].sign, (), found, numbers, what)


def _other_headline(record: Record) -> Question:
    """Say what a record tells that has no best prompt with an accuracy of its own."""
    judged = record.outcome in ("failed", "cannot tell")
    result = getattr(record, "finding", None) if judged else None
    cause = phrases.finding(record)
    if result and isinstance(record, LabelBiasRecord):
        cause = bias_found(record).removesuffix(f": {result}")
    if result and isinstance(record, ContaminationRecord):
        result, _, cause = cause.partition(": ")
    elif result:
        cause = cause.removeprefix(result).removeprefix(": ")
    said = result if result and result.strip() else OUTCOMES[summary.became(record)].one
    return _line(record, said, what=_within(cause))


def _within(text: str) -> str:
    return shorten(text, _LONGEST_CAUSE)


def _short(text: str, limit: int = _LONGEST_NAME) -> str:
    return shorten(visible(text), limit)
