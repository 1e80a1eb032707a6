"""What recorded results show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.claims.verdict import DEFAULT_LEVEL
from pytest_maxrandom.flags.seen import Outcome, Seen
from pytest_maxrandom.stats.chances import choices_of
from pytest_maxrandom.sweeps.answers import Answers

if TYPE_CHECKING:
    from pytest_maxrandom.claims.verdict import Verdict
    from pytest_maxrandom.recorded.claims import Evidence, RecordedClaim


def seen_of_recorded(claim: RecordedClaim, verdict: Verdict) -> Seen:
    """Return what the results of a claim show; of a published maximum the verdict only.

    Parameters
    ----------
    claim : RecordedClaim
        Whose results are there.
    verdict : Verdict
        What it comes to.
    """
    evidence = claim.evidence
    assert evidence is not None
    counts = evidence.counts
    read = evidence.read
    best = counts.best
    if isinstance(read, Answers):
        first = list(dict.fromkeys(read.identities))
        best = read.identities.index(first[counts.best])
    outcome = Outcome(
        best=best,
        correct=counts.best_correct,
        n=counts.n,
        passed=verdict.passed,
        p_max=verdict.p_max,
        permutation_p=verdict.permutation_p,
        level=verdict.levels.get("p_max", DEFAULT_LEVEL),
        impossible=tuple(claim.claim.impossible(evidence.null, evidence.arrangements)),
    )
    others = [
        _seen(other, other.evidence, None)
        for other in claim.others
        if other.evidence is not None and isinstance(other.evidence.read, Answers)
    ]
    return _seen(claim, evidence, outcome, tuple(others))


def _seen(
    claim: RecordedClaim,
    evidence: Evidence,
    outcome: Outcome | None,
    others: tuple[Seen, ...] = (),
) -> Seen:
    read, null = evidence.read, evidence.null
    if not isinstance(read, Answers):
        nothing = np.zeros((0, 0), dtype=np.bool_)
        return Seen(
            model=_name(claim),
            shots=read.shots,
            t=null.t,
            prompts=(),
            identities=(),
            examples=(),
            correct=nothing,
            evaluated=nothing,
            chance=null.chance,
            outcome=outcome,
        )
    return Seen.of(
        read,
        model=_name(claim),
        t=null.t,
        chance=null.chance,
        choices=_choices(read),
        declared_chance=evidence.declared_chance,
        declared_n=evidence.declared_n,
        comparable=bool(read.labels),
        asked=len(read.prompts),
        outcome=outcome,
        others=others,
    )


def _name(claim: RecordedClaim) -> str:
    """Return what tells the model from others: one name may stand for several, with labels."""
    name, label = claim.model.name, claim.model.label
    return name if label is None else f"{name} ({label})"


def _choices(read: Answers) -> tuple[int, ...] | None:
    if read.chances is None:
        return None
    right = [1] * len(read.chances) if read.gold is None else [*map(len, read.gold)]
    return tuple(map(choices_of, right, read.chances))
