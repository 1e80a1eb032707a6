"""A causal language model of Hugging Face transformers: what it says of texts, and writes."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.models import trie
from pytest_maxrandom.models.chat import ChatTemplate
from pytest_maxrandom.models.hf import arithmetic
from pytest_maxrandom.models.hf.devices import peak_of
from pytest_maxrandom.models.questions import Answer, Estimate, Question, Reply
from pytest_maxrandom.models.requests import Likelihoods, Request
from pytest_maxrandom.models.tokens import LocalTokens, TokenizedModel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pytest_maxrandom.models.hf.engines.choice import Engine
    from pytest_maxrandom.models.hf.generating import Generator

_ADDED = 8
"""Tokens that stand for no byte of the text, at most (beginning, SentencePiece's first space)."""


class CausalModel(TokenizedModel):
    """A loaded model; see :class:`pytest_maxrandom.models.base.Model`.

    Parameters
    ----------
    model, tokenizer
        Of transformers.
    device : str
        Where the model's inputs go.
    batch_tokens : int, optional
        Tokens per forward pass to begin with; by itself it starts from an estimate. Either is
        halved where memory does not hold it.
    engine : {"auto", "packed", "rows", "plain"}
        How texts are put through the model.
    chat : bool
        Whether prompts are put into the chat template.

    Raises
    ------
    ModelError
        If the model cannot take the engine that is asked for, or has no chat template.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        device: str,
        batch_tokens: int | None = None,
        engine: str = "auto",
        chat: bool = False,
    ) -> None:
        from pytest_maxrandom.models.hf.engines.choice import choose

        self._model = model
        self._tokens: LocalTokens = LocalTokens(tokenizer)
        self.device = device
        self.arithmetic = arithmetic.found(model)
        self.dtype = _name(arithmetic.computed(model))
        asked = _name(model.dtype)
        self.asked_dtype = None if asked == self.dtype else asked
        self.revision = getattr(model.config, "_commit_hash", None)
        text = model.config.get_text_config() if hasattr(model.config, "get_text_config") else None
        positions = getattr(text or model.config, "max_position_embeddings", None)
        self.context_length, self._limit = context_of(positions, tokenizer.model_max_length)
        self._choice = choose(model, device, engine, batch_tokens, self.context_length)
        name = getattr(model.config, "name_or_path", "") or "the model"
        self._template = ChatTemplate.of(tokenizer, name, "transformers") if chat else None
        self.engine = self._choice.engine.name
        self.engine_reason = self._choice.reason

    @property
    def batch_tokens(self) -> int:
        """Tokens that go through the model at once, as far as texts are shorter than that."""
        return self._choice.engine.budget.tokens

    def peak_memory(self) -> int | None:
        """Return the most bytes in use at any one time, on its GPUs or else by this process."""
        return peak_of(self.device)

    def check(self, questions: Iterable[Question]) -> None:
        """Refuse texts that do not fit the context; only those are encoded that perhaps do not.

        Raises
        ------
        PromptTooLong, QuestionError
        """
        if self.context_length is None:
            return
        # A token stands for at least one byte, but for the few that a tokenizer adds at the ends.
        around = sum(len(part.encode()) for part in self.chat or ())
        room = self.context_length - _ADDED - around
        super().check(question for question in questions if _bytes(question) > room)

    def _estimated(self, questions: Sequence[Question]) -> Estimate:
        """Return what asking takes, as long as memory holds what goes through the model at once."""
        if (how := questions[0].generation) is not None:
            prompts = self._prompts(questions)
            sizes = self._generator.sizes(prompts, how)
            apart = sum(map(len, prompts)) + len(prompts) * how.max_tokens
            passes = len(sizes) * how.max_tokens
            return Estimate(len(prompts), sum(sizes), apart, passes, at_most=True)
        requests = [request for row in self._fitting(questions) for request in row]
        sizes = [
            tokens
            for engine, indices, planned in self._ways(requests, trie.build(requests))
            for tokens in engine.passes([requests[index] for index in indices], planned)
        ]
        apart = sum(len(request.ids) - 1 for request in requests)
        return Estimate(len(requests), sum(sizes), apart, len(sizes))

    def _scored(self, questions: Sequence[Question]) -> Reply:
        rows = self._fitting(questions)
        found = self.score([request for row in rows for request in row])
        answers = self._answers(rows, found.log_likelihoods)
        return Reply(answers, found.tokens_forwarded, found.trie_nodes)

    def _written(self, questions: Sequence[Question]) -> Reply:
        """Generate the answers."""
        from pytest_maxrandom.models.hf.generating import Prompted

        how = questions[0].generation
        assert how is not None
        prompts = self._prompts(questions)
        seeds = [question.seed for question in questions]
        written = self._generator.write([*map(Prompted, prompts, seeds)], how)
        whole = [
            Request(ids + one.ids, len(ids)) for ids, one in zip(prompts, written, strict=True)
        ]
        return Reply(
            tuple(Answer((), (), text=one.text, finish=one.finish) for one in written),
            sum(one.tokens_forwarded for one in written),
            trie.build(whole).nodes,
        )

    @functools.cached_property
    def _generator(self) -> Generator:
        from pytest_maxrandom.models.hf.generating import Generator

        return Generator(
            self._model, self._tokens.tokenizer, self.device, self._choice.plain.budget
        )

    def score(self, requests: Sequence[Request]) -> Likelihoods:
        """Return the log-likelihood of each request's span, in nats.

        Texts that are too long for what is known of the engine go the plain way.

        Raises
        ------
        ScoreError
            If the model returns something that is not a number, or memory does not hold one text.
        """
        if not requests:
            return Likelihoods([])
        whole = trie.build(requests)
        likelihoods = Likelihoods([0.0] * len(requests), trie_nodes=whole.nodes)
        for engine, indices, planned in self._ways(requests, whole):
            part = engine.score([requests[index] for index in indices], planned)
            likelihoods.tokens_forwarded += part.tokens_forwarded
            for index, value in zip(indices, part.log_likelihoods, strict=True):
                likelihoods.log_likelihoods[index] = value
        return likelihoods

    def _ways(
        self, requests: Sequence[Request], whole: trie.Trie
    ) -> list[tuple[Engine, list[int], trie.Trie | None]]:
        """Return which requests take which engine, with their trie where that is known."""
        longest = max(len(request.ids) for request in requests)
        reach = self._choice.reach(longest, self.context_length)
        near = [i for i, request in enumerate(requests) if not reach or len(request.ids) <= reach]
        far = sorted(set(range(len(requests))) - set(near))
        ways = ((self._choice.engine, near), (self._choice.plain, far))
        return [(engine, own, None if far else whole) for engine, own in ways if own]


def _bytes(question: Question) -> int:
    asked = question.generation
    added = max(len(answer.encode()) for answer in question.answers)
    return len(question.context.encode()) + (added if asked is None else asked.max_tokens)


def _name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def context_of(positions: object, tokenizer: object) -> tuple[int | None, str]:
    """Return the smaller of what a model's configuration and its tokenizer state, and which it is.

    Parameters
    ----------
    positions, tokenizer : object
        ``max_position_embeddings`` and ``model_max_length``, as they stand in the files.
    """
    stated = {
        "the model's context": positions,
        "the model's context (`model_max_length` of its tokenizer)": tokenizer,
    }
    # A tokenizer without a limit says int(1e30).
    limits = {
        said: int(value)
        for said, value in stated.items()
        if isinstance(value, int | float) and 0 < value < 1e9
    }
    said = min(limits, key=lambda one: limits[one], default="the model's context")
    return limits.get(said), said
