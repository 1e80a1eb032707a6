"""One claim from its plan to its record: sweep, ledger, verdict, and the held-out test set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.claims.assessment import assess
from pytest_maxrandom.claims.counting import (
    claim_ledger,
    explained,
    look_of,
    own_tries,
    subject_of,
    tries_of,
    without_siblings,
)
from pytest_maxrandom.claims.decided import ClaimGoal, conclude, undecidable
from pytest_maxrandom.claims.held_out import confirm, held_out
from pytest_maxrandom.claims.runner import Runner
from pytest_maxrandom.claims.searched import searched, told, unjudged
from pytest_maxrandom.claims.verdict import DEFAULT_LEVEL
from pytest_maxrandom.errors import ModelError, SweepError
from pytest_maxrandom.flags.compare import blanked
from pytest_maxrandom.ledger.losses import left_behind
from pytest_maxrandom.notation import count
from pytest_maxrandom.record import Remark, note
from pytest_maxrandom.stats.multiplicity import above
from pytest_maxrandom.sweeps.decided import DecidedSweep, is_decided, run_decided
from pytest_maxrandom.sweeps.executor import jobs_of
from pytest_maxrandom.sweeps.sweep import Sweep, is_stored, run_sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.claims.session import SessionState
    from pytest_maxrandom.record import ClaimRecord, HeldOut
    from pytest_maxrandom.sweeps.cluster.executor import Ahead
    from pytest_maxrandom.sweeps.executor import Executor, Job
    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.sweeps.prompts.formats import Prompt
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
        self._checked: int | None = None
        self._check_budget()
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
        sweep = self._decided(record, progress) or self.sweep(progress)
        if isinstance(sweep, DecidedSweep):
            t, claim, task = self.counted()
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
        record.tries = look_of(planned, record, look, claim, task)
        note(record, *self._ledger.notes(self._subject))
        if record.searched is not None:
            note(record, Remark("searched", told(record)))
        note(record, *explained(planned, self._run, self._ledger, self._subject, record.t))
        if isinstance(sweep, DecidedSweep):
            return sweep.sweep
        if record.searched is not None and record.searched.why is not None:
            self._after_search(sweep, record, progress)
        elif record.passed and planned.condition.test:
            self._test(sweep, record, progress)
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
        return ClaimGoal(self._planned, lambda: self.counted()[0])

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
        t, claim, task = self.counted()
        record.revision = sweep.revision or record.revision
        others = [] if thrifty else self._session.other_models(planned)
        prompts = planned.condition.prompt_set.digests
        record.searched = searched(
            planned,
            t,
            self._ledger.tries(self._subject),
            self._ledger.searches,
            self._ledger.looks_before(self._subject, prompts),
        )
        record.t, found = t, record.searched
        by_tree = found is not None and found.learned and found.decided_by == "validation"
        assess(
            planned.with_t(record.guessers or t) if by_tree else planned.with_t(t),
            sweep,
            record,
            others,
            thrifty=thrifty,
            without_inputs=lambda best: self._without_inputs(best, record, progress),
            searched=by_tree,
        )
        record.t = t
        return claim, task

    def counted(self) -> tuple[int, int, int]:
        """Return t, and how many tries there are of this claim, and of any; known after a sweep."""
        self._ledger.refresh()
        claim, task = self._tries()
        budget = self._planned.suite.prompts.budget
        t = max(budget or 0, claim if self._planned.counted == "claim" else task)
        return self._planned.claim.tried(t), claim, task

    def _tries(self) -> tuple[int, int]:
        planned, ledger, subject = self._planned, self._ledger, self._subject
        claim, task = tries_of(planned, self._run, ledger, subject, subject_of)
        return len(claim), len(task)

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

    def _without_inputs(
        self, best: PromptPredictions, record: ClaimRecord, progress: Progress
    ) -> PromptPredictions | None:
        """Ask a prompt again with blank inputs, where the suite wants that and it tells anything.

        Raises
        ------
        SweepError
            If it cannot be scored so.
        """
        suite = self._planned.suite
        if "choices_only" not in suite.shortcuts:
            return None
        if len({example.input for example in best.examples}) == 1:
            note(record, Remark("no_blank_control"))
            return None
        try:
            jobs = jobs_of([(best.prompt, blanked(best.examples))], suite.scoring)
            sweep = self.ask(jobs, progress)
        except ModelError:
            raise
        except SweepError as error:
            raise SweepError(f"shortcuts: choices_only: with blank inputs, {error}") from error
        return sweep.predictions[0]

    def _check_budget(self) -> None:
        """Refuse prompts beyond the budget; those that were evaluated before may be tested."""
        budget, read = self._planned.suite.prompts.budget, self._ledger.read_rows
        # What this process adds is counted since the first time: the whole sweep is.
        if budget is None or read == self._checked:
            return
        claim, task = self._tries()
        t = claim if self._planned.counted == "claim" else task
        if t > budget and own_tries(self._planned, self._subject) - self._ledger.tries():
            files = ", ".join(map(str, self._ledger.files))
            listed = f" ({files} lists those of before)" if files else ""
            raise SweepError(
                f"the budget of {count(budget)} prompts would be exceeded: with those of this "
                f"suite, {count(t)} would have been evaluated on these examples{listed}; test "
                "earlier prompts again, or use examples that no prompt has seen; a budget that is "
                "raised now is told as one that was not declared in advance"
            )
        self._checked = read

    def _evaluated(self, prompt: PromptPredictions) -> None:
        self._ledger.evaluated(
            self._subject, prompt.prompt.digest, len(prompt.examples), prompt.correct
        )
        # Another process may have used the budget up meanwhile.
        self._check_budget()

    def _test(self, sweep: Sweep, record: ClaimRecord, progress: Progress) -> None:
        """Open the test set for a claim that passed, and hold the claim to what it says of it."""
        assert record.best_prompt is not None
        if not self._session.no_test:
            best = sweep.predictions[record.best_prompt.index].prompt
            record.test = self._open(best, progress)
            if record.test is None:
                note(record, Remark("test_not_opened"))
        if self._planned.claim.test_p is not None:
            confirm(record, self._planned.claim.test_p)

    def _after_search(self, sweep: Sweep, record: ClaimRecord, progress: Progress) -> None:
        """Let the test set decide, where no result on the validation set can pass after a search.

        It stays closed for a claim that would not even pass had nobody searched, which costs no
        level: what it is opened for is settled without it.
        """
        assert record.searched is not None
        assert record.best_prompt is not None
        claim = self._planned.claim
        worth_it, level = record.passed, min(record.levels.values(), default=DEFAULT_LEVEL)
        unjudged(record)
        if not claim.bounds() and claim.test_p is None:
            record.holds = record.passed = True  # nothing is asserted
        if record.searched.decided_by != "test" or not worth_it or self._session.no_test:
            return
        examples = self._planned.condition.test
        best = sweep.predictions[record.best_prompt.index].prompt
        others = self._ledger.openings(examples) - {self._subject.tried(best.digest)}
        if others or self._ledger.seen(examples):
            # What was told of it may have chosen the prompt.
            record.searched.decided_by = "nothing"
            return
        record.test = self._open(best, progress)
        if record.test is None:
            note(record, Remark("test_not_opened"))
        elif record.test.p is not None and not above(record.test.p, claim.test_p or level):
            record.holds = record.passed = True

    def _open(self, prompt: Prompt, progress: Progress) -> HeldOut | None:
        """Score the best prompt on the test set, if that could be written down.

        Where its examples have clusters, the interval is that of their effective n.
        """
        examples = self._planned.condition.test
        openings = self._ledger.opened(self._subject, prompt.digest, examples)
        if openings is None:
            return None
        sweep = self.ask(jobs_of([(prompt, examples)], self._planned.suite.scoring), progress)
        return held_out(
            sweep.predictions[0],
            openings=openings,
            claims=sum(other.condition.test == examples for other in self._run),
            seen=self._ledger.seen(examples),
            test_p=self._planned.claim.test_p,
        )

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
        self._check_budget()
