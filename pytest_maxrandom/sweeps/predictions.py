"""What a sweep yields: every prompt's log-likelihoods and answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from pytest_maxrandom.errors import ScoreError
from pytest_maxrandom.stats.seeding import Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.models.base import Score
    from pytest_maxrandom.prompts.prompt import Prompt
    from pytest_maxrandom.tasks.task import Example

Scoring = Literal["mean_logprob", "sum_logprob", "char_logprob", "paper", "counterfactual"]


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
    correct : int
        How many answers are right.
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
    correct: int
    ties: int
    margins: tuple[float, ...]


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
    scores: Sequence[Sequence[Score]],
    scoring: Scoring,
) -> PromptPredictions:
    """Turn scores into answers: the choice with the highest score.

    Equal scores are decided by a lot that depends on the prompt and the example as it is shown,
    never on where in the file a choice stands: where the right choice often stands first, "the
    first wins" would make a model that scores all choices alike look knowing.

    Parameters
    ----------
    scores : sequence of n sequences of Score
        Per example and choice.
    scoring : str
        "mean_logprob": log-likelihood per token (arXiv 2404.13020); "sum_logprob": in total;
        "char_logprob": per character of the choice; "paper": per token as "mean_logprob", of the
        span that the paper's own code takes, which the requests were made with; "counterfactual":
        in total, of the continuation that all choices share.
    """
    chosen, ties, margins = [], 0, []
    for example, row in zip(examples, scores, strict=True):
        answers = prompt.format.answers(example)
        values = [_value(score, text, scoring) for score, text in zip(row, answers, strict=True)]
        top = max(values)
        equal = [index for index, value in enumerate(values) if value == top]
        if len(equal) > 1:
            ties += 1
        margins.append(_margin(values))
        shown = example.order or ()
        chosen.append(equal[Stream("tie", prompt.digest, example.id, *shown).below(len(equal))])
    correct = sum(choice in ex.right for choice, ex in zip(chosen, examples, strict=True))
    return PromptPredictions(
        prompt=prompt,
        examples=tuple(examples),
        log_likelihoods=tuple(tuple(score.log_likelihood for score in row) for row in scores),
        tokens=tuple(tuple(score.tokens for score in row) for row in scores),
        chosen=tuple(chosen),
        correct=correct,
        ties=ties,
        margins=tuple(margins),
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
        correct=one.correct + other.correct,
        ties=one.ties + other.ties,
        margins=one.margins + other.margins,
    )


def _margin(values: Sequence[float]) -> float:
    second, top = sorted(values)[-2:]
    return 0.0 if top == second else top - second  # both may be minus infinity


def _value(score: Score, answer: str, scoring: Scoring) -> float:
    if math.isnan(score.log_likelihood):
        raise ScoreError(f"the log-likelihood of the answer {answer!r} is no number (NaN)")
    if scoring in ("sum_logprob", "counterfactual"):
        return score.log_likelihood
    return score.log_likelihood / (len(answer) if scoring == "char_logprob" else score.tokens)
