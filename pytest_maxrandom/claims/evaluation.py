"""One claim from its plan to its record: sweep, ledger and verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from pytest_maxrandom.claims.asked import (
    check_stored,
    control_answers,
    incumbent_answers,
    named_by,
)
from pytest_maxrandom.claims.assessment import best_of
from pytest_maxrandom.claims.counting import (
    ClaimsOfRun,
    claim_ledger,
    count_prompt,
    explained,
    look_of,
    own_tries,
    subject_of,
)
from pytest_maxrandom.claims.decided import ClaimGoal, Undecidable, result_of_decided, undecidable
from pytest_maxrandom.claims.kept import of_sweep
from pytest_maxrandom.claims.lengths import counting_too_long
from pytest_maxrandom.claims.opening import Opening
from pytest_maxrandom.claims.runner import Runner
from pytest_maxrandom.claims.samples import scores_samples
from pytest_maxrandom.claims.searched import compared_after, search_facts
from pytest_maxrandom.claims.servers import check_server
from pytest_maxrandom.claims.training import trained_record
from pytest_maxrandom.claims.tries import ClaimTries, open_searches
from pytest_maxrandom.claims.views import (
    compared_with_shortcuts,
    result_of_sweep,
    views_of_sweep,
    with_shortcuts,
)
from pytest_maxrandom.errors import SweepError
from pytest_maxrandom.ledger.losses import left_behind
from pytest_maxrandom.record import Remark
from pytest_maxrandom.sweeps.decided import DecidedSweep, is_decided, run_decided
from pytest_maxrandom.sweeps.sweep import Sweep, is_stored, run_sweep

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.claims.session import SessionState
    from pytest_maxrandom.record.result import Result
    from pytest_maxrandom.sweeps.cluster.executor import Ahead
    from pytest_maxrandom.sweeps.executor import Job
    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.sweeps.sweep import Progress


class Evaluation:
    """One claim being tested.

    Parameters
    ----------
    planned : PlannedClaim
        The claim.
    run : ClaimsOfRun
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

    def __init__(self, planned: PlannedClaim, run: ClaimsOfRun, session: SessionState) -> None:
        self._planned = planned
        self._session = session
        self._store = session.store(planned)
        self._runner = Runner(planned, session)
        self._subject = subject_of(planned)
        condition = planned.condition
        self.jobs = planned.jobs
        earlier = run.earlier(planned)
        self._ledger = claim_ledger(
            planned, session.run, session.ledgers, earlier, session.withheld
        )
        examples, left = condition.prompt_set.validation, list[Remark]()
        at_base: Collection[str] = ()
        if not planned.simulated:  # no commit holds a ledger of such
            left = left_behind(planned.ledger, examples, self._subject, session.run)
            at_base = earlier.ledger
        if not planned.replicate:  # whose examples are others by design
            left += self._ledger.begun_anew(self._subject.claim, at_base)
        self._left_behind = left
        self._all, self._run = run, run.that_count_for(planned)
        self.tries = ClaimTries(planned, self._run, self._ledger, self._subject)
        self.tries.check_budget()

    def prepare(self) -> None:
        """Load the model, unless all that is asked of it is stored.

        Raises
        ------
        ModelError
            If it cannot be loaded, or its server has another model than before.
        """
        planned, session = self._planned, self._session
        check_server(planned, session.pool, self._ledger, self._subject)
        if self._is_known:
            return
        decides = (
            session.stops(planned)
            and not session.fresh
            and not self._ledger.searches
            and undecidable(planned) is None
        )
        if not decides or not is_decided(self.jobs, self._goal(), session.cache(planned)):
            self.ready()

    def run(self, progress: Progress) -> tuple[Result, Sweep]:
        """Sweep the prompts, and judge the best of them.

        This is a look at the claim, which the ledger counts; and where the claim holds and has a
        test set, this is opened.

        Raises
        ------
        SweepError
            If a prompt cannot be scored, or answers that are stored for the incumbent are stale.
        """
        planned, ledger, subject = self._planned, self._ledger, self._subject
        check_stored(planned, self._session, ledger, subject)  # before a prompt is a try
        why = self._why_whole()
        swept = self._decided(progress) if why is None else None
        if swept is None:
            swept = self.sweep(progress)
        if isinstance(swept, DecidedSweep):
            t, claim, task = self.tries.counted()
            result = result_of_decided(planned.with_t(t), swept)
            # What was not begun is no try.
            left = len(own_tries(planned, subject) - ledger.tries())
            claim, task = claim - left, task - left
            best_correct: int | None = swept.at_least
        else:
            result, claim, task = self.judge(swept, progress, thrifty=False)
            best_correct = result.best_correct
            if best_correct is None and result.best_accuracy is not None:
                # Of a mean the ledger keeps the whole number below.
                best_correct = int(result.best_accuracy * result.n)
        early = (Remark("not_decided_early", {"why": why}),) if why else ()
        assert best_correct is not None
        prompt_set = planned.condition.prompt_set
        kept = None if isinstance(swept, DecidedSweep) else of_sweep(swept.predictions)
        look = ledger.look(
            subject,
            prompt_set.digests,
            t=result.t,
            n=prompt_set.n,
            best_correct=best_correct,
            answers=None if kept is None else kept.digest,
            incumbent=None if result.incumbent is None else named_by(result.incumbent, subject),
        )
        own = self.tries.besides_searches(result.t)
        chosen = self.tries.chosen_from()
        different = ledger.different_answers(subject)
        result = replace(
            result,
            answers=None if kept is None else kept.packed(),
            tries=look_of(planned, result, look, claim, task, own, chosen),
            different_answers=different,
            model_digest=subject.model_digest,
            counted_as=None if subject.model == planned.model.name else subject.model,
            notes=(
                *early,
                *result.notes,
                *ledger.notes(subject),
                *([Remark("searched", search_facts(result.searched))] if result.searched else ()),
                *explained(planned, self._run, ledger, subject, own),
            ),
        )
        if isinstance(swept, DecidedSweep):
            return result, swept.sweep
        opening = Opening(
            planned,
            self._all,
            ledger,
            subject,
            lambda jobs: self.ask(jobs, progress),
            closed=self._session.no_test,
        )
        return opening.follow(swept, result), swept

    def _why_whole(self) -> Undecidable | Literal["search", ""] | None:
        """Say why all answers are computed; nothing where the suite wants it so, None if not."""
        if not self._session.stops(self._planned):
            return ""
        return "search" if self._ledger.searches else undecidable(self._planned)

    def _decided(self, progress: Progress) -> DecidedSweep | Sweep | None:
        """Run the prompts until the verdict is known; None where all answers are stored."""
        planned, session = self._planned, self._session
        if self._is_known:
            return None  # all numbers are there for nothing
        sweep = run_decided(
            self.jobs,
            self._goal(),
            self._runner.executor(self._begun),
            progress,
            cache=session.cache(planned),
            fresh=self._is_to_be_swept,
            finished=self._evaluated,
        )
        if isinstance(sweep, Sweep):
            self._finished(sweep)
        return sweep

    @property
    def _is_to_be_swept(self) -> bool:
        """Whether results of earlier runs do not count: what is computed afresh is so once."""
        session = self._session
        return session.fresh and not session.state(self._planned).is_swept

    def _goal(self) -> ClaimGoal:
        return ClaimGoal(self._planned, lambda: self.tries.counted()[0])

    @property
    def open_searches(self) -> list[Remark]:
        """Say which searches pay for its results, as long as nothing of it was run."""
        return open_searches(self._planned, self._ledger, own_tries(self._planned, self._subject))

    @property
    def searches(self) -> list[Remark]:
        """Say which searches ran on these examples, where guessers take no account of them."""
        return compared_after(self._ledger.searches)

    def sweep(self, progress: Progress) -> Sweep:
        """Run the prompts; each is counted in the ledger, and nothing is judged.

        Raises
        ------
        SweepError
            If a prompt cannot be scored.
        """
        # Other replicates of a claim, and its comparisons, have it once.
        executor, fresh = self._runner.executor(self._begun, named=True), self._is_to_be_swept
        try:
            with counting_too_long(self._planned):
                sweep = run_sweep(
                    self.jobs,
                    executor,
                    progress,
                    cache=self._session.cache(self._planned),
                    fresh=fresh,
                    finished=self._evaluated,
                    known=None if fresh else self._session.take_stored(self._planned),
                )
        finally:
            self._ledger.write()
        self._finished(sweep)
        return sweep

    def _finished(self, sweep: Sweep) -> None:
        self._session.state(self._planned).is_swept = True
        self._session.keep_answers(self._planned, sweep.predictions)

    def judge(
        self, sweep: Sweep, progress: Progress, *, thrifty: bool = True
    ) -> tuple[Result, int, int]:
        """Judge the best prompt of what was swept, without a look at the claim.

        If `thrifty`, what only the claim itself tells, such as red flags, is left out. Return the
        result, and how many tries there are of this claim, and of any.
        """
        t, claim, task = self.tries.counted()
        first = max(sweep.predictions, key=lambda found: found.accuracy)
        searched = self.tries.searched(t, first.prompt.digest)
        learned = searched is not None and searched.learned
        by_tree = searched is not None and learned and searched.decided_by == "validation"
        guessers = int(searched.possible) if by_tree and searched and searched.possible else t
        if by_tree and scores_samples(self._planned.aggregate):
            raise SweepError(
                "a search has tried prompts on these examples, and its best prompt is judged by "
                "answers that are right or wrong; use `aggregate: vote`, or other examples"
            )
        planned = self._planned.with_t(guessers)
        predictions, notes = sweep.predictions, list[Remark]()
        incumbent = control = None
        if not thrifty:
            control = control_answers(planned)
            incumbent = incumbent_answers(
                planned,
                self._session,
                self._ledger,
                self._subject,
                lambda jobs: self.ask(jobs, progress),
                progress,
                predictions,
            )
        others = [] if thrifty else self._session.other_models(planned, predictions)
        views = views_of_sweep(planned, sweep, others)
        if not (thrifty or planned.is_graded):
            best = best_of(views, planned.suite.metric)
            compared, notes = compared_with_shortcuts(
                planned, predictions[best], lambda jobs: self.ask(jobs, progress)
            )
            views = with_shortcuts(views, compared)
        result = result_of_sweep(
            planned,
            sweep,
            views,
            thrifty=thrifty,
            searched=learned,
            tree=by_tree,
            incumbent=incumbent,
            control=control,
        )
        training, of_training = trained_record(
            planned.training, planned.condition, self._runner.trained()
        )
        told_all = (*of_training, *result.notes, *notes)
        result = replace(result, t=t, searched=searched, training=training, notes=told_all)
        return result, claim, task

    def knows(self, jobs: Sequence[Job]) -> bool:
        """Tell whether no text of some jobs needs to be put through the model again."""
        return not self._session.fresh and is_stored(jobs, self._session.cache(self._planned))

    @property
    def _is_known(self) -> bool:
        """Whether no text of its prompts needs to be put through the model again."""
        return not self._session.fresh and self._session.is_stored(self._planned)

    def ask(self, jobs: Sequence[Job], progress: Progress) -> Sweep:
        """Run what is no try of the claim: nothing of it is written to the ledger.

        Raises
        ------
        SweepError
            If a prompt cannot be scored.
        """
        fresh = self._session.fresh
        executor = self._runner.executor(lambda jobs: None)
        cache = self._session.cache(self._planned)
        return run_sweep(jobs, executor, progress, cache=cache, fresh=fresh)

    @property
    def warnings(self) -> list[Remark]:
        """What happened to the ledger, the store and the cluster."""
        cluster = self._session.cluster
        nodes = cluster.warnings if cluster else []
        return [*self._left_behind, *self._ledger.problems, *self._store.messages, *nodes]

    def _evaluated(self, prompt: PromptPredictions) -> None:
        count_prompt(self._ledger, self._subject, prompt)
        # Another process may have used the budget up meanwhile.
        self.tries.check_budget()

    def ahead(self, progress: Progress) -> Ahead | None:
        """Return what a cluster can compute of its sweep before its turn; None if nothing.

        A sweep that may stop early is computed in its turn only, because nobody knows before what
        of it is needed. `progress` is told of that as of a sweep; what its turn tells goes on from
        there.
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
