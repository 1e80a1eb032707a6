"""How each kind of server is asked: what it serves, its tokens, log-likelihoods, and answers.

A server of another kind is another class here.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_maxrandom.errors import ScoreError, listed
from pytest_maxrandom.models.gguf import content_of
from pytest_maxrandom.models.served.handshake import Serving
from pytest_maxrandom.models.served.replies import (
    Read,
    Spent,
    Written,
    check_length,
    ending,
    entry_of,
    log_probability,
    part_of,
    tokens_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.models.questions import Finish, Generation
    from pytest_maxrandom.models.requests import Request
    from pytest_maxrandom.models.served.endpoint import Endpoint


class Dialect(ABC):
    """How one kind of server is asked.

    Parameters
    ----------
    model : str
        The name under which the server has the model.
    """

    tolerance: ClassVar[float] = 0.05
    """Nats by which half of the log-likelihoods of fixed texts may change while such a server has
    the same weights: what its batches, kernels and cache change (`benchmarks/same_weights.py`).
    More than that are other weights. GPUs and kinds of servers that were not measured have this
    one."""
    block: int = 16
    """Tokens of a block in the server's cache, as far as that is known: it keeps whole ones."""
    way: str = "walk"
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

    def plan(self, groups: Sequence[Sequence[Request]], found: Sequence[Read]) -> str:
        """Choose the cheapest way in which examples can be asked about, and return its name.

        Here there is one.

        Parameters
        ----------
        groups : sequence of sequences of Request
            Those of each example.
        found : sequence of Read
            What came of the last plan.
        """
        return self.way

    def gives_up(self, way: str) -> bool:
        """Plan without a way that the server refuses; return whether that leaves another one."""
        return False

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


class LlamaCpp(Dialect):
    """A server of llama.cpp, made to generate the choices by a grammar of their tokens."""

    tolerance = 0.03
    way = "forced"
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
        values, spent = [], Spent()
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
            spent.add(request.start, _cached(reply, request.start), len(span))
            steps = part_of(self._at, reply, "completion_probabilities")
            said = [part_of(self._at, step, "id") for step in steps]
            if said != list(span):
                raise ScoreError(
                    f"the server at {self._at} generated the tokens {listed(list(map(str, said)))} "
                    f"where a grammar allows {listed(list(map(str, span)))} only; its version of "
                    "llama.cpp is too old for grammars of tokens"
                )
            values.append(math.fsum(log_probability(self._at, step, "logprob") for step in steps))
        return Read(values, spent)

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
        read, spent = int(reply.get("tokens_evaluated") or 0), Spent()
        spent.add(read, _cached(reply, read), int(reply.get("tokens_predicted") or 0))
        return ending(str(part_of(self._at, reply, "content")), finish, how, spent)


def _cached(reply: Any, sent: int) -> int | None:
    """Return how many tokens of a prompt a server of llama.cpp had kept."""
    read = (reply.get("timings") or {}).get("prompt_n")
    return sent - read if isinstance(read, int) else None
