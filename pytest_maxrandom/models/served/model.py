"""A model behind a server: what is checked of it, and how it is asked."""

from __future__ import annotations

import functools
import importlib.util
from dataclasses import asdict
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.models import trie
from pytest_maxrandom.models.base import Resources
from pytest_maxrandom.models.chat import ChatTemplate
from pytest_maxrandom.models.questions import Answer, Estimate, Reply
from pytest_maxrandom.models.requests import common_length, subject
from pytest_maxrandom.models.served.endpoint import Refused
from pytest_maxrandom.models.served.handshake import (
    ASKED,
    identity_of,
    meet_writer,
    same_server,
    shake_hands,
)
from pytest_maxrandom.models.served.openai import OpenAIChat
from pytest_maxrandom.models.served.ways import shared_length
from pytest_maxrandom.models.tokens import LocalTokens, TokenizedModel
from pytest_maxrandom.suite.models import ServedSpec, TransformersSpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pytest_maxrandom.models.questions import Question
    from pytest_maxrandom.models.requests import Request
    from pytest_maxrandom.models.served.dialects import Dialect
    from pytest_maxrandom.models.served.endpoint import Endpoint
    from pytest_maxrandom.models.served.flow import Flow
    from pytest_maxrandom.models.served.handshake import Checked, Serving
    from pytest_maxrandom.models.served.replies import Read, Spent, Written
    from pytest_maxrandom.models.tokens import Tokens
    from pytest_maxrandom.record import Fingerprint

_SMALL = 2 * 2**30
"""Bytes of weights at most that are loaded on this machine only to compare a server with them."""


class ServedModel(TokenizedModel):
    """A model behind a server; see :class:`pytest_maxrandom.models.base.Model`.

    Parameters
    ----------
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
    batch_tokens = 0

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
        self._most_told = spec.most_told
        self._chats = isinstance(dialect, OpenAIChat)
        # What takes long here comes first: a server that nobody asks for a while is checked again.
        self._forward, local = _forward_of(tokenizer), None
        if self._forward and not (generates or self._chats or spec.most_told):
            self._forward(ASKED)
        if spec.tokenizer and tokenizer and not self._chats:
            local = LocalTokens.load(spec.tokenizer, tokenizer)
            if spec.chat:
                self._template = ChatTemplate.of(local.tokenizer, spec.tokenizer, "transformers")
        self.serving = dialect.serving()
        self.device = f"{spec.backend} at {urlsplit(at.url).netloc}"
        self.dtype = "as served"
        self.engine = self._way(generates)
        self.arithmetic = identity_of(self.serving).arithmetic
        self.context_length = self.serving.context_length
        self._tokens: Tokens | None = None if self._chats else local or self._of_server()
        generates |= self._chats
        self._checked = {generates: self._met(generates)}
        self._ways = {dialect.way}
        self._found: list[Read] = []
        self._read: Sequence[int] = ()

    @property
    def handshake(self) -> dict[str, str | int | float | None]:
        """What was checked, and what the server says that it is."""
        checked = {
            key: value
            for one in reversed(self._checked.values())
            for key, value in asdict(one).items()
            if key not in ("values", "texts", "when")
            and not (key == "same_texts" and value is None)
        }
        said = self.serving
        return {
            "server": said.server,
            "version": said.version,
            "model": said.model,
            "tested": self._dialect.tested,
            **said.told,
            **({"sha256": said.content} if said.content else {}),
            **checked,
        }

    def fingerprint(self, *, generates: bool) -> Fingerprint:
        """Return by what the model is known again."""
        self._begin(generates=generates)
        return self._fingerprint(self._checked[generates])

    def _fingerprint(self, checked: Checked) -> Fingerprint:
        return checked.fingerprint(self.serving, self.device, self._dialect.tolerance)

    def check(self, questions: Iterable[Question]) -> None:
        """Refuse texts that do not fit the context."""
        if self.context_length is not None and self._tokens is not None:
            super().check(questions)

    def ask(self, questions: Iterable[Question]) -> Reply:
        """Return the log-likelihoods of continuations in nats, or what is written."""
        reply = super().ask(questions)
        if self._at.broken:
            self._meet_again()
        return reply

    def _scored(self, questions: Sequence[Question]) -> Reply:
        """Ask for log-likelihoods; what is asked about one example one thread asks.

        Most of its text is the same. If all share a block of the server's cache that was not read
        yet, the first request is sent alone, so that the others find it there; `echo` reads nothing
        from it.
        """
        self._begin(generates=False)
        rows = self._fitting(questions)
        together = groupby(zip(questions, rows, strict=True), key=lambda pair: subject(pair[0]))
        groups = [[request for _, row in pairs for request in row] for _, pairs in together]
        reads: list[Read] = []
        way = self._plan(groups)
        if not self._found:  # what the first of all costs decides how the others are asked about
            reads = self._found = [self._dialect.score(groups[0])]
            way = self._plan(groups)
        rest, first = groups[len(reads) :], groups[0][0].ids
        new = shared_length(groups) - common_length(first, first if reads else self._read)
        self._read, alone = first, way != "echo" and new >= self._dialect.block
        others = self._at.flow.spread(self._dialect.score, rest, alone=alone)
        self._found = others or reads
        reads = [*reads, *others]
        values = chain.from_iterable(one.values for one in reads)
        nodes = trie.build([request for row in rows for request in row]).nodes
        return self._reply(self._answers(rows, values), [one.spent for one in reads], nodes)

    def _written(self, questions: Sequence[Question]) -> Reply:
        """Generate the answers; the first is asked alone, as with log-likelihoods."""
        self._begin(generates=True)
        pairs = zip(self._sent(questions), questions, strict=True)
        found = self._at.flow.spread(lambda pair: self._write(*pair), pairs, alone=True)
        answers = tuple(Answer((), (), text=one.text, finish=one.finish) for one in found)
        return self._reply(answers, [one.spent for one in found], 0)

    def _reply(self, answers: tuple[Answer, ...], spent: Sequence[Spent], nodes: int) -> Reply:
        """Return answers with what they cost; what is cached is known if it always is told."""
        cached = [one.cached for one in spent if one.cached is not None]
        return Reply(
            answers,
            sum(one.tokens for one in spent),
            nodes,
            sum(cached) if len(cached) == len(spent) else None,
        )

    def _plan(self, groups: Sequence[Sequence[Request]]) -> str:
        """Choose the way in which examples are asked about, and check it where it is new."""
        way = self.engine = self._dialect.plan(groups, self._found)
        if way in self._ways:
            return way
        try:
            now = self._met(False)
        except Refused as refused:
            if refused.status != 400 or not self._dialect.gives_up(way):
                raise
            return self._plan(groups)
        if change := self._fingerprint(self._checked[False]).change(self._fingerprint(now)):
            if self._at.broken:  # then it is another server, rather than another way
                self._meet_again()
            raise ModelError(
                f"the server at {self._at} gives other log-likelihoods if it is asked in another "
                f"way ({way} in place of {sorted(self._ways)[0]}): {change}"
            )
        self._ways.add(way)
        return way

    def _estimated(self, questions: Sequence[Question]) -> Estimate:
        """Return what asking takes; nobody knows the tokens of texts that are sent as they are."""
        if questions[0].generation is not None and self._tokens is None:
            return Estimate(len(questions), at_most=True)
        return super()._estimated(questions)

    def _begin(self, *, generates: bool) -> None:
        """Check the server before it is asked in this way for the first time."""
        self.engine = self._way(generates)
        if generates not in self._checked:
            self._checked[generates] = self._met(generates)

    def _way(self, generates: bool) -> str:
        """Return how the server is asked, for the report."""
        if generates:
            return "chat" if self._chats else "completions"
        return self._dialect.way

    def _write(self, prompt: Sequence[int] | str, question: Question) -> Written:
        assert question.generation is not None
        return self._dialect.write(prompt, question.generation, question.seed)

    def _sent(self, questions: Sequence[Question]) -> Sequence[Sequence[int] | str]:
        """Return what is sent: tokens, or texts where the server has the only tokenizer."""
        if self._chats:
            return [question.context for question in questions]
        if self._tokens is None:
            return [question.context.rstrip(" ") for question in questions]
        return self._prompts(questions)

    def _fitting(self, questions: Sequence[Question]) -> list[tuple[Request, ...]]:
        self._needed()
        return super()._fitting(questions)

    def _of_server(self) -> ServerTokens | None:
        """Return the tokens of the server's own tokenizer, if it tells them."""
        if self._dialect.tokenize("a") is None:
            return None
        return ServerTokens(self._dialect, self._at.flow)

    def _needed(self) -> Tokens:
        """Return what makes tokens of texts, which log-likelihoods are asked for by."""
        if self._chats:
            raise ModelError(
                f"the server at {self._at} is a chat endpoint, which gives no log-likelihoods of "
                "choices; use `scoring: generate`, `top_logprobs: 20` for choices that are letters "
                "(`labels: letter`), or remove `chat`"
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
        if not generates:
            return shake_hands(
                str(self._at),
                self._needed(),
                own,
                lambda requests: self._dialect.score(requests).values,
                self._forward,
            )

        def write(question: Question) -> str:
            return self._write(self._sent([question])[0], question).text

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
                now = self._fingerprint(self._met(generates))
                if change := self._fingerprint(before).change(now):
                    raise ModelError(
                        f"the server at {self._at} came back with another model: {change}; its "
                        "answers since then are not used"
                    )
        except BaseException:
            # Whoever asks it the next time must not take it for the one of before.
            self._at.broken = True
            raise


class ServerTokens:
    """The tokens of a server's own tokenizer."""

    beginning: int | None = None

    def __init__(self, dialect: Dialect, flow: Flow) -> None:
        self._dialect = dialect
        self._flow = flow
        one, other = self._asked(["a", "b"])
        # Only what a tokenizer puts at the end is the same at the ends of these two.
        self._closing = common_length(one[::-1], other[::-1])

    def encode(self, texts: Sequence[str], *, bare: bool = False) -> list[list[int]]:
        """Return the tokens of each text, which is one request each; no template is known."""
        assert not bare
        return [ids[: len(ids) - self._closing] for ids in self._asked(texts)]

    def _asked(self, texts: Sequence[str]) -> list[list[int]]:
        found = self._flow.spread(self._dialect.tokenize, texts)
        return [tokens for tokens in found if tokens is not None]


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
