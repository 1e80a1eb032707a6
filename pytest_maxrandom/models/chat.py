"""Chat templates: what a model's makers put around a message, rendered in a process of its own."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.host import workers
from pytest_maxrandom.host.limits import limits, raised

_MARK = "@message@"
_WORKER = Path(__file__).with_name("chat_worker.py")
_MEMORY = 1 << 30
"""Bytes that a template may take besides what the libraries hold."""


class Templated(Protocol):
    """A tokenizer with a chat template, as those of transformers are."""

    chat_template: Any
    """Nothing, where it has none."""

    @property
    def special_tokens_map(self) -> dict[str, Any]:
        """The tokens that a template may write, by their names there."""

    def get_chat_template(self) -> str:
        """Return the one that is used for a message, of several."""


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """What a model's chat template puts around one message of the user's, before it answers."""

    before: str
    after: str
    """What it puts around the message, with all special tokens."""
    strips: bool
    """Whether it takes the spaces from the ends of a message."""

    @classmethod
    def of(
        cls, tokenizer: Templated, name: str, by: Literal["transformers", "llama_cpp"]
    ) -> ChatTemplate:
        """Return the template of a tokenizer.

        Parameters
        ----------
        name : str
            What messages call it.
        by : {"transformers", "llama_cpp"}
            The library that renders it.

        Raises
        ------
        ModelError
            If there is none, or it cannot be used for a single message, or takes too long.
        """
        if not getattr(tokenizer, "chat_template", None):
            raise ModelError(
                f"{name} has no chat template; remove `chat: true`, or use a model with one"
            )
        try:
            asked = {
                "by": by,
                "template": tokenizer.get_chat_template(),
                "tokens": tokenizer.special_tokens_map,
                "messages": [_MARK, f" {_MARK} "],
            }
            alone, within = _rendered(json.dumps(asked, default=str), limits().template_seconds)
        except (ValueError, TypeError) as error:
            reason = " ".join(str(error).split())
            raise ModelError(f"the chat template of {name} cannot be used: {reason}") from error
        parts, spaced = alone.split(_MARK), within.split(_MARK)
        if len(parts) != 2:
            raise ModelError(
                f"the chat template of {name} writes a message {len(parts) - 1} times; expected "
                "one that writes it once"
            )
        return cls(parts[0], parts[1], spaced == parts)

    def around(self, message: str) -> str:
        """Return the text that the model reads."""
        return self.before + (message.strip() if self.strips else message) + self.after


@functools.lru_cache(maxsize=16)
def _rendered(asked: str, seconds: int) -> tuple[str, ...]:
    """Return the texts of some messages.

    Raises
    ------
    ValueError
        If the template is wrong, or takes more than it may.
    """
    with workers.started(_WORKER, str(seconds), str(_MEMORY)) as process:
        try:
            written, _ = process.communicate(asked.encode("utf-8", "surrogatepass"))
        except BaseException:  # such as an interrupt, after which nobody waits for it
            process.kill()
            raise
    try:
        reply = json.loads(written)
    except ValueError:  # it has ended
        raise ValueError(
            f"it takes more than {seconds} s or {_MEMORY >> 30} GiB of memory, more than any model "
            f"needs; check it for an endless loop, or {raised('template_seconds')}"
        ) from None
    if "mistake" in reply:
        raise ValueError(reply["mistake"])
    return tuple(reply["texts"])
