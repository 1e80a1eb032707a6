"""What changed between two runs, record by record, and why a claim or a comparison fell.

Records are the same where their ids are, and claims also where their file was renamed.
Everything here is plain text and numbers; nothing is rendered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from pytest_maxrandom.notation import count
from pytest_maxrandom.record import FAILING, OUTCOMES, REPORTED, ClaimRecord, Record, RunRecord
from pytest_maxrandom.reports.matched import folders_above, matches
from pytest_maxrandom.reports.reasons import REASONS, Reason, main_reason, reasons
from pytest_maxrandom.reports.severities import do_less
from pytest_maxrandom.reports.summary import asserts, became, missing, records, unread
from pytest_maxrandom.reports.text import clauses, shorten, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Kind = Literal["fell", "weakened", "rose", "t grew", "gone", "new", "unknown", "other", "same"]
"""In the order in which a reviewer wants to know of them.

fell: held before and does not now, or fails the run, which it did not. weakened: asserts less than
before, counts fewer tries, or fails the run no longer without holding. rose: holds, which it did
not. unknown: the base is incomplete, and may have lacked it for that. other: a number or a state
that is shown is another one.
"""

KINDS: tuple[Kind, ...] = get_args(Kind)
SIGNS: dict[Kind, tuple[str, str]] = {
    "fell": ("🔻", "fell"),
    "weakened": ("🔓", "weakened"),
    "rose": ("✅", "rose"),
    "t grew": ("📈", "more tries"),
    "gone": ("🗑️", "gone"),
    "new": ("🆕", "new"),
    "unknown": ("❔", "no base"),
    "other": ("🔸", "changed"),
}
"""A sign and a word for each kind of change."""
_COUNTED: dict[Kind, tuple[str, str]] = {
    "fell": ("1 {} fell", "{} {} fell"),
    "weakened": ("1 was weakened", "{} were weakened"),
    "rose": ("1 newly passes", "{} newly pass"),
    "gone": ("1 is gone", "{} are gone"),
    "new": ("1 is new", "{} are new"),
    "unknown": ("1 has no result in the base", "{} have no result in the base"),
    "other": ("1 changed otherwise", "{} changed otherwise"),
}
_LONGEST_PATH = 80
_WEAKER_IF_LESS = frozenset({"in_replicates", "not_worse_than", "better", "by", "beats"})
"""Bounds from below: the smaller, the less is claimed. All others are bounds from above."""


@dataclass(frozen=True, slots=True)
class Change:
    """One record in two runs, of which at least one has it."""

    now: Record | None
    before: Record | None
    kind: Kind
    what: str = ""
    """Such as ``newly fails``; empty where nothing is worth a sentence."""
    reasons: tuple[Reason, ...] = ()
    """What is different."""
    because: str = ""
    """Which number decides between passing and failing; empty where none is known to."""

    @property
    def record(self) -> Record:
        """The later record; the earlier one where there is no other."""
        record = self.now or self.before
        assert record is not None
        return record

    @property
    def why(self) -> tuple[str, ...]:
        """What is different, one clause each: ``t from 50 to 200``."""
        return tuple(reason.text for reason in self.reasons)

    @property
    def t_grew(self) -> bool:
        """Whether more prompts were tried than before."""
        return _is_less(_tries(self.before), _tries(self.now))


def changes(run: RunRecord, base: RunRecord) -> list[Change]:
    """Compare a run with an earlier one.

    It returns a change for each record of `run`, in its order, then for each that only `base` has.
    """
    above, below = folders_above(run, base)
    before = {_key(record, below): record for record in reversed(records(base))}
    now = {_key(record, above) for record in records(run)}
    moved: dict[tuple[type[Record], str], ClaimRecord] = {
        (ClaimRecord, one.now.id): one.before
        for one in matches(base, run)
        if one.is_moved and one.now is not None
    }
    now |= {_key(each, below) for each in moved.values()}
    compared = [
        _compared(record, earlier)
        if (earlier := before.get(_key(record, above)))
        else _compared(record, earlier, moved=True)
        if (earlier := moved.get((type(record), record.id)))
        else _without_base(record, is_partial(base))
        for record in records(run)
    ]
    gone = [
        Change(
            None,
            record,
            "gone",
            "has no result in this run" if is_partial(run) else "is gone",
            (Reason("number", f"before: {OUTCOMES[became(record)].word}"),),
        )
        for record in records(base)
        if _key(record, below) not in now
    ]
    return compared + gone


def is_partial(run: RunRecord) -> bool:
    """Tell whether a run may lack results that it was to have."""
    return bool(run.interrupted or run.not_run or run.broken)


def lacking(run: RunRecord) -> str:
    """Say what a run lacks that it was to have; empty where it is whole."""
    known = clauses(run.not_run and missing(run), unread(run))
    return known or "it was interrupted" if is_partial(run) else ""


def counted(found: list[Change]) -> str:
    """Count changes in one phrase: ``1 claim fell, 2 newly pass, t grew for 3``."""
    parts = []
    for kind, (one, more) in _COUNTED.items():
        if kind == "gone" and (grown := sum(change.t_grew for change in found)):
            parts.append(f"t grew for {count(grown)}")
        of_kind = [change for change in found if change.kind == kind]
        if len(of_kind) == 1:
            parts.append(one.format(_noun(of_kind)))
        elif of_kind:
            parts.append(more.format(count(len(of_kind)), f"{_noun(of_kind)}s"))
    return ", ".join(parts) or "nothing changed"


def _key(record: Record, above: str) -> tuple[type[Record], str]:
    return type(record), record.id.removeprefix(above)


def _noun(found: Iterable[Change]) -> str:
    """Name what changed, where it is of one kind."""
    claims = {isinstance(change.record, ClaimRecord) for change in found}
    return "claim" if claims == {True} else "result"


def _without_base(now: Record, partial: bool) -> Change:
    ended = "" if now.outcome == "passed" else OUTCOMES[now.outcome].one
    if partial:
        lacks = "has no result in the base"
        return Change(now, None, "unknown", f"{ended}; {lacks}" if ended else lacks)
    return Change(now, None, "new", f"is new and {ended}" if ended else "is new")


def _compared(now: Record, before: Record, *, moved: bool = False) -> Change:
    why = reasons(now, before)
    if moved:
        earlier, later = (shorten(visible(each.suite), _LONGEST_PATH) for each in (before, now))
        why = (Reason("settings", f"its file from {earlier} to {later}"), *why)
    because, turned = main_reason(now, before), ""
    if became(now) != became(before):
        turned = f"{OUTCOMES[became(now)].one}, before: {OUTCOMES[became(before)].word}"
    if before.outcome == "passed" != now.outcome:
        return Change(now, before, "fell", OUTCOMES[now.outcome].fell, why, because)
    if before.outcome not in FAILING and now.outcome in FAILING:
        return Change(now, before, "fell", turned, why, because)
    if weakened := _weakened(now, before):
        return Change(now, before, "weakened", weakened, why, because)
    if now.outcome == "passed" != before.outcome:
        what = "is reported now" if became(now) == REPORTED else "newly passes"
        return Change(now, before, "rose", what, why, because)
    change = Change(now, before, "t grew", turned or "more prompts were tried", why)
    if change.t_grew:
        return change
    if not all(REASONS[reason.kind].quiet for reason in why) or became(now) != became(before):
        return Change(now, before, "other", turned, why)
    return Change(now, before, "same")


def _weakened(now: Record, before: Record) -> str:
    """Say how a claim asserts less than it did, or a failure counts no longer; empty if neither.

    Fewer tries are a lower bound for the best of them: what was tried once was tried.
    """
    holds = now.outcome == "passed"
    if now.outcome == "xfailed" and before.outcome not in ("xfailed", "xpassed", "passed"):
        return "is expected to fail now"  # what held unexpectedly was expected to fail before
    if now.outcome == "skipped" and before.outcome in FAILING:
        return OUTCOMES["skipped"].fell
    fewer = _is_less(_tries(now), _tries(before))
    if not (fewer or _asserts_less(now, before)):
        return ""
    if holds and not asserts(now):
        return "is only reported now"
    if fewer:
        return f"counts fewer tries, and {OUTCOMES[now.outcome].one}"
    if holds:
        return "asserts less" if before.outcome == "passed" else "passes, but asserts less"
    return f"asserts less, and {OUTCOMES[now.outcome].one}"


def _asserts_less(now: Record, before: Record) -> bool:
    """Tell whether a part of a claim is gone or bounds less, or a red flag does less."""
    asserted: dict[str, object] = getattr(now, "asserted", {})
    earlier: dict[str, object] = getattr(before, "asserted", {})
    clusters, grouped = (getattr(each, "clusters", None) for each in (now, before))
    return (
        (clusters is None and grouped is not None)  # what stood together counts by itself
        or do_less(now, before)
        or bounds_less(asserted, earlier)
    )


def bounds_less(now: Mapping[str, object], before: Mapping[str, object]) -> bool:
    """Tell whether a part of what was asserted is gone, or bounds less."""
    return any(
        key not in now or _bounds_less(key, now[key], value) for key, value in before.items()
    )


def _bounds_less(key: str, now: object, before: object) -> bool:
    if isinstance(now, float) and isinstance(before, float):
        return now < before if key in _WEAKER_IF_LESS else now > before
    # Which of a stated baseline and one of guessers asks more, nobody knows before the results.
    return (before, now) == ("max_random", "standard") or type(before) is not type(now)


def _tries(record: Record | None) -> int | None:
    """Return t of a claim; until it is tested, no tries are counted."""
    if not isinstance(record, ClaimRecord) or (
        record.best_accuracy is None and record.decided is None
    ):
        return None
    return record.t


def _is_less(one: int | None, other: int | None) -> bool:
    return one is not None and other is not None and one < other
