"""How each kind of server is asked: what it serves, its tokens, log-likelihoods, and answers.

A server of another kind is another class here.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_maxrandom.errors import ScoreError, listed
from pytest_maxrandom.models.gguf import content_of
from pytest_maxrandom.models.served.handshake import Serving
from pytest_maxrandom.models.served.recognition import LEAST_VLLM
from pytest_maxrandom.models.served.replies import (
    AT_MOST,
    Written,
    check_length,
    completed,
    ending,
    entry_of,
    log_probability,
    part_of,
    tokens_of,
    tokens_read,
    walk,
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
    way: ClassVar[str] = "walk"
    """How log-likelihoods are asked for, in a word for the report."""
    tested: str = ""
    """The real server that was asked in this way and compared with the same weights; empty if there
    was only a fake one, written from a server's source."""

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

    tested = "vLLM 0.32.0"

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
                    self._check(top, part)
                    known |= {
                        token: log_probability(self._at, top, f"token_id:{token}") for token in part
                    }
            for step, known in enumerate(told):
                generated = str(part_of(self._at, logprobs, "tokens", step))
                yield known, int(generated.removeprefix("token_id:"))

        return Read(walk(requests, ask), read)

    def _check(self, told: Any, tokens: Sequence[int]) -> None:
        """Refuse a version that does not know by what it is asked for tokens, and tells others."""
        if isinstance(told, dict) and not all(f"token_id:{token}" in told for token in tokens):
            version = part_of(self._at, self._at.get("/version"), "version")
            raise ScoreError(
                f"the server at {self._at} is vLLM {version}, which does not tell the "
                f"log-probabilities of the tokens that it is asked for: update it to {LEAST_VLLM} "
                "or later, or write `backend: openai`, which sends each choice with its prompt"
            )

    def write(self, prompt: Sequence[int] | str, how: Generation, seed: int) -> Written:
        """Return what the model writes; see :class:`Dialect`."""
        # Without these the server takes what the model's own configuration says.
        plain = {"top_p": 1.0, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}
        return completed(self._at, self._model, prompt, how, seed, plain)


class LlamaCpp(Dialect):
    """A server of llama.cpp, made to generate the choices by a grammar of their tokens."""

    tested = "the server of llama.cpp (build 11549)"

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
