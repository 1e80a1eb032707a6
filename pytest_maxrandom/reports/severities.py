"""What red flags do in two runs: in which a suite asks more of them, and in which less."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.flags import KINDS
from pytest_maxrandom.record import ClaimRecord, Record, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SEVERITIES: tuple[Severity, ...] = ("ignore", "warn", "fail")
"""From what asserts least to what asserts most."""


def do_less(now: Record, before: Record) -> bool:
    """Tell whether any red flag does less than it did."""
    return any(
        SEVERITIES.index(severity) < SEVERITIES.index(was)
        for _, severity, was in changed_severities(now, before)
    )


def severities_less(now: Mapping[str, Severity], before: Mapping[str, Severity]) -> bool:
    """Tell whether any of the kinds of red flags that both name does less than it did."""
    return any(
        SEVERITIES.index(now.get(kind, was)) < SEVERITIES.index(was) for kind, was in before.items()
    )


def changed_severities(now: Record, before: Record) -> Iterator[tuple[str, Severity, Severity]]:
    """Yield the kinds whose severity is another one; none of what asserts nothing."""
    if not (isinstance(now, ClaimRecord) and isinstance(before, ClaimRecord)):
        return
    if not (now.asserted and before.asserted):
        return
    for kind, default in KINDS.defaults().items():
        severity, was = (each.severities.get(kind, default) for each in (now, before))
        if severity != was:
            yield kind, severity, was
