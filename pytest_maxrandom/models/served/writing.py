"""Answers that servers generate, in the forms in which they give them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ScoreError, quoted
from pytest_maxrandom.models.served.endpoint import Refused
from pytest_maxrandom.models.served.replies import part_of, tokens_read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_maxrandom.models.questions import Finish, Generation
    from pytest_maxrandom.models.served.endpoint import Endpoint


@dataclass(frozen=True, slots=True)
class Written:
    """What a server generated, and the tokens that it read and wrote for that."""

    text: str
    finish: Finish
    tokens: int


_FILTERED = ("content_filter", "content_policy_violation", "invalid_prompt")
"""How servers call it where they refuse a prompt for what it says."""
_FINISHES: Mapping[str, Finish] = {"length": "length", "content_filter": "refused"}
"""What ends an answer but the model itself and a stop text, as OpenAI calls it."""


REFUSED = Written("", "refused", 0)
"""What is written after a prompt that a server refuses for what it says."""


def posted(at: Endpoint, path: str, body: Mapping[str, Any]) -> Any:
    """Send a prompt; return None if the server refuses it for what it says."""
    try:
        return at.post(path, body)
    except Refused as refused:
        if refused.code not in _FILTERED:
            raise
        return None


def completed(
    at: Endpoint,
    model: str,
    prompt: Sequence[int] | str,
    how: Generation,
    seed: int,
    more: Mapping[str, Any],
) -> Written:
    """Return what a server of ``/v1/completions`` writes after a prompt."""
    reply = posted(
        at,
        "/v1/completions",
        {
            "model": model,
            "prompt": prompt if isinstance(prompt, str) else list(prompt),
            "max_tokens": how.max_tokens,
            "temperature": how.temperature,
            **({"stop": list(how.stop)} if how.stop else {}),
            **({"seed": seed} if how.temperature else {}),
            **more,
        },
    )
    if reply is None:
        return REFUSED
    if not isinstance(prompt, str):
        tokens_read(at, reply, len(prompt))
    return written(at, reply, how, lambda choice: {"content": choice.get("text")})


def written(
    at: Endpoint,
    reply: Any,
    how: Generation,
    message: Callable[[Mapping[str, Any]], Mapping[str, Any]],
) -> Written:
    """Read an answer in OpenAI's form; a refusal is one, whatever it says."""
    choice = part_of(at, reply, "choices", 0)
    if not isinstance(choice, dict):
        raise ScoreError(
            f"the server at {at} answers with {quoted(str(choice))}, which is not text"
        )
    said = message(choice)
    finish = _FINISHES.get(str(choice.get("finish_reason")), "stop")
    text = said.get("content")
    if said.get("refusal"):
        text, finish = said["refusal"], "refused"
    if text is None and finish == "stop":
        raise ScoreError(
            f"the answer of the server at {at} has no text ({quoted(str(reply), 200)}); expected a "
            "server of the kind that `backend` says"
        )
    usage = reply.get("usage") or {}
    tokens = sum(int(usage.get(key) or 0) for key in ("prompt_tokens", "completion_tokens"))
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return ending(str(text or ""), finish, how, tokens - int(cached))


def ending(text: str, finish: Finish, how: Generation, tokens: int) -> Written:
    """Return a text up to where it had to stop, since not every server knows all stop texts."""
    places = [place for place in map(text.find, how.stop) if place >= 0]
    if not places:
        return Written(text, finish, tokens)
    return Written(text[: min(places)], "refused" if finish == "refused" else "stop", tokens)
