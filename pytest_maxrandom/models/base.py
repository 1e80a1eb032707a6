"""What a sweep needs of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.models.requests import Question, Request, Span
    from pytest_maxrandom.record import Arithmetic

Engine = Literal["auto", "packed", "rows", "plain"]


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
class Scored:
    """Scores of a list of requests, in their order, and what they cost.

    Attributes
    ----------
    scores : tuple of Score
    tokens_forwarded : int
        Tokens that went through the model, with all padding and repetition; the probes by which an
        engine is chosen are not counted.
    trie_nodes : int
        The least that any way of scoring forwards: distinct tokens in their distinct contexts, the
        last token of each text left out.
    """

    scores: tuple[Score, ...]
    tokens_forwarded: int
    trie_nodes: int


class Model(Protocol):
    """A causal language model with its tokenizer.

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
        """Return the most bytes in use on accelerators at any one time; None without one."""
        ...

    def encode(
        self, questions: Sequence[Question], span: Span = "boundary"
    ) -> list[tuple[Request, ...]]:
        """Tokenize each question with each of its answers."""
        ...

    def score(self, requests: Sequence[Request]) -> Scored:
        """Return the log-likelihood of each request's answer."""
        ...
