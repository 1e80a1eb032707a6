"""The tokens of texts for a server: from a tokenizer at hand, else from the server's own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from pytest_maxrandom.errors import ModelError, ModelNotFound
from pytest_maxrandom.models.chat import ChatTemplate
from pytest_maxrandom.models.hf.hub import file_digest
from pytest_maxrandom.models.requests import common_length
from pytest_maxrandom.models.served.threads import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.models.served.dialects import Dialect


_FILES = ("tokenizer*", "vocab*", "*.model", "*.tiktoken")
"""One of these is in the folder of any tokenizer."""
_HUB_ID = re.compile(r"[\w-][\w.-]*(/[\w.-]+)?")


def found(name: str, base: Path) -> str:
    """Return the folder of a tokenizer (relative to `base`), else its name as a hub id.

    Raises
    ------
    ModelNotFound
        If it is neither.
    """
    wrong = f"there is no folder {name} (relative to the suite file), and it is not a hub id"
    try:
        folder = base / Path(name).expanduser()
        if folder.is_dir():
            if any(any(folder.glob(pattern)) for pattern in _FILES):
                return str(folder)
            wrong = f"the folder {name} holds no tokenizer as written by save_pretrained"
        elif _HUB_ID.fullmatch(name):
            return name
    except (OSError, RuntimeError) as error:  # too long a name; no such user
        wrong = f"{name} cannot be a folder: {error}"
    raise ModelNotFound(
        {"tokenizer": f"{wrong}; expected a name such as ./folder or Qwen/Qwen3-8B"}
    )


def told_of(tokenizer: str) -> list[str]:
    """Return what tells a tokenizer and its chat template from others: its files, else its name."""
    folder = Path(tokenizer)
    if not folder.is_dir():
        return [tokenizer]
    files = {file for pattern in (*_FILES, "chat_template*") for file in folder.glob(pattern)}
    named = sorted(file for file in files if file.is_file())
    return [part for file in named for part in (file.name, file_digest(file))]


class Tokens(Protocol):
    """Turns texts into tokens, with what stands in front and nothing at the end."""

    @property
    def beginning(self) -> int | None:
        """What stands before a text that has nothing else in front of the answer."""

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each text."""


class LocalTokens:
    """The tokens of a tokenizer of transformers.

    Attributes
    ----------
    template : ChatTemplate or None
        What prompts are put into, where they are messages.

    Raises
    ------
    ModelError
        If there is none of that name, or it has no chat template.
    """

    def __init__(self, name: str, location: str, *, chat: bool = False) -> None:
        from transformers import AutoTokenizer

        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(
                # Else it asks on the terminal whether a tokenizer's own code may run.
                location,
                trust_remote_code=False,
            )
        except Exception as error:  # whatever a loader raises
            reason = " ".join(str(error).split())
            raise ModelError(f"the tokenizer {name} cannot be loaded: {reason}") from error
        special = self._tokenizer("a", return_special_tokens_mask=True).special_tokens_mask
        self._closing = special[::-1].index(0)
        self.template = ChatTemplate.of(self._tokenizer, name) if chat else None

    @property
    def beginning(self) -> int | None:
        """What stands before a text that has nothing else in front of the answer."""
        known = (self._tokenizer.bos_token_id, self._tokenizer.eos_token_id)
        return next((token for token in known if token is not None), None)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each text."""
        encoded = self._tokenizer(list(texts), return_attention_mask=False, verbose=False)
        return [ids[: len(ids) - self._closing] for ids in encoded.input_ids]

    def encode_messages(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of texts in a chat template, which writes what stands in front."""
        encoded = self._tokenizer(
            list(texts), return_attention_mask=False, verbose=False, add_special_tokens=False
        )
        return [list(ids) for ids in encoded.input_ids]

    def decode(self, ids: Sequence[int]) -> str:
        """Return a text without the tokens that stand for none."""
        return str(self._tokenizer.decode(ids, skip_special_tokens=True))


class ServerTokens:
    """The tokens of a server's own tokenizer."""

    beginning: int | None = None

    def __init__(self, dialect: Dialect, concurrency: int) -> None:
        self._dialect = dialect
        self._concurrency = concurrency
        one, other = self._asked(["a", "b"])
        # Only what a tokenizer puts at the end is the same at the ends of these two.
        self._closing = common_length(one[::-1], other[::-1])

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each text, which is one request each."""
        return [ids[: len(ids) - self._closing] for ids in self._asked(texts)]

    def _asked(self, texts: Sequence[str]) -> list[list[int]]:
        found = spread(self._dialect.tokenize, texts, self._concurrency)
        return [tokens for tokens in found if tokens is not None]
