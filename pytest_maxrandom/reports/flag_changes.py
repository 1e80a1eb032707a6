"""What changed in the red flags of a claim between two runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.record.red_flags import DEFAULTS
from pytest_maxrandom.reports.red_flags import DOES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.record import ClaimRecord, RedFlagKind, Severity

_STRENGTH: dict[Severity, int] = {"ignore": 0, "warn": 1, "fail": 2}


def flag_differences(now: ClaimRecord, before: ClaimRecord) -> list[str]:
    """Say which red flags are new or gone, and which do something else, one clause each."""
    clauses = [
        f"red flag {kind} {DOES[severity]}, before: {DOES[earlier]}"
        for kind, severity, earlier in _changed(now, before)
    ]
    if now.best_correct is None or before.best_correct is None:
        return clauses
    raised, earlier_raised = ({flag.kind for flag in each.red_flags} for each in (now, before))
    for said, kinds in (
        ("new", raised - earlier_raised),
        ("gone", earlier_raised - raised),
    ):
        clauses += [f"red flag {kind} is {said}" for kind in DEFAULTS if kind in kinds]
    return clauses


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
