"""Texts as tokens: tokenizers, and models whose texts become tokens here."""

from __future__ import annotations

import functools
from abc import abstractmethod
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models import trie
from pytest_maxrandom.models.base import Model
from pytest_maxrandom.models.questions import Answer, Estimate, Question, Reply, both
from pytest_maxrandom.models.requests import Request, encode, encode_prompts, fit, in_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_maxrandom.models.chat import ChatTemplate


class Tokens(Protocol):
    """Turns texts into tokens."""

    @property
    def beginning(self) -> int | None:
        """What stands before a text that has nothing else in front of the answer."""

    def encode(self, texts: Sequence[str], *, bare: bool = False) -> list[list[int]]:
        """Return the tokens of each text, with what the tokenizer puts in front, not at the end.

        Parameters
        ----------
        bare : bool
            Whether it puts nothing in front, because a chat template has written that.
        """


class LocalTokens:
    """The tokens of a tokenizer of transformers."""

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer

    @classmethod
    def load(cls, name: str, location: str) -> LocalTokens:
        """Load a tokenizer from a folder or the hub.

        Parameters
        ----------
        name : str
            What messages call it.

        Raises
        ------
        ModelError
            If there is none.
        """
        from transformers import AutoTokenizer

        try:
            # Else it asks on the terminal whether a tokenizer's own code may run.
            return cls(AutoTokenizer.from_pretrained(location, trust_remote_code=False))
        except Exception as error:  # whatever a loader raises
            reason = " ".join(str(error).split())
            raise ModelError(f"the tokenizer {name} cannot be loaded: {reason}") from error

    @property
    def beginning(self) -> int | None:
        """What stands before a text that has nothing else in front of the answer."""
        known = (self.tokenizer.bos_token_id, self.tokenizer.eos_token_id)
        return next((token for token in known if token is not None), None)

    def encode(self, texts: Sequence[str], *, bare: bool = False) -> list[list[int]]:
        """Return the tokens of each text; see :class:`Tokens`."""
        # A text that is too long is refused by name, so the tokenizer need not warn of it.
        encoded = self.tokenizer(
            list(texts), return_attention_mask=False, verbose=False, add_special_tokens=not bare
        )
        closing = 0 if bare else self._closing
        return [ids[: len(ids) - closing] for ids in encoded.input_ids]

    @functools.cached_property
    def _closing(self) -> int:
        """How many tokens the tokenizer adds at the end of a text, where the answer goes on."""
        special = self.tokenizer("a", return_special_tokens_mask=True).special_tokens_mask
        return int(special[::-1].index(0))

    def decode(self, ids: Sequence[int]) -> str:
        """Return a text without the tokens that stand for none."""
        return str(self.tokenizer.decode(ids, skip_special_tokens=True))


class TokenizedModel(Model):
    """A model whose texts become tokens in this process; it writes `_scored` and `_written`."""

    generates = True
    _tokens: Tokens | None
    _template: ChatTemplate | None = None
    _limit = "the model's context"
    """What messages call the limit of a text's length."""

    @property
    def chat(self) -> tuple[str, str] | None:
        """What stands before and after a prompt; None where it stands alone, or is not known."""
        return None if self._template is None else (self._template.before, self._template.after)

    def check(self, questions: Iterable[Question]) -> None:
        """Refuse texts that do not fit the context."""
        for part in in_parts(questions):
            if part[0].generation is None:
                self._fitting(part)
            else:
                self._prompts(part)

    def ask(self, questions: Iterable[Question]) -> Reply:
        """Return the log-likelihoods of each question's continuations in nats, or what is written.

        Raises
        ------
        PromptTooLong, QuestionError, ScoreError
        """
        answers: list[Answer] = []
        forwarded = nodes = 0
        cached: int | None = 0
        for part in in_parts(questions):
            reply = self._scored(part) if part[0].generation is None else self._written(part)
            answers += reply.answers
            forwarded += reply.tokens_forwarded
            nodes += reply.trie_nodes
            cached = both(cached, reply.tokens_cached)
        return Reply(tuple(answers), forwarded, nodes, cached)

    def estimate(self, questions: Iterable[Question]) -> Estimate:
        """Return what asking takes.

        Raises
        ------
        PromptTooLong, QuestionError
        """
        return sum(map(self._estimated, in_parts(questions)), Estimate(0, 0, 0, 0))

    def encode(self, questions: Sequence[Question]) -> list[tuple[Request, ...]]:
        """Tokenize each question with each of its continuations.

        Raises
        ------
        QuestionError
        """
        if self._template is not None:
            around = self._template.around
            questions = [replace(each, context=around(each.context)) for each in questions]
        return encode(questions, *self._tokenizing)

    @abstractmethod
    def _scored(self, questions: Sequence[Question]) -> Reply:
        """Return the log-likelihoods of continuations."""

    @abstractmethod
    def _written(self, questions: Sequence[Question]) -> Reply:
        """Generate the answers."""

    def _estimated(self, questions: Sequence[Question]) -> Estimate:
        """Return what asking takes where what texts share is read once."""
        how = questions[0].generation
        if how is None:
            requests = [request for row in self._fitting(questions) for request in row]
        else:
            more = (0,) * how.max_tokens
            requests = [Request((*ids, *more), 1) for ids in self._prompts(questions)]
        apart = sum(len(request.ids) - 1 for request in requests)
        nodes = trie.build(requests).nodes
        return Estimate(len(requests), nodes, apart, at_most=how is not None)

    def _fitting(self, questions: Sequence[Question]) -> list[tuple[Request, ...]]:
        """Return the requests of each question, and refuse what is too long."""
        rows = self.encode(questions)
        for question, row in zip(questions, rows, strict=True):
            longest = max(len(request.ids) for request in row)
            fit(question, longest, self.context_length, self._limit)
        return rows

    def _prompts(self, questions: Sequence[Question]) -> list[tuple[int, ...]]:
        """Return the texts after which answers are generated, and refuse what is too long."""
        around = None if self._template is None else self._template.around
        found = encode_prompts(questions, *self._tokenizing, around)
        for question, ids in zip(questions, found, strict=True):
            fit(question, len(ids), self.context_length, self._limit)
        return found

    @property
    def _tokenizing(self) -> tuple[Callable[[Sequence[str]], list[list[int]]], int | None]:
        """Return what makes tokens of texts, and the token before a text without another."""
        assert self._tokens is not None
        bare = self._template is not None
        return functools.partial(self._tokens.encode, bare=bare), self._tokens.beginning

    def _answers(
        self, rows: Sequence[Sequence[Request]], values: Iterable[float]
    ) -> tuple[Answer, ...]:
        """Return the answer to each question, from the log-likelihoods of all of its requests."""
        rest = iter(values)
        return tuple(
            Answer(
                tuple(islice(rest, len(row))),
                tuple(len(request.ids) - request.start for request in row),
                fills_context=max(len(request.ids) for request in row) == self.context_length,
            )
            for row in rows
        )
