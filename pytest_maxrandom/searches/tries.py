"""The tries of one search: swept, counted, told as far as its feedback goes, and judged."""

from __future__ import annotations

import dataclasses
import threading
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.claims.counting import claim_ledger, subject_of
from pytest_maxrandom.claims.evaluation import Evaluation
from pytest_maxrandom.claims.nulls import guessers
from pytest_maxrandom.claims.searched import judged_as, searches_of, told_of
from pytest_maxrandom.claims.session import SessionState
from pytest_maxrandom.errors import LedgerError, SearchError
from pytest_maxrandom.ledger.lines import Told
from pytest_maxrandom.models.base import Resources
from pytest_maxrandom.models.registry import ModelPool
from pytest_maxrandom.reports.wording import word
from pytest_maxrandom.searches.outlook import Outlook
from pytest_maxrandom.searches.proposals import Proposals
from pytest_maxrandom.searches.replies import as_number, reply, save
from pytest_maxrandom.stats.search import Feedback, Searched
from pytest_maxrandom.sweeps.executor import LocalExecutor, jobs_of
from pytest_maxrandom.sweeps.scorers import SCORERS
from pytest_maxrandom.sweeps.sweep import run_sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike
    from types import TracebackType
    from typing import Self

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.models.base import EngineName, Model
    from pytest_maxrandom.record import ClaimRecord
    from pytest_maxrandom.searches.proposals import FormatName
    from pytest_maxrandom.searches.replies import Reply
    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.sweeps.prompts.formats import Prompt
    from pytest_maxrandom.tasks.task import Example


_FIRST = "what a search learns must be counted first"


class Tries:
    """The prompts of one search; see `pytest_maxrandom.search`.

    Attributes
    ----------
    feedback : str
        What the search learns of each prompt.
    shots : int
        Demonstrations that each prompt has.
    n : int
        Examples that each is scored on.
    demonstrations : dict of str to Example
        What demonstrations may be, by id. They are no validation examples, but in a suite that
        leaves a prompt's own demonstrations out of what it is scored on.
    outlook : Outlook
        What the budget can still show; to be read before the first try.
    """

    def __init__(
        self,
        planned: PlannedClaim,
        path: Path,
        feedback: Feedback,
        budget: int | None,
        by: str,
        store: Path,
        engine: EngineName,
    ) -> None:
        self.feedback: Feedback = feedback
        self.shots, self.n = planned.condition.shots, planned.condition.prompt_set.n
        self._path, self._budget, self._by = path, budget, by
        # A search has a budget of its own, and is told of whole prompts.
        prompts = planned.suite.prompts.model_copy(update={"budget": None})
        suite = planned.suite.model_copy(update={"prompts": prompts, "until": "all"})
        self._planned = dataclasses.replace(planned, suite=suite)
        self._lock = threading.RLock()  # optimizers try prompts from several threads
        self._proposals = Proposals(self._planned, seen=feedback == "answers")
        self.demonstrations: Mapping[str, Example] = self._proposals.pool
        self._answers: dict[str, PromptPredictions] = {}
        self._ended = False
        self._record: ClaimRecord | None = None
        self._session = SessionState(
            pool=ModelPool(Resources(engine=engine)),
            results=store,
            run=uuid.uuid4().hex,
            process="main",
            engine=engine,
            fresh=False,
            no_test=True,
        )
        self._subject = subject_of(self._planned)
        self._ledger = claim_ledger(self._planned, self._session.run)
        self._told = self._ledger.search(self._subject, feedback, by, budget or 0)
        self.outlook = self._outlook()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def rest(self) -> None:
        """Let go of the model, which is loaded again where it is needed."""
        with self._lock:
            self._session.pool.drop()

    def close(self) -> None:
        """Let go of the model and the store; what was tried is counted and kept."""
        self._session.pool.drop()
        self._session.close()

    @property
    def validation(self) -> tuple[Example, ...]:
        """The validation examples, for adapters. Who proposes may see them with answers only."""
        return self._planned.condition.prompt_set.validation

    def counted(self) -> dict[str, Any]:
        """Return what the ledger counts on these examples: t of the claim and of any, searches."""
        with self._lock:
            self._ledger.refresh()
        searches = [
            {"by": by, "feedback": one.feedback, "steps": one.steps, "budget": one.budget}
            for by, one in searches_of(self._ledger.searches)
        ]
        claim, task = len(self._ledger.tries(self._subject)), len(self._ledger.tries())
        return {"claim": claim, "task": task, "searches": searches}

    def knows(self, prompt: Prompt) -> bool:
        """Tell whether the search was told of a prompt."""
        return prompt.digest in self._told

    @property
    def t(self) -> int:
        """Distinct prompts that the search was told of, in earlier runs too."""
        return len(self._told)

    @property
    def left(self) -> int | None:
        """How many more prompts the budget allows; None without a budget."""
        return None if self._budget is None else max(0, self._budget - self.t)

    def try_prompt(
        self,
        instruction: str | None = None,
        demonstrations: Sequence[str] | None = None,
        format: Mapping[str, str] | FormatName | None = None,  # noqa: A002 as in suites
    ) -> Reply:
        """Try one prompt on the validation set, and return what the feedback allows.

        It is counted in the ledger before anything is returned. A prompt that the search has tried
        before is told as it was then, and counts once.

        Parameters
        ----------
        instruction
            Text before the demonstrations; the task's own if not given.
        demonstrations
            Ids of `demonstrations`, in their order, as many as `shots`.
        format
            Keys of a suite's format, or the kind of its labels.

        Raises
        ------
        SearchError
            If no prompt can be made of that, the budget is spent, or the search is over.
        SweepError
            If the prompt cannot be scored.
        """
        prompt = self._proposals.prompt(instruction, demonstrations, format)
        return self.reply(self.tried(prompt))

    def __call__(self, **prompt: Any) -> float:
        """Try a prompt as `try_prompt` does, and return what is told as a number to maximize.

        For optimizers that want a plain function: 1 or 0 where one bit is told, the accuracy where
        that or the answers are, and 0 where nothing is.
        """
        return as_number(self.try_prompt(**prompt))

    def ask(self, prompt: Prompt, examples: Sequence[Example]) -> PromptPredictions:
        """Ask a prompt something else than the validation set, which is no try and is not counted.

        Raises
        ------
        SearchError
            If one of the examples is a validation example or belongs to the test set.
        SweepError
            If the prompt cannot be scored.
        """
        condition = self._planned.condition
        closed = {each.content for each in (*condition.prompt_set.validation, *condition.test)}
        if any(example.content in closed for example in examples):
            raise SearchError("ask: found an example that prompts are judged by, expected others")
        with self._lock:
            return self._swept([(prompt, list(examples))], lambda found: None)

    def prompt(
        self,
        instruction: str | None = None,
        demonstrations: Sequence[str] | None = None,
        format: Mapping[str, str] | FormatName | None = None,  # noqa: A002 as in suites
    ) -> Prompt:
        """Return the prompt that `try_prompt` would try; nothing is counted."""
        return self._proposals.prompt(instruction, demonstrations, format)

    def tried(self, prompt: Prompt) -> PromptPredictions:
        """Try a prompt, and return all of its answers, for adapters that tell what they may.

        Raises
        ------
        SearchError, SweepError
            As `try_prompt`.
        """
        with self._lock:
            return self._tried(prompt)

    def _tried(self, prompt: Prompt) -> PromptPredictions:
        new = prompt.digest not in self._told
        if new and self._ended:
            raise SearchError(
                "the search is over since its verdict, which told how good its best prompt is; "
                "begin it again to go on, and its next verdict will count that"
            )
        if new and self.left == 0:
            raise SearchError(
                f"the budget of {self._budget} prompts is spent; call verdict(), or search on "
                "examples that no search has seen"
            )
        if prompt.digest not in self._answers:
            pairs = self._with([prompt]).condition.prompt_set.pairs
            self._answers[prompt.digest] = self._swept(pairs, self._evaluated)
        found = self._answers[prompt.digest]
        if new:
            self._count(found)
        return found

    def reply(self, found: PromptPredictions) -> Reply:
        """Return what the search may know of a prompt that it has tried."""
        return reply(found, self._told[found.prompt.digest])

    def verdict(self) -> ClaimRecord:
        """End the search, and judge its best prompt as what was searched allows.

        The ledger counts that as a look. To go on afterwards, begin the search again; the next
        verdict is a further look, and counts what this one told.

        Returns
        -------
        ClaimRecord
            As a claim of the suite has it; `searched` says which rule was used. The test set stays
            closed: see `open_test`.

        Raises
        ------
        SearchError
            If no prompt was tried since the search was begun.
        """
        with self._lock:
            self._record = self._judged(self._session)
        return self._record

    def open_test(self) -> ClaimRecord:
        """Open the test set for the best prompt, as for any claim, and return the record with it.

        Where no result on the validation set can pass, because of what the search was told, the
        test set alone decides. It stays closed for a best prompt that would not pass even if it had
        been found by chance.

        Raises
        ------
        SearchError
            If the task has no test set, or no prompt was tried.
        """
        if not self._planned.condition.test:
            raise SearchError(
                f"{self._path}: the task {self._planned.task} has no test set to open; set one "
                "aside before a search begins (`test: {fraction: 0.25}`)"
            )
        with self._lock:
            self._record = self._judged(dataclasses.replace(self._session, no_test=False))
        return self._record

    def report(self, path: str | PathLike[str]) -> None:
        """Write the verdict as a report: Markdown (.md) or JSON (.json).

        Raises
        ------
        SearchError
            If there is no verdict yet, or the name ends otherwise.
        ReportError
            If it cannot be written.
        """
        if self._record is None:
            raise SearchError("report: there is no verdict yet; call verdict() first")
        save(self._record, Path(path))

    def _judged(self, session: SessionState) -> ClaimRecord:
        if not self._answers:
            raise SearchError("there is nothing to judge: no prompt was tried since it was begun")
        self._ended = True
        planned = self._with([each.prompt for each in self._answers.values()])
        record = planned.record(f"{self._path}::{planned.name}", str(self._path))
        assert record.prompts is not None
        record.prompts = dataclasses.replace(
            record.prompts, asked=len(self._answers), proposed_by=self._by
        )
        evaluation = Evaluation(planned, [planned], session)
        evaluation.run(record, _silent)
        if self.feedback in ("none", "accept"):
            record.correct_counts = []  # a look tells of the best prompt, and of no other
        record.warnings = list(dict.fromkeys(evaluation.warnings))
        word(record)
        record.outcome = "passed" if record.passed else "failed"
        return record

    def _swept(
        self,
        pairs: Sequence[tuple[Prompt, list[Example]]],
        finished: Callable[[PromptPredictions], None],
    ) -> PromptPredictions:
        """Score one prompt, or read it from the store."""
        sweep = run_sweep(
            jobs_of(pairs, self._planned.suite.scoring),
            LocalExecutor(self._load),
            cache=self._session.cache(self._planned),
            finished=finished,
        )
        return sweep.predictions[0]

    def _evaluated(self, found: PromptPredictions) -> None:
        """Count a try, before anybody sees it."""
        n = len(found.examples)
        self._ledger.evaluated(self._subject, found.prompt.digest, n, found.correct)

    def _count(self, found: PromptPredictions) -> None:
        correct, n = found.correct, len(found.examples)
        try:
            self._ledger.refresh()  # the same search may go on elsewhere
        except LedgerError as error:
            raise SearchError(f"{error}; so nothing is told: {_FIRST}") from error
        self._told |= self._ledger.search(self._subject, self.feedback, self._by, self._budget or 0)
        if found.prompt.digest in self._told:
            return
        best = max((each.correct / each.n for each in self._told.values()), default=-1.0)
        accepted = int(correct / n > best)
        told = Told(self.feedback, self._by, self._budget or 0, n, correct, accepted)
        if not self._ledger.told(self._subject, found.prompt.digest, told):
            why = self._ledger.problems[-1].values.get("why") if self._ledger.problems else ""
            raise SearchError(
                f"{self._ledger.path}: cannot be written to ({why}), so nothing is told: {_FIRST}"
            )
        self._told[found.prompt.digest] = told

    def _with(self, prompts: Sequence[Prompt]) -> PlannedClaim:
        """Return the claim with the prompts that the search proposed."""
        condition = self._planned.condition
        found = dataclasses.replace(condition.prompt_set, prompts=tuple(prompts), notes=())
        condition = dataclasses.replace(condition, prompt_set=found, null=guessers(found))
        return dataclasses.replace(self._planned, condition=condition)

    def _load(self) -> Model:
        planned = self._planned
        generates = SCORERS[planned.suite.scoring].generates
        return self._session.pool.get(planned.model, planned.base, generates=generates)

    def _outlook(self) -> Outlook:
        """Judge what the budget could show, with all earlier searches on these examples."""
        ledger, budget = self._ledger, self._budget
        steps = max(1, self.t, budget or 0)
        own = self._by, Searched(self.feedback, steps, self.n, budget)
        name = ledger.search_name(self._subject, self.feedback, self._by, budget or 0)
        others = {key: each for key, each in ledger.searches.items() if key != name}
        t = len(ledger.tries(self._subject) - told_of(ledger.searches))
        if self.feedback == "none":
            t += steps - self.t
        looks = ledger.looks_before(self._subject, [])
        found = judged_as(self._planned, t, [*searches_of(others), own], looks)
        return Outlook.of(self._planned, found, steps)


def _silent(done: int, total: int, computed: int = 0) -> None:
    """Tell nothing of how far one prompt is."""
