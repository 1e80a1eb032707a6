"""A claim about recorded results, from what it is judged by to its record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.assessment import permuted_p
from pytest_maxrandom.flags import find, majority
from pytest_maxrandom.flags.severity import hold_against
from pytest_maxrandom.new_questions import of_right
from pytest_maxrandom.recorded.permutations import NoPermutations, strata
from pytest_maxrandom.recorded.seen import seen_of_recorded
from pytest_maxrandom.recorded.sweep import RecordedSweep
from pytest_maxrandom.verdict import judge

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord
    from pytest_maxrandom.recorded.claims import Evidence, RecordedClaim


def assess_recorded(claim: RecordedClaim, record: ClaimRecord) -> None:
    """Judge the best prompt of recorded results and write down what was found."""
    evidence = claim.evidence
    assert evidence is not None
    counts, sweep = evidence.counts, evidence.results
    permutation_p = None
    if isinstance(sweep, RecordedSweep):
        record.correct_counts = counts.correct.tolist()
        record.new_questions = of_right(
            sweep.correct, sweep.evaluated, counts.best, evidence.null.t
        )
        permutation_p = _permutation_p(sweep, evidence, record)
    verdict = judge(
        claim.claim, evidence.null, counts.best_correct, counts.best, permutation_p=permutation_p
    )
    verdict.write_into(record)
    record.n = evidence.n
    seen = seen_of_recorded(claim, verdict)
    constant = majority(seen)
    if constant is not None:
        record.majority_rate = constant.rate
        record.majority_p = constant.p_value(evidence.null.best)
    hold_against(record, claim.claim, find(seen))


def _permutation_p(sweep: RecordedSweep, evidence: Evidence, record: ClaimRecord) -> float | None:
    if sweep.answers is None or sweep.gold is None:
        return None
    try:
        groups = strata(sweep, evidence.chances)
    except NoPermutations as reason:
        record.notes.append(f"There is no permutation p, because in the results {reason}.")
        return None
    p, notes = permuted_p(sweep.answers, sweep.gold, None, evidence.null.t, strata=groups)
    record.notes += notes
    return p
