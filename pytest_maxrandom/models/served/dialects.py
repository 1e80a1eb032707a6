"""How each kind of server is asked: what it serves, its tokens, log-likelihoods, and answers.

A server of another kind is another class here.
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from pytest_maxrandom.errors import ScoreError, listed, quoted
from pytest_maxrandom.models.gguf import content_of
from pytest_maxrandom.models.served.endpoint import Refused
from pytest_maxrandom.models.served.handshake import Serving
from pytest_maxrandom.models.served.replies import (
    AT_MOST,
    REFUSED,
    Written,
    check_length,
    completed,
    ending,
    entry_of,
    log_probability,
    part_of,
    posted,
    tokens_of,
    tokens_read,
    walk,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence, Set

    from pytest_maxrandom.models.questions import Finish, Generation
    from pytest_maxrandom.models.requests import Request
    from pytest_maxrandom.models.served.endpoint import Endpoint


@dataclass(frozen=True, slots=True)
class Read:
    """Log-likelihoods of requests in nats, and the tokens that a server had to read for them."""

    values: list[float]
    tokens: int


class Dialect(ABC):
    """How one kind of server is asked.

    Parameters
    ----------
    at : Endpoint
    model : str
        The name under which the server has the model.
    """

    tolerance: ClassVar[float] = 0.05
    """Nats by which half of the log-likelihoods of fixed texts may change while such a server has
    the same weights: what its batches, kernels and cache change. More than that are other
    weights."""

    def __init__(self, at: Endpoint, model: str) -> None:
        self._at = at
        self._model = model

    @abstractmethod
    def serving(self) -> Serving:
        """Return what the server says of itself and of the model.

        Raises
        ------
        ModelError
            If it does not serve that model, or is no such server.
        """

    def tokenize(self, text: str) -> list[int] | None:
        """Return the tokens of a text with what stands in front; None if the server tells none."""
        return None

    @abstractmethod
    def score(self, requests: Sequence[Request]) -> Read:
        """Return the log-likelihoods of one example's requests.

        Raises
        ------
        ScoreError
            If it tells none, or what is no log-probability.
        ModelError
            If it does not answer.
        """

    @abstractmethod
    def write(self, prompt: Sequence[int] | str, how: Generation, seed: int) -> Written:
        """Return what the model writes after a prompt, in tokens or as it stands.

        Raises
        ------
        ScoreError
            If the server read another number of tokens, or tells no text.
        ModelError
            If it does not answer.
        """


class Vllm(Dialect):
    """A server of vLLM, led along the choices: what it has read is not read again."""

    def serving(self) -> Serving:
        """Return what the server says; see :class:`Dialect`."""
        version = str(part_of(self._at, self._at.get("/version"), "version"))
        entry = entry_of(self._at, self._model)
        root = {"root": str(entry["root"])} if entry.get("root") else {}
        return Serving("vLLM", version, self._model, root, entry.get("max_model_len"))

    def tokenize(self, text: str) -> list[int] | None:
        """Return the tokens of a text with what stands in front."""
        return tokens_of(self._at, {"model": self._model, "prompt": text})

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
                read += tokens_read(self._at, reply, len(text)) + steps - 1
                logprobs = part_of(self._at, reply, "choices", 0, "logprobs")
                for step, known in enumerate(told):
                    top = part_of(self._at, logprobs, "top_logprobs", step)
                    known |= {
                        token: log_probability(self._at, top, f"token_id:{token}") for token in part
                    }
            for step, known in enumerate(told):
                generated = str(part_of(self._at, logprobs, "tokens", step))
                yield known, int(generated.removeprefix("token_id:"))

        return Read(walk(requests, ask), read)

    def write(self, prompt: Sequence[int] | str, how: Generation, seed: int) -> Written:
        """Return what the model writes; see :class:`Dialect`."""
        # Without these the server takes what the model's own configuration says.
        plain = {"top_p": 1.0, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}
        return completed(self._at, self._model, prompt, how, seed, plain)


class LlamaCpp(Dialect):
    """A server of llama.cpp, made to generate the choices by a grammar of their tokens."""

    def serving(self) -> Serving:
        """Return what the server says; see :class:`Dialect`."""
        entry = entry_of(self._at, self._model)
        props = self._at.get("/props")
        version = str(part_of(self._at, props, "build_info"))
        meta = entry.get("meta") or {}
        told = {key: str(meta[key]) for key in ("n_params", "size", "ftype") if key in meta}
        if props.get("model_ftype"):
            told["ftype"] = str(props["model_ftype"])
        if path := props.get("model_path"):
            told["file"] = str(path).replace("\\", "/").rpartition("/")[2]
        content = content_of(str(path)) if path and self._at.is_local else None
        length = part_of(self._at, props, "default_generation_settings", "n_ctx")
        return Serving("llama.cpp", version, self._model, told, length, content or "")

    def tokenize(self, text: str) -> list[int] | None:
        """Return the tokens of a text with what stands in front."""
        return tokens_of(self._at, {"content": text, "add_special": True})

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
            check_length(part_of(self._at, reply, "tokens_evaluated"), request.start)
            read += int((reply.get("timings") or {}).get("prompt_n", request.start))
            read += len(span) - 1
            steps = part_of(self._at, reply, "completion_probabilities")
            said = [part_of(self._at, step, "id") for step in steps]
            if said != list(span):
                raise ScoreError(
                    f"the server at {self._at} generated the tokens {listed(list(map(str, said)))} "
                    f"where a grammar allows {listed(list(map(str, span)))} only; its version of "
                    "llama.cpp is too old for grammars of tokens"
                )
            values.append(math.fsum(log_probability(self._at, step, "logprob") for step in steps))
        return Read(values, read)

    def write(self, prompt: Sequence[int] | str, how: Generation, seed: int) -> Written:
        """Return what the model writes; see :class:`Dialect`."""
        reply = self._at.post(
            "/completion",
            {
                "prompt": prompt if isinstance(prompt, str) else list(prompt),
                "n_predict": how.max_tokens,
                "temperature": how.temperature,
                "samplers": ["temperature"] if how.temperature else ["top_k"],
                "top_k": 0 if how.temperature else 1,
                "repeat_penalty": 1.0,
                "stop": list(how.stop),
                "seed": seed,
                "cache_prompt": True,
            },
        )
        if not isinstance(prompt, str):
            check_length(part_of(self._at, reply, "tokens_evaluated"), len(prompt))
        ended = reply.get("stop_type") == "limit" or reply.get("stopped_limit") is True
        finish: Finish = "length" if ended else "stop"
        read = int((reply.get("timings") or {}).get("prompt_n", reply.get("tokens_evaluated") or 0))
        written = int(reply.get("tokens_predicted") or 0)
        return ending(str(part_of(self._at, reply, "content")), finish, how, read + written)


class OpenAI(Dialect):
    """Any server of ``/v1/completions`` that repeats a prompt with its log-probabilities.

    Each choice is read from its first token on, which no protocol of OpenAI's spares.
    """

    def serving(self) -> Serving:
        """Return what the server says; see :class:`Dialect`."""
        try:
            entry = entry_of(self._at, self._model)
        except Refused as refused:
            if refused.status not in (404, 405):
                raise
            entry = {}
        length = entry.get("max_model_len") or entry.get("context_length")
        owner = str(entry.get("owned_by") or "an unnamed server")
        return Serving(owner, "", self._model, {}, length)

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
            read += tokens_read(self._at, reply, len(request.ids))
            told = part_of(self._at, reply, "choices", 0, "logprobs", "token_logprobs")
            # Some servers leave the token out that must be generated.
            if not isinstance(told, list) or len(told) not in (
                len(request.ids),
                len(request.ids) + 1,
            ):
                count = len(told) if isinstance(told, list) else 0
                raise ScoreError(
                    f"the server at {self._at} was asked to echo {len(request.ids)} tokens with "
                    f"log-probabilities, but returned {count}; expected a server that supports "
                    "`echo`"
                )
            if told[0] is not None:  # nothing is before the first token, so this is of another
                raise ScoreError(
                    f"the server at {self._at} tells {quoted(str(told[0]))} as the log-probability "
                    "of the first token, which follows nothing; expected null there, since else "
                    "each number may be that of the next token"
                )
            span = range(request.start, len(request.ids))
            values.append(math.fsum(log_probability(self._at, told, place) for place in span))
        return Read(values, read)

    def write(self, prompt: Sequence[int] | str, how: Generation, seed: int) -> Written:
        """Return what the model writes; see :class:`Dialect`."""
        return completed(self._at, self._model, prompt, how, seed, {})


class OpenAIChat(OpenAI):
    """Any server of ``/v1/chat/completions``, whose model answers one message of the user's."""

    def __init__(self, at: Endpoint, model: str) -> None:
        super().__init__(at, model)
        self._most, self._stops = "max_tokens", True

    def write(self, prompt: Sequence[int] | str, how: Generation, seed: int) -> Written:
        """Return what the model answers to a message."""
        body = {
            "model": self._model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": how.temperature,
            **({"seed": seed} if how.temperature else {}),
            **({"stop": list(how.stop)} if how.stop and self._stops else {}),
            self._most: how.max_tokens,
        }
        try:
            reply = posted(self._at, "/v1/chat/completions", body)
        except Refused as refused:
            if refused.status == 400 and self._learns(str(refused), how):
                return self.write(prompt, how, seed)
            if "temperature" in str(refused) and how.temperature != 1:
                way_out = f"{refused}; write `generation: {{temperature: 1}}`"
                raise Refused(refused.status, way_out) from None
            raise
        if reply is None:
            return REFUSED
        return written(self._at, reply, how, lambda choice: choice.get("message") or {})

    def _learns(self, refusal: str, how: Generation) -> bool:
        """Note what models that think take otherwise; tell whether to ask again."""
        if self._most == "max_tokens" and "max_completion_tokens" in refusal:
            self._most = "max_completion_tokens"
            return True
        if how.stop and self._stops and re.search(r"\bstop\b", refusal):
            self._stops = False  # an answer is cut here as well
            return True
        return False
