"""What a model is asked: a prompt with its examples, in tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.errors import PromptTooLong, SweepError
from pytest_maxrandom.models.requests import Question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.models.base import Model
    from pytest_maxrandom.models.requests import Request
    from pytest_maxrandom.prompts.prompt import Prompt
    from pytest_maxrandom.sweeps.predictions import Scoring
    from pytest_maxrandom.tasks.task import Example

    Work = Sequence[tuple[Prompt, Sequence[Example]]]

AT_ONCE = 1000
"""Examples in one call of the model, at most, so that memory does not grow with n."""
_ADDED = 8
"""Tokens that stand for no byte of the text, at most (beginning, SentencePiece's first space)."""


def check_lengths(work: Work, missing: Sequence[int], model: Model, scoring: Scoring) -> None:
    """Refuse what does not fit the model's context, before anything is scored."""
    for number in missing:
        prompt, examples = work[number]
        doubtful = _perhaps_too_long(prompt, examples, model)
        for start in range(0, len(doubtful), AT_ONCE):
            encoded(number, prompt, doubtful[start : start + AT_ONCE], model, scoring)


def _perhaps_too_long(prompt: Prompt, examples: Sequence[Example], model: Model) -> list[Example]:
    """Return the examples that must be encoded to know whether they fit the context.

    A token stands for at least one byte, but for the few that a tokenizer adds at the ends.
    """
    limit = model.context_length
    if limit is None:
        return []
    room = limit - _ADDED - len(prompt.text.encode())
    return [
        example
        for example in examples
        if len(prompt.format.question(example).encode()) + _longest_answer(prompt, example) > room
    ]


def _longest_answer(prompt: Prompt, example: Example) -> int:
    after = prompt.format.counterfactual
    stated = len((after.statement + after.continuation).encode()) if after else 0
    return stated + max(len(answer.encode()) for answer in prompt.format.answers(example))


def _questions(prompt: Prompt, example: Example) -> list[Question]:
    """Return what is asked: all answers after one text, or one continuation after each answer."""
    context, answers = prompt.context(example), prompt.format.answers(example)
    after = prompt.format.counterfactual
    if after is None:
        return [Question(context, answers)]
    stated = (context + answer + after.statement for answer in answers)
    return [Question(text, (after.continuation,)) for text in stated]


def encoded(
    number: int, prompt: Prompt, examples: Sequence[Example], model: Model, scoring: Scoring
) -> list[tuple[Request, ...]]:
    """Return each example in tokens, with all its answers.

    Raises
    ------
    PromptTooLong
        If a text does not fit the model's context.
    SweepError
        If no token stands before an answer.
    """
    asked = [_questions(prompt, example) for example in examples]
    questions = [question for of_example in asked for question in of_example]
    where = f"prompt {number + 1} ({prompt.digest[:8]})"
    try:
        requests = iter(model.encode(questions, span="paper" if scoring == "paper" else "boundary"))
    except ValueError as error:
        raise SweepError(
            f"{where}: {error}; give the task an instruction, an input or an output prefix"
        ) from error
    rows = [
        tuple(request for _ in of_example for request in next(requests)) for of_example in asked
    ]
    limit = model.context_length
    for example, row in zip(examples, rows, strict=True):
        length = max(len(request.ids) for request in row)
        if limit is not None and length > limit:
            raise PromptTooLong(
                f"{where} with example {example.id} has {length} tokens, and the model's context "
                f"holds {limit}; use fewer shots, shorter demonstrations or another model (text is "
                "never cut)"
            )
    return rows
