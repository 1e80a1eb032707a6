"""The backends of models behind a server, and the models that they give."""

from __future__ import annotations

import importlib.util
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from itertools import groupby, islice
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlsplit

from pytest_maxrandom.errors import ModelError, PromptTooLong
from pytest_maxrandom.models.base import Answer, Backend, Identity, Located, Reply, Resources
from pytest_maxrandom.models.hf import trie
from pytest_maxrandom.models.hf.requests import encode
from pytest_maxrandom.models.served.dialects import LlamaCpp, OpenAI, Vllm
from pytest_maxrandom.models.served.endpoint import Endpoint
from pytest_maxrandom.models.served.handshake import same_model, shake_hands
from pytest_maxrandom.models.served.tokens import LocalTokens, ServerTokens
from pytest_maxrandom.record import Arithmetic
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.suite.models import (
    LlamaCppSpec,
    OpenAISpec,
    ServedSpec,
    TransformersSpec,
    VllmSpec,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_maxrandom.models.base import Question
    from pytest_maxrandom.models.hf.requests import Request
    from pytest_maxrandom.models.served.dialects import Dialect, Serving
    from pytest_maxrandom.models.served.handshake import Checked
    from pytest_maxrandom.models.served.tokens import Tokens

_SMALL = 2 * 2**30
"""Bytes of weights at most that are loaded on this machine only to compare a server with them."""
_AT_ONCE = 1000
"""Examples whose texts are tokenized together, so that memory does not grow with n."""


class Served(Backend):
    """Models that a server of one kind has loaded."""

    spec: type[ServedSpec]
    dialect: ClassVar[type[Vllm | LlamaCpp | OpenAI]]

    def __init__(self) -> None:
        self._serving: dict[tuple[str, ...], Serving] = {}

    def begin(self, session: str) -> None:
        """Forget what servers said of themselves."""
        self._serving.clear()

    def locate(self, spec: ServedSpec, base: Path) -> Located:
        """Return the address, and the folder of a tokenizer."""
        places = {"url": spec.url}
        if spec.tokenizer is not None:
            folder = base / Path(spec.tokenizer).expanduser()
            places["tokenizer"] = str(folder) if folder.is_dir() else spec.tokenizer
        return Located(spec, places)

    def identity(self, located: Located) -> Identity:
        """Ask the server once a session what it serves."""
        if located.key not in self._serving:
            at = _endpoint(located)
            self._serving[located.key] = self.dialect(at, _specified(located).served).serving()
        return identity_of(self._serving[located.key])

    def load(self, located: Located, resources: Resources) -> ServedModel:
        """Return the model behind the address, once it was checked."""
        at = _endpoint(located)
        spec = _specified(located)
        return ServedModel(spec, at, self.dialect(at, spec.served), located.places.get("tokenizer"))


class VllmServer(Served):
    """Models on a server of vLLM."""

    spec = VllmSpec
    dialect = Vllm


class LlamaCppServer(Served):
    """Models on a server of llama.cpp."""

    spec = LlamaCppSpec
    dialect = LlamaCpp


class OpenAIServer(Served):
    """Models on any server of OpenAI's completions with `echo`."""

    spec = OpenAISpec
    dialect = OpenAI


def identity_of(serving: Serving) -> Identity:
    """Return what determines a served model's numbers, as far as the server tells.

    The address is no part of it: the same model at another one is the same.
    """
    told = [part for key, value in sorted(serving.told.items()) for part in (key, _last(value))]
    model = digest("served", _last(serving.model), *told)
    # Its processors are not told.
    arithmetic = Arithmetic(
        f"a server of {serving.server}", "its own kernels", {serving.server: serving.version}
    )
    return Identity(model, arithmetic, model)


class ServedModel:
    """A model behind a server; see :class:`pytest_maxrandom.models.base.Model`.

    Parameters
    ----------
    spec : ServedSpec
    at : Endpoint
    dialect : Dialect
    tokenizer : str, optional
        Folder or hub id of the tokenizer; the server's own if not given.

    Raises
    ------
    ModelError
        If the server does not serve the model, or does not pass a check.
    """

    engine_reason: str | None = None
    asked_dtype: str | None = None
    revision: str | None = None
    batch_tokens = 0

    def __init__(
        self, spec: ServedSpec, at: Endpoint, dialect: Dialect, tokenizer: str | None = None
    ) -> None:
        self._at = at
        self._dialect = dialect
        self._concurrency = spec.concurrency
        self._serving = dialect.serving()
        self.device = f"{spec.backend} at {urlsplit(at.url).netloc}"
        self.dtype = "as served"
        self.engine = "echo" if isinstance(dialect, OpenAI) else "walk"
        self.arithmetic = identity_of(self._serving).arithmetic
        self.context_length = self._serving.context_length
        self._tokens = self._tokenizer(spec, tokenizer)
        self._forward = _forward_of(tokenizer)
        self._checked = self._shake_hands()

    @property
    def handshake(self) -> dict[str, str | int | float | None]:
        """What was checked, and what the server says that it is."""
        checked = {key: value for key, value in asdict(self._checked).items() if key != "values"}
        said = self._serving
        return {
            "server": said.server,
            "version": said.version,
            "model": said.model,
            **said.told,
            **checked,
        }

    def peak_memory(self) -> None:
        """Return None: a server does not tell."""

    def check(self, questions: Iterable[Question]) -> None:
        """Refuse texts that do not fit the context."""
        if self.context_length is not None:
            for part in _parts(questions):
                self._fitting(part)

    def ask(self, questions: Iterable[Question]) -> Reply:
        """Return the log-likelihoods of each question's continuations, in nats."""
        answers: list[Answer] = []
        read = nodes = 0
        for part in _parts(questions):
            rows = self._fitting(part)
            nodes += trie.build([request for row in rows for request in row]).nodes
            # What is asked about one example shares most of its text, so one thread asks it.
            subjects = [_subject(question) for question in part]
            together = [
                [number for number, _ in group]
                for _, group in groupby(enumerate(subjects), key=lambda pair: pair[1])
            ]
            found: dict[int, tuple[float, ...]] = {}
            for numbers, (values, tokens) in zip(
                together,
                self._scored([[r for n in numbers for r in rows[n]] for numbers in together]),
                strict=True,
            ):
                read += tokens
                rest = iter(values)
                found |= {n: tuple(islice(rest, len(rows[n]))) for n in numbers}
            for number, row in enumerate(rows):
                fills = max(len(request.ids) for request in row) == self.context_length
                lengths = tuple(len(request.ids) - request.start for request in row)
                answers.append(Answer(found[number], lengths, fills_context=fills))
        if self._at.broken:
            self._meet_again()
        return Reply(tuple(answers), read, nodes)

    def _scored(self, groups: Sequence[Sequence[Request]]) -> Iterator[tuple[list[float], int]]:
        """Yield log-likelihoods and tokens read of each group.

        The first is asked alone, so that the others find what they share with it already read.
        """
        threads = ThreadPoolExecutor(self._concurrency)
        try:
            scored = self._dialect.score(groups[0])
            yield scored.values, scored.tokens
            for scored in threads.map(self._dialect.score, groups[1:]):
                yield scored.values, scored.tokens
        finally:
            threads.shutdown(cancel_futures=True)

    def _fitting(self, questions: Sequence[Question]) -> list[tuple[Request, ...]]:
        rows = encode(questions, self._tokens.encode, self._tokens.beginning)
        limit = self.context_length
        for question, row in zip(questions, rows, strict=True):
            length = max(len(request.ids) for request in row)
            if limit is not None and length > limit:
                about = f"example {question.example.id}" if question.example else "a question"
                raise PromptTooLong(
                    f"{about} has {length} tokens, and the model's context holds {limit}; use "
                    "fewer shots, shorter demonstrations or another model (text is never cut)"
                )
        return rows

    def _tokenizer(self, spec: ServedSpec, tokenizer: str | None) -> Tokens:
        if tokenizer is not None:
            assert spec.tokenizer is not None
            return LocalTokens(spec.tokenizer, tokenizer)
        if self._dialect.tokenize("a") is None:
            raise ModelError(
                f"the server at {self._at} tells no tokens; name the model's tokenizer by "
                "`tokenizer` (a local folder, or a hub id)"
            )
        return ServerTokens(self._dialect, self._concurrency)

    def _shake_hands(self) -> Checked:
        return shake_hands(
            str(self._at),
            self._tokens,
            self._dialect.tokenize if isinstance(self._tokens, LocalTokens) else lambda text: None,
            lambda requests: self._dialect.score(requests).values,
            self._forward,
        )

    def _meet_again(self) -> None:
        """Check a server that was gone, before anything that it said since is used."""
        self._at.broken = False
        now = self._dialect.serving()
        if now != self._serving:
            raise ModelError(
                f"the server at {self._at} came back as another one: {_said(now)}, and before "
                f"{_said(self._serving)}; nothing that it said since is used"
            )
        same_model(str(self._at), self._checked, self._shake_hands())


def _said(serving: Serving) -> str:
    told = "".join(f", {key} {value}" for key, value in serving.told.items())
    return f"{serving.server} {serving.version} with {serving.model}{told}"


def _last(name: str) -> str:
    """Return the last part of a path, since the same model has another one on another machine."""
    return PurePosixPath(name).name if name.startswith("/") else name


def _specified(located: Located) -> ServedSpec:
    assert isinstance(located.spec, ServedSpec)
    return located.spec


def _endpoint(located: Located) -> Endpoint:
    spec = _specified(located)
    return Endpoint(
        spec.url,
        key_name=spec.api_key_env,
        timeout=spec.timeout,
        connections=spec.concurrency,
    )


def _forward_of(folder: str | None) -> Callable[[Sequence[Question]], list[float]] | None:
    """Return what asks the weights beside a tokenizer; None if there are none, or too many."""
    weights = [] if folder is None else list(Path(folder).glob("*.safetensors"))
    size = sum(file.stat().st_size for file in weights)
    if folder is None or not 0 < size <= _SMALL or importlib.util.find_spec("torch") is None:
        return None

    def forward(questions: Sequence[Question]) -> list[float]:
        from pytest_maxrandom.models.hf.transformers import load

        spec = TransformersSpec(name=folder, quantization="none", device="cpu", dtype="float32")
        reply = load(spec, folder, resources=Resources(engine="plain")).ask(questions)
        return [value for answer in reply.answers for value in answer.log_likelihoods]

    return forward


def _parts(questions: Iterable[Question]) -> Iterator[list[Question]]:
    """Yield questions in parts of so many examples that memory holds them."""
    examples = (list(same) for _, same in groupby(questions, _subject))
    while part := [question for same in islice(examples, _AT_ONCE) for question in same]:
        yield part


def _subject(question: Question) -> int:
    return id(question.example or question)
