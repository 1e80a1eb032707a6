"""Texts that are longer than a model holds, found before it is loaded."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import PromptTooLong
from pytest_maxrandom.notation import count
from pytest_maxrandom.sweeps.scorers import SCORERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.models.base import Lengths
    from pytest_maxrandom.models.questions import Question
    from pytest_maxrandom.sweeps.executor import Job

_ADDED = 8
"""Tokens that stand for no byte of a text, at most."""


def lengths_of(planned: PlannedClaim) -> Lengths | None:
    """Return how long texts of a claim may be; None where nothing on this machine tells.

    Raises
    ------
    ModelError
        If the model is nowhere, or cannot be read.
    """
    return planned.backends.lengths(planned.located)


def too_long(planned: PlannedClaim, known: Lengths) -> str | None:
    """Say how many texts of a claim its model cannot hold; None where all fit.

    Raises
    ------
    ModelError
        If the model has no tokenizer.
    """
    jobs = planned.jobs
    room = known.limit - _ADDED
    if _bound(jobs) <= room:
        return None
    pairs, longest, where = 0, 0, ""
    for job in jobs:
        asked = [(example.id, _longest(job, place)) for place, example in enumerate(job.examples)]
        near = [(name, question) for name, question in asked if _bytes(question) > room]
        lengths = known.tokens([_text(question) for _, question in near]) if near else []
        for (name, question), tokens in zip(near, lengths, strict=True):
            whole = tokens + (question.generation.max_tokens if question.generation else 0)
            pairs += whole > known.limit
            if whole > longest:
                longest, where = whole, f"prompt {job.place + 1} with example {name}"
    if not pairs:
        return None
    total = sum(len(job.examples) for job in jobs)
    return (
        f"{count(pairs)} of {count(total)} (prompt, example) pairs are longer than "
        f"{known.said}, which has {count(known.limit)} tokens (the longest has {count(longest)}: "
        f"{where}); text is never cut, so use fewer shots, shorter demonstrations or another model"
    )


@contextmanager
def counting_too_long(planned: PlannedClaim) -> Iterator[None]:
    """Say of a text that is too long how many of its claim's texts are.

    Raises
    ------
    PromptTooLong
        Where one is raised, with the number if it is known.
    """
    try:
        yield
    except PromptTooLong as error:
        known = lengths_of(planned)
        counted = None if known is None else too_long(planned, known)
        raise PromptTooLong(counted or str(error)) from None


def _bound(jobs: Sequence[Job]) -> int:
    """Return a number of bytes that no text of some jobs exceeds.

    In one format a text is what stands before its example and what the example adds, so the longest
    of each suffice.
    """
    first = jobs[0].examples[0]
    heads, tails = 0, 0
    formats = {job.prompt.format: job for job in jobs}
    for job in jobs:
        questions = SCORERS[job.scoring].questions(job.prompt, first)
        heads = max(heads, *map(_bytes, questions))
    for job in formats.values():
        tails = max(tails, *(_bytes(_longest(job, place)) for place in range(len(job.examples))))
    return heads + tails


def _longest(job: Job, place: int) -> Question:
    """Return the question about an example that has the longest text."""
    return max(SCORERS[job.scoring].questions(job.prompt, job.examples[place]), key=_bytes)


def _text(question: Question) -> str:
    if question.generation is not None:
        return question.context
    return question.context + max(question.answers, key=lambda answer: len(answer.encode()))


def _bytes(question: Question) -> int:
    written = 0 if question.generation is None else question.generation.max_tokens
    return len(_text(question).encode()) + written
