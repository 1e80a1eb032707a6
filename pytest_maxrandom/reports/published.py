"""Claims beside what was published of them: which verdicts change, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.notation import accuracy, count, equals, p_value

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord, RunRecord


def published(claim: ClaimRecord) -> str:
    """Say what was published of a claim, and in what the results differ."""
    p = claim.published
    if p is None:
        return ""
    shown = p_value(p.p_max)
    numbers = (
        f"n = {count(p.n)}, t = {count(p.t)}, chance {accuracy(p.standard_baseline)}, maximum "
        f"random baseline {accuracy(p.max_random_baseline)}, p_max "
        f"{equals(shown)}, {p.verdict}"
    )
    return "; ".join([numbers, *p.changes])


def changed(run: RunRecord) -> list[ClaimRecord]:
    """List the claims with another verdict than the published one."""
    return [
        claim
        for claim in _compared(run)
        if claim.published is not None and claim.verdict != claim.published.verdict
    ]


def changes(run: RunRecord) -> str:
    """Count the verdicts that change; empty where nothing published is known.

    Returns
    -------
    str
        Such as ``3 of 144 published verdicts change``.
    """
    compared = len(_compared(run))
    if not compared:
        return ""
    number = len(changed(run))
    verb = "changes" if 1 in (number, compared) else "change"
    return f"{number} of {compared} published {'verdict' if compared == 1 else 'verdicts'} {verb}"


def _compared(run: RunRecord) -> list[ClaimRecord]:
    return [
        claim for claim in run.claims if claim.published is not None and claim.verdict is not None
    ]
