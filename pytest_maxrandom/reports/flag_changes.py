"""What changed in the red flags of a claim between two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.record.red_flags import DEFAULTS
from pytest_maxrandom.reports.red_flags import DOES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.record import ClaimRecord, RedFlagKind, Severity

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
