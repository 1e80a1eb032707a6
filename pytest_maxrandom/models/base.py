"""What computes answers: texts go in, and log-likelihoods come out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_maxrandom.record import Arithmetic
    from pytest_maxrandom.tasks.task import Example

Engine = Literal["auto", "packed", "rows", "plain"]

Span = Literal["boundary", "paper"]


@dataclass(frozen=True, slots=True)
class Score:
    """What a model says of one answer.

    Attributes
    ----------
    log_likelihood : float
        Sum over the answer's tokens, in nats.
    tokens : int
        How many tokens that are.
    """

    log_likelihood: float
    tokens: int


@dataclass(frozen=True, slots=True)
class Question:
    """A text, and the continuations whose likelihoods after it are compared.

    Attributes
    ----------
    context : str
    answers : tuple of str
        At least one.
    example : Example, optional
        What is asked about. Errors name it, and questions about one example stay together; by what
        it holds only simulated models answer, which need no text.
    span : {"boundary", "paper"}
        What of a text is scored: all that depends on the continuation, or as many of its last
        tokens as the code of arXiv 2404.13020 takes.
    """

    context: str
    answers: tuple[str, ...]
    example: Example | None = None
    span: Span = "boundary"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model says of one question.

    Attributes
    ----------
    log_likelihoods : tuple of float
        Of each continuation: the sum over its tokens, in nats.
    tokens : tuple of int
        Of each continuation: how many tokens that are.
    fills_context : bool
        Whether a text is exactly as long as the model's context.
    """

    log_likelihoods: tuple[float, ...]
    tokens: tuple[int, ...]
    fills_context: bool = False


@dataclass(frozen=True, slots=True)
class Reply:
    """Answers to questions, in their order, and what they cost.

    Attributes
    ----------
    answers : tuple of Answer
    tokens_forwarded : int
        Tokens that went through the model, with all padding and repetition; the probes by which an
        engine is chosen are not counted.
    trie_nodes : int
        The least that any way of scoring forwards: distinct tokens in their distinct contexts, the
        last token of each text left out.
    """

    answers: tuple[Answer, ...]
    tokens_forwarded: int
    trie_nodes: int


class Model(Protocol):
    """A loaded language model.

    Attributes
    ----------
    device, dtype : str
        Where and in what precision it computes, for the report.
    asked_dtype : str or None
        The precision that was asked for, where it computes in another one.
    arithmetic : Arithmetic
        What computes its numbers.
    revision : str or None
        The commit that was loaded, where it is known.
    context_length : int or None
        The longest text in tokens; None where there is no limit.
    engine : str
        How texts are put through the model: "packed", "rows" or "plain".
    engine_reason : str or None
        Why that is not "packed".
    """

    device: str
    dtype: str
    asked_dtype: str | None
    arithmetic: Arithmetic
    revision: str | None
    context_length: int | None
    engine: str
    engine_reason: str | None

    @property
    def batch_tokens(self) -> int:
        """Tokens that go through the model at once."""
        ...

    def peak_memory(self) -> int | None:
        """Return the most bytes in use since it was loaded; None where that is not known."""
        ...

    def check(self, questions: Iterable[Question]) -> None:
        """Refuse what cannot be asked, as far as that is known before anything is computed.

        Raises
        ------
        PromptTooLong
            If a text does not fit the model's context; its sentence begins with the example.
        QuestionError
            If nothing stands before a continuation, or a continuation is nothing.
        """
        ...

    def ask(self, questions: Iterable[Question]) -> Reply:
        """Return how likely the continuations of each question are.

        The questions are those of one prompt: what their texts share may be computed once. They
        are taken as they are needed, so that memory need not grow with their number.

        Raises
        ------
        PromptTooLong, QuestionError
            As :meth:`check`.
        ScoreError
            If the model returns something that is not a number, or memory does not hold one text.
        """
        ...
