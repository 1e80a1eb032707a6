"""What changed between two runs, record by record, and why a claim or a comparison fell.

Records are the same where their ids are: suite, task, model, quantization and shots; or the arms.
Everything here is plain text and numbers; nothing is rendered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pytest_maxrandom.notation import accuracy, count
from pytest_maxrandom.record import ClaimRecord
from pytest_maxrandom.record.red_flags import DEFAULTS
from pytest_maxrandom.reports.design_changes import WEAKER_IF_LESS, design_differences, numbers
from pytest_maxrandom.reports.phrases import (
    best_value,
    claimed,
    decisive,
    metric_name,
    p_name,
    shown_p,
)
from pytest_maxrandom.reports.red_flags import DOES
from pytest_maxrandom.reports.summary import REPORTED, WORDS, asserts, became, records

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from pytest_maxrandom.record import Outcome, RedFlagKind, RunRecord, Severity
    from pytest_maxrandom.reports.summary import Record

Kind = Literal["fell", "weakened", "rose", "t grew", "gone", "new", "unknown", "other", "same"]
"""In the order in which a reviewer wants to know of them.

fell: held before and does not now, or fails the run, which it did not. weakened: asserts less than
before, counts fewer tries, or fails the run no longer without holding. rose: holds, which it did
not. unknown: the base is incomplete, and may have lacked it for that. other: a number or a state
that is shown is another one.
"""

_HOLDS: frozenset[Outcome | None] = frozenset({"passed"})
_FAILS: frozenset[Outcome | None] = frozenset({"failed", "xpassed", "error", None})
"""Outcomes that fail the run."""
_FALLEN: dict[Outcome | None, str] = {
    "failed": "newly fails",
    "xpassed": "newly holds unexpectedly",
    "xfailed": "no longer holds, and is expected to fail now",
    "error": "can no longer be tested",
    "skipped": "is skipped now",
    None: "has no result any more",
}
_ENDED: dict[Outcome | None, str] = {
    "failed": "fails",
    "xpassed": "holds unexpectedly",
    "xfailed": "fails as expected",
    "error": "could not be tested",
    "skipped": "is skipped",
    None: "has no result",
}
_COUNTED: dict[Kind, tuple[str, str]] = {
    "fell": ("1 {} fell", "{} {} fell"),
    "weakened": ("1 was weakened", "{} were weakened"),
    "rose": ("1 newly passes", "{} newly pass"),
    "gone": ("1 is gone", "{} are gone"),
    "new": ("1 is new", "{} are new"),
    "unknown": ("1 has no result in the base", "{} have no result in the base"),
    "other": ("1 changed otherwise", "{} changed otherwise"),
}


@dataclass(frozen=True, slots=True)
class Change:
    """One record in two runs, of which at least one has it."""

    now: Record | None
    before: Record | None
    kind: Kind
    what: str = ""
    """Such as ``newly fails``; empty where nothing is worth a sentence."""
    why: tuple[str, ...] = ()
    """What is different, one clause each: ``t grew from 50 to 200``."""

    @property
    def t_grew(self) -> bool:
        """Whether more prompts were tried than before."""
        return (
            isinstance(self.now, ClaimRecord)
            and isinstance(self.before, ClaimRecord)
            and _grew(self.now, self.before)
        )


def changes(run: RunRecord, base: RunRecord) -> list[Change]:
    """Compare a run with an earlier one.

    Returns
    -------
    list of Change
        One for each record of `run`, in its order, then one for each that only `base` has.
    """
    before = {_key(record): record for record in reversed(records(base))}
    now = set(map(_key, records(run)))
    compared = [
        _compared(record, earlier)
        if (earlier := before.get(_key(record)))
        else _without_base(record, is_partial(base))
        for record in records(run)
    ]
    gone = [
        Change(
            None,
            record,
            "gone",
            "has no result in this run" if is_partial(run) else "is gone",
            (f"before: {WORDS[became(record)]}",),
        )
        for record in records(base)
        if _key(record) not in now
    ]
    return compared + gone


def is_partial(run: RunRecord) -> bool:
    """Tell whether a run may lack results that it was to have."""
    return bool(run.interrupted or run.not_run or run.broken)


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


def differences(now: Record, before: Record) -> tuple[str, ...]:
    """Say in what the numbers and the conditions of a record are not what they were."""
    if isinstance(now, ClaimRecord) and isinstance(before, ClaimRecord):
        return _claim_differences(now, before)
    assert not isinstance(now, ClaimRecord)
    assert not isinstance(before, ClaimRecord)
    return design_differences(now, before)


def _claim_differences(now: ClaimRecord, before: ClaimRecord) -> tuple[str, ...]:
    said, earlier = claimed(now), claimed(before)
    same_metric = now.metric == before.metric
    same_rule = now.asserted == before.asserted and now.n == before.n
    needed = difference(now.critical_count, before.critical_count)
    digests = {now.task_digest, before.task_digest}
    found = [
        said != earlier
        and (
            f"claims that {said or 'nothing'}, before: {earlier or 'nothing'}"
            if now.asserted
            else f"claims nothing any more, before: {earlier}"
        ),
        now.clusters is None
        and before.clusters is not None
        and f"no clusters are stated, before: {count(before.clusters)}",
        not same_metric and f"the metric is {metric_name(now)}, before: {metric_name(before)}",
        len(digests - {None}) > 1 and "the validation examples are not the same",
        before.revision not in (None, now.revision) and "the model's revision is another one",
        _moved("n grew", "n fell", now.n, before.n),
        _moved("t grew", "t fell", now.t, before.t),
        same_metric and _best_moved(now, before),
        same_rule
        and needed
        and f"{count(now.critical_count)} are needed, before: {count(before.critical_count)}",
        _p_moved(now, before),
        *flag_differences(now, before),
    ]
    return tuple(clause for clause in found if clause)


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


def _key(record: Record) -> tuple[type[Record], str]:
    return type(record), record.id


def _noun(found: Iterable[Change]) -> str:
    """Name what changed, where it is of one kind."""
    claims = {isinstance(change.now or change.before, ClaimRecord) for change in found}
    return "claim" if claims == {True} else "result"


def _without_base(now: Record, partial: bool) -> Change:
    ended = _ENDED.get(now.outcome)
    if partial:
        lacks = "has no result in the base"
        return Change(now, None, "unknown", f"{ended}; {lacks}" if ended else lacks)
    return Change(now, None, "new", f"is new and {ended}" if ended else "is new")


def _compared(now: Record, before: Record) -> Change:
    why = differences(now, before)
    turned = ""
    if now.outcome != before.outcome:
        turned = f"{_ENDED.get(now.outcome, 'passes')}, before: {WORDS[became(before)]}"
    if before.outcome in _HOLDS and now.outcome not in _HOLDS:
        return Change(now, before, "fell", _FALLEN[now.outcome], why)
    if before.outcome not in _FAILS and now.outcome in _FAILS:
        return Change(now, before, "fell", turned, why)
    if _is_weaker(now, before):
        return Change(now, before, "weakened", _weakened(now, before), why)
    if now.outcome in _HOLDS and before.outcome not in _HOLDS:
        what = "is reported now" if became(now) == REPORTED else "newly passes"
        return Change(now, before, "rose", what, why)
    change = Change(now, before, "t grew", turned or "more prompts were tried", why)
    if change.t_grew:
        return change
    if why or _shown(now) != _shown(before):
        return Change(now, before, "other", turned, why)
    return Change(now, before, "same")


def _is_weaker(now: Record, before: Record) -> bool:
    """Say whether a part of the claim is gone or bounds less, or a failure counts no longer.

    Fewer tries are a lower bound for the best of them: what was tried once was tried.
    """
    asserted: dict[str, object] = getattr(now, "asserted", {})
    earlier: dict[str, object] = getattr(before, "asserted", {})
    ungrouped = getattr(now, "clusters", 1) is None  # what stood together is counted by itself
    return (
        _is_excused(now, before)
        or _t_fell(now, before)
        or (
            isinstance(now, ClaimRecord)
            and isinstance(before, ClaimRecord)
            and excuses_flags(now, before)
        )
        or (ungrouped and getattr(before, "clusters", None) is not None)
        or any(
            key not in asserted or _bounds_less(key, asserted[key], value)
            for key, value in earlier.items()
        )
    )


def _bounds_less(key: str, now: object, before: object) -> bool:
    if isinstance(now, float) and isinstance(before, float):
        return now < before if key in WEAKER_IF_LESS else now > before
    return (before, now) == ("max_random", "standard")


def _is_excused(now: Record, before: Record) -> bool:
    """Say whether a failure is expected now, or what failed the run is skipped."""
    if now.outcome == "xfailed":  # what held unexpectedly was expected to fail before
        return before.outcome not in ("xfailed", "xpassed", *_HOLDS)
    return now.outcome == "skipped" and before.outcome in _FAILS


def _weakened(now: Record, before: Record) -> str:
    if _is_excused(now, before):
        return "is expected to fail now" if now.outcome == "xfailed" else _FALLEN["skipped"]
    if now.outcome in _HOLDS and not asserts(now):
        return "is only reported now"
    if _t_fell(now, before):
        return f"counts fewer tries, and {_ENDED.get(now.outcome, 'passes')}"
    if now.outcome in _HOLDS:
        return "asserts less" if before.outcome in _HOLDS else "passes, but asserts less"
    return f"asserts less, and {_ENDED[now.outcome]}"


def _shown(claim: Record) -> tuple[object, ...]:
    """Return what a row of a table shows of a record."""
    if not isinstance(claim, ClaimRecord):
        return became(claim), *numbers(claim).values()
    best, baseline = accuracy(best_value(claim)), accuracy(claim.max_random_baseline)
    p = shown_p(claim, decisive(claim))
    return became(claim), claim.verdict, claim.n, claim.t, best, baseline, p


def _grew(now: ClaimRecord, before: ClaimRecord) -> bool:
    return now.t is not None and before.t is not None and now.t > before.t


def _t_fell(now: Record, before: Record) -> bool:
    """Say whether fewer tries are counted; until a claim is tested, none are."""
    tested = [
        each.t
        for each in (now, before)
        if isinstance(each, ClaimRecord) and each.best_correct is not None and each.t is not None
    ]
    return len(tested) > 1 and tested[0] < tested[1]


def _moved(
    up: str,
    down: str,
    now: float | None,
    before: float | None,
    write: Callable[[Any], str] = count,
) -> str:
    moved = difference(now, before, write)
    what = up if moved.startswith("+") else down
    return f"{what} from {write(before)} to {write(now)}" if moved else ""


def _best_moved(now: ClaimRecord, before: ClaimRecord) -> str:
    best = f"best {metric_name(now)}"
    return _moved(f"{best} rose", f"{best} fell", best_value(now), best_value(before), accuracy)


def _p_moved(now: ClaimRecord, before: ClaimRecord) -> str:
    key = decisive(now)
    shown, earlier = shown_p(now, key), shown_p(before, key)
    known = shown != earlier and None not in (getattr(now, key), getattr(before, key))
    return f"{p_name(now, key)} from {earlier} to {shown}" if known else ""


_DO: dict[Severity, str] = {"fail": "fail", "warn": "warn", "ignore": "are ignored"}
_MOST = 2
"""Kinds that are named."""
_STRENGTH: dict[Severity, int] = {"ignore": 0, "warn": 1, "fail": 2}


def flag_differences(now: ClaimRecord, before: ClaimRecord) -> list[str]:
    """Say which red flags are new or gone, and which do something else, one clause each."""
    changed: dict[tuple[Severity, Severity], list[RedFlagKind]] = {}
    for kind, severity, earlier in _changed(now, before):
        changed.setdefault((severity, earlier), []).append(kind)
    clauses = [_do(kinds, severity, earlier) for (severity, earlier), kinds in changed.items()]
    if now.best_correct is None or before.best_correct is None:
        return clauses
    raised, earlier_raised = ({flag.kind for flag in each.red_flags} for each in (now, before))
    for said, kinds in (
        ("new", raised - earlier_raised),
        ("gone", earlier_raised - raised),
    ):
        clauses += [f"red flag {kind} is {said}" for kind in DEFAULTS if kind in kinds]
    return clauses


def _do(kinds: list[RedFlagKind], severity: Severity, earlier: Severity) -> str:
    if len(kinds) == 1:
        return f"red flag {kinds[0]} {DOES[severity]}, before: {DOES[earlier]}"
    named = f"{len(kinds)} red flags" if len(kinds) > _MOST else f"red flags {' and '.join(kinds)}"
    return f"{named} {_DO[severity]}, before: {_DO[earlier]}"


def excuses_flags(now: ClaimRecord, before: ClaimRecord) -> bool:
    """Tell whether a red flag does less than it did, by what the suite says."""
    return any(
        _STRENGTH[severity] < _STRENGTH[earlier] for _, severity, earlier in _changed(now, before)
    )


def _changed(
    now: ClaimRecord, before: ClaimRecord
) -> Iterator[tuple[RedFlagKind, Severity, Severity]]:
    """Yield the kinds whose severity is another one; none of what asserts nothing."""
    if not (now.asserted and before.asserted):
        return
    for kind, default in DEFAULTS.items():
        severity, earlier = (each.severities.get(kind, default) for each in (now, before))
        if severity != earlier:
            yield kind, severity, earlier
