"""llama.cpp in this process, by llama-cpp-python's low-level API: a GGUF file that is read with."""

from __future__ import annotations

import ctypes
import logging
import re
import weakref
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ModelError, ScoreError
from pytest_maxrandom.models.gguf_header import header_mistake
from pytest_maxrandom.models.requests import Request, common_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    Row = np.ndarray[Any, np.dtype[np.float64]]

PACKAGE = "llama-cpp-python"
BATCH = 512
"""Tokens that are read at once."""


class Reader:
    """A loaded file, and the text that stands in its cache of keys and values.

    What a text has in common with the one before is not read again.

    Parameters
    ----------
    name : str
        What messages call it.

    Attributes
    ----------
    longest : int
        Tokens of the longest text that it was trained on.
    quantization : str
        What most of it is quantized to, as its makers write it: Q4_K_M.

    Raises
    ------
    ModelError
        If llama.cpp cannot load it.
    """

    def __init__(self, path: str, name: str, threads: int) -> None:
        import llama_cpp.llama_cpp as llama

        self._llama, self._threads = llama, threads
        self._context: Any = None
        self._model = _loaded(path, name)
        self._vocabulary = llama.llama_model_get_vocab(self._model)
        self._size = llama.llama_vocab_n_tokens(self._vocabulary)
        self.tokens = OwnTokens(llama, self._model)
        self.longest = int(llama.llama_model_n_ctx_train(self._model))
        self.quantization = _quantization(llama, llama.llama_model_ftype(self._model))
        self._batch = llama.llama_batch_init(BATCH, 0, 1)
        self._room = 0
        self._read: tuple[int, ...] = ()
        self._rows: list[Row | None] = []

    def close(self) -> None:
        """Give the memory back."""
        if self._model:
            self._llama.llama_batch_free(self._batch)
            if self._context:
                self._llama.llama_free(self._context)
            self._llama.llama_model_free(self._model)
            self._model = self._context = None

    def forget(self) -> None:
        """Keep nothing of what was read."""
        if self._context:
            self._llama.llama_memory_clear(self._llama.llama_get_memory(self._context), True)
        self._read, self._rows = (), []

    def reserve(self, length: int) -> None:
        """Let the cache hold a text; files state more than most machines hold."""
        if length <= self._room:
            return
        llama = self._llama
        if self._context:
            llama.llama_free(self._context)
        self._room = min(self.longest, 1 << max(9, (length - 1).bit_length()))
        asked = llama.llama_context_default_params()
        asked.n_ctx, asked.n_batch, asked.n_ubatch = self._room, BATCH, BATCH
        asked.n_threads = asked.n_threads_batch = self._threads
        self._context = llama.llama_init_from_model(self._model, asked)
        self._read, self._rows = (), []
        if not self._context:
            self._room = 0
            raise ScoreError(f"memory cannot hold the cache for a text of {length} tokens")

    def read(self, request: Request) -> int:
        """Read a text up to its last token; return how many tokens that were."""
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
        for first in range(kept, len(request.ids) - 1, BATCH):
            self._put(request.ids[first : min(first + BATCH, len(request.ids) - 1)], request.start)
        return len(request.ids) - 1 - kept

    def row(self, place: int) -> Row:
        """Return the log-probabilities in nats of what follows a token that was asked for."""
        row = self._rows[place]
        assert row is not None
        return row

    def go_on(self, token: int) -> None:
        """Read one more token; results of those before it are dropped, since they take memory."""
        self._rows[-1] = None
        self._put((token,), 0)

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
        for index in range(len(tokens)):
            row = None
            if batch.logits[index]:
                found = llama.llama_get_logits_ith(self._context, index)
                logits = np.ctypeslib.as_array(found, shape=(self._size,)).astype(np.float64)
                highest = logits.max()
                row = logits - highest - np.log(np.exp(logits - highest).sum())
            self._rows.append(row)
        self._read = (*self._read, *tokens)


class OwnTokens:
    """The tokens of a GGUF file's own tokenizer; they end with the model.

    Attributes
    ----------
    beginning : int or None
        What stands before a text that has nothing else in front of the answer.
    """

    def __init__(self, llama: Any, model: Any) -> None:
        self._llama = llama
        self._vocabulary = llama.llama_model_get_vocab(model)
        self._closing = llama.llama_vocab_eos(self._vocabulary)
        self._closes = llama.llama_vocab_get_add_eos(self._vocabulary)
        known = (llama.llama_vocab_bos(self._vocabulary), self._closing)
        self.beginning: int | None = next((token for token in known if token >= 0), None)
        template = llama.llama_model_chat_template(model, None)
        self.chat_template = None if template is None else template.decode()

    def ends(self, token: int) -> bool:
        """Tell whether an answer is over with a token."""
        return bool(self._llama.llama_vocab_is_eog(self._vocabulary, token))

    def encode(self, texts: Sequence[str], *, bare: bool = False) -> list[list[int]]:
        """Return the tokens of each text; see :class:`pytest_maxrandom.models.tokens.Tokens`."""
        found = [self._encoded(text.encode(), around=not bare) for text in texts]
        closes = self._closes and not bare
        return [ids[:-1] if closes and ids[-1:] == [self._closing] else ids for ids in found]

    def _encoded(self, text: bytes, *, around: bool) -> list[int]:
        room = len(text) + 8
        tokens = (ctypes.c_int32 * room)()
        count = self._llama.llama_tokenize(
            self._vocabulary, text, len(text), tokens, room, around, True
        )
        if count < 0:
            raise ScoreError("llama.cpp could not turn a text into tokens")
        return list(tokens[:count])

    def decode(self, ids: Sequence[int]) -> str:
        """Return a text without the tokens that stand for none."""
        tokens, room = (ctypes.c_int32 * len(ids))(*ids), 64 * len(ids) + 64
        while True:
            text = ctypes.create_string_buffer(room)
            length = self._llama.llama_detokenize(
                self._vocabulary, tokens, len(ids), text, room, False, False
            )
            if length >= 0:
                return text.raw[:length].decode("utf-8", "replace")
            room = -length

    def get_chat_template(self) -> str:
        """Return the template; there is one."""
        return str(self.chat_template)

    @property
    def special_tokens_map(self) -> dict[str, str]:
        """The tokens at both ends of a text, as they are written."""
        ends = {
            "eos_token": self._llama.llama_vocab_eos(self._vocabulary),
            "bos_token": self._llama.llama_vocab_bos(self._vocabulary),
        }
        return {name: self._written(token) for name, token in ends.items()}

    def _written(self, token: int) -> str:
        if token < 0:
            return ""
        return str(self._llama.llama_vocab_get_text(self._vocabulary, token).decode())


def vocabulary(path: str, name: str) -> tuple[OwnTokens, int]:
    """Return the tokenizer of a file, and how many tokens the longest text has that it states.

    Parameters
    ----------
    name : str
        What messages call it.

    Raises
    ------
    ModelError
        If llama.cpp cannot load it, or it states no length.
    """
    import llama_cpp.llama_cpp as llama

    model = _loaded(path, name, vocab_only=True)
    tokens = OwnTokens(llama, model)
    weakref.finalize(tokens, llama.llama_model_free, model)
    # Without weights llama.cpp does not read this key itself.
    key = f"{_stated(llama, model, 'general.architecture')}.context_length"
    if not (length := _stated(llama, model, key)).isdigit():
        raise ModelError(f"{name} does not state its `{key}`")
    return tokens, int(length)


def _loaded(path: str, name: str, *, vocab_only: bool = False) -> Any:
    if wrong := header_mistake(path):
        raise ModelError(f"llama.cpp cannot load {name}: {wrong}; download it again")
    import llama_cpp
    import llama_cpp.llama_cpp as llama

    logging.getLogger(PACKAGE).setLevel(logging.ERROR)
    llama.llama_backend_init()
    asked = llama.llama_model_default_params()
    asked.n_gpu_layers, asked.vocab_only = 0, vocab_only
    # Kernels for weights in another order end the process on some processors with AMX
    # (ggml-org/llama.cpp#20824).
    asked.use_extra_bufts = False
    model = llama.llama_model_load_from_file(path.encode(), asked)
    if not model:
        raise ModelError(
            f"llama.cpp cannot load {name}: it is damaged, or {PACKAGE} "
            f"{llama_cpp.__version__} does not know its architecture"
        )
    return model


def _stated(llama: Any, model: Any, key: str) -> str:
    room = ctypes.create_string_buffer(256)
    llama.llama_model_meta_val_str(model, key.encode(), room, len(room))
    return room.value.decode("utf-8", "replace")


def _quantization(llama: Any, number: int) -> str:
    for name, value in vars(llama).items():
        if name.startswith("LLAMA_FTYPE_") and value == number:
            return re.sub("LLAMA_FTYPE_(MOSTLY_|ALL_)?", "", name)
    return f"type {number}"
