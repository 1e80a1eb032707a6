"""One claim from its plan to its record: sweep, ledger and verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.claims.assessment import assess
from pytest_maxrandom.claims.counting import (
    claim_ledger,
    explained,
    look_of,
    own_tries,
    subject_of,
    without_siblings,
)
from pytest_maxrandom.claims.decided import ClaimGoal, conclude, undecidable
from pytest_maxrandom.claims.flag_input import blank_control
from pytest_maxrandom.claims.lengths import counting_too_long
from pytest_maxrandom.claims.opening import Opening
from pytest_maxrandom.claims.runner import Runner
from pytest_maxrandom.claims.searched import compared_after, told
from pytest_maxrandom.claims.trained import tell_trained
from pytest_maxrandom.claims.tries import ClaimTries
from pytest_maxrandom.ledger.losses import left_behind
from pytest_maxrandom.record import Remark, note
from pytest_maxrandom.sweeps.decided import DecidedSweep, is_decided, run_decided
from pytest_maxrandom.sweeps.executor import jobs_of
from pytest_maxrandom.sweeps.sweep import Sweep, is_stored, run_sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.claims.session import SessionState
    from pytest_maxrandom.record import ClaimRecord
    from pytest_maxrandom.sweeps.cluster.executor import Ahead
    from pytest_maxrandom.sweeps.executor import Executor, Job
    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.sweeps.sweep import Progress


class Evaluation:
    """One claim being tested.

    Parameters
    ----------
    planned : PlannedClaim
        The claim.
    run : sequence of PlannedClaim
        All claims of the run, and all their replicates. What they are about to try counts from the
        first of them on, so that t does not depend on which is tested first. What other replicates
        of the suite try does not count: nothing is chosen between them.

    Raises
    ------
    ModelError
        If the model's files cannot be read.
    LedgerError
        If the ledger cannot be read.
    SweepError
        If the sweep would go beyond the budget of the suite.
    StoreError
        If what is in the store's place is none, or git tracks it.
    """

    def __init__(
        self, planned: PlannedClaim, run: Sequence[PlannedClaim], session: SessionState
    ) -> None:
        self._planned = planned
        self._session = session
        self._store = session.store(planned)
        self._runner = Runner(planned, session)
        self._subject = subject_of(planned)
        condition = planned.condition
        self._ledger = claim_ledger(planned, session.run)
        self._left_behind = (
            []
            if planned.simulated  # no commit holds such a ledger
            else left_behind(
                planned.ledger,
                condition.prompt_set.validation,
                self._subject,
                session.run,
            )
        )
        self._run = without_siblings(planned, run)
        self.tries = ClaimTries(planned, self._run, self._ledger, self._subject)
        self.tries.check_budget()
        self.jobs = jobs_of(condition.prompt_set.pairs, planned.suite.scoring)

    def prepare(self) -> None:
        """Load the model, unless all that is asked of it is stored.

        Raises
        ------
        ModelError
            If it cannot be loaded.
        """
        planned, session = self._planned, self._session
        if self.knows(self.jobs):
            return
        decides = (
            session.stops(planned)
            and not session.fresh
            and not self._ledger.searches
            and undecidable(planned) is None
        )
        if not decides or not is_decided(self.jobs, self._goal(), session.cache(planned)):
            self.ready()

    def run(self, record: ClaimRecord, progress: Progress) -> Sweep:
        """Sweep the prompts, judge the best of them, and write down what was found.

        This is a look at the claim, which the ledger counts; and where the claim holds and has a
        test set, this is opened.

        Raises
        ------
        SweepError
            If a prompt cannot be scored.
        """
        planned = self._planned
        record.model_digest = self._subject.model_digest
        if self._subject.model != record.model:
            record.counted_as = self._subject.model
        sweep = self._decided(record, progress) or self.sweep(progress)
        if isinstance(sweep, DecidedSweep):
            t, claim, task = self.tries.counted()
            conclude(planned.with_t(t), sweep, record)
            # What was not begun is no try.
            left = len(own_tries(planned, self._subject) - self._ledger.tries())
            claim, task = claim - left, task - left
            best_correct: int | None = sweep.at_least
        else:
            claim, task = self.judge(sweep, record, progress, thrifty=False)
            best_correct = record.best_correct
        assert record.t is not None
        assert best_correct is not None
        prompt_set = planned.condition.prompt_set
        look = self._ledger.look(
            self._subject,
            prompt_set.digests,
            t=record.t,
            n=prompt_set.n,
            best_correct=best_correct,
        )
        own = self.tries.besides_searches(record.t)
        record.tries = look_of(planned, record, look, claim, task, own)
        note(record, *self._ledger.notes(self._subject))
        if record.searched is not None:
            note(record, Remark("searched", told(record)))
        note(record, *explained(planned, self._run, self._ledger, self._subject, own))
        if isinstance(sweep, DecidedSweep):
            return sweep.sweep
        test = Opening(
            planned,
            self._run,
            self._ledger,
            self._subject,
            lambda jobs: self.ask(jobs, progress),
            closed=self._session.no_test,
        )
        test.follow(sweep, record)
        return sweep

    def _decided(self, record: ClaimRecord, progress: Progress) -> DecidedSweep | Sweep | None:
        """Run the prompts until the verdict is known; None where all must be run."""
        planned, session = self._planned, self._session
        if not session.stops(planned):
            return None
        if why := "search" if self._ledger.searches else undecidable(planned):
            note(record, Remark("not_decided_early", {"why": why}))
            return None
        if self.knows(self.jobs):
            return None  # all numbers are there for nothing
        fresh = session.fresh and id(planned) not in session.swept
        sweep = run_decided(
            self.jobs,
            self._goal(),
            self._runner.executor(self._begun),
            progress,
            cache=session.cache(planned),
            fresh=fresh,
            finished=self._evaluated,
        )
        if isinstance(sweep, Sweep):
            session.swept.add(id(planned))
        return sweep

    def _goal(self) -> ClaimGoal:
        return ClaimGoal(self._planned, lambda: self.tries.counted()[0])

    @property
    def searches(self) -> list[Remark]:
        """Who searched on these examples, for what knows no rule for that."""
        return compared_after(self._ledger.searches)

    def sweep(self, progress: Progress) -> Sweep:
        """Run the prompts; each is counted in the ledger, and nothing is judged.

        Raises
        ------
        SweepError
            If a prompt cannot be scored.
        """
        session = self._session
        fresh = session.fresh and id(self._planned) not in session.swept
        # Other replicates of a claim, and its comparisons, have it once.
        executor = self._runner.executor(self._begun, named=True)
        try:
            with counting_too_long(self._planned):
                sweep = self._sweep(self.jobs, executor, progress, self._evaluated, fresh=fresh)
        finally:
            self._ledger.write()
        session.swept.add(id(self._planned))
        return sweep

    def judge(
        self, sweep: Sweep, record: ClaimRecord, progress: Progress, *, thrifty: bool = True
    ) -> tuple[int, int]:
        """Judge the best prompt of what was swept, without a look at the claim.

        Parameters
        ----------
        thrifty : bool
            Whether that is left out which only the claim itself tells, such as red flags.

        Returns
        -------
        int, int
            How many tries there are of this claim, and of any.
        """
        planned = self._planned
        t, claim, task = self.tries.counted()
        record.revision = sweep.revision or record.revision
        tell_trained(record, self._runner.trained())
        others = [] if thrifty else self._session.other_models(planned)
        record.searched = self.tries.searched(t)
        record.t, found = t, record.searched
        by_tree = found is not None and found.learned and found.decided_by == "validation"
        assess(
            planned.with_t(record.guessers or t) if by_tree else planned.with_t(t),
            sweep,
            record,
            others,
            thrifty=thrifty,
            without_inputs=lambda best: blank_control(
                planned, best, record, lambda jobs: self.ask(jobs, progress)
            ),
            searched=by_tree,
        )
        record.t = t
        return claim, task

    def knows(self, jobs: Sequence[Job]) -> bool:
        """Tell whether no text of some jobs needs to be put through the model again."""
        return not self._session.fresh and is_stored(jobs, self._session.cache(self._planned))

    def ask(self, jobs: Sequence[Job], progress: Progress) -> Sweep:
        """Run what is no try of the claim: nothing of it is written to the ledger.

        Raises
        ------
        SweepError
            If a prompt cannot be scored.
        """
        fresh = self._session.fresh
        executor = self._runner.executor(lambda jobs: None)
        return self._sweep(jobs, executor, progress, lambda predictions: None, fresh=fresh)

    @property
    def warnings(self) -> list[Remark]:
        """What happened to the ledger, the store and the cluster."""
        cluster = self._session.cluster
        nodes = cluster.warnings if cluster else []
        return [*self._left_behind, *self._ledger.problems, *self._store.messages, *nodes]

    def _evaluated(self, prompt: PromptPredictions) -> None:
        self._ledger.evaluated(
            self._subject, prompt.prompt.digest, len(prompt.examples), prompt.correct
        )
        # Another process may have used the budget up meanwhile.
        self.tries.check_budget()

    def _sweep(
        self,
        jobs: Sequence[Job],
        executor: Executor,
        progress: Progress,
        finished: Callable[[PromptPredictions], None],
        *,
        fresh: bool,
    ) -> Sweep:
        return run_sweep(
            jobs,
            executor,
            progress,
            cache=self._session.cache(self._planned),
            fresh=fresh,
            finished=finished,
        )

    def ahead(self, progress: Progress) -> Ahead | None:
        """Return what a cluster can compute of its sweep before its turn; None if nothing.

        A sweep that may stop early is computed in its turn only, because nobody knows before what
        of it is needed.

        Parameters
        ----------
        progress : callable
            Told of that as of a sweep; what its turn tells goes on from there.
        """
        planned, session = self._planned, self._session
        stops = session.stops(planned) and undecidable(planned) is None
        if stops or not self._store.writable:
            return None
        return self._runner.ahead(self.jobs, session.cache(planned), self._begun, progress)

    def ready(self) -> None:
        """Load the model, here or on a cluster.

        Raises
        ------
        ModelError
            If it cannot be loaded.
        """
        self._runner.ready()

    def _begun(self, jobs: Sequence[Job]) -> None:
        """Count prompts that are about to be computed elsewhere."""
        self._ledger.begun(self._subject, {job.prompt.digest: len(job.examples) for job in jobs})
        self.tries.check_budget()
