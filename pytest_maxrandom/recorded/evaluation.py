"""A claim about recorded results, from what it is judged by to its record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.claims.assessment import permuted_p
from pytest_maxrandom.claims.new_questions import of_right
from pytest_maxrandom.claims.verdict import DEFAULT_LEVEL, apply_red_flags, judge
from pytest_maxrandom.flags import find, majority
from pytest_maxrandom.recorded.permutations import NoPermutations
from pytest_maxrandom.recorded.seen import seen_of_recorded
from pytest_maxrandom.recorded.tables.summary import RecordedMaximum
from pytest_maxrandom.sweeps.answers import Answers

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord
    from pytest_maxrandom.recorded.claims import RecordedClaim


def assess_recorded(claim: RecordedClaim, record: ClaimRecord) -> None:
    """Judge the best prompt of recorded results and write down what was found."""
    evidence = claim.evidence
    assert evidence is not None
    counts, sweep = evidence.counts, evidence.results
    if isinstance(sweep, Answers):
        record.correct_counts = counts.correct.tolist()
        record.new_questions = of_right(
            sweep.correct,
            sweep.evaluated,
            counts.best,
            evidence.null.t,
            clusters=sweep.clusters,
        )
    permutation_p = _permutation_p(claim, record)
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
    apply_red_flags(record, claim.claim, find(seen))


def _permutation_p(claim: RecordedClaim, record: ClaimRecord) -> float | None:
    evidence = claim.evidence
    assert evidence is not None
    sweep, views = evidence.results, evidence.strata
    if isinstance(sweep, RecordedMaximum) or isinstance(views, NoPermutations):
        record.notes.append(
            f"There is no permutation p, because in the results {evidence.untestable}. So a "
            "preferred label cannot be told from knowledge."
        )
        return None
    assert sweep.answers is not None
    assert sweep.gold is not None
    t = evidence.null.t
    level = min(claim.claim.levels(t).values(), default=DEFAULT_LEVEL)
    tests = [
        permuted_p(
            sweep.answers,
            sweep.gold,
            None,
            t,
            level=level,
            strata=view,
            groups=sweep.groups,
        )
        for view in views
    ]
    p, notes = max(tests, key=lambda test: test[0])
    record.notes += notes
    if p > level >= tests[0][0]:
        record.notes.append(
            "Right answers were shuffled among examples whose right answers are given in place of "
            "each other, because it is not told which choices an example has; a table can list "
            "them in the column choices."
        )
    return p
