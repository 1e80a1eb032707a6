"""A model behind a server: what is checked of it, and how it is asked."""

from __future__ import annotations

import functools
import importlib.util
from dataclasses import asdict, replace
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models import trie
from pytest_maxrandom.models.base import Model, Resources
from pytest_maxrandom.models.questions import Answer, Estimate, Reply
from pytest_maxrandom.models.requests import (
    Request,
    encode,
    encode_prompts,
    fit,
    in_parts,
    subject,
)
from pytest_maxrandom.models.served.dialects import OpenAI, OpenAIChat
from pytest_maxrandom.models.served.endpoint import Refused
from pytest_maxrandom.models.served.handshake import meet_writer, same_model, shake_hands
from pytest_maxrandom.models.served.serving import identity_of, same_server
from pytest_maxrandom.models.served.threads import spread
from pytest_maxrandom.models.served.tokens import LocalTokens, ServerTokens
from pytest_maxrandom.suite.models import ServedSpec, TransformersSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_maxrandom.models.questions import Question
    from pytest_maxrandom.models.served.dialects import Dialect, Read
    from pytest_maxrandom.models.served.endpoint import Endpoint
    from pytest_maxrandom.models.served.handshake import Checked
    from pytest_maxrandom.models.served.serving import Serving
    from pytest_maxrandom.models.served.tokens import Tokens
    from pytest_maxrandom.models.served.writing import Written

_SMALL = 2 * 2**30
"""Bytes of weights at most that are loaded on this machine only to compare a server with them."""


class ServedModel(Model):
    """A model behind a server; see :class:`pytest_maxrandom.models.base.Model`.

    Parameters
    ----------
    spec : ServedSpec
    at : Endpoint
    dialect : Dialect
    tokenizer : str, optional
        Folder or hub id of the tokenizer; the server's own if not given.
    generates : bool
        Whether it is to generate answers first: what only log-likelihoods need is then checked
        before any of these is asked for.

    Raises
    ------
    ModelError
        If the server does not serve the model, or does not pass a check.
    """

    serving: Serving
    engine_reason: str | None = None
    asked_dtype: str | None = None
    revision: str | None = None
    batch_tokens = 0
    generates = True

    def __init__(
        self,
        spec: ServedSpec,
        at: Endpoint,
        dialect: Dialect,
        tokenizer: str | None = None,
        *,
        generates: bool = False,
    ) -> None:
        self._at = at
        self._dialect = dialect
        self._concurrency = spec.concurrency
        self.serving = dialect.serving()
        self.device = f"{spec.backend} at {urlsplit(at.url).netloc}"
        self.dtype = "as served"
        self._chats = isinstance(dialect, OpenAIChat)
        self.engine = self._way(generates)
        self.arithmetic = identity_of(self.serving, chat=spec.chat).arithmetic
        self.context_length = self.serving.context_length
        self._tokens = None if self._chats else self._tokenizer(spec, tokenizer)
        self._template = self._tokens.template if isinstance(self._tokens, LocalTokens) else None
        self._forward = _forward_of(tokenizer)
        generates |= self._chats
        self._checked = {generates: self._met(generates)}

    @property
    def handshake(self) -> dict[str, str | int | float | None]:
        """What was checked, and what the server says that it is."""
        checked = {
            key: value
            for one in reversed(self._checked.values())
            for key, value in asdict(one).items()
            if key not in ("values", "texts") and not (key == "same_texts" and value is None)
        }
        said = self.serving
        return {
            "server": said.server,
            "version": said.version,
            "model": said.model,
            **said.told,
            **checked,
        }

    @property
    def chat(self) -> tuple[str, str] | None:
        """What stands before and after a prompt; None where it stands alone, or is not known."""
        return None if self._template is None else (self._template.before, self._template.after)

    def peak_memory(self) -> None:
        """Return None: a server does not tell."""

    def check(self, questions: Iterable[Question]) -> None:
        """Refuse texts that do not fit the context."""
        if self.context_length is None or self._tokens is None:
            return
        for part in in_parts(questions):
            if part[0].generation is None:
                self._fitting(part)
            else:
                self._prompts(part)

    def ask(self, questions: Iterable[Question]) -> Reply:
        """Return the log-likelihoods of continuations in nats, or what is written."""
        answers: list[Answer] = []
        read = nodes = 0
        for part in in_parts(questions):
            generates = part[0].generation is not None
            self.engine = self._way(generates)
            if generates not in self._checked:
                self._checked[generates] = self._met(generates)
            if generates:
                written = self._written(part)
                read += sum(one.tokens for one in written)
                answers += [Answer((), (), text=one.text, finish=one.finish) for one in written]
                continue
            rows = self._fitting(part)
            nodes += trie.build([request for row in rows for request in row]).nodes
            # What is asked about one example shares most of its text, so one thread asks it.
            subjects = [subject(question) for question in part]
            together = [
                [number for number, _ in group]
                for _, group in groupby(enumerate(subjects), key=lambda pair: pair[1])
            ]
            found: dict[int, tuple[float, ...]] = {}
            for numbers, scored in zip(
                together,
                self._scored([[r for n in numbers for r in rows[n]] for numbers in together]),
                strict=True,
            ):
                read += scored.tokens
                rest = iter(scored.values)
                found |= {n: tuple(islice(rest, len(rows[n]))) for n in numbers}
            for number, row in enumerate(rows):
                fills = max(len(request.ids) for request in row) == self.context_length
                lengths = tuple(len(request.ids) - request.start for request in row)
                answers.append(Answer(found[number], lengths, fills_context=fills))
        if self._at.broken:
            self._meet_again()
        return Reply(tuple(answers), read, nodes)

    def estimate(self, questions: Iterable[Question]) -> Estimate:
        """Return what asking takes: what a text shares with another is read once, if all is kept.

        Raises
        ------
        PromptTooLong, QuestionError
        """
        found = Estimate(0, 0, 0)
        for part in in_parts(questions):
            if (how := part[0].generation) is None:
                found += _estimate([request for row in self._fitting(part) for request in row])
                continue
            prompts = self._prompts(part)
            if self._chats or self._tokens is None:
                found += Estimate(len(prompts), at_most=True)
                continue
            longest = [Request((*map(int, ids), *[0] * how.max_tokens), 1) for ids in prompts]
            found += replace(_estimate(longest), at_most=True)
        return found

    def _way(self, generates: bool) -> str:
        """Return how the server is asked, for the report."""
        if generates:
            return "chat" if self._chats else "completions"
        return "echo" if isinstance(self._dialect, OpenAI) else "walk"

    def _written(self, questions: Sequence[Question]) -> list[Written]:
        """Generate the answers; the first is asked alone, as with log-likelihoods."""
        pairs = list(zip(self._prompts(questions), questions, strict=True))
        first = self._write(*pairs[0])
        return [first, *spread(lambda pair: self._write(*pair), pairs[1:], self._concurrency)]

    def _write(self, prompt: Sequence[int] | str, question: Question) -> Written:
        assert question.generation is not None
        return self._dialect.write(prompt, question.generation, question.seed)

    def _prompts(self, questions: Sequence[Question]) -> Sequence[Sequence[int] | str]:
        """Return what is sent: tokens, or texts where the server has the only tokenizer."""
        if self._chats:
            return [question.context for question in questions]
        if self._tokens is None:
            return [question.context.rstrip(" ") for question in questions]
        found = encode_prompts(questions, self._encoder, self._tokens.beginning, self._template)
        for question, ids in zip(questions, found, strict=True):
            fit(question, len(ids), self.context_length)
        return found

    @property
    def _encoder(self) -> Callable[[Sequence[str]], list[list[int]]]:
        assert self._tokens is not None
        if self._template is None:
            return self._tokens.encode
        assert isinstance(self._tokens, LocalTokens)
        return self._tokens.encode_messages

    def _scored(self, groups: Sequence[Sequence[Request]]) -> Iterator[Read]:
        """Yield log-likelihoods and tokens read of each group.

        The first is asked alone, so that the others find what they share with it already read.
        """
        yield self._dialect.score(groups[0])
        yield from spread(self._dialect.score, groups[1:], self._concurrency)

    def _fitting(self, questions: Sequence[Question]) -> list[tuple[Request, ...]]:
        tokens = self._needed()
        if self._template is not None:
            around = self._template.around
            questions = [replace(each, context=around(each.context)) for each in questions]
        rows = encode(questions, self._encoder, tokens.beginning)
        for question, row in zip(questions, rows, strict=True):
            fit(question, max(len(request.ids) for request in row), self.context_length)
        return rows

    def _tokenizer(self, spec: ServedSpec, tokenizer: str | None) -> Tokens | None:
        if tokenizer is not None:
            assert spec.tokenizer is not None
            return LocalTokens(spec.tokenizer, tokenizer, chat=spec.chat)
        if self._dialect.tokenize("a") is None:
            return None
        return ServerTokens(self._dialect, self._concurrency)

    def _needed(self) -> Tokens:
        """Return what makes tokens of texts, which log-likelihoods are asked for by."""
        if self._chats:
            raise ModelError(
                f"the server at {self._at} is a chat endpoint, which gives no log-likelihoods of "
                "choices; use `scoring: generate`, or remove `chat`"
            )
        if self._tokens is None:
            raise ModelError(
                f"the server at {self._at} does not return tokens; name the model's tokenizer as "
                "`tokenizer` (a local folder, or a hub id)"
            )
        return self._tokens

    def _met(self, generates: bool) -> Checked:
        """Check the server before it is asked in this way."""
        own = self._dialect.tokenize if isinstance(self._tokens, LocalTokens) else lambda text: None
        if generates:
            return self._met_writer(own)
        return shake_hands(
            str(self._at),
            self._needed(),
            own,
            lambda requests: self._dialect.score(requests).values,
            self._forward,
        )

    def _met_writer(self, own: Callable[[str], list[int] | None]) -> Checked:
        def write(question: Question) -> str:
            return self._write(self._prompts([question])[0], question).text

        try:
            return meet_writer(str(self._at), self._tokens, own, write)
        except Refused as refused:
            # Models that think draw their tokens always; what the suite asks for is sent later.
            if "temperature" not in str(refused):
                raise
            return meet_writer(str(self._at), self._tokens, own, write, temperature=1.0)

    def _meet_again(self) -> None:
        """Check a server that was gone, before anything that it said since is used."""
        self._at.broken = False
        try:
            same_server(str(self._at), self.serving, self._dialect.serving())
            for generates, before in self._checked.items():
                same_model(str(self._at), before, self._met(generates))
        except BaseException:
            # Whoever asks it the next time must not take it for the one of before.
            self._at.broken = True
            raise


def _estimate(requests: Sequence[Request]) -> Estimate:
    apart = sum(len(request.ids) - 1 for request in requests)
    return Estimate(len(requests), trie.build(requests).nodes, apart)


def _forward_of(folder: str | None) -> Callable[[Sequence[Question]], list[float] | None] | None:
    """Return what asks the weights in a tokenizer's folder; None if there are none, or too many.

    It returns None where they cannot be loaded as they are, such as those that are quantized.
    """
    weights = [] if folder is None else list(Path(folder).glob("*.safetensors"))
    size = sum(file.stat().st_size for file in weights)
    if folder is None or not 0 < size <= _SMALL or importlib.util.find_spec("torch") is None:
        return None

    @functools.cache
    def forward(questions: tuple[Question, ...]) -> list[float] | None:
        from pytest_maxrandom.models.hf.transformers import load

        spec = TransformersSpec(name=folder, quantization="none", device="cpu", dtype="float32")
        try:
            model = load(spec, folder, resources=Resources(engine="plain"))
        except ModelError:
            return None
        reply = model.ask(questions)
        return [value for answer in reply.answers for value in answer.log_likelihoods]

    return forward
