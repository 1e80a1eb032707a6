"""What the claims of a suite answered, by the store alone: no model is loaded, nothing is counted.

So an earlier run can be compared with whose report was not kept.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.counting import ClaimsOfRun, claim_ledger, look_of, subject_of
from pytest_maxrandom.claims.evaluation import Evaluation
from pytest_maxrandom.claims.kept import of_sweep
from pytest_maxrandom.claims.plan import plan, read_suite
from pytest_maxrandom.claims.session import SessionState
from pytest_maxrandom.errors import SweepError
from pytest_maxrandom.models.base import Resources
from pytest_maxrandom.models.registry import Backends, ModelPool
from pytest_maxrandom.record import ClaimRecord, RunRecord
from pytest_maxrandom.suite.loader import Suite
from pytest_maxrandom.sweeps.sweep import stored_sweep

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.claims.planned import PlannedClaim


def stored_run(path: Path, store: Path, called: str) -> RunRecord:
    """Return the claims of a suite with the answers that the store has of them.

    Its models must be what they were: the store knows answers by the digests of all that
    determines them.

    Parameters
    ----------
    called : str
        The path as a person names it, with which the ids of the claims begin.

    Raises
    ------
    MaxRandomError
        If the suite cannot be read, its models are not here, or the store lacks answers.
    """
    backends = Backends()
    suite = read_suite(path, backends)
    if not isinstance(suite, Suite):
        raise SweepError(f"{path} is about recorded results, which no store has; give its report")
    pool = ModelPool(Resources(), backends)
    session = SessionState(
        pool=pool, results=store, run="", process="main", engine="auto", fresh=False, no_test=True
    )
    try:
        run = ClaimsOfRun(plan(suite, backends))
        claims = [_stored(each, run, called, session) for each in run]
        return RunRecord(claims=claims, created="", versions={})
    finally:
        session.close()


def _stored(
    planned: PlannedClaim, run: ClaimsOfRun, called: str, session: SessionState
) -> ClaimRecord:
    cache = session.cache(planned, asks=False)
    sweep = stored_sweep(planned.jobs, cache)
    if sweep is None:
        raise SweepError(
            f"{session.results} lacks answers of {called}::{planned.name}, of its model, task and "
            f"arithmetic as they are here; run `pytest {called}`, or give the report of such a run"
        )
    subject, ledger = subject_of(planned), claim_ledger(planned)
    evaluation = Evaluation(planned, run, session)
    result, claim, task = evaluation.judge(sweep, lambda *_: None)
    chosen, look = evaluation.tries.chosen_from(), len(ledger.looked_at(subject))
    found = replace(
        result,
        answers=of_sweep(sweep.predictions).packed(),
        different_answers=ledger.different_answers(subject),
        model_digest=subject.model_digest,
        tries=look_of(planned, result, look, claim, task, result.t, chosen),
    )
    return found.record(planned.record(f"{called}::{planned.name}", called))
