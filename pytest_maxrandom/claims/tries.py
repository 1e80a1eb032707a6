"""The tries of a claim before and while it is tested: t, and what a budget still allows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.counting import (
    ClaimsOfRun,
    claim_ledger,
    own_tries,
    subject_by,
    subject_of,
    tries_of,
)
from pytest_maxrandom.claims.searched import searched, told_besides, told_of
from pytest_maxrandom.errors import SweepError
from pytest_maxrandom.notation import count
from pytest_maxrandom.record import Remark, Searched

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.ledger import SetLedger, Subject, Try


_QUICKLY_READ = 1 << 30
"""Bytes of a model's files that are read to tell t before a run."""
_DIGEST = re.compile("[0-9a-f]{64}")


class ClaimTries:
    """Counts the tries of one claim.

    `run` are all claims of the run whose prompts may count for it.
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
            t = max(t, budget + len(counted & self._search_tries))
        return self._planned.claim.tried(t), len(claim), self._ledger.count(counted)

    def chosen_from(self) -> tuple[int, int]:
        """Return of how many a claim's prompts and model may have been chosen.

        What other claims of the run are to try counts, as for t; the claim's own prompts that its
        sweep did not begin do not, so it is known after a sweep.

        Returns
        -------
        tuple of int
            Distinct prompts; and variants of the model and of the scoring.
        """
        claim, _ = self._tries()
        begun = self._ledger.tries(self._subject)
        claim -= own_tries(self._planned, self._subject) - begun
        variants = {(each.model_digest, each.scoring) for each in claim}
        return max(1, len({each.prompt for each in claim})), max(1, len(variants))

    def besides_searches(self, t: int) -> int:
        """Return t without what searches learned of, which no budget of a suite counts."""
        if not self._search_tries:
            return t
        _, counted = self._tries()
        return t - len(counted & self._search_tries)

    def searched(self, t: int, best: str) -> Searched | None:
        """Return as the best of how many prompts a claim is judged; None where nobody searched.

        `t` is how many prompts count for the claim, and `best` the digest of the best one.
        """
        planned, ledger, subject = self._planned, self._ledger, self._subject
        if not (searches := ledger.searches):
            return None
        tries, tried, closed = ledger.tries(subject), subject.tried(best), ledger.closed
        known, looks = told_besides(planned, ledger, subject, tried)
        if not any(tried in told for told in searches.values()):
            # Whoever proposed it may have read all that was published of a search.
            searches = {
                name: {one: what._replace(feedback="score") for one, what in told.items()}
                if name in closed
                else told
                for name, told in searches.items()
            }
        return searched(planned, t, tries, searches, looks, known, tried)

    def of_model(self, best: str, others: Iterable[PlannedClaim]) -> int:
        """Return as the best of how many its best prompt stands for its model, or its arm.

        What other arms of one comparison try with the same model are not tries of this one: each is
        named beforehand, and none is chosen for another. `best` is the digest of the best prompt,
        and `others` are these arms.

        Raises
        ------
        SweepError
            Where a search learned so much of these examples that nothing can be told of them.
        """
        self._ledger.refresh()
        own, (_, counted) = own_tries(self._planned, self._subject), self._tries()
        named = {tried for each in others for tried in own_tries(each, subject_of(each))} - own
        model = self._subject.model_digest
        t = len({tried for tried in counted if tried.model_digest == model} - named)
        found = self.searched(t, best)
        if found is None or not found.learned:
            return t
        if found.possible is None:
            raise SweepError(
                "a search was told the answers to these examples, so that its prompts cannot be "
                "compared with those of others on them; use examples that it has not seen"
            )
        return max(t, int(found.possible))

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
        t = len(counted - self._search_tries)
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
    def _search_tries(self) -> set[Try]:
        return told_of(self._ledger.searches)

    def _tries(self) -> tuple[set[Try], set[Try]]:
        return tries_of(self._planned, self._run, self._ledger, self._subject, subject_of)


def open_searches(planned: PlannedClaim, ledger: SetLedger, tries: Collection[Try]) -> list[Remark]:
    """Return the searches that pay for new results of a claim, because they may go on.

    Of the claim's tries, what the ledger shows already costs no search anything more.
    """
    searches = ledger.searches
    if not searches or not ledger.unknown(tries):
        return []
    closed, going_on = ledger.closed, dict[str, None]()
    for name, told in searches.items():
        first = next(iter(told.values()))
        spent = 0 < first.budget <= len(told)
        if name not in closed and not spent and first.feedback != "answers":
            going_on[first.by] = None
    times = planned.condition.prompt_set.n + 1
    return [Remark("search_is_open", {"by": by, "times": times}) for by in going_on]


@dataclass(frozen=True, slots=True)
class Expected:
    """The t of a claim before anything is loaded."""

    t: int
    """What the run will count."""
    why: str = ""
    """Why this is not the number of prompts that are asked for; empty if it is."""
    least: bool = False
    """Whether it may be more, because the model's files are not looked into."""


def expected(planned: PlannedClaim, run: ClaimsOfRun) -> Expected:
    """Count the tries of a claim as its run will, without loading or fetching a model.

    Where the ledger knows the claim, its model is found by the content of its files, if these are
    local and not large. Else prompts that it knows are taken for those of this model.

    Raises
    ------
    LedgerError
        If the ledger cannot be read.
    ModelError
        If the model's files cannot be read.
    """
    ledger = claim_ledger(planned, earlier=run.earlier(planned))
    identify = _by_content if ledger.tries() else _by_place
    subject = identify(planned)
    of_claim = planned.counted == "claim"
    _, counted = tries_of(planned, run.that_count_for(planned), ledger, subject, identify)
    before = ledger.tries(subject if of_claim else None)
    same = {(tried.prompt, tried.scoring) for tried in ledger.tries(subject)}
    unsure = {
        tried
        for tried in counted
        if not _DIGEST.fullmatch(tried.model_digest) and (tried.prompt, tried.scoring) in same
    }
    own = own_tries(planned, subject)
    t = len(counted) - len(unsure)
    earlier = len(before - own) - len(unsure & own)
    others = t - len(own) - earlier
    asked, budget = planned.suite.prompts.count, planned.suite.prompts.budget
    known = len(told_of(ledger.searches) & before)
    seen = len(ledger.in_sight(further=True)) if ledger.searches else 0
    read = [f"{count(seen)} result{'s' * (seen != 1)} in sight of searches"] * bool(seen)
    read += [
        "a search by {by} is open on these examples: with each new result its best prompt is "
        "judged as the best of {times} times as many prompts".format(**each.values)
        for each in open_searches(planned, ledger, own - unsure)
    ]
    if budget is not None and budget + known >= t:
        besides = f", and {count(known)} of searches" if known else ""
        why = f"the budget{besides}; {count(t)} asked for or evaluated"
        return Expected(budget + known, ", ".join([why, *read]), bool(unsure))
    whys = (
        f"beyond the budget of {count(budget)}" if budget is not None else "",
        f"{count(asked)} asked for, {count(len(own))} possible" if len(own) < asked else "",
        f"{count(earlier)} evaluated before" if earlier else "",
        f"{count(others)} of other claims of this run" if others else "",
        f"the end of the doubling of {count(t)}" if planned.claim.spend else "",
        *read,
    )
    return Expected(planned.claim.tried(t), ", ".join(filter(None, whys)), bool(unsure))


def _by_place(planned: PlannedClaim) -> Subject:
    """Return what tells models apart by their places, which no ledger knows."""
    return subject_by(planned, " ".join(planned.located.key))


def _by_content(planned: PlannedClaim) -> Subject:
    """Return what the ledger knows a claim by, where that costs little."""
    size = planned.located.size
    return _by_place(planned) if size is None or size > _QUICKLY_READ else subject_of(planned)
