"""The tries of a claim while it is tested: what counts by now, and what a budget still allows."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.counting import own_tries, subject_of, tries_of
from pytest_maxrandom.claims.searched import searched, told_of
from pytest_maxrandom.errors import SweepError
from pytest_maxrandom.notation import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.ledger import SetLedger, Subject, Try
    from pytest_maxrandom.record import Searched


class ClaimTries:
    """Counts the tries of one claim.

    Parameters
    ----------
    run : sequence of PlannedClaim
        All claims of the run whose prompts may count for it.
    """

    def __init__(
        self,
        planned: PlannedClaim,
        run: Sequence[PlannedClaim],
        ledger: SetLedger,
        subject: Subject,
    ) -> None:
        self._planned, self._run = planned, run
        self._ledger, self._subject = ledger, subject
        self._checked: int | None = None

    def counted(self) -> tuple[int, int, int]:
        """Return t, and how many tries there are of this claim, and of any; known after a sweep."""
        self._ledger.refresh()
        claim, counted = self._tries()
        t, budget = len(counted), self._planned.suite.prompts.budget
        if budget is not None:
            t = max(t, budget + len(counted & self._told))
        return self._planned.claim.tried(t), len(claim), self._ledger.count(counted)

    def besides_searches(self, t: int) -> int:
        """Return t without what searches learned of, which no budget of a suite counts."""
        if not self._told:
            return t
        _, counted = self._tries()
        return t - len(counted & self._told)

    def searched(self, t: int) -> Searched | None:
        """Return as the best of how many prompts a claim is judged; None where nobody searched."""
        planned, ledger, subject = self._planned, self._ledger, self._subject
        if not (searches := ledger.searches):
            return None
        looks = ledger.looks_before(subject, planned.condition.prompt_set.digests)
        return searched(planned, t, ledger.tries(subject), searches, looks)

    def check_budget(self) -> None:
        """Refuse prompts beyond the budget; those that were evaluated before may be tested.

        What a search learned of is no part of it: the rule of the search counts that.

        Raises
        ------
        SweepError
            If there are some.
        """
        planned, ledger = self._planned, self._ledger
        budget, read = planned.suite.prompts.budget, ledger.read_rows
        # What this process adds is counted since the first time: the whole sweep is.
        if budget is None or read == self._checked:
            return
        _, counted = self._tries()
        t = len(counted - self._told)
        if t > budget and own_tries(planned, self._subject) - ledger.tries():
            files = ", ".join(map(str, ledger.files))
            listed = f" ({files} lists the earlier ones)" if files else ""
            raise SweepError(
                f"the budget of {count(budget)} prompt{'s' * (budget != 1)} would be exceeded: "
                f"with those of this suite, {count(t)} would have been evaluated on these "
                f"examples{listed}; test earlier prompts again, or use examples that no prompt has "
                "seen; if you raise the budget now, reports say that it was not declared in advance"
            )
        self._checked = read

    @cached_property
    def _told(self) -> set[Try]:
        return told_of(self._ledger.searches)

    def _tries(self) -> tuple[set[Try], set[Try]]:
        return tries_of(self._planned, self._run, self._ledger, self._subject, subject_of)
