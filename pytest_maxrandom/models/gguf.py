"""The backend of GGUF files: llama.cpp in this process, by llama-cpp-python's low-level API."""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import logging
import math
import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ModelError, ModelNotFound, PromptTooLong, ScoreError
from pytest_maxrandom.host.machine import cores, peak_memory
from pytest_maxrandom.models import trie
from pytest_maxrandom.models.base import Answer, Backend, Identity, Located, Reply
from pytest_maxrandom.models.hf.arithmetic import processor
from pytest_maxrandom.models.hf.hub import file_digest
from pytest_maxrandom.models.requests import common_length, encode, in_parts
from pytest_maxrandom.models.served.tokens import LocalTokens
from pytest_maxrandom.record import Arithmetic
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.suite.models import GgufSpec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np

    from pytest_maxrandom.models.base import Question, Resources
    from pytest_maxrandom.models.requests import Request
    from pytest_maxrandom.models.served.tokens import Tokens

_PACKAGE = "llama-cpp-python"
_PART = re.compile(r"(.+)-\d{5}-of-(\d{5})\.gguf")
_BATCH = 512
"""Tokens that are read at once."""


class Gguf(Backend):
    """Models in GGUF files."""

    spec = GgufSpec

    def locate(self, spec: GgufSpec, base: Path) -> Located:
        """Find the file, and the folder of a tokenizer."""
        path = base / Path(spec.name).expanduser()
        if not _is_gguf(path):
            what = "is no GGUF file" if path.exists() else "is not there (relative to the suite)"
            raise ModelNotFound({"name": f"{spec.name} {what}; expected a file such as ./m.gguf"})
        places = {"name": str(path)}
        if spec.tokenizer is not None:
            folder = base / Path(spec.tokenizer).expanduser()
            places["tokenizer"] = str(folder) if folder.is_dir() else spec.tokenizer
        return Located(spec, places)

    def identity(self, located: Located) -> Identity:
        """Digest the file, or the parts that it is split into."""
        tokenizer = located.places.get("tokenizer", "")
        if Path(tokenizer).is_dir():
            tokenizer = digest(*_digests(sorted(Path(tokenizer).glob("tokenizer*"))))
        told = digest("gguf", *_digests(_parts_of(located.places["name"])), tokenizer)
        return Identity(told, _arithmetic(), told)

    def load(self, located: Located, resources: Resources) -> GgufModel:
        """Load a file; its memory is given back with the resources."""
        assert isinstance(located.spec, GgufSpec)
        if importlib.util.find_spec("llama_cpp") is None:
            raise ModelError(
                f"{located.spec.name} needs llama_cpp, which is not installed; "
                'pip install "pytest-maxrandom[gguf]"'
            )
        model = GgufModel(located.spec, located.places, max(1, cores() // resources.workers))
        resources.held.callback(model.close)
        return model


def _is_gguf(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"GGUF"


def _parts_of(name: str) -> list[Path]:
    """Return a file, or all parts of a model that is split."""
    path = Path(name)
    split = _PART.fullmatch(path.name)
    if split is None:
        return [path]
    return sorted(path.parent.glob(f"{split[1]}-*-of-{split[2]}.gguf"))


def _digests(files: Iterable[Path]) -> Iterator[str]:
    try:
        yield from (file_digest(file) for file in files)
    except OSError as error:
        raise ModelError(f"{error.filename} cannot be read: {error.strerror}") from error


def _arithmetic() -> Arithmetic:
    try:
        versions = {_PACKAGE: importlib.metadata.version(_PACKAGE)}
    except importlib.metadata.PackageNotFoundError:
        versions = {}
    return Arithmetic(processor(), "llama.cpp", versions)


class GgufModel:
    """A model in a GGUF file; see :class:`pytest_maxrandom.models.base.Model`.

    Texts go through it in the order of their tokens, so that what one begins like the last stays in
    the cache of keys and values: each distinct token in its distinct context is read once.

    Parameters
    ----------
    spec : GgufSpec
    places : mapping of str to str
        Of the file, and of its tokenizer if that is not the file's own.
    threads : int

    Raises
    ------
    ModelError
        If llama.cpp cannot load it.
    """

    device = "cpu"
    engine = "walk"
    engine_reason: str | None = None
    asked_dtype: str | None = None
    batch_tokens = _BATCH

    def __init__(self, spec: GgufSpec, places: Any, threads: int) -> None:
        import llama_cpp.llama_cpp as llama

        logging.getLogger(_PACKAGE).setLevel(logging.ERROR)
        self._llama, self._threads = llama, threads
        self._context: Any = None
        llama.llama_backend_init()
        asked = llama.llama_model_default_params()
        asked.n_gpu_layers = 0
        self._model = llama.llama_model_load_from_file(places["name"].encode(), asked)
        if not self._model:
            raise ModelError(
                f"llama.cpp cannot load {spec.name}: it is damaged, or of an architecture that "
                f"{_PACKAGE} {_arithmetic().versions.get(_PACKAGE)} does not know"
            )
        self._vocabulary = llama.llama_model_get_vocab(self._model)
        self._tokens: Tokens = (
            LocalTokens(str(spec.tokenizer), places["tokenizer"])
            if spec.tokenizer
            else _OwnTokens(llama, self._vocabulary)
        )
        self.arithmetic = _arithmetic()
        self._longest = int(llama.llama_model_n_ctx_train(self._model))
        self.context_length: int | None = self._longest
        self.dtype = _quantization(llama, llama.llama_model_ftype(self._model))
        self.quantized = f"GGUF, {self.dtype}"
        self.revision: str | None = f"sha256:{'+'.join(_digests(_parts_of(places['name'])))}"
        self._batch = llama.llama_batch_init(_BATCH, 0, 1)
        self._room = 0
        self._read: tuple[int, ...] = ()
        self._rows: list[np.ndarray[Any, Any] | None] = []

    def close(self) -> None:
        """Give the memory back."""
        if self._model:
            self._llama.llama_batch_free(self._batch)
            if self._context:
                self._llama.llama_free(self._context)
            self._llama.llama_model_free(self._model)
            self._model = self._context = None

    def peak_memory(self) -> int | None:
        """Return the most bytes in use at any one time by this process."""
        return peak_memory()

    def check(self, questions: Iterable[Question]) -> None:
        """Refuse texts that do not fit the context."""
        for part in in_parts(questions):
            self._fitting(part)

    def ask(self, questions: Iterable[Question]) -> Reply:
        """Return the log-likelihoods of each question's continuations, in nats.

        Nothing is kept from one call to the next, so that the order of prompts changes no number.
        """
        self._forget()
        answers: list[Answer] = []
        forwarded = nodes = 0
        for part in in_parts(questions):
            rows = self._fitting(part)
            requests = [request for row in rows for request in row]
            nodes += trie.build(requests).nodes
            values, read = self._scored(requests)
            forwarded += read
            rest = iter(values)
            for row in rows:
                fills = max(len(request.ids) for request in row) == self.context_length
                lengths = tuple(len(request.ids) - request.start for request in row)
                own = tuple(islice(rest, len(row)))
                answers.append(Answer(own, lengths, fills_context=fills))
        return Reply(tuple(answers), forwarded, nodes)

    def _fitting(self, questions: Sequence[Question]) -> list[tuple[Request, ...]]:
        rows = encode(questions, self._tokens.encode, self._tokens.beginning)
        for question, row in zip(questions, rows, strict=True):
            length = max(len(request.ids) for request in row)
            if length > self._longest:
                about = f"example {question.example.id}" if question.example else "a question"
                raise PromptTooLong(
                    f"{about} has {length} tokens, and the model's context holds "
                    f"{self._longest}; use fewer shots, shorter demonstrations or another "
                    "model (text is never cut)"
                )
        return rows

    def _scored(self, requests: Sequence[Request]) -> tuple[list[float], int]:
        """Return the log-likelihood of each request, and how many tokens were read for all."""
        self._make_room(max(len(request.ids) for request in requests))
        values, read = [0.0] * len(requests), 0
        for number in sorted(range(len(requests)), key=lambda one: requests[one].ids):
            request = requests[number]
            read += self._reach(request)
            told = (
                float(self._row(place - 1)[request.ids[place]])
                for place in range(request.start, len(request.ids))
            )
            values[number] = math.fsum(told)
            if not math.isfinite(values[number]):
                raise ScoreError("the model returned a log-likelihood that is not a finite number")
        return values, read

    def _row(self, place: int) -> np.ndarray[Any, Any]:
        row = self._rows[place]
        assert row is not None
        return row

    def _reach(self, request: Request) -> int:
        """Read a text up to its last token, from where it leaves the one before."""
        kept = common_length(self._read, request.ids[:-1])
        scored = range(request.start - 1, kept)
        kept = next((place for place in scored if self._rows[place] is None), kept)
        llama = self._llama
        memory = llama.llama_get_memory(self._context)
        if kept < len(self._read) and not llama.llama_memory_seq_rm(memory, 0, kept, -1):
            # Recurrent models cannot go back by some tokens.
            llama.llama_memory_clear(memory, True)
            kept = 0
        self._read, self._rows = request.ids[:kept], self._rows[:kept]
        for first in range(kept, len(request.ids) - 1, _BATCH):
            self._put(request.ids[first : min(first + _BATCH, len(request.ids) - 1)], request.start)
        return len(request.ids) - 1 - kept

    def _put(self, tokens: Sequence[int], start: int) -> None:
        """Read tokens behind those that are read, and note what follows each that counts."""
        import numpy as np

        llama, batch, before = self._llama, self._batch, len(self._read)
        batch.n_tokens = len(tokens)
        for index, token in enumerate(tokens):
            batch.token[index], batch.pos[index] = token, before + index
            batch.n_seq_id[index], batch.seq_id[index][0] = 1, 0
            batch.logits[index] = before + index >= start - 1
        if status := llama.llama_decode(self._context, batch):
            raise ScoreError(f"llama.cpp could not read a text (llama_decode returned {status})")
        size = llama.llama_vocab_n_tokens(self._vocabulary)
        for index in range(len(tokens)):
            row = None
            if batch.logits[index]:
                found = llama.llama_get_logits_ith(self._context, index)
                logits = np.ctypeslib.as_array(found, shape=(size,)).astype(np.float64)
                highest = logits.max()
                row = logits - highest - np.log(np.exp(logits - highest).sum())
            self._rows.append(row)
        self._read = (*self._read, *tokens)

    def _forget(self) -> None:
        if self._context:
            self._llama.llama_memory_clear(self._llama.llama_get_memory(self._context), True)
        self._read, self._rows = (), []

    def _make_room(self, length: int) -> None:
        """Let the cache hold the longest text; files state more than most machines hold."""
        if length <= self._room:
            return
        llama = self._llama
        if self._context:
            llama.llama_free(self._context)
        self._room = min(self._longest, 1 << max(9, (length - 1).bit_length()))
        asked = llama.llama_context_default_params()
        asked.n_ctx, asked.n_batch, asked.n_ubatch = self._room, _BATCH, _BATCH
        asked.n_threads = asked.n_threads_batch = self._threads
        self._context = llama.llama_init_from_model(self._model, asked)
        self._read, self._rows = (), []
        if not self._context:
            self._room = 0
            raise ScoreError(f"memory does not hold the cache for a text of {length} tokens")


class _OwnTokens:
    """The tokens of a GGUF file's own tokenizer."""

    def __init__(self, llama: Any, vocabulary: Any) -> None:
        self._llama, self._vocabulary = llama, vocabulary
        self._end = llama.llama_vocab_eos(vocabulary)
        self._closes = llama.llama_vocab_get_add_eos(vocabulary)
        known = (llama.llama_vocab_bos(vocabulary), self._end)
        self.beginning: int | None = next((token for token in known if token >= 0), None)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each text."""
        return [self._encoded(text.encode()) for text in texts]

    def _encoded(self, text: bytes) -> list[int]:
        room = len(text) + 8
        tokens = (ctypes.c_int32 * room)()
        count = self._llama.llama_tokenize(
            self._vocabulary, text, len(text), tokens, room, True, True
        )
        if count < 0:
            raise ScoreError("llama.cpp could not turn a text into tokens")
        found = list(tokens[:count])
        return found[:-1] if self._closes and found[-1:] == [self._end] else found


def _quantization(llama: Any, number: int) -> str:
    """Return what most of a file is quantized to, as its makers write it: Q4_K_M."""
    for name, value in vars(llama).items():
        if name.startswith("LLAMA_FTYPE_") and value == number:
            return re.sub("LLAMA_FTYPE_(MOSTLY_|ALL_)?", "", name)
    return f"type {number}"
