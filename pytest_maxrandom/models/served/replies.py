"""What servers answer, read with care: a sentence for whatever is missing or is no number."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ModelError, ScoreError, dotted, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_maxrandom.models.served.endpoint import Endpoint

_FINITE = -1e30
"""Below this stands the logarithm of a probability that a server has rounded to zero."""


def entry_of(at: Endpoint, name: str) -> Mapping[str, Any]:
    """Return what a server tells of the model of that name.

    Raises
    ------
    ModelError
        If it serves none of that name.
    """
    entries = part_of(at, at.get("/v1/models"), "data")
    known: list[str] = []
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict):
            names = [str(entry.get("id")), *map(str, entry.get("aliases") or [])]
            if name in names:
                return entry
            known += names
    raise ModelError(
        f"the server at {at} serves no model {quoted(name)}; it serves {listed(known) or 'none'}; "
        "write one of these as `served_model`"
    )


def tokens_of(at: Endpoint, body: Mapping[str, Any]) -> list[int]:
    """Return what a server makes of a text.

    Raises
    ------
    ModelError
        If that is no list of tokens.
    """
    tokens = part_of(at, at.post("/tokenize", body), "tokens")
    if not isinstance(tokens, list) or not all(isinstance(token, int) for token in tokens):
        raise ModelError(f"the server at {at} tokenizes a text as {quoted(str(tokens))}")
    return tokens


def tokens_read(at: Endpoint, reply: Any, sent: int) -> int:
    """Return how many tokens of a prompt were read; all, if the server does not say."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    if not isinstance(usage, dict):
        return sent
    check_length(usage.get("prompt_tokens", sent), sent)
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return sent - int(cached)


def check_length(told: Any, sent: int) -> None:
    """Refuse a server that has read another number of tokens than it was sent.

    Raises
    ------
    ScoreError
        In one sentence.
    """
    if told != sent:
        raise ScoreError(
            f"the server read {told} tokens where {sent} were sent; expected a server that adds "
            "nothing in front, such as a second beginning-of-text token"
        )


def part_of(at: Endpoint, reply: Any, *path: str | int) -> Any:
    """Return what stands at a place of a server's answer.

    Raises
    ------
    ScoreError
        If nothing stands there.
    """
    found = reply
    try:
        for step in path:
            found = found[step]
    except (KeyError, IndexError, TypeError):
        found = None
    if found is None:
        raise ScoreError(
            f"the answer of the server at {at} has no {dotted(path)} ({quoted(str(reply), 200)}); "
            "expected a server of the kind that `backend` says"
        )
    return found


def log_probability(at: Endpoint, told: Any, place: str | int) -> float:
    """Return a log-probability."""
    value = part_of(at, told, place)
    if not isinstance(value, int | float) or math.isnan(value) or value > 1e-3:
        raise ScoreError(
            f"the server at {at} tells {quoted(str(value))} as a log-probability; expected a "
            "number of at most 0"
        )
    return float(value) if value > _FINITE else -math.inf
