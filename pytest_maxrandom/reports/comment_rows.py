"""What a comment lists on top, and in which order its tables stand.

Texts from data are bounded here, so that no one of them takes the room of all others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from pytest_maxrandom.record import (
    ClaimRecord,
    ComparisonRecord,
    ContaminationRecord,
    LabelBiasRecord,
    ReplicatesRecord,
)
from pytest_maxrandom.reports.label_bias import with_labels
from pytest_maxrandom.reports.phrases import (
    findings,
)
from pytest_maxrandom.reports.red_flags import described, not_in_finding, raised
from pytest_maxrandom.reports.summary import SYMBOLS
from pytest_maxrandom.reports.text import shorten, visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_maxrandom.record import RunRecord
    from pytest_maxrandom.reports.changes import Change

_Design = TypeVar(
    "_Design", ReplicatesRecord, LabelBiasRecord, ComparisonRecord, ContaminationRecord
)

_TEXT = 300
"""Characters of any one text from data."""
_FINE = ("passed", "xfailed", "skipped")
_KINDS = ("fell", "weakened", "rose", "t grew", "gone", "new", "unknown", "other", "same")
_SIGNS = {
    "fell": "🔻",
    "weakened": "🔓",
    "rose": "✅",
    "t grew": "📈",
    "gone": "🗑️",
    "new": "🆕",
    "unknown": "❔",
    "other": "🔸",
}
_AS_BEFORE: dict[str | None, str] = {
    "failed": "fails as before",
    "xpassed": "holds unexpectedly as before",
    "error": "still cannot be tested",
    None: "still has no result",
}


@dataclass(frozen=True, slots=True)
class Point:
    """One thing to look at, in a list above the table."""

    symbol: str
    names: tuple[str, ...]
    """Of what it is said; the first ones, where it is said of many."""
    what: str
    why: str
    more: int = 0
    """Of how many others it is said as well."""


def weight(change: Change) -> tuple[bool, bool, int]:
    """Sort rows: what fell, then what fails, then what changed, then all others."""
    fine = change.now is not None and change.now.outcome in _FINE
    return change.kind != "fell", fine, _KINDS.index(change.kind)


def points_of(found: list[Change], names: Mapping[str, str]) -> list[Point]:
    """List what changed, the most important first, then failures and red flags as they were."""
    listed = []
    for change in sorted(found, key=lambda change: _KINDS.index(change.kind)):
        claim = change.now or change.before
        assert claim is not None
        why = list(map(short, change.why))
        if change.now is not None and claim.outcome not in _FINE:
            what = change.what or (_AS_BEFORE[claim.outcome] if change.before else "")
            why += map(short, findings(claim))
            listed.append(Point(SYMBOLS[claim.outcome], (names[claim.id],), what, "; ".join(why)))
        elif why or (change.what and (change.before or claim.outcome != "passed")):
            sign = _SIGNS[change.kind]
            listed.append(Point(sign, (names[claim.id],), change.what, "; ".join(why)))
    claims = [change.now for change in found if isinstance(change.now, ClaimRecord)]
    for told in raised(claims, not_in_finding):
        about = tuple(names[name] for name in told.first)
        listed.append(Point("🚩", about, "", short(described(told.flag)), told.more))
    return listed


def short(text: str) -> str:
    """Show a text from data within its bound."""
    return shorten(visible(text), _TEXT)


def bounded(run: RunRecord) -> RunRecord:
    """Shorten all texts that a comment can show; ids, which it does not, stay what they are."""
    return replace(
        run,
        broken=list(map(short, run.broken)),
        claims=list(map(_bounded_claim, run.claims)),
        replicates=list(map(_bounded_design, run.replicates)),
        label_bias=[with_labels(_bounded_design(each), short) for each in run.label_bias],
        comparisons=list(map(_bounded_design, run.comparisons)),
        contamination=list(map(_bounded_design, run.contamination)),
    )


def _bounded_claim(claim: ClaimRecord) -> ClaimRecord:
    return replace(
        claim,
        task=short(claim.task),
        model=short(claim.model),
        quantization=short(claim.quantization),
        metric=short(claim.metric),
        message=_short_if(claim.message),
        xfail=_short_if(claim.xfail),
        red_flags=[replace(flag, text=short(flag.text)) for flag in claim.red_flags],
        asserted={short(key): _short_if(value) for key, value in claim.asserted.items()},
    )


def _bounded_design(record: _Design) -> _Design:
    changed: dict[str, Any] = {
        "message": _short_if(record.message),
        "xfail": _short_if(record.xfail),
        "task": short(record.task),
    }
    if isinstance(record, LabelBiasRecord):
        changed["model"] = short(record.model)
        changed["sentence"] = _short_if(record.sentence)
    if asserted := getattr(record, "asserted", None):
        changed["asserted"] = {short(key): _short_if(value) for key, value in asserted.items()}
    return replace(record, **changed)


def _short_if(value: Any) -> Any:
    return short(value) if isinstance(value, str) else value
