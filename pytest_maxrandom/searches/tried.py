"""What a search has tried: each prompt is swept, counted, and only then told."""

from __future__ import annotations

import dataclasses
import threading
import uuid
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.counting import claim_ledger, subject_of
from pytest_maxrandom.claims.nulls import guessers
from pytest_maxrandom.claims.servers import check_server
from pytest_maxrandom.claims.session import SessionState
from pytest_maxrandom.errors import BudgetSpent, LedgerError, SearchError
from pytest_maxrandom.ledger.lines import Told
from pytest_maxrandom.models.base import EngineName, Model, Resources
from pytest_maxrandom.models.registry import ModelPool
from pytest_maxrandom.searches.private import private_ledger
from pytest_maxrandom.searches.proposals import Proposals
from pytest_maxrandom.searches.replies import Reply, as_number, reply
from pytest_maxrandom.stats.search import WITHHELD, Feedback
from pytest_maxrandom.sweeps.executor import LocalExecutor, jobs_of
from pytest_maxrandom.sweeps.scorers import SCORERS
from pytest_maxrandom.sweeps.sweep import run_sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.sweeps.prompts.formats import Prompt
    from pytest_maxrandom.tasks.task import Example

_FIRST = "what a search learns must be counted first"


class Tried:
    """The prompts of one search, and what it was told of each; for `Tries` and adapters.

    It knows all answers, whatever the search may know. Proposers are given `Tries` only.
    """

    def __init__(
        self,
        planned: PlannedClaim,
        feedback: Feedback,
        budget: int | None,
        by: str,
        store: Path,
        engine: EngineName,
    ) -> None:
        prompts = planned.suite.prompts.model_copy(update={"budget": None})
        suite = planned.suite.model_copy(update={"prompts": prompts, "until": "all"})
        self.planned = dataclasses.replace(planned, suite=suite)
        """The claim; without the suite's budget, since a search has its own."""
        self.feedback: Feedback = feedback
        self.budget, self.by = budget, by
        self.lock = threading.RLock()
        """Held while something is tried or judged: optimizers try prompts from several threads."""
        self.proposals = Proposals(self.planned, seen=feedback == "answers")
        run, withheld = uuid.uuid4().hex, None
        if feedback in WITHHELD:
            # The results store, beside the ledger, would show what the search must not see.
            self.ledger, withheld, store = private_ledger(self.planned, run, store)
        else:
            self.ledger = claim_ledger(self.planned, run)
        self.session = SessionState(
            pool=ModelPool(Resources(engine=engine), planned.backends),
            results=store,
            withheld=withheld,
            run=run,
            process="main",
            engine=engine,
            fresh=False,
            no_test=True,
        )
        self.subject = subject_of(self.planned)
        self.name = self.ledger.search_name(self.subject, feedback, by, budget or 0)
        self.told: Mapping[str, Told] = self.ledger.search(self.name)
        """By the digest of each prompt what the search was told of it, in other processes too."""
        self._answers: dict[str, PromptPredictions] = {}
        self._ended = self._closed = False

    @property
    def validation(self) -> tuple[Example, ...]:
        """The validation examples. Who proposes may see them with answers only."""
        return self.planned.condition.prompt_set.validation

    @property
    def left(self) -> int | None:
        """How many more prompts the budget allows; None without a budget."""
        return None if self.budget is None else max(0, self.budget - len(self.told))

    def end(self) -> None:
        """Refuse new prompts from now on: the next reply depends on no further one."""
        self._ended = True

    def close(self) -> None:
        """Let go of the model and the store; what was tried is counted and kept."""
        with self.lock:
            self._closed = True
            self.session.pool.drop()
            self.session.close()

    def _check_results_unseen(self) -> None:
        """Refuse to tell less than anybody can read by now."""
        for by in self.ledger.closed.values():
            raise SearchError(
                f"the search by {by} on these examples was closed, so that anybody can read in the "
                "ledger what it found; search on other examples, or with feedback='answers', after "
                "which a test set decides"
            )

    def check_open(self) -> None:
        """Refuse to go on after the end of a ``with`` block.

        Raises
        ------
        SearchError
            If the search is closed.
        """
        if self._closed:
            raise SearchError("the search is closed; begin it again with the same arguments")

    def try_prompt(self, prompt: Prompt) -> PromptPredictions:
        """Try a prompt, and return all of its answers, for adapters that tell what they may.

        Raises
        ------
        SearchError
            If the search is over or closed, or what it learns cannot be written down.
        BudgetSpent
            If the prompt is new, and the budget spent.
        SweepError
            If the prompt cannot be scored.
        """
        with self.lock:
            self.check_open()
            new = prompt.digest not in self.told
            if new and self._ended:
                raise SearchError(
                    "the search is over since its verdict, which told how good its best prompt is; "
                    "begin it again to go on, and its next verdict will count that"
                )
            if new and self.left == 0:
                raise self._spent()
            if new and self.feedback != "answers":
                self._check_results_unseen()
            if prompt.digest not in self._answers:
                pairs = self.with_prompts([prompt]).condition.prompt_set.pairs
                self._answers[prompt.digest] = self._swept(pairs, self._evaluated)
            found = self._answers[prompt.digest]
            if new:
                self._count(found)
            return found

    def reply(self, found: PromptPredictions) -> Reply:
        """Return what the search may know of a prompt that it has tried."""
        return reply(found, self.told[found.prompt.digest])

    def value(self, found: PromptPredictions) -> float:
        """Return that as a number to maximize, for optimizers."""
        better = [digest for digest, told in self.told.items() if told.accepted]
        digest = found.prompt.digest
        place = better.index(digest) + 1 if digest in better else 0
        return as_number(self.reply(found), place)

    def ask(self, prompt: Prompt, examples: Sequence[Example]) -> PromptPredictions:
        """Ask a prompt something else than the validation set, which is no try and is not counted.

        Raises
        ------
        SearchError
            If one of the examples is a validation example or belongs to the test set.
        SweepError
            If the prompt cannot be scored.
        """
        condition = self.planned.condition
        closed = {each.content for each in (*condition.prompt_set.validation, *condition.test)}
        if any(example.content in closed for example in examples):
            raise SearchError("ask: found an example that prompts are judged by, expected others")
        with self.lock:
            self.check_open()
            return self._swept([(prompt, list(examples))], lambda found: None)

    def all(self) -> list[PromptPredictions]:
        """Return the answers of all prompts that the search was told of, in earlier runs too.

        Those that are neither known here nor in the store are left out.

        Raises
        ------
        SweepError
            If a prompt cannot be scored again.
        """
        with self.lock:
            self.ledger.refresh()
            self.told = self.ledger.search(self.name)
            kept = self.session.store(self.planned).remembered(self.name)
            for digest in self.told:
                if digest in self._answers or digest not in kept:
                    continue
                if (prompt := self.proposals.again(kept[digest], digest)) is not None:
                    self.try_prompt(prompt)
            return [self._answers[digest] for digest in self.told if digest in self._answers]

    def publish(self, found: Sequence[PromptPredictions]) -> None:
        """Let the ledger show how many answers of prompts are right."""
        self.ledger.refresh()
        self.ledger.publish([self.subject.tried(one.prompt.digest) for one in found])

    def close_search(self) -> int:
        """Let the ledger show all results of the search, and say that it does.

        Raises
        ------
        SearchError
            If the ledger cannot be written to.
        """
        self.ledger.refresh()
        told = self.ledger.search(self.name)
        published = self.ledger.publish(
            [self.subject.tried(prompt) for prompt in told],
            [self.name] if told and self.feedback in WITHHELD else (),
        )
        if published is None:
            raise SearchError(
                f"{self.ledger.path}: cannot be written to ({self.ledger.why_closed})"
            )
        return published

    def with_prompts(self, prompts: Sequence[Prompt]) -> PlannedClaim:
        """Return the claim with prompts that the search proposed."""
        planned = self.planned
        found = dataclasses.replace(planned.condition.prompt_set, prompts=tuple(prompts), notes=())
        condition = dataclasses.replace(planned.condition, prompt_set=found, null=guessers(found))
        asked = planned.suite.prompts.model_copy(update={"count": len(prompts)})
        suite = planned.suite.model_copy(update={"prompts": asked})
        return dataclasses.replace(planned, condition=condition, suite=suite)

    def _swept(
        self,
        pairs: Sequence[tuple[Prompt, list[Example]]],
        finished: Callable[[PromptPredictions], None],
    ) -> PromptPredictions:
        """Score one prompt, or read it from the store."""
        with self.planned.suite.limits.in_force():
            check_server(self.planned, self.session.pool, self.ledger, self.subject)
            sweep = run_sweep(
                jobs_of(pairs, self.planned.suite.scoring),
                LocalExecutor(self._load),
                cache=self.session.cache(self.planned),
                finished=finished,
            )
        return sweep.predictions[0]

    def _evaluated(self, found: PromptPredictions) -> None:
        """Count a try, before anybody sees it."""
        n = len(found.examples)
        self.ledger.evaluated(self.subject, found.prompt.digest, n, found.correct)

    def _count(self, predictions: PromptPredictions) -> None:
        """Write down the reply to a new prompt, after all earlier replies of the search."""
        digest, correct, n = (
            predictions.prompt.digest,
            predictions.correct,
            len(predictions.examples),
        )

        def tell(before: Mapping[str, Told]) -> Told:
            if self.budget is not None and len(before) >= self.budget:
                raise self._spent()
            known = self.ledger.right_answers(self.subject, before)
            best = max((right / before[one].n for one, right in known.items()), default=-1.0)
            better = correct / n > best
            # The line says no more than the search learns: it may read the ledger.
            shows = self.feedback not in WITHHELD or (self.feedback == "improved" and better)
            accepted = int(better and self.feedback != "none")
            right = correct if shows else None
            return Told(self.feedback, self.by, self.budget or 0, n, right, accepted)

        if (made_of := self.proposals.made_of(predictions.prompt)) is not None:
            self.session.store(self.planned).remember(self.name, digest, made_of)
        try:
            self.ledger.refresh()  # the same search may go on elsewhere
            written = self.ledger.add_reply(self.subject, digest, self.name, tell)
        except LedgerError as error:
            raise SearchError(f"{error}; so the search gets no reply: {_FIRST}") from error
        if not written:
            raise SearchError(
                f"{self.ledger.path}: cannot be written to ({self.ledger.why_closed}), so the "
                f"search gets no reply: {_FIRST}"
            )
        self.told = self.ledger.search(self.name)

    def _spent(self) -> BudgetSpent:
        return BudgetSpent(
            f"the budget of {self.budget} prompt{'s' * (self.budget != 1)} is spent; call "
            "verdict(), or search on examples that no search has seen"
        )

    def _load(self) -> Model:
        planned = self.planned
        generates = SCORERS[planned.suite.scoring].generates
        return self.session.pool.get(planned.located, generates=generates)
