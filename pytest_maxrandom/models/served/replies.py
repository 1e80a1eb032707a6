"""What servers answer, read with care: a sentence for whatever is missing or is no number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ModelError, ScoreError, dotted, listed, quoted
from pytest_maxrandom.models.served.endpoint import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_maxrandom.models.questions import Finish, Generation
    from pytest_maxrandom.models.requests import Request
    from pytest_maxrandom.models.served.endpoint import Endpoint

_FINITE = -1e30
"""Below this stands the logarithm of a probability that a server has rounded to zero."""

_FILTERED = ("content_filter", "content_policy_violation", "invalid_prompt")
"""How servers call it where they refuse a prompt for what it says."""
_FINISHES: Mapping[str, Finish] = {"length": "length", "content_filter": "refused"}
"""What ends an answer but the model itself and a stop text, as OpenAI calls it."""


@dataclass(slots=True)
class Spent:
    """Tokens that answers cost a server."""

    tokens: int = 0
    """Those that it computed, read and written; where it tells none that it had kept, at most."""
    cached: int | None = 0
    """Those that it was sent and had kept from before; None where it does not tell them."""

    def add(self, read: int, cached: int | None, written: int = 0) -> None:
        """Add what one answer cost: tokens read, and those that were kept among them.

        The last token that is written is put through no model.
        """
        self.tokens += read - (cached or 0) + max(0, written - 1)
        self.cached = None if cached is None or self.cached is None else self.cached + cached


@dataclass(frozen=True, slots=True)
class Read:
    """Log-likelihoods of requests in nats, and what they cost."""

    values: list[float]
    spent: Spent
    leading: int = 0
    strayed: int = 0
    """Tokens along which the server was led, and those of them that it did not reach."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a server generated, and what that cost."""

    text: str
    finish: Finish
    spent: Spent


REFUSED = Written("", "refused", Spent())
"""What is written after a prompt that a server refuses for what it says."""


def entry_of(at: Endpoint, name: str, *, every: bool = True) -> Mapping[str, Any]:
    """Return what a server tells of the model of that name.

    Parameters
    ----------
    every : bool
        Whether it names each model that it serves; nothing is returned of others where it does not.

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
    if not every:
        return {}
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


def cached_of(reply: Any) -> int | None:
    """Return how many tokens of a prompt a server had kept; None if it does not tell."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    told = usage.get("prompt_tokens_details") if isinstance(usage, dict) else None
    cached = told.get("cached_tokens") if isinstance(told, dict) else None
    return cached if isinstance(cached, int) else None


def check_read(reply: Any, sent: int) -> None:
    """Refuse an answer whose server has read another number of tokens than it was sent."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    if isinstance(usage, dict):
        check_length(usage.get("prompt_tokens", sent), sent)


def echo(at: Endpoint, model: str, request: Request, spent: Spent) -> list[Any]:
    """Ask a server to repeat a text, and return a log-probability for each of its tokens.

    The text is read from its first token on. What follows nothing has None.
    """
    sent = len(request.ids)
    reply = at.post(
        "/v1/completions",
        {
            "model": model,
            "prompt": list(request.ids),
            "max_tokens": 1,
            "temperature": 0,
            "logprobs": 1,
            "echo": True,
        },
    )
    check_read(reply, sent)
    spent.add(sent, cached_of(reply))
    values = part_of(at, reply, "choices", 0, "logprobs", "token_logprobs")
    # Some servers leave the token out that must be generated.
    if not isinstance(values, list) or len(values) not in (sent, sent + 1):
        count = len(values) if isinstance(values, list) else 0
        raise ScoreError(
            f"the server at {at} was asked to echo {sent} tokens with log-probabilities, but "
            f"returned {count}; expected a server that supports `echo`"
        )
    return values


def check_first(at: Endpoint, told: Sequence[Any]) -> None:
    """Refuse a list whose first token has a number, though it follows nothing."""
    if told[0] is not None:
        raise ScoreError(
            f"the server at {at} tells {quoted(str(told[0]))} as the log-probability of the first "
            "token, which follows nothing; expected null there, since else each number may be that "
            "of the next token"
        )


def of_span(at: Endpoint, told: Sequence[Any], request: Request) -> float:
    """Return the log-likelihood of a request's continuation."""
    span = range(request.start, len(request.ids))
    return math.fsum(log_probability(at, told, place) for place in span)


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
    part = reply
    try:
        for step in path:
            part = part[step]
    except (KeyError, IndexError, TypeError):
        part = None
    if part is None:
        raise ScoreError(
            f"the answer of the server at {at} has no {dotted(path)} ({quoted(str(reply), 200)}); "
            "expected a server of the kind that `backend` says"
        )
    return part


def log_probability(at: Endpoint, told: Any, place: str | int) -> float:
    """Return a log-probability."""
    value = part_of(at, told, place)
    if not isinstance(value, int | float) or math.isnan(value) or value > 1e-3:
        raise ScoreError(
            f"the server at {at} tells {quoted(str(value))} as a log-probability; expected a "
            "number of at most 0"
        )
    return float(value) if value > _FINITE else -math.inf


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
        check_read(reply, len(prompt))
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
    usage, spent = reply.get("usage") or {}, Spent()
    read, generated = (int(usage.get(f"{key}_tokens") or 0) for key in ("prompt", "completion"))
    spent.add(read, cached_of(reply), generated)
    return ending(str(text or ""), finish, how, spent)


def ending(text: str, finish: Finish, how: Generation, spent: Spent) -> Written:
    """Return a text up to where it had to stop, since not every server knows all stop texts."""
    stopped = how.stopped(text)
    if stopped is None:
        return Written(text, finish, spent)
    return Written(stopped, "refused" if finish == "refused" else "stop", spent)
