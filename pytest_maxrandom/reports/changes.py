"""What changed between two runs, claim by claim, and why a claim fell.

Claims are the same where their ids are: suite, task, model, quantization and shots. Everything
here is plain text and numbers; nothing is rendered.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_maxrandom.notation import accuracy, count
from pytest_maxrandom.reports.phrases import (
    best_value,
    claimed,
    decisive,
    metric_name,
    p_name,
    shown_p,
)
from pytest_maxrandom.reports.summary import WORDS, became

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord, Outcome, RunRecord

Kind = Literal["fell", "weakened", "rose", "t grew", "gone", "new", "other", "same"]
"""In the order in which a reviewer wants to know of them.

fell: held before and does not now. weakened: asserts less than before, or may fail now. rose:
holds, which it did not. other: a number or a state that is shown is another one.
"""

_HOLDS: frozenset[Outcome | None] = frozenset({"passed"})
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
    "xfailed": "is expected to fail",
    "error": "could not be tested",
    "skipped": "is skipped",
    None: "has no result",
}
_COUNTED: dict[Kind, tuple[str, str]] = {
    "fell": ("1 claim fell", "{} claims fell"),
    "weakened": ("1 asserts less", "{} assert less"),
    "rose": ("1 newly passes", "{} newly pass"),
    "gone": ("1 is gone", "{} are gone"),
    "new": ("1 is new", "{} are new"),
    "other": ("1 has other numbers", "{} have other numbers"),
}


@dataclass(frozen=True, slots=True)
class Change:
    """One claim in two runs, of which at least one has it."""

    now: ClaimRecord | None
    before: ClaimRecord | None
    kind: Kind
    what: str = ""
    """Such as ``newly fails``; empty where nothing is worth a sentence."""
    why: tuple[str, ...] = ()
    """What is different, one clause each: ``t grew from 50 to 200``."""

    @property
    def t_grew(self) -> bool:
        """Whether more prompts were tried than before."""
        return self.now is not None and self.before is not None and _grew(self.now, self.before)


def changes(run: RunRecord, base: RunRecord) -> list[Change]:
    """Compare a run with an earlier one.

    Returns
    -------
    list of Change
        One for each claim of `run`, in its order, then one for each that only `base` has.
    """
    before = {claim.id: claim for claim in reversed(base.claims)}
    now = {claim.id for claim in run.claims}
    compared = [_compared(claim, before.get(claim.id)) for claim in run.claims]
    partial = run.interrupted or run.not_run or run.broken
    gone = [
        Change(
            None,
            claim,
            "gone",
            "has no result in this run" if partial else "is gone",
            (f"before: {WORDS[became(claim)]}",),
        )
        for claim in base.claims
        if claim.id not in now
    ]
    return compared + gone


def counted(found: list[Change]) -> str:
    """Count changes in one phrase: ``1 claim fell, 2 newly pass, t grew for 3``."""
    parts = []
    for kind, (one, more) in _COUNTED.items():
        if kind == "gone" and (grown := sum(change.t_grew for change in found)):
            parts.append(f"t grew for {count(grown)}")
        if number := sum(change.kind == kind for change in found):
            parts.append(one if number == 1 else more.format(count(number)))
    return ", ".join(parts) or "nothing changed"


def differences(now: ClaimRecord, before: ClaimRecord) -> tuple[str, ...]:
    """Say in what the numbers and the conditions of a claim are not what they were."""
    found = []
    if claimed(now) != claimed(before):
        found.append(
            f"claims that {claimed(now) or 'nothing'}, before: {claimed(before) or 'nothing'}"
            if now.asserted
            else f"claims nothing any more, before: {claimed(before)}"
        )
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
    return (*found, *_p_moved(now, before))


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


def _compared(now: ClaimRecord, before: ClaimRecord | None) -> Change:
    if before is None:
        ended = _ENDED.get(now.outcome)
        return Change(now, None, "new", f"is new and {ended}" if ended else "is new")
    why = differences(now, before)
    if before.outcome in _HOLDS and now.outcome not in _HOLDS:
        return Change(now, before, "fell", _FALLEN[now.outcome], why)
    if _is_weaker(now, before):
        return Change(now, before, "weakened", _weakened(now, before), why)
    if now.outcome in _HOLDS and before.outcome not in _HOLDS:
        return Change(now, before, "rose", "newly passes", why)
    if _grew(now, before):
        return Change(now, before, "t grew", "more prompts were tried", why)
    if why or _shown(now) != _shown(before):
        return Change(now, before, "other", "", why)
    return Change(now, before, "same")


def _is_weaker(now: ClaimRecord, before: ClaimRecord) -> bool:
    """Say whether a part of the claim is gone or bounds less, or a failure is expected now."""
    if now.outcome == "xfailed" and before.outcome not in ("xfailed", "passed"):
        return True
    for key, value in before.asserted.items():
        if key not in now.asserted:
            return True
        other = now.asserted[key]
        if isinstance(value, float) and isinstance(other, float) and other > value:
            return True
        if (value, other) == ("max_random", "standard"):
            return True
    return False


def _weakened(now: ClaimRecord, before: ClaimRecord) -> str:
    if now.outcome == "xfailed":
        return "is expected to fail now"
    if now.outcome in _HOLDS:
        return "asserts less" if before.outcome in _HOLDS else "passes, but asserts less"
    return f"asserts less, and {_ENDED[now.outcome]}"


def _shown(claim: ClaimRecord) -> tuple[object, ...]:
    """Return what a row of a table shows of a claim."""
    best, baseline = accuracy(best_value(claim)), accuracy(claim.max_random_baseline)
    p = shown_p(claim, decisive(claim))
    return became(claim), claim.verdict, claim.n, claim.t, best, baseline, p


def _grew(now: ClaimRecord, before: ClaimRecord) -> bool:
    return now.t is not None and before.t is not None and now.t > before.t


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
