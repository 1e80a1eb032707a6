"""What a search is told of a prompt that it has tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from pytest_maxrandom.ledger.lines import Told
    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.tasks.task import Example

Reply: TypeAlias = "bool | float | list[Answered] | None"
"""What a search is told of a prompt: nothing (none), whether it is the best so far (accept), its
accuracy (score), or each answer (answers)."""


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer, for a search that is told of answers.

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
