"""A model's chat template: what stands before and after a prompt that is a message to the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_maxrandom.errors import ModelError

_MARK = "@message@"


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """A template for one message of the user's, after which the model answers.

    Attributes
    ----------
    before, after : str
        What it puts around the message, with all special tokens.
    strips : bool
        Whether it takes the spaces from the ends of a message.
    """

    before: str
    after: str
    strips: bool

    @classmethod
    def of(cls, tokenizer: Any, name: str) -> ChatTemplate:
        """Return the template of a tokenizer of transformers.

        Raises
        ------
        ModelError
            If there is none, or it cannot be used for a single message.
        """
        if not getattr(tokenizer, "chat_template", None):
            raise ModelError(
                f"{name} has no chat template; remove `chat: true`, or use a model with one"
            )

        def rendered(message: str) -> list[str]:
            text = tokenizer.apply_chat_template(
                [{"role": "user", "content": message}], tokenize=False, add_generation_prompt=True
            )
            return str(text).split(_MARK)

        try:
            parts, spaced = rendered(_MARK), rendered(f" {_MARK} ")
        except Exception as error:  # whatever a template raises
            reason = " ".join(str(error).split())
            raise ModelError(f"the chat template of {name} cannot be used: {reason}") from error
        if len(parts) != 2:
            raise ModelError(
                f"the chat template of {name} writes a message {len(parts) - 1} times; expected "
                "one that writes it once"
            )
        return cls(parts[0], parts[1], spaced == parts)

    def around(self, message: str) -> str:
        """Return the text that the model reads."""
        return self.before + (message.strip() if self.strips else message) + self.after
