"""The test set of a claim: when it is opened, for which prompt, and what that decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.claims.held_out import confirm, held_out
from pytest_maxrandom.claims.searched import unjudged
from pytest_maxrandom.claims.verdict import DEFAULT_LEVEL
from pytest_maxrandom.record import Remark, note
from pytest_maxrandom.stats.multiplicity import above
from pytest_maxrandom.sweeps.executor import jobs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.ledger import SetLedger, Subject
    from pytest_maxrandom.record import ClaimRecord, HeldOut
    from pytest_maxrandom.sweeps.executor import Job
    from pytest_maxrandom.sweeps.prompts.formats import Prompt
    from pytest_maxrandom.sweeps.sweep import Sweep

    Ask = Callable[[Sequence[Job]], Sweep]


class Opening:
    """Opens the test set of one claim for its best prompt, where that may be.

    Parameters
    ----------
    run : sequence of PlannedClaim
        All claims of the run: several may open one test set.
    ask : callable
        Runs what is no try of the claim.
    closed : bool
        Whether test sets stay closed.
    """

    def __init__(
        self,
        planned: PlannedClaim,
        run: Sequence[PlannedClaim],
        ledger: SetLedger,
        subject: Subject,
        ask: Ask,
        *,
        closed: bool,
    ) -> None:
        self._planned, self._run = planned, run
        self._ledger, self._subject = ledger, subject
        self._ask, self._closed = ask, closed

    def follow(self, sweep: Sweep, record: ClaimRecord) -> None:
        """Open it as the verdict on the validation set, and on who searched there, wants it.

        Raises
        ------
        SweepError
            If the prompt cannot be scored.
        """
        if record.searched is not None and record.searched.why is not None:
            self._decide(sweep, record)
        elif record.passed and self._planned.condition.test:
            self._confirm(sweep, record)

    def _confirm(self, sweep: Sweep, record: ClaimRecord) -> None:
        """Open the test set for a claim that passed, and hold the claim to what it says of it."""
        if not self._closed:
            record.test = self._open(_best(sweep, record), record)
        if self._planned.claim.test_p is not None:
            confirm(record, self._planned.claim.test_p)

    def _decide(self, sweep: Sweep, record: ClaimRecord) -> None:
        """Let the test set decide, where no result on the validation set can pass after a search.

        It stays closed for a claim that would not even pass had nobody searched, which costs no
        level: what it is opened for is settled without it.
        """
        assert record.searched is not None
        claim = self._planned.claim
        worth_it, level = record.passed, min(record.levels.values(), default=DEFAULT_LEVEL)
        unjudged(record)
        if not claim.bounds() and claim.test_p is None:
            record.holds = record.passed = True  # nothing is asserted
        if record.searched.decided_by != "test" or not worth_it or self._closed:
            return
        examples, best = self._planned.condition.test, _best(sweep, record)
        others = self._ledger.openings(examples) - {self._subject.tried(best.digest)}
        if others or self._ledger.seen(examples):
            # What was told of it may have chosen the prompt.
            record.searched.decided_by = "nothing"
            return
        record.test = self._open(best, record)
        if record.test is None or record.test.p is None:
            return
        if not above(record.test.p, claim.test_p or level):
            record.holds = record.passed = True

    def _open(self, prompt: Prompt, record: ClaimRecord) -> HeldOut | None:
        """Score the best prompt on the test set, if that could be written down.

        Where its examples have clusters, the interval is that of their effective n.
        """
        examples = self._planned.condition.test
        openings = self._ledger.opened(self._subject, prompt.digest, examples)
        if openings is None:
            note(record, Remark("test_not_opened"))
            return None
        sweep = self._ask(jobs_of([(prompt, examples)], self._planned.suite.scoring))
        return held_out(
            sweep.predictions[0],
            openings=openings,
            claims=sum(other.condition.test == examples for other in self._run),
            seen=self._ledger.seen(examples),
            test_p=self._planned.claim.test_p,
        )


def _best(sweep: Sweep, record: ClaimRecord) -> Prompt:
    assert record.best_prompt is not None
    return sweep.predictions[record.best_prompt.index].prompt
