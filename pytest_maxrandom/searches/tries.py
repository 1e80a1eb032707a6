"""The tries of one search, as whoever proposes prompts is given them, and their verdict."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pytest_maxrandom.claims.counting import ClaimsOfRun
from pytest_maxrandom.claims.evaluation import Evaluation
from pytest_maxrandom.claims.searched import (
    found_in,
    most_judged_as,
    searches_of,
    told_besides,
    told_of,
)
from pytest_maxrandom.errors import SearchError, did_you_mean
from pytest_maxrandom.record import ClaimRecord, Remark
from pytest_maxrandom.reports.wording import word
from pytest_maxrandom.searches.replies import Outlook, Reply, save
from pytest_maxrandom.stats.search import (
    CLIMBS,
    WITHHELD,
    Feedback,
    Found,
    Searched,
    likely_better,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike
    from types import TracebackType

    from pytest_maxrandom.claims.session import SessionState
    from pytest_maxrandom.record.result import Result
    from pytest_maxrandom.searches.tried import Tried
    from pytest_maxrandom.tasks.task import Example

_PARTS = ("instruction", "demonstrations", "format")


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
        What demonstrations may be, by id. They are no validation examples, unless `feedback` is
        `answers` and the suite leaves a prompt's own demonstrations out of what it is scored on.
    sample : str
        A prompt as the model reads it, with the task's own instruction and format.
    """

    def __init__(self, tried: Tried, path: Path) -> None:
        self._tried, self._path = tried, path
        condition = tried.planned.condition
        self.feedback: Feedback = tried.feedback
        self.shots, self.n = condition.shots, condition.prompt_set.n
        self.demonstrations: Mapping[str, Example] = tried.proposals.pool
        self.sample = tried.proposals.sample()
        self._record: ClaimRecord | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the model and the store; what was tried is counted and kept."""
        self._tried.close()

    @property
    def t(self) -> int:
        """Distinct prompts that the search was told of, in earlier runs too."""
        return len(self._tried.told)

    @property
    def left(self) -> int | None:
        """How many more prompts the budget allows; None without a budget."""
        return self._tried.left

    def counted(self) -> dict[str, Any]:
        """Return what the ledger counts on these examples: t of the claim and of any, searches."""
        ledger = self._tried.ledger
        with self._tried.lock:
            ledger.refresh()
        searches = [
            {"by": by, "feedback": one.feedback, "steps": one.steps, "budget": one.budget}
            for by, one in searches_of(ledger.searches)
        ]
        claim, task = len(ledger.tries(self._tried.subject)), len(ledger.tries())
        return {"claim": claim, "task": task, "searches": searches}

    def try_prompt(
        self,
        instruction: str | None = None,
        demonstrations: Sequence[str] | None = None,
        format: Mapping[str, Any] | str | None = None,  # noqa: A002 as in suites
    ) -> Reply:
        """Try one prompt on the validation set, and return what the feedback allows.

        It is counted in the ledger before anything is returned. A prompt that the search has tried
        before gets the same reply as then, and counts once.

        Parameters
        ----------
        instruction
            Text before the demonstrations; the task's own if not given. A line break follows where
            neither it nor the format has white space there.
        demonstrations
            Ids of `demonstrations`, in their order, as many as `shots`.
        format
            Keys of a suite's format, or the kind of its labels.

        Raises
        ------
        SearchError
            If no prompt can be made of that, or the search is over.
        BudgetSpent
            If the prompt is new, and the budget spent.
        SweepError
            If the prompt cannot be scored.
        """
        prompt = self._tried.proposals.prompt(instruction, demonstrations, format)
        return self._tried.reply(self._tried.try_prompt(prompt))

    def __call__(self, **prompt: Any) -> float:
        """Try a prompt as `try_prompt` does, and return the reply as a number to maximize.

        For optimizers that want a plain function: the accuracy where the reply is that or the
        answers, and 0 where there is none. Where it is one bit, the k-th prompt that is better than
        all before it has k / (k + 1), so that the last one has the highest number; others have 0.
        """
        if other := [key for key in prompt if key not in _PARTS]:
            near = did_you_mean(other[0], _PARTS)
            raise SearchError(f"a prompt has {', '.join(_PARTS)}, and no {other[0]}{near}")
        return self._tried.value(self._tried.try_prompt(self._tried.proposals.prompt(**prompt)))

    def verdict(self) -> ClaimRecord:
        """End the search, and judge its best prompt as what was searched allows.

        All prompts are judged that the search was told of, in earlier runs too. The ledger counts
        that as a look. To go on afterwards, begin the search again; the next verdict is a further
        look, and counts what this one told.

        Returns
        -------
        ClaimRecord
            As a claim of the suite has it; `searched` says which rule was used. The test set stays
            closed: see `open_test`.

        Raises
        ------
        SearchError
            If no prompt was tried.
        """
        with self._tried.lock:
            self._record = self._judged(self._tried.session)
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
        planned = self._tried.planned
        if not planned.condition.test:
            raise SearchError(
                f"{self._path}: the task {planned.task} has no test set to open; set one aside "
                "before a search begins (`test: {fraction: 0.25}`)"
            )
        with self._tried.lock:
            self._record = self._judged(dataclasses.replace(self._tried.session, no_test=False))
        return self._record

    def publish(self) -> int:
        """Let anybody read what the search found: its results are added to the ledger.

        With `none`, `accept` and `improved` they are withheld until then. Afterwards no search on
        these examples is told less than everything, this one included.

        Returns
        -------
        int
            How many results are new in the ledger.

        Raises
        ------
        SearchError
            If the ledger cannot be written to.
        """
        with self._tried.lock:
            return self._tried.close_search()

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
        save(self._record, file_of("report", path))

    def _judged(self, session: SessionState) -> ClaimRecord:
        tried = self._tried
        tried.check_open()
        answers = tried.all()
        lost = self.t - len(answers)
        again = "try them again, which costs nothing, since the ledger has counted them"
        if not answers and lost:
            raise SearchError(
                f"there is nothing to judge: the store {session.results} does not know the {lost} "
                f"prompts that were tried; {again}"
            )
        if not answers:
            raise SearchError("there is nothing to judge: no prompt was tried")
        tried.end()
        planned = tried.with_prompts([each.prompt for each in answers])
        evaluation = Evaluation(planned, ClaimsOfRun([planned]), session)
        result, _ = evaluation.run(_silent)
        if lost:
            result = result.noted(Remark("prompts_not_judged", {"prompts": lost, "of": self.t}))
        if self.feedback in WITHHELD:
            # Its line says what the verdict tells; those of the others wait for `publish`.
            tried.publish([answers[result.best]])
            result = _of_best_alone(result).noted(Remark("scores_withheld"))
        record = result.record(planned.record(f"{self._path}::{planned.name}", str(self._path)))
        assert record.prompts is not None
        record.prompts = dataclasses.replace(record.prompts, proposed_by=tried.by)
        record.warnings = list(dict.fromkeys((*record.warnings, *evaluation.warnings)))
        word(record)
        record.outcome = "passed" if record.passed else "failed"
        if record.cannot_tell is not None:
            record.outcome = "cannot tell"
        return record

    @property
    def outlook(self) -> Outlook:
        """What the budget can still show; to be read before the first try.

        With all earlier searches on these examples, and the results of others in the ledger.
        """
        tried, ledger, budget = self._tried, self._tried.ledger, self._tried.budget
        with tried.lock:
            ledger.refresh()
        steps = max(1, self.t, budget or 0)
        own = tried.by, Searched(self.feedback, steps, self.n, budget)
        others = {key: each for key, each in ledger.searches.items() if key != tried.name}
        known = ledger.tries(tried.subject)
        counted = ledger.tries() if tried.planned.counted == "task" else known
        t = tried.planned.claim.tried(len(counted) + steps - self.t)
        t -= len(known & told_of(ledger.searches))
        if self.feedback != "none":
            t -= steps - self.t
        seen, looks = told_besides(tried.planned, ledger, tried.subject)
        told = found_in(ledger.searches)
        more = steps - self.t - 1 if self.feedback != "none" else 0
        further = likely_better(steps, self.t)
        likely = Found(told.before + max(0, more), told.better + further)
        searches = [*searches_of(others), own]
        found, alone = (
            most_judged_as(tried.planned, t, searches, looks, each, likely) for each in (seen, [])
        )
        if found.decided_by == "test" and ledger.has_told_of(tried.planned.condition.test):
            found = dataclasses.replace(found, decided_by="nothing")
        counts = any(one.feedback in CLIMBS for _, one in searches)
        better = likely.better if counts else None
        return Outlook.of(tried.planned, found, alone, steps, better)


def file_of(what: str, path: str | PathLike[str]) -> Path:
    """Return the path of a file that is given.

    Raises
    ------
    SearchError
        If it is none.
    """
    try:
        return Path(path)
    except TypeError:
        raise SearchError(f"{what}: found {path!r}, expected the name of a file") from None


def _of_best_alone(result: Result) -> Result:
    """Leave out what a verdict is not counted for: it tells of the best prompt, and of no other."""
    new, best, beside = result.new_questions, result.best_prompt, result.incumbent
    return dataclasses.replace(
        result,
        answers=None,
        best_prompt=best and dataclasses.replace(best, tied_with=0),
        incumbent=beside and dataclasses.replace(beside, candidates=1, alike=[]),
        correct_counts=[],
        ties=None,
        shortcuts=None,
        new_questions=None if new is None else dataclasses.replace(new, estimate=None),
    )


def _silent(done: int, total: int, computed: int = 0) -> None:
    """Tell nothing of how far one prompt is."""
