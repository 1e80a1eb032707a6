"""What is asked of a model, what it answers, and what asking costs."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from pytest_maxrandom.tasks.task import Example

Span = Literal["boundary", "paper"]
Finish = Literal["stop", "length", "refused"]
"""Why a generated text ends: the model or a stop text ended it, it was cut at its greatest length,
or the model refuses to answer."""


@dataclass(frozen=True, slots=True)
class Generation:
    """How an answer is generated."""

    max_tokens: int
    """Its length at most."""
    stop: tuple[str, ...] = ()
    """Texts at which it ends, which are not a part of it."""
    temperature: float = 0.0
    """0 takes the likeliest token each time. Above 0 tokens are drawn, and the same question is
    answered alike each time as far as the model allows that."""
    seed: int = 0
    sample: int = 0
    """Which of several answers it is, and the seed that a suite names: other numbers draw other
    tokens."""

    def stopped(self, text: str) -> str | None:
        """Return a text up to the first of the texts at which it ends; None if it has none."""
        places = [place for place in map(text.find, self.stop) if place >= 0]
        return text[: min(places)] if places else None


@dataclass(frozen=True, slots=True)
class Question:
    """A text, and the continuations whose likelihoods after it are compared."""

    context: str
    answers: tuple[str, ...]
    """At least one. Where an answer is generated, what it may be; only simulated models read
    that."""
    example: Example | None = None
    """What is asked about. Errors name it, and questions about one example stay together; by what
    it holds only simulated models answer, which need no text."""
    span: Span = "boundary"
    """What of a text is scored: all that depends on the continuation, or as many of its last tokens
    as the code of arXiv 2404.13020 takes."""
    generation: Generation | None = None
    """How an answer is generated, where no likelihood is asked for."""

    @property
    def requests(self) -> int:
        """How many continuations are scored, or texts written."""
        return len(self.answers) if self.generation is None else 1

    @property
    def seed(self) -> int:
        """From which tokens of a generated answer are drawn: the same for the same text.

        Each of several samples has one of its own; the first has that of a single answer.
        """
        how, named = self.generation, self.context
        if how is not None and (how.seed or how.sample):
            named = f"{how.seed}\0{how.sample}\0{named}"
        raw = hashlib.sha256(named.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(raw[:4]) >> 1


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model says of one question."""

    log_likelihoods: tuple[float, ...]
    """Of each continuation: the sum over its tokens, in nats."""
    tokens: tuple[int, ...]
    """Of each continuation: how many tokens that are."""
    fills_context: bool = False
    """Whether a text is exactly as long as the model's context."""
    text: str | None = None
    """What was generated; there are no likelihoods and tokens then."""
    finish: Finish | None = None
    """Why that ends."""

    def __reduce__(self) -> tuple[type[Answer], tuple[object, ...]]:
        """Travel as a call: thousands come from other machines every second."""
        return Answer, (
            self.log_likelihoods,
            self.tokens,
            self.fills_context,
            self.text,
            self.finish,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """Answers to questions, in their order, and what they cost."""

    answers: tuple[Answer, ...]
    tokens_forwarded: int
    """Tokens that went through the model, with all padding and repetition; the probes by which an
    engine is chosen are not counted."""
    trie_nodes: int
    """The least that any way of scoring forwards: distinct tokens in their distinct contexts, the
    last token of each text left out."""
    tokens_cached: int | None = 0
    """Tokens that a server was sent and had kept from before; None where it does not tell, and then
    `tokens_forwarded` is what it computed at most."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What asking questions takes, before they are asked."""

    requests: int
    """Continuations that are scored, or texts that are written."""
    tokens: int | None = None
    """Tokens that go through the model, as :class:`Reply` counts them; None where that is not
    known."""
    apart: int | None = None
    """Tokens of all texts if each were read by itself, without its last token."""
    forwards: int | None = None
    """Passes through the network; None where it is not at hand."""
    at_most: bool = False
    """Whether it may be less, because nobody knows how long an answer is that is not written
    yet."""

    def __add__(self, other: Estimate) -> Estimate:
        """Return what both take."""
        return Estimate(
            self.requests + other.requests,
            both(self.tokens, other.tokens),
            both(self.apart, other.apart),
            both(self.forwards, other.forwards),
            self.at_most or other.at_most,
        )


def both(one: int | None, two: int | None) -> int | None:
    """Add what is known of both; None where one of them is not known."""
    return None if one is None or two is None else one + two
