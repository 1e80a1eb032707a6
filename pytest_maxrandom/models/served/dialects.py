"""How each kind of server is asked: what it serves, its tokens, and log-likelihoods.

A server of another kind is another class here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from pytest_maxrandom.errors import ModelError, ScoreError, dotted, listed, quoted
from pytest_maxrandom.models.served.endpoint import Refused
from pytest_maxrandom.models.served.walk import AT_MOST, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence, Set

    from pytest_maxrandom.models.hf.requests import Request
    from pytest_maxrandom.models.served.endpoint import Endpoint

_FINITE = -1e30
"""Below this stands the logarithm of a probability that a server has rounded to zero."""


@dataclass(frozen=True, slots=True)
class Serving:
    """What a server says of itself and of the model.

    Attributes
    ----------
    server, version : str
        Its software.
    model : str
        The name under which it serves the model.
    told : mapping of str to str
        What it tells of the model besides: its file, its size, its parameters. Two servers that
        tell the same of a name serve the same model, as far as they tell.
    context_length : int or None
        The longest text in tokens.
    """

    server: str
    version: str
    model: str
    told: Mapping[str, str] = field(default_factory=dict)
    context_length: int | None = None


@dataclass(frozen=True, slots=True)
class Read:
    """Log-likelihoods of requests in nats, and the tokens that a server had to read for them."""

    values: list[float]
    tokens: int


class Dialect(Protocol):
    """How one kind of server is asked; called with its endpoint and the name of the model."""

    def serving(self) -> Serving:
        """Return what the server says of itself and of the model.

        Raises
        ------
        ModelError
            If it does not serve that model, or is no such server.
        """
        ...

    def tokenize(self, text: str) -> list[int] | None:
        """Return the tokens of a text with what stands in front; None if the server tells none."""
        ...

    def score(self, requests: Sequence[Request]) -> Read:
        """Return the log-likelihoods of one example's requests.

        Raises
        ------
        ScoreError
            If it tells none, or what is no log-probability.
        ModelError
            If it does not answer.
        """
        ...


class Vllm:
    """A server of vLLM, led along the choices: what it has read is not read again."""

    def __init__(self, at: Endpoint, model: str) -> None:
        self._at = at
        self._model = model

    def serving(self) -> Serving:
        """Return what the server says; see :class:`Dialect`."""
        version = str(_of(self._at, self._at.get("/version"), "version"))
        entry = _served(self._at, self._model)
        root = {"root": str(entry["root"])} if entry.get("root") else {}
        return Serving("vLLM", version, self._model, root, entry.get("max_model_len"))

    def tokenize(self, text: str) -> list[int] | None:
        """Return the tokens of a text with what stands in front."""
        return _tokens(self._at, {"model": self._model, "prompt": text})

    def score(self, requests: Sequence[Request]) -> Read:
        """Return the log-likelihoods of one example's requests."""
        read = 0

        def ask(
            text: tuple[int, ...], tokens: Set[int], steps: int
        ) -> Iterator[tuple[dict[int, float], int]]:
            nonlocal read
            told: list[dict[int, float]] = [{} for _ in range(steps)]
            wanted = sorted(tokens)
            for first in range(0, len(wanted), AT_MOST):
                part = wanted[first : first + AT_MOST]
                reply = self._at.post(
                    "/v1/completions",
                    {
                        "model": self._model,
                        "prompt": list(text),
                        "max_tokens": steps,
                        "temperature": 0,
                        "allowed_token_ids": part,
                        "logprobs": 1,
                        "logprob_token_ids": part,
                        # Two tokens may have the same text.
                        "return_tokens_as_token_ids": True,
                    },
                )
                read += _read(self._at, reply, len(text)) + steps - 1
                logprobs = _of(self._at, reply, "choices", 0, "logprobs")
                for step, known in enumerate(told):
                    top = _of(self._at, logprobs, "top_logprobs", step)
                    known |= {token: _number(self._at, top, f"token_id:{token}") for token in part}
            for step, known in enumerate(told):
                generated = str(_of(self._at, logprobs, "tokens", step))
                yield known, int(generated.removeprefix("token_id:"))

        return Read(walk(requests, ask), read)


class LlamaCpp:
    """A server of llama.cpp, made to generate the choices by a grammar of their tokens."""

    def __init__(self, at: Endpoint, model: str) -> None:
        self._at = at
        self._model = model

    def serving(self) -> Serving:
        """Return what the server says; see :class:`Dialect`."""
        entry = _served(self._at, self._model)
        props = self._at.get("/props")
        version = str(_of(self._at, props, "build_info"))
        meta = entry.get("meta") or {}
        told = {key: str(meta[key]) for key in ("n_params", "size", "ftype") if key in meta}
        if props.get("model_ftype"):
            told["ftype"] = str(props["model_ftype"])
        if path := props.get("model_path"):
            told["file"] = str(path).replace("\\", "/").rpartition("/")[2]
        length = _of(self._at, props, "default_generation_settings", "n_ctx")
        return Serving("llama.cpp", version, self._model, told, length)

    def tokenize(self, text: str) -> list[int] | None:
        """Return the tokens of a text with what stands in front."""
        return _tokens(self._at, {"content": text, "add_special": True})

    def score(self, requests: Sequence[Request]) -> Read:
        """Return the log-likelihoods of one example's requests."""
        values, read = [], 0
        for request in requests:
            span = request.ids[request.start :]
            reply = self._at.post(
                "/completion",
                {
                    "prompt": list(request.ids[: request.start]),
                    "n_predict": len(span),
                    "n_probs": 1,
                    "temperature": 0,
                    "cache_prompt": True,
                    "grammar": "root ::= " + " ".join(f"<[{token}]>" for token in span),
                },
            )
            _told_length(_of(self._at, reply, "tokens_evaluated"), request.start)
            read += int((reply.get("timings") or {}).get("prompt_n", request.start))
            read += len(span) - 1
            steps = _of(self._at, reply, "completion_probabilities")
            said = [_of(self._at, step, "id") for step in steps]
            if said != list(span):
                raise ScoreError(
                    f"the server at {self._at} generated the tokens {listed(list(map(str, said)))} "
                    f"where a grammar allows {listed(list(map(str, span)))} only; its version of "
                    "llama.cpp is too old for grammars of tokens"
                )
            values.append(math.fsum(_number(self._at, step, "logprob") for step in steps))
        return Read(values, read)


class OpenAI:
    """Any server of ``/v1/completions`` that repeats a prompt with its log-probabilities.

    Each choice is read from its first token on, which no protocol of OpenAI's spares.
    """

    def __init__(self, at: Endpoint, model: str) -> None:
        self._at = at
        self._model = model

    def serving(self) -> Serving:
        """Return what the server says; see :class:`Dialect`."""
        try:
            entry = _served(self._at, self._model)
        except Refused as refused:
            if refused.status not in (404, 405):
                raise
            entry = {}
        length = entry.get("max_model_len") or entry.get("context_length")
        owner = str(entry.get("owned_by") or "an unnamed server")
        return Serving(owner, "", self._model, {}, length)

    def tokenize(self, text: str) -> list[int] | None:
        """Return None: OpenAI's interface has no tokenizer."""

    def score(self, requests: Sequence[Request]) -> Read:
        """Return the log-likelihoods of one example's requests."""
        values, read = [], 0
        for request in requests:
            reply = self._at.post(
                "/v1/completions",
                {
                    "model": self._model,
                    "prompt": list(request.ids),
                    "max_tokens": 1,
                    "temperature": 0,
                    "logprobs": 1,
                    "echo": True,
                },
            )
            read += _read(self._at, reply, len(request.ids))
            told = _of(self._at, reply, "choices", 0, "logprobs", "token_logprobs")
            # Some servers leave the token out that must be generated.
            if not isinstance(told, list) or len(told) not in (
                len(request.ids),
                len(request.ids) + 1,
            ):
                count = len(told) if isinstance(told, list) else 0
                raise ScoreError(
                    f"the server at {self._at} was asked to repeat {len(request.ids)} tokens with "
                    f"their log-probabilities, and told {count}; expected a server that knows "
                    "`echo`"
                )
            span = range(request.start, len(request.ids))
            values.append(math.fsum(_number(self._at, told, place) for place in span))
        return Read(values, read)


def _served(at: Endpoint, name: str) -> Mapping[str, Any]:
    """Return what a server tells of the model of that name.

    Raises
    ------
    ModelError
        If it serves none of that name.
    """
    entries = _of(at, at.get("/v1/models"), "data")
    known: list[str] = []
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, dict):
            names = [str(entry.get("id")), *map(str, entry.get("aliases") or [])]
            if name in names:
                return entry
            known += names
    raise ModelError(
        f"the server at {at} serves no model {quoted(name)}; it serves "
        f"{listed(known) or 'none'}, to be written as `served_model`"
    )


def _tokens(at: Endpoint, body: Mapping[str, Any]) -> list[int]:
    tokens = _of(at, at.post("/tokenize", body), "tokens")
    if not isinstance(tokens, list) or not all(isinstance(token, int) for token in tokens):
        raise ModelError(f"the server at {at} tokenizes a text as {quoted(str(tokens))}")
    return tokens


def _read(at: Endpoint, reply: Any, sent: int) -> int:
    """Return how many tokens of a prompt were read; all, where that is not told."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    if not isinstance(usage, dict):
        return sent
    _told_length(usage.get("prompt_tokens", sent), sent)
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return sent - int(cached)


def _told_length(told: Any, sent: int) -> None:
    if told != sent:
        raise ScoreError(
            f"the server read {told} tokens where {sent} were sent; expected one that puts nothing "
            "in front, such as a second token for the beginning"
        )


def _of(at: Endpoint, reply: Any, *path: str | int) -> Any:
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


def _number(at: Endpoint, told: Any, place: str | int) -> float:
    """Return a log-probability."""
    value = _of(at, told, place)
    if not isinstance(value, int | float) or math.isnan(value) or value > 1e-3:
        raise ScoreError(
            f"the server at {at} tells {quoted(str(value))} as a log-probability; expected a "
            "number up to 0"
        )
    return float(value) if value > _FINITE else -math.inf
