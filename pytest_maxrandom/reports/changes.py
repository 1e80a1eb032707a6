"""What changed between two runs, record by record, and why a claim or a comparison fell.

Records are the same where their ids are: suite, task, model, quantization and shots; or the arms.
Everything here is plain text and numbers; nothing is rendered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_maxrandom.notation import NONE, P_VALUES, accuracy, count, p_value, signed
from pytest_maxrandom.record import (
    ClaimRecord,
    ComparisonRecord,
    ContaminationRecord,
    LabelBiasRecord,
    ReplicatesRecord,
)
from pytest_maxrandom.record.red_flags import DEFAULTS
from pytest_maxrandom.reports import comparisons, replicates
from pytest_maxrandom.reports.details import claimed_of
from pytest_maxrandom.reports.label_bias import bias_numbers
from pytest_maxrandom.reports.phrases import best_value, decisive, metric_name
from pytest_maxrandom.reports.summary import ENDINGS, REPORTED, WORDS, asserts, became, records
from pytest_maxrandom.reports.wording import shown_p

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_maxrandom.record import Outcome, Record, RedFlagKind, RunRecord, Severity

Kind = Literal["fell", "weakened", "rose", "t grew", "gone", "new", "unknown", "other", "same"]
"""In the order in which a reviewer wants to know of them.

fell: held before and does not now, or fails the run, which it did not. weakened: asserts less than
before, counts fewer tries, or fails the run no longer without holding. rose: holds, which it did
not. unknown: the base is incomplete, and may have lacked it for that. other: a number or a state
that is shown is another one.
"""

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
_COUNTED: dict[Kind, tuple[str, str]] = {
    "fell": ("1 {} fell", "{} {} fell"),
    "weakened": ("1 was weakened", "{} were weakened"),
    "rose": ("1 newly passes", "{} newly pass"),
    "gone": ("1 is gone", "{} are gone"),
    "new": ("1 is new", "{} are new"),
    "unknown": ("1 has no result in the base", "{} have no result in the base"),
    "other": ("1 changed otherwise", "{} changed otherwise"),
}
_CLAIMS, _EXAMPLES, _REVISION = "claims", "validation examples", "revision"
_SAID = {
    _CLAIMS: "claims: {now}, before: {before}",
    _EXAMPLES: "the validation examples are not the same",
    _REVISION: "the model's revision is another one",
}
"""How a difference is said where it is not ``t from 50 to 200``, by what is compared."""
_WEAKER_IF_LESS = frozenset({"in_replicates", "not_worse_than", "better"})
"""Bounds from below: the smaller, the less is claimed. All others are bounds from above."""
_SEVERITIES: tuple[Severity, ...] = ("ignore", "warn", "fail")
"""From what asserts least to what asserts most."""
_MOST_FLAGS = 2
"""Kinds of red flags that are named."""


@dataclass(frozen=True, slots=True)
class Change:
    """One record in two runs, of which at least one has it."""

    now: Record | None
    before: Record | None
    kind: Kind
    what: str = ""
    """Such as ``newly fails``; empty where nothing is worth a sentence."""
    why: tuple[str, ...] = ()
    """What is different, one clause each: ``t from 50 to 200``."""

    @property
    def t_grew(self) -> bool:
        """Whether more prompts were tried than before."""
        return _is_less(_tries(self.before), _tries(self.now))


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
    earlier = _conditions(before, now)
    told = [
        _SAID.get(name, f"{name} from {{before}} to {{now}}").format(now=shown, before=was)
        for name, shown in _conditions(now, now).items()
        if (was := earlier.get(name, NONE)) != shown and NONE not in (shown, was)
    ]
    if isinstance(now, ClaimRecord) and isinstance(before, ClaimRecord):
        told += _flag_differences(now, before)
    return tuple(told)


def _conditions(record: Record, now: Record) -> dict[str, str]:
    """Name what is compared of a record with the later `now`, as it is written; a dash is unknown.

    What has another name in another record (the best value of another metric) is not compared.
    """
    claims = {_CLAIMS: claimed_of(record) or "nothing"}
    match record:
        case ClaimRecord():
            assert isinstance(now, ClaimRecord)
            key, metric = decisive(now), metric_name(record)
            same_rule = record.asserted == now.asserted and record.n == now.n
            return {
                **claims,
                "clusters": "none" if record.clusters is None else count(record.clusters),
                "metric": metric,
                _EXAMPLES: record.task_digest or NONE,
                _REVISION: record.revision or NONE,
                "n": count(record.n),
                "t": count(record.t),
                f"best {metric}": accuracy(best_value(record)),
                "right answers needed": count(record.critical_count) if same_rule else NONE,
                P_VALUES[key]: NONE if getattr(record, key) is None else shown_p(record, key),
            }
        case ReplicatesRecord():
            return {
                **claims,
                "holds in": replicates.holding(record),
                "contradicting the majority": replicates.contradictions(record),
                "median best accuracy": replicates.median(record, "best_accuracy"),
                "median p_max": replicates.median(record, "p_max"),
            }
        case LabelBiasRecord():
            return claims | bias_numbers(record)
        case ComparisonRecord():
            return {
                **claims,
                "n": comparisons.shown_n(record),
                "t": count(record.t),
                "replicates": count(record.replicates),
                "difference": signed(record.difference),
                "p": p_value(record.p_value),
                "best of t": signed(record.best_difference),
            }
        case ContaminationRecord():
            return {
                **claims,
                "boost": signed(record.boost),
                "bias": signed(record.bias),
                "finding": record.finding or NONE,
            }


def _key(record: Record) -> tuple[type[Record], str]:
    return type(record), record.id


def _noun(found: Iterable[Change]) -> str:
    """Name what changed, where it is of one kind."""
    claims = {isinstance(change.now or change.before, ClaimRecord) for change in found}
    return "claim" if claims == {True} else "result"


def _without_base(now: Record, partial: bool) -> Change:
    ended = "" if now.outcome == "passed" else ENDINGS[now.outcome].one
    if partial:
        lacks = "has no result in the base"
        return Change(now, None, "unknown", f"{ended}; {lacks}" if ended else lacks)
    return Change(now, None, "new", f"is new and {ended}" if ended else "is new")


def _compared(now: Record, before: Record) -> Change:
    why = differences(now, before)
    turned = ""
    if now.outcome != before.outcome:
        turned = f"{ENDINGS[now.outcome].one}, before: {WORDS[became(before)]}"
    if before.outcome == "passed" != now.outcome:
        return Change(now, before, "fell", _FALLEN[now.outcome], why)
    if before.outcome not in _FAILS and now.outcome in _FAILS:
        return Change(now, before, "fell", turned, why)
    if weakened := _weakened(now, before):
        return Change(now, before, "weakened", weakened, why)
    if now.outcome == "passed" != before.outcome:
        what = "is reported now" if became(now) == REPORTED else "newly passes"
        return Change(now, before, "rose", what, why)
    change = Change(now, before, "t grew", turned or "more prompts were tried", why)
    if change.t_grew:
        return change
    if why or became(now) != became(before):
        return Change(now, before, "other", turned, why)
    return Change(now, before, "same")


def _weakened(now: Record, before: Record) -> str:
    """Say how a claim asserts less than it did, or a failure counts no longer; empty if neither.

    Fewer tries are a lower bound for the best of them: what was tried once was tried.
    """
    holds = now.outcome == "passed"
    if now.outcome == "xfailed" and before.outcome not in ("xfailed", "xpassed", "passed"):
        return "is expected to fail now"  # what held unexpectedly was expected to fail before
    if now.outcome == "skipped" and before.outcome in _FAILS:
        return _FALLEN["skipped"]
    fewer = _is_less(_tries(now), _tries(before))
    if not (fewer or _asserts_less(now, before)):
        return ""
    if holds and not asserts(now):
        return "is only reported now"
    if fewer:
        return f"counts fewer tries, and {ENDINGS[now.outcome].one}"
    if holds:
        return "asserts less" if before.outcome == "passed" else "passes, but asserts less"
    return f"asserts less, and {ENDINGS[now.outcome].one}"


def _asserts_less(now: Record, before: Record) -> bool:
    """Tell whether a part of a claim is gone or bounds less, or a red flag does less."""
    asserted: dict[str, object] = getattr(now, "asserted", {})
    earlier: dict[str, object] = getattr(before, "asserted", {})
    clusters, grouped = (getattr(each, "clusters", None) for each in (now, before))
    return (
        (clusters is None and grouped is not None)  # what stood together counts by itself
        or any(
            _SEVERITIES.index(severity) < _SEVERITIES.index(was)
            for _, severity, was in _changed_severities(now, before)
        )
        or any(
            key not in asserted or _bounds_less(key, asserted[key], value)
            for key, value in earlier.items()
        )
    )


def _bounds_less(key: str, now: object, before: object) -> bool:
    if isinstance(now, float) and isinstance(before, float):
        return now < before if key in _WEAKER_IF_LESS else now > before
    return (before, now) == ("max_random", "standard")


def _tries(record: Record | None) -> int | None:
    """Return t of a claim; until it is tested, no tries are counted."""
    if not isinstance(record, ClaimRecord) or (
        record.best_correct is None and record.decided is None
    ):
        return None
    return record.t


def _is_less(one: int | None, other: int | None) -> bool:
    return one is not None and other is not None and one < other


def _flag_differences(now: ClaimRecord, before: ClaimRecord) -> Iterator[str]:
    """Say which red flags do something else, and which are new or gone, one clause each."""
    changed: dict[tuple[Severity, Severity], list[RedFlagKind]] = {}
    for kind, severity, was in _changed_severities(now, before):
        changed.setdefault((severity, was), []).append(kind)
    for (severity, was), kinds in changed.items():
        named = f"red flag{'s' * (len(kinds) > 1)} {' and '.join(kinds)}"
        if len(kinds) > _MOST_FLAGS:
            named = f"{len(kinds)} red flags"
        yield f"{named}: {severity}, before: {was}"
    if now.best_correct is None or before.best_correct is None:
        return
    raised, earlier = ({flag.kind for flag in each.red_flags} for each in (now, before))
    for said, found in (("new", raised - earlier), ("gone", earlier - raised)):
        yield from (f"red flag {kind} is {said}" for kind in DEFAULTS if kind in found)


def _changed_severities(
    now: Record, before: Record
) -> Iterator[tuple[RedFlagKind, Severity, Severity]]:
    """Yield the kinds whose severity is another one; none of what asserts nothing."""
    if not (isinstance(now, ClaimRecord) and isinstance(before, ClaimRecord)):
        return
    if not (now.asserted and before.asserted):
        return
    for kind, default in DEFAULTS.items():
        severity, was = (each.severities.get(kind, default) for each in (now, before))
        if severity != was:
            yield kind, severity, was
