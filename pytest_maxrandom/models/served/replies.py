"""What servers answer, read with care: a sentence for whatever is missing or is no number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ModelError, ScoreError, dotted, listed, quoted
from pytest_maxrandom.models.served.endpoint import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence, Set

    from pytest_maxrandom.models.questions import Finish, Generation
    from pytest_maxrandom.models.requests import Request
    from pytest_maxrandom.models.served.endpoint import Endpoint

    Text = tuple[int, ...]
    Step = tuple[Mapping[int, float], int]

AT_MOST = 128
"""Tokens of which vLLM tells the log-probability after one text."""
_FINITE = -1e30
"""Below this stands the logarithm of a probability that a server has rounded to zero."""

_FILTERED = ("content_filter", "content_policy_violation", "invalid_prompt")
"""How servers call it where they refuse a prompt for what it says."""
_FINISHES: Mapping[str, Finish] = {"length": "length", "content_filter": "refused"}
"""What ends an answer but the model itself and a stop text, as OpenAI calls it."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a server generated, and the tokens that it read and wrote for that."""

    text: str
    finish: Finish
    tokens: int


REFUSED = Written("", "refused", 0)
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
    stopped = how.stopped(text)
    if stopped is None:
        return Written(text, finish, tokens)
    return Written(stopped, "refused" if finish == "refused" else "stop", tokens)


def walk(
    requests: Sequence[Request], ask: Callable[[Text, Set[int], int], Iterable[Step]]
) -> list[float]:
    """Return the log-likelihood of each request's span, in nats.

    The server begins at a text from which choices go on, and generates tokens of these choices as
    far as they lead. All that it says on the way is taken, since what it generates costs it little
    and what it reads again costs much; then it begins at what was left out, shorter texts first.

    Parameters
    ----------
    requests : sequence of Request
        Those of one example.
    ask : callable
        Called with a text, the tokens that may be generated, and how many of them are. Yields for
        each the log-probabilities of all those tokens after the text so far, and the one generated.
    """
    following: dict[Text, set[int]] = {}
    for request in requests:
        for place in range(request.start, len(request.ids)):
            following.setdefault(request.ids[:place], set()).add(request.ids[place])
    told: dict[Text, dict[int, float]] = {}
    for beginning in sorted(following, key=len):
        text = beginning
        while text in following and text not in told:
            below = [node for node in following if node[: len(text)] == text and node not in told]
            tokens = {token for node in below for token in following[node]}
            steps = max(map(len, below)) - len(text) + 1
            if len(tokens) > AT_MOST:
                tokens, steps = following[text], 1
            for said, generated in ask(text, tokens, steps):
                told[text] = {token: said[token] for token in following[text]}
                text = (*text, generated)
                if text not in following or text in told:
                    break
    return [
        math.fsum(
            told[request.ids[:place]][request.ids[place]]
            for place in range(request.start, len(request.ids))
        )
        for request in requests
    ]
