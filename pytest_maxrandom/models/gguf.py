"""The backend of GGUF files: llama.cpp in this process, by llama-cpp-python's low-level API."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import math
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ModelError, ModelNotFound, ScoreError, listed
from pytest_maxrandom.host.machine import cores, peak_memory, resting_threads
from pytest_maxrandom.models import trie
from pytest_maxrandom.models.base import Backend, Identity, Lengths, Located, Resources
from pytest_maxrandom.models.chat import ChatTemplate
from pytest_maxrandom.models.gguf_header import parts_of
from pytest_maxrandom.models.hf.arithmetic import processor
from pytest_maxrandom.models.hf.hub import file_digest
from pytest_maxrandom.models.llamacpp import BATCH, PACKAGE, Reader, vocabulary
from pytest_maxrandom.models.questions import Answer, Finish, Generation, Question, Reply
from pytest_maxrandom.models.requests import Request, uniform
from pytest_maxrandom.models.tokens import LocalTokens, TokenizedModel
from pytest_maxrandom.record import Arithmetic
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.suite.models import GgufSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from pytest_maxrandom.models.llamacpp import OwnTokens, Row


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
            if template is not None:
                texts = [*map(template.around, texts)]
            return [len(ids) for ids in known.encode(texts, bare=template is not None)]

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


def _digests(files: Iterable[Path]) -> Iterator[str]:
    try:
        yield from (file_digest(file) for file in files)
    except OSError as error:
        raise ModelError(f"{error.filename} cannot be read: {error.strerror}") from error


def content_of(name: str) -> str | None:
    """Return the SHA-256 (hex) of a GGUF file and its parts; None where it cannot be read here."""
    try:
        if Path(name).is_absolute() and _is_gguf(Path(name)):
            return digest(*_digests(parts_of(name)))
    except (OSError, ModelError):
        pass
    return None


def _arithmetic() -> Arithmetic:
    try:
        versions = {PACKAGE: importlib.metadata.version(PACKAGE)}
    except importlib.metadata.PackageNotFoundError:
        versions = {}
    return Arithmetic(processor(), "llama.cpp", versions)


class GgufModel(TokenizedModel):
    """A model in a GGUF file; see :class:`pytest_maxrandom.models.base.Model`.

    Texts go through it in the order of their tokens, so that what one begins like the last stays in
    the cache of keys and values: each distinct token in its distinct context is read once.

    Parameters
    ----------
    places : mapping of str to str
        Of the file, and of its tokenizer if that is not the file's own.

    Raises
    ------
    ModelError
        If it has no chat template where one is asked for.
    """

    device = "cpu"
    engine = "walk"
    batch_tokens = BATCH
    _tokens: LocalTokens | OwnTokens

    def __init__(self, spec: GgufSpec, places: Mapping[str, str], reader: Reader) -> None:
        self._reader = reader
        self._tokens, self._template = _tokens_of(spec, places, reader.tokens)
        self.arithmetic = _arithmetic()
        self.context_length: int | None = reader.longest
        self.dtype = reader.quantization
        self.quantized = f"GGUF, {self.dtype}"
        self.revision = f"sha256:{'+'.join(_digests(parts_of(places['name'])))}"

    def peak_memory(self) -> int | None:
        """Return the most bytes in use at any one time by this process."""
        return peak_memory()

    def ask(self, questions: Iterable[Question]) -> Reply:
        """Return the log-likelihoods of continuations in nats, or what is written.

        Nothing is kept from one call to the next, so that the order of prompts changes no number.
        """
        self._reader.forget()
        return super().ask(questions)

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
        return Reply(self._answers(rows, values), read, trie.build(requests).nodes)

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
            stopped = how.stopped(text)
            if ended or stopped is not None or len(ids) == how.max_tokens:
                finish: Finish = "length" if not ended and stopped is None else "stop"
                said = text if stopped is None else stopped
                return Answer((), (), text=said, finish=finish), ids
            self._reader.go_on(ids[-1])


def _tokens_of(
    spec: GgufSpec, places: Mapping[str, str], own: OwnTokens
) -> tuple[LocalTokens | OwnTokens, ChatTemplate | None]:
    """Return the tokenizer that the suite names, else the file's own, and its chat template."""
    if spec.tokenizer:
        tokens = LocalTokens.load(spec.tokenizer, places["tokenizer"])
        if not spec.chat:
            return tokens, None
        return tokens, ChatTemplate.of(tokens.tokenizer, spec.tokenizer, "transformers")
    return own, ChatTemplate.of(own, spec.name, "llama_cpp") if spec.chat else None


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
