"""What a sweep yields: every prompt's log-likelihoods and answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ScoreError
from pytest_maxrandom.sweeps.scorers import SCORERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.models.base import Answer
    from pytest_maxrandom.prompts.formats import Prompt
    from pytest_maxrandom.suite.spec import Scoring
    from pytest_maxrandom.tasks.task import Example


@dataclass(frozen=True, slots=True)
class PromptPredictions:
    """One prompt's answers to its n examples.

    Attributes
    ----------
    examples : tuple of Example
        What the prompt was scored on.
    log_likelihoods : tuple of tuple of float
        Per example and choice: the sum over the answer's tokens, in nats.
    tokens : tuple of tuple of int
        Per example and choice: the number of those tokens.
    chosen : tuple of int
        Per example: the index of the answer.
    ties : int
        How many were decided by lot between equal scores.
    margins : tuple of float
        Per example: by how much the best score is above the second, in the score's own unit
        (nats, nats per token or per character); 0 for a tie.
    """

    prompt: Prompt
    examples: tuple[Example, ...]
    log_likelihoods: tuple[tuple[float, ...], ...]
    tokens: tuple[tuple[int, ...], ...]
    chosen: tuple[int, ...]
    ties: int
    margins: tuple[float, ...]

    @property
    def correct(self) -> int:
        """How many answers are right."""
        pairs = zip(self.chosen, self.examples, strict=True)
        return sum(choice in example.right for choice, example in pairs)


@dataclass(frozen=True, slots=True)
class Predictions:
    """The predictions of t prompts, in the order of the sweep."""

    prompts: tuple[PromptPredictions, ...]

    @property
    def correct_counts(self) -> list[int]:
        """Right answers of each prompt."""
        return [prompt.correct for prompt in self.prompts]


def predict(
    prompt: Prompt,
    examples: Sequence[Example],
    answers: Sequence[Sequence[Answer]],
    scoring: Scoring,
) -> PromptPredictions:
    """Turn what a model says into answers, as the scorer reads it.

    Parameters
    ----------
    answers : sequence of n sequences of Answer
        Per example: one to each of the scorer's questions, or one that joins them.
    scoring : str
        Name of the scorer.
    """
    scorer = SCORERS[scoring]
    read = [
        scorer.answer(prompt, example, own) for example, own in zip(examples, answers, strict=True)
    ]
    chosen = [one.chosen for one in read if one.chosen is not None]
    if len(chosen) < len(read):
        raise ScoreError(f"the scorer `{scoring}` chose nothing for some of {len(read)} examples")
    return PromptPredictions(
        prompt=prompt,
        examples=tuple(examples),
        log_likelihoods=tuple(
            tuple(value for one in own for value in one.log_likelihoods) for own in answers
        ),
        tokens=tuple(tuple(count for one in own for count in one.tokens) for own in answers),
        chosen=tuple(chosen),
        ties=sum(one.tied for one in read),
        margins=tuple(one.margin for one in read),
    )


def together(one: Predictions, other: Predictions) -> Predictions:
    """Join the predictions of the same prompts on different presentations of their examples.

    Raises
    ------
    ValueError
        If the prompts differ.
    """
    pairs = zip(one.prompts, other.prompts, strict=True)
    return Predictions(tuple(_joined(first, second) for first, second in pairs))


def _joined(one: PromptPredictions, other: PromptPredictions) -> PromptPredictions:
    if one.prompt != other.prompt:
        raise ValueError(
            f"predictions of different prompts: {one.prompt.digest[:8]} and "
            f"{other.prompt.digest[:8]}"
        )
    return PromptPredictions(
        prompt=one.prompt,
        examples=one.examples + other.examples,
        log_likelihoods=one.log_likelihoods + other.log_likelihoods,
        tokens=one.tokens + other.tokens,
        chosen=one.chosen + other.chosen,
        ties=one.ties + other.ties,
        margins=one.margins + other.margins,
    )
