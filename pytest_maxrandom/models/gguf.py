"""The backend of GGUF files: llama.cpp in this process, by llama-cpp-python's low-level API."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import math
import re
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ModelError, ModelNotFound, ScoreError, listed
from pytest_maxrandom.host.machine import cores, peak_memory, resting_threads
from pytest_maxrandom.models import trie
from pytest_maxrandom.models.base import Backend, Identity, Lengths, Located, Model
from pytest_maxrandom.models.chat import ChatTemplate
from pytest_maxrandom.models.hf.arithmetic import processor
from pytest_maxrandom.models.hf.hub import file_digest
from pytest_maxrandom.models.llamacpp import BATCH, PACKAGE, Reader, vocabulary
from pytest_maxrandom.models.questions import Answer, Estimate, Reply
from pytest_maxrandom.models.requests import Request, encode, encode_prompts, fit, in_parts, uniform
from pytest_maxrandom.models.served.tokens import LocalTokens
from pytest_maxrandom.record import Arithmetic
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.suite.models import GgufSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_maxrandom.models.base import Resources
    from pytest_maxrandom.models.llamacpp import OwnTokens, Row
    from pytest_maxrandom.models.questions import Finish, Generation, Question

_PART = re.compile(r"(.+)-(\d{5})-of-(\d{5})\.gguf")


class Gguf(Backend):
    """Models in GGUF files."""

    spec = GgufSpec

    def locate(self, spec: GgufSpec, base: Path) -> Located:
        """Find the file, and the folder of a tokenizer."""
        path = base / Path(spec.name).expanduser()
        if not _is_gguf(path):
            what = (
                "is not a GGUF file" if path.exists() else "does not exist (relative to the suite)"
            )
            raise ModelNotFound({"name": f"{spec.name} {what}; expected a file such as ./m.gguf"})
        first, *_ = parts = parts_of(str(path))
        if path != first:
            raise ModelNotFound(
                {"name": f"{spec.name} is a later part of a split model; expected {first.name}"}
            )
        if missing := [part.name for part in parts if not part.is_file()]:
            raise ModelNotFound({"name": f"{spec.name} lacks its other parts: {listed(missing)}"})
        places = {"name": str(path)}
        if spec.tokenizer is not None:
            folder = base / Path(spec.tokenizer).expanduser()
            places["tokenizer"] = str(folder) if folder.is_dir() else spec.tokenizer
        return Located(spec, places)

    def identity(self, located: Located) -> Identity:
        """Digest the file, or the parts that it is split into."""
        assert isinstance(located.spec, GgufSpec)
        tokenizer = located.places.get("tokenizer", "")
        if Path(tokenizer).is_dir():
            files = [*Path(tokenizer).glob("tokenizer*")]
            if located.spec.chat:
                files += Path(tokenizer).glob("chat_template*")
            tokenizer = digest(*_digests(sorted(files)))
        parts = _digests(parts_of(located.places["name"]))
        told = digest("gguf", *parts, tokenizer, *(["chat"] if located.spec.chat else []))
        return Identity(told, _arithmetic(), told)

    def lengths(self, located: Located) -> Lengths | None:
        """Return how long texts may be; None where what reads the file is not installed."""
        spec, places = located.spec, located.places
        assert isinstance(spec, GgufSpec)
        needed = ["llama_cpp", *(["transformers"] if spec.tokenizer else [])]
        if not all(map(importlib.util.find_spec, needed)):
            return None
        own, limit = vocabulary(places["name"], spec.name)

        def tokens(texts: Sequence[str]) -> list[int]:
            known, template = _tokens_of(spec, places, own)
            if template is None:
                return [len(ids) for ids in known.encode(texts)]
            return [len(ids) for ids in known.encode_messages([*map(template.around, texts)])]

        return Lengths(limit, "the model's context", tokens)

    def load(self, located: Located, resources: Resources) -> GgufModel:
        """Load a file; its memory is given back with the resources."""
        assert isinstance(located.spec, GgufSpec)
        if importlib.util.find_spec("llama_cpp") is None:
            raise ModelError(
                f"{located.spec.name} needs llama_cpp, which is not installed; "
                'pip install "pytest-maxrandom[gguf]"'
            )
        threads = max(1, cores() // resources.workers)
        with resting_threads(resources.workers, "llama_cpp"):
            reader = Reader(located.places["name"], located.spec.name, threads)
        resources.held.callback(reader.close)
        return GgufModel(located.spec, located.places, reader)


def _is_gguf(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"GGUF"


def parts_of(name: str) -> list[Path]:
    """Return a file, or all parts of a model that is split."""
    path = Path(name)
    split = _PART.fullmatch(path.name)
    if split is None:
        return [path]
    stem, _, count = split.groups()
    return [
        path.with_name(f"{stem}-{number:05d}-of-{count}.gguf")
        for number in range(1, int(count) + 1)
    ]


def _digests(files: Iterable[Path]) -> Iterator[str]:
    try:
        yield from (file_digest(file) for file in files)
    except OSError as error:
        raise ModelError(f"{error.filename} cannot be read: {error.strerror}") from error


def _arithmetic() -> Arithmetic:
    try:
        versions = {PACKAGE: importlib.metadata.version(PACKAGE)}
    except importlib.metadata.PackageNotFoundError:
        versions = {}
    return Arithmetic(processor(), "llama.cpp", versions)


class GgufModel(Model):
    """A model in a GGUF file; see :class:`pytest_maxrandom.models.base.Model`.

    Texts go through it in the order of their tokens, so that what one begins like the last stays in
    the cache of keys and values: each distinct token in its distinct context is read once.

    Parameters
    ----------
    spec : GgufSpec
    places : mapping of str to str
        Of the file, and of its tokenizer if that is not the file's own.
    reader : Reader
        Of the file.

    Raises
    ------
    ModelError
        If it has no chat template where one is asked for.
    """

    device = "cpu"
    engine = "walk"
    engine_reason: str | None = None
    asked_dtype: str | None = None
    batch_tokens = BATCH
    generates = True

    def __init__(self, spec: GgufSpec, places: Mapping[str, str], reader: Reader) -> None:
        self._reader = reader
        self._tokens, self._template = _tokens_of(spec, places, reader.tokens)
        self.arithmetic = _arithmetic()
        self.context_length: int | None = reader.longest
        self.dtype = reader.quantization
        self.quantized = f"GGUF, {self.dtype}"
        self.revision: str | None = f"sha256:{'+'.join(_digests(parts_of(places['name'])))}"

    @property
    def chat(self) -> tuple[str, str] | None:
        """What stands before and after a prompt; None where it stands alone."""
        return None if self._template is None else (self._template.before, self._template.after)

    def peak_memory(self) -> int | None:
        """Return the most bytes in use at any one time by this process."""
        return peak_memory()

    def check(self, questions: Iterable[Question]) -> None:
        """Refuse texts that do not fit the context."""
        for part in in_parts(questions):
            if part[0].generation is None:
                self._fitting(part)
            else:
                self._prompts(part)

    def ask(self, questions: Iterable[Question]) -> Reply:
        """Return the log-likelihoods of continuations in nats, or what is written.

        Nothing is kept from one call to the next, so that the order of prompts changes no number.
        """
        self._reader.forget()
        answers: list[Answer] = []
        forwarded = nodes = 0
        for part in in_parts(questions):
            reply = self._scored(part) if part[0].generation is None else self._written(part)
            answers += reply.answers
            forwarded += reply.tokens_forwarded
            nodes += reply.trie_nodes
        return Reply(tuple(answers), forwarded, nodes)

    def estimate(self, questions: Iterable[Question]) -> Estimate:
        """Return what asking takes; what a text shares with the one before it is read once."""
        found = Estimate(0, 0, 0)
        for part in in_parts(questions):
            if (how := part[0].generation) is None:
                requests = [request for row in self._fitting(part) for request in row]
            else:
                written = (0,) * how.max_tokens
                requests = [Request((*ids, *written), 1) for ids in self._prompts(part)]
            apart = sum(len(request.ids) - 1 for request in requests)
            nodes = trie.build(requests).nodes
            found += Estimate(len(requests), nodes, apart, at_most=how is not None)
        return found

    def _scored(self, questions: Sequence[Question]) -> Reply:
        rows = self._fitting(questions)
        requests = [request for row in rows for request in row]
        self._reader.reserve(max(len(request.ids) for request in requests))
        values, read = [0.0] * len(requests), 0
        for number in sorted(range(len(requests)), key=lambda one: requests[one].ids):
            request = requests[number]
            read += self._reader.read(request)
            told = (
                float(self._reader.row(place - 1)[request.ids[place]])
                for place in range(request.start, len(request.ids))
            )
            values[number] = _finite(math.fsum(told))
        rest = iter(values)
        answers = (
            Answer(
                tuple(islice(rest, len(row))),
                tuple(len(request.ids) - request.start for request in row),
                fills_context=max(len(request.ids) for request in row) == self.context_length,
            )
            for row in rows
        )
        return Reply(tuple(answers), read, trie.build(requests).nodes)

    def _written(self, questions: Sequence[Question]) -> Reply:
        prompts = self._prompts(questions)
        how = questions[0].generation
        assert how is not None
        self._reader.reserve(max(map(len, prompts)) + how.max_tokens)
        answers, wholes, read = {}, [], 0
        for number in sorted(range(len(prompts)), key=lambda one: prompts[one]):
            prompt = prompts[number]
            read += self._reader.read(Request((*prompt, 0), len(prompt)))
            answers[number], ids = self._answer(len(prompt), how, questions[number].seed)
            read += len(ids) - 1
            wholes.append(Request((*prompt, *ids), len(prompt)))
        told = tuple(answers[number] for number in range(len(prompts)))
        return Reply(told, read, trie.build(wholes).nodes)

    def _answer(self, length: int, how: Generation, seed: int) -> tuple[Answer, list[int]]:
        """Generate after a prompt of some tokens, which is read; return the tokens, too."""
        ids: list[int] = []
        while True:
            row = self._reader.row(length + len(ids) - 1)
            ids.append(_chosen(row, how.temperature, uniform(seed, len(ids))))
            ended = self._reader.tokens.ends(ids[-1])
            text = self._tokens.decode(ids[:-1] if ended else ids)
            places = [place for place in map(text.find, how.stop) if place >= 0]
            if ended or places or len(ids) == how.max_tokens:
                finish: Finish = "stop" if ended or places else "length"
                return Answer((), (), text=text[: min(places, default=None)], finish=finish), ids
            self._reader.go_on(ids[-1])

    def _fitting(self, questions: Sequence[Question]) -> list[tuple[Request, ...]]:
        if self._template is not None:
            around = self._template.around
            questions = [replace(each, context=around(each.context)) for each in questions]
        rows = encode(questions, self._encode, self._tokens.beginning)
        for question, row in zip(questions, rows, strict=True):
            fit(question, max(len(request.ids) for request in row), self.context_length)
        return rows

    def _prompts(self, questions: Sequence[Question]) -> list[tuple[int, ...]]:
        found = encode_prompts(questions, self._encode, self._tokens.beginning, self._template)
        for question, ids in zip(questions, found, strict=True):
            fit(question, len(ids), self.context_length)
        return found

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        if self._template is None:
            return self._tokens.encode(texts)
        return self._tokens.encode_messages(texts)


def _tokens_of(
    spec: GgufSpec, places: Mapping[str, str], own: OwnTokens
) -> tuple[LocalTokens | OwnTokens, ChatTemplate | None]:
    """Return the tokenizer that the suite names, else the file's own, and its chat template."""
    if spec.tokenizer:
        tokens = LocalTokens(spec.tokenizer, places["tokenizer"], chat=spec.chat)
        return tokens, tokens.template
    return own, ChatTemplate.of(own, spec.name) if spec.chat else None


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ScoreError("the model returned a log-likelihood that is not a finite number")
    return value


def _chosen(row: Row, temperature: float, drawn: float) -> int:
    """Return the likeliest token, or the one at a place in [0, 1) of all of them."""
    _finite(float(row.max()))
    if not temperature:
        return int(row.argmax())
    import numpy as np

    chances = np.exp((row - row.max()) / temperature).cumsum()
    place = int(chances.searchsorted(drawn * chances[-1], side="right"))
    return min(place, len(row) - 1)
