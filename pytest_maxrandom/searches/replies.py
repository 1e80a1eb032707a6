"""Replies to a search: on a prompt that it has tried, and in the end on all of them."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, TypeAlias

from pytest_maxrandom.errors import ReportError, SearchError
from pytest_maxrandom.record import RunRecord
from pytest_maxrandom.reports.rendering import markdown
from pytest_maxrandom.reports.results import dump

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.ledger.lines import Told
    from pytest_maxrandom.record import ClaimRecord
    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.tasks.task import Example

Reply: TypeAlias = "bool | float | list[Answered] | None"
"""The reply to a search on a prompt: nothing (none), whether it is the best so far (accept), its
accuracy (score), or each answer (answers)."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer, for a search that learns of answers.

    Attributes
    ----------
    id : str
        The example's.
    input : str
        Its question.
    choices : tuple of str
        What can be answered.
    chosen : str or None
        What the model answered; None where that could not be read.
    right : tuple of str
        What is right.
    correct : bool
        Whether the answer is one of these.
    """

    id: str
    input: str
    choices: tuple[str, ...]
    chosen: str | None
    right: tuple[str, ...]
    correct: bool

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
        case "score":
            return told.correct / told.n
        case "answers":
            pairs = zip(found.examples, found.chosen, strict=True)
            return [Answered.of(example, place) for example, place in pairs]
    return None


def as_number(told: Reply) -> float:
    """Return a reply as a number to maximize; 0 where the search learns nothing."""
    if isinstance(told, list):
        return sum(each.correct for each in told) / len(told)
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
