"""What red flags do to a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.record import RedFlag
from pytest_maxrandom.suite.red_flags import RedFlagsSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pytest_maxrandom.flags.flag import Flag
    from pytest_maxrandom.record import ClaimRecord, RedFlagKind, Severity
    from pytest_maxrandom.verdict import Claim

DEFAULTS: Mapping[RedFlagKind, Severity] = RedFlagsSpec().severities()


def severities(claim: Claim) -> dict[RedFlagKind, Severity]:
    """Return what each kind of red flag does to a claim; none fails one that asserts nothing."""
    told = claim.red_flags
    if isinstance(told, str):
        return dict.fromkeys(DEFAULTS, told)
    if told is not None:
        return told.severities()
    if claim.asserted():
        return dict(DEFAULTS)
    return dict.fromkeys(DEFAULTS, "warn")


def deviations(claim: Claim) -> dict[RedFlagKind, Severity]:
    """Return those that the suite sets otherwise than they are by default."""
    if claim.red_flags is None:
        return {}
    found = severities(claim)
    return {kind: found[kind] for kind in found if found[kind] != DEFAULTS[kind]}


def hold_against(record: ClaimRecord, claim: Claim, flags: Iterable[Flag]) -> None:
    """Write red flags into the record of a claim that has been judged; some of them fail it."""
    severity = severities(claim)
    found = [RedFlag(flag.kind, severity[flag.kind], flag.text) for flag in flags]
    record.red_flags = [
        flag for wanted in ("fail", "warn") for flag in found if flag.severity == wanted
    ]
    kinds = list(dict.fromkeys(flag.kind for flag in record.failing_flags))
    if kinds:
        record.passed = False
        named = f"red flag{'s' if len(kinds) > 1 else ''}: {', '.join(kinds)}"
        record.message = f"{record.message}; {named}" if record.message else named
