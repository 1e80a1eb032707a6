"""The test set of a claim: when it is opened, for which prompt, and what that decides."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.held_out import confirmed, held_out
from pytest_maxrandom.claims.searched import unjudged
from pytest_maxrandom.record import Remark
from pytest_maxrandom.record.result import DEFAULT_LEVEL
from pytest_maxrandom.stats.multiplicity import above
from pytest_maxrandom.sweeps.executor import jobs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.ledger import SetLedger, Subject
    from pytest_maxrandom.record import Searched
    from pytest_maxrandom.record.result import Result
    from pytest_maxrandom.sweeps.executor import Job
    from pytest_maxrandom.sweeps.prompts.formats import Prompt
    from pytest_maxrandom.sweeps.sweep import Sweep

    Ask = Callable[[Sequence[Job]], Sweep]


class Opening:
    """Opens the test set of one claim for its best prompt, where that may be.

    Parameters
    ----------
    run : iterable of PlannedClaim
        All claims of the run: several may open one test set.
    ask : callable
        Runs what is no try of the claim.
    closed : bool
        Whether test sets stay closed.
    """

    def __init__(
        self,
        planned: PlannedClaim,
        run: Iterable[PlannedClaim],
        ledger: SetLedger,
        subject: Subject,
        ask: Ask,
        *,
        closed: bool,
    ) -> None:
        self._planned, self._run = planned, run
        self._ledger, self._subject = ledger, subject
        self._ask, self._closed = ask, closed

    def follow(self, sweep: Sweep, result: Result) -> Result:
        """Open it as the verdict on the validation set, and on who searched there, wants it.

        Raises
        ------
        SweepError
            If the prompt cannot be scored.
        """
        if result.searched is not None and result.searched.why is not None:
            return self._decide(sweep, result, result.searched)
        if result.passed and self._planned.condition.test:
            return self._confirm(sweep, result)
        return result

    def _confirm(self, sweep: Sweep, result: Result) -> Result:
        """Open the test set for a claim that passed, and hold the claim to what it says of it."""
        if not self._closed:
            result = self._open(sweep, result)
        test_p = self._planned.claim.test_p
        return result if test_p is None else confirmed(result, test_p)

    def _decide(self, sweep: Sweep, result: Result, searched: Searched) -> Result:
        """Let the test set decide, where no result on the validation set can pass after a search.

        It stays closed for a claim that would not even pass had nobody searched, which costs no
        level: what it is opened for is settled without it.
        """
        claim = self._planned.claim
        worth_it, level = result.passed, min(result.levels.values(), default=DEFAULT_LEVEL)
        asserts = bool(claim.bounds()) or claim.test_p is not None
        result = unjudged(result, holds=not asserts)
        if searched.decided_by != "test" or not worth_it or self._closed:
            return result
        examples, best = self._planned.condition.test, _best(sweep, result)
        others = self._ledger.openings(examples) - {self._subject.tried(best.digest)}
        if others or self._ledger.seen(examples):
            # What was told of it may have chosen the prompt.
            return replace(result, searched=replace(searched, decided_by="nothing"))
        result = self._open(sweep, result)
        if result.test is None or result.test.p is None:
            return result
        if not above(result.test.p, claim.test_p or level):
            return replace(result, holds=True, passed=True)
        return result

    def _open(self, sweep: Sweep, result: Result) -> Result:
        """Score the best prompt on the test set, if that could be written down.

        Where its examples have clusters, the interval is that of their effective n.
        """
        examples, prompt = self._planned.condition.test, _best(sweep, result)
        openings = self._ledger.opened(self._subject, prompt.digest, examples)
        if openings is None:
            return result.noted(Remark("test_not_opened"))
        asked = self._ask(jobs_of([(prompt, examples)], self._planned.suite.scoring))
        test = held_out(
            asked.predictions[0],
            openings=openings,
            claims=sum(other.condition.test == examples for other in self._run),
            seen=self._ledger.seen(examples),
            test_p=self._planned.claim.test_p,
        )
        return replace(result, test=test)


def _best(sweep: Sweep, result: Result) -> Prompt:
    return sweep.predictions[result.best].prompt
