"""A claim about recorded results, from what it is judged by to its record."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from pytest_maxrandom.assessment import permuted_p
from pytest_maxrandom.recorded.permutations import NoPermutations, strata
from pytest_maxrandom.recorded.sweep import RecordedSweep
from pytest_maxrandom.stats.majority import majority_answer
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
        permutation_p = _permutation_p(sweep, evidence, record)
    verdict = judge(
        claim.claim, evidence.null, counts.best_correct, counts.best, permutation_p=permutation_p
    )
    for name, value in asdict(verdict).items():
        setattr(record, name, value)
    record.n = evidence.n
    if isinstance(sweep, RecordedSweep):
        _look_at_majority(sweep, evidence, record)


def _permutation_p(sweep: RecordedSweep, evidence: Evidence, record: ClaimRecord) -> float | None:
    if sweep.answers is None or sweep.gold is None:
        return None
    try:
        groups = strata(sweep, evidence.chances)
    except NoPermutations as reason:
        record.notes.append(f"There is no permutation p, because in the results {reason}.")
        return None
    labels = 1 + max(int(sweep.answers.max()), *map(max, sweep.gold))
    p, notes = permuted_p(sweep.answers, sweep.gold, groups, evidence.null.t, labels=labels)
    record.notes += notes
    return p


def _look_at_majority(sweep: RecordedSweep, evidence: Evidence, record: ClaimRecord) -> None:
    """Compare with the best constant answer, where answers have names that examples share."""
    if sweep.gold is None or not sweep.labels:
        return
    majority = majority_answer([{sweep.labels[index] for index in right} for right in sweep.gold])
    record.majority_rate = majority.rate
    record.majority_p = majority.p_value(evidence.null.best)
    assert record.best_accuracy is not None
    if record.passed and majority.rate >= record.best_accuracy:
        record.red_flags.append(
            f"Always saying {majority.answer!r} is right on {majority.correct} of {majority.n} "
            "examples; the best prompt is not above that."
        )
