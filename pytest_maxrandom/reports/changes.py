"""What changed between two runs, record by record, and why a claim or a comparison fell.

Records are the same where their ids are: suite, task, model, quantization and shots; or the arms.
Everything here is plain text and numbers; nothing is rendered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

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
    from collections.abc import Iterable, Iterator

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
    found = []
    if claimed(now) != claimed(before):
        found.append(
            f"claims that {claimed(now) or 'nothing'}, before: {claimed(before) or 'nothing'}"
            if now.asserted
            else f"claims nothing any more, before: {claimed(before)}"
        )
    if now.clusters is None and before.clusters is not None:
        found.append(f"no clusters are stated, before: {count(before.clusters)}")
    if now.metric != before.metric:
        found.append(f"the metric is {metric_name(now)}, before: {metric_name(before)}")
    if None not in (now.task_digest, before.task_digest) and now.task_digest != before.task_digest:
        found.append("the validation examples are not the same")
    if now.revision != before.revision and before.revision is not None:
        found.append("the model's revision is another one")
    found += _moved("n", now.n, before.n)
    found += _moved("t", now.t, before.t)
    if now.metric == before.metric:
        found += _best_moved(now, before)
    same_rule = now.asserted == before.asserted and now.n == before.n
    needed, earlier = now.critical_count, before.critical_count
    if same_rule and needed is not None and earlier is not None and needed != earlier:
        found.append(f"{count(needed)} are needed, before: {count(earlier)}")
    return (*found, *_p_moved(now, before), *flag_differences(now, before))


def difference(now: int | None, before: int | None) -> str:
    """Write how a count changed: ``+50``; empty where it did not, or is not known.

    Examples
    --------
    >>> difference(200, 50), difference(50, 1200), difference(50, 50), difference(5, None)
    ('+150', '-1,150', '', '')
    """
    if now is None or before is None or now == before:
        return ""
    return f"{'+' if now > before else '-'}{count(abs(now - before))}"


def score_difference(now: float | None, before: float | None) -> str:
    """Write how an accuracy changed: ``+.033``; empty where no digit that is shown did.

    Examples
    --------
    >>> score_difference(0.65, 0.6167), score_difference(0.6, 0.6001), score_difference(0.6, None)
    ('+.033', '', '')
    """
    if now is None or before is None or accuracy(now) == accuracy(before):
        return ""
    return f"{'+' if now > before else '-'}{accuracy(abs(now - before))}"


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
    if _is_excused(now, before) or _t_fell(now, before):
        return True
    if (
        isinstance(now, ClaimRecord)
        and isinstance(before, ClaimRecord)
        and excuses_flags(now, before)
    ):
        return True
    if getattr(now, "clusters", 1) is None and getattr(before, "clusters", None) is not None:
        return True  # what stood together is counted by itself
    asserted: dict[str, object] = getattr(now, "asserted", {})
    for key, value in getattr(before, "asserted", {}).items():
        if key not in asserted:
            return True
        other = asserted[key]
        if isinstance(value, float) and isinstance(other, float):
            less, more = sorted((value, other))
            if less < more and other == (less if key in WEAKER_IF_LESS else more):
                return True
        if (value, other) == ("max_random", "standard"):
            return True
    return False


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
    return (
        isinstance(now, ClaimRecord)
        and isinstance(before, ClaimRecord)
        and now.best_correct is not None
        and before.best_correct is not None
        and now.t is not None
        and before.t is not None
        and now.t < before.t
    )


def _moved(name: str, now: int | None, before: int | None) -> list[str]:
    if now is None or before is None or now == before:
        return []
    verb = "grew" if now > before else "fell"
    return [f"{name} {verb} from {count(before)} to {count(now)}"]


def _p_moved(now: ClaimRecord, before: ClaimRecord) -> list[str]:
    key = decisive(now)
    value, earlier = getattr(now, key), getattr(before, key)
    shown, shown_earlier = shown_p(now, key), shown_p(before, key)
    if value is None or earlier is None or shown == shown_earlier:
        return []
    return [f"{p_name(now, key)} from {shown_earlier} to {shown}"]


def _best_moved(now: ClaimRecord, before: ClaimRecord) -> list[str]:
    value, earlier = best_value(now), best_value(before)
    if not score_difference(value, earlier) or value is None or earlier is None:
        return []
    verb = "rose" if value > earlier else "fell"
    return [f"best {metric_name(now)} {verb} from {accuracy(earlier)} to {accuracy(value)}"]


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
