"""What red flags do to a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.notation import P_VALUES, accuracy, equals, p_value
from pytest_maxrandom.record import RedFlag

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_maxrandom.claims.verdict import Claim
    from pytest_maxrandom.flags.flag import Flag
    from pytest_maxrandom.record import ClaimRecord


def hold_against(record: ClaimRecord, claim: Claim, flags: Iterable[Flag]) -> None:
    """Write red flags into the record of a claim that has been judged; some of them fail it."""
    found = [
        RedFlag(flag.kind, claim.severity(flag), parameters=dict(flag.parameters)) for flag in flags
    ]
    record.red_flags = [
        flag for wanted in ("fail", "warn") for flag in found if flag.severity == wanted
    ]
    kinds = list(dict.fromkeys(flag.kind for flag in record.failing_flags))
    if kinds:
        record.passed = False
        named = f"red flag{'s' if len(kinds) > 1 else ''}: {', '.join(kinds)}"
        record.message = f"{record.message or _result(record)}; {named}"


def _result(record: ClaimRecord) -> str:
    """Say the numbers of a claim that holds, which its red flags fail none the less."""
    assert record.best_correct is not None
    assert record.n
    shown = f"{record.best_correct}/{record.n} = {accuracy(record.best_correct / record.n)}"
    if record.metric != "accuracy":
        shown = f"score {accuracy(record.best_score)} ({record.best_correct}/{record.n} right)"
    bounded = [
        f"{P_VALUES[key]} {equals(p_value(getattr(record, key), level=bound))}"
        for key, bound in record.levels.items()
    ]
    return ", ".join([shown, f"t = {record.t}", *bounded])
