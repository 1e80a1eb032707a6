"""What a search is told: what it can still show, of each prompt it tried, and in the end of all."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Literal, TypeAlias

from pytest_maxrandom.claims.needed import likely_more, needed, surplus_needed
from pytest_maxrandom.errors import ReportError, SearchError
from pytest_maxrandom.notation import count
from pytest_maxrandom.record import ClaimRecord, RunRecord, Searched, Unpassable
from pytest_maxrandom.reports.rendering import markdown
from pytest_maxrandom.reports.results import dump
from pytest_maxrandom.reports.searches import (
    prompts_in_words,
    results_in_sight,
    why_nothing_passes,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.ledger.lines import Told
    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.tasks.task import Example

Reply: TypeAlias = "bool | float | list[Answered] | None"
"""The reply to a search on a prompt: nothing (none), whether it is the best so far (accept), its
accuracy if it is (improved) or always (score), or each answer (answers)."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """What the best prompt of a search must reach."""

    steps: int
    """Distinct prompts that it will have been told of."""
    better: int | None
    """Prompts before the best one that are better than all before them, as far as is likely; None
    where they do not count."""
    prompts: float | None
    """As the best of which the best one is judged then, other searches on these examples included;
    None where no number is known."""
    critical_count: int | None
    """Fewest right answers that pass, where the best prompt gives each label as often as it is
    right; None where none do."""
    or_more: bool
    """Whether a prompt that prefers the commonest label needs more."""
    beside: tuple[int, int] | None
    """How many more right answers than the incumbent's pass: where the incumbent alone is right on
    no example, and where one of the two alone is right on each. None where that is not claimed, not
    known, or no number passes."""
    n: int
    """Examples."""
    in_sight: int
    """Other results on these examples that the ledger shows, such as those of a suite: one for each
    prompt on each model. Each counts as a prompt of which the search is told how many answers are
    right."""
    without: int | None
    """What `critical_count` would be without these; None where no number passes then either."""
    decided_by: Literal["validation", "test", "nothing"]
    """validation; test, where no result on the validation set can pass; or nothing, where there is
    no test set that nobody was told of either."""
    why: Unpassable | None
    """Why no result on the validation set can pass."""

    @classmethod
    def of(
        cls,
        planned: PlannedClaim,
        found: Searched,
        alone: Searched,
        steps: int,
        better: int | None,
    ) -> Outlook:
        """Return the outlook of a search that will have been told of so many steps.

        `alone` is how it would be judged if the ledger showed no result.
        """
        critical, without = (
            needed(planned, int(each.possible)) if each.why is None and each.possible else None
            for each in (found, alone)
        )
        beside = None
        if found.why is None and found.possible:
            beside = surplus_needed(planned, int(found.possible), tree=found.learned)
        return cls(
            steps=steps,
            better=better,
            prompts=found.possible,
            critical_count=critical,
            or_more=critical is not None and likely_more(planned),
            beside=beside,
            n=planned.condition.prompt_set.n,
            in_sight=found.in_sight,
            without=without,
            decided_by=found.decided_by,
            why=found.why,
        )

    def __str__(self) -> str:
        if not self.in_sight:
            return self._needed()
        without = "" if self.without is None else f"; without them {self.without}/{self.n} would do"
        return (
            f"{self._needed()}; this counts {results_in_sight(self.in_sight)} as told to the search"
            f"{without}: search on examples that no suite has scored, and next time before a suite "
            "is run"
        )

    def _needed(self) -> str:
        if self.why is not None:
            ways = {
                "test": "only the test set decides",
                "nothing": "set a test set aside first (`test: {fraction: 0.25}`), of examples "
                "that no suite or search has scored a prompt on",
                "validation": "",
            }
            depends = self.better is not None and self.why in ("permutations", "too_many")
            likely = f"if {_tries(self.better)} before the best one improved, " if depends else ""
            return f"{likely}{why_nothing_passes(self.why, self.n)}; {ways[self.decided_by]}"
        counted = (
            f"after {_tries(self.steps)} it is judged as the best of "
            f"{prompts_in_words(self.prompts)}"
        )
        wanted = []
        if self.critical_count is not None:
            share = self.critical_count / self.n
            wanted.append(f"{self.critical_count}/{self.n} = {share:.3f} is needed")
        if self.beside is not None:
            least, most = self.beside
            wanted.append(
                f"{least} to {most} right answers more than the incumbent's are needed, the more, "
                "the more often the two differ"
            )
        if not wanted:
            return counted
        likely = (
            "" if self.better is None else f" if at most {_tries(self.better)} before it improved"
        )
        more = ", or more if the prompt prefers the commonest label" * self.or_more
        return f"{', and '.join(wanted)}{likely}{more}; {counted}"


def _tries(number: int | None) -> str:
    return "1 try" if number == 1 else f"{count(number or 0)} tries"


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer, for a search that learns of answers."""

    id: str
    """The example's."""
    input: str
    """Its question."""
    choices: tuple[str, ...]
    """What can be answered."""
    chosen: str | None
    """What the model answered; None where that could not be read."""
    right: tuple[str, ...]
    """What is right."""
    correct: bool
    """Whether the answer is one of these."""

    @classmethod
    def of(cls, example: Example, place: int | None) -> Answered:
        """Return the answer that stands at a place among the example's choices."""
        return cls(
            id=example.id,
            input=example.input,
            choices=example.choices,
            chosen=None if place is None else example.choices[place],
            right=tuple(example.choices[index] for index in example.right),
            correct=place in example.right,
        )


def reply(found: PromptPredictions, told: Told) -> Reply:
    """Return of a prompt's answers what the ledger says that its search was told."""
    match told.feedback:
        case "accept":
            return bool(told.accepted)
        case "improved" | "score":
            return None if told.correct is None else told.correct / told.n
        case "answers":
            pairs = zip(found.examples, found.chosen, strict=True)
            return [Answered.of(example, place) for example, place in pairs]
    return None


def as_number(told: Reply, better: int = 0) -> float:
    """Return a reply as a number to maximize; 0 where the search learns nothing.

    `better` is how many prompts until then, this one included, were each the best so far. Where
    that is the reply, the k-th of them has k / (k + 1), so that the last one has the highest
    number.
    """
    if isinstance(told, list):
        return sum(each.correct for each in told) / len(told)
    if told is True:
        return better / (better + 1)
    return float(told or 0)


def save(record: ClaimRecord, file: Path) -> None:
    """Write the verdict on a search as a report.

    Raises
    ------
    SearchError
        If the name says neither Markdown nor JSON.
    ReportError
        If it cannot be written.
    """
    if file.suffix not in (".md", ".json"):
        raise SearchError(f"report: found {file.name}, expected a name with .md or .json")
    name = "pytest-maxrandom"
    versions = {"python": platform.python_version(), name: version(name)}
    if record.engine and record.engine.arithmetic:
        versions |= record.engine.arithmetic.versions
    now = datetime.now(UTC).isoformat(timespec="seconds")
    run = RunRecord([record], now, versions, adjustment="none")
    text = dump(run) if file.suffix == ".json" else markdown(run)
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ReportError(f"{file}: cannot be written: {error.strerror}") from error
