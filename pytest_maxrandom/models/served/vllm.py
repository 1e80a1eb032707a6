"""How a server of vLLM is asked: along the choices as it goes, made to follow one, or by echo."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ModelError, ScoreError
from pytest_maxrandom.models.served.dialects import Dialect
from pytest_maxrandom.models.served.handshake import Serving
from pytest_maxrandom.models.served.recognition import LEAST_VLLM
from pytest_maxrandom.models.served.replies import (
    Read,
    Spent,
    Written,
    cached_of,
    check_first,
    check_read,
    completed,
    echo,
    entry_of,
    log_probability,
    of_span,
    part_of,
    tokens_of,
)
from pytest_maxrandom.models.served.ways import AT_MOST, Costs, Leg, costs, shared_length, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_maxrandom.models.questions import Generation
    from pytest_maxrandom.models.requests import Request
    from pytest_maxrandom.models.served.endpoint import Endpoint

_BLOCK = 128
"""Tokens of a block where the server tells none: the most that vLLM takes by itself."""
_NONE = 2**30
"""The same where it keeps nothing."""
_MOST, _LEAST = 100.0, 20.0
"""What vLLM adds to a token's logit at most, and what is added here at least."""
_SCALE = 1000.0
"""By what the logits of tokens that stand in the text already are divided."""
_CONFIGURATION = re.compile(r"^vllm:cache_config_info\{(.*)\}", re.MULTILINE)


class Vllm(Dialect):
    """A server of vLLM, asked in the cheapest of three ways.

    Its structured outputs would force the tokens of a choice, but change the log-probabilities that
    it tells. What forces them here does not, since these are of the model's own logits. Of the
    allowed tokens, each is preferred to the one after it (`logit_bias`); those that stand in the
    text are brought so near to each other (`repetition_penalty`) that whatever was generated once
    is behind all others (`presence_penalty`). So no token may come twice, and only the first may be
    new. What is generated nonetheless is seen in the answer, and asked for from there again.
    """

    tested = "vLLM 0.32.0"

    def __init__(self, at: Endpoint, model: str) -> None:
        super().__init__(at, model)
        self._asked = False
        self._planned: Sequence[Sequence[Request]] = ()
        self._costs: Costs | None = None
        # Who follows no choice is dearest to walk with, and is not known yet.
        self._strays = {"walk": 1.0, "forced": 0.0}

    def serving(self) -> Serving:
        """Return what the server says; see :class:`Dialect`."""
        version = str(part_of(self._at, self._at.get("/version"), "version"))
        entry = entry_of(self._at, self._model)
        root = {"root": str(entry["root"])} if entry.get("root") else {}
        return Serving("vLLM", version, self._model, root, entry.get("max_model_len"))

    def tokenize(self, text: str) -> list[int] | None:
        """Return the tokens of a text with what stands in front."""
        return tokens_of(self._at, {"model": self._model, "prompt": text})

    def plan(self, groups: Sequence[Sequence[Request]], found: Sequence[Read]) -> str:
        """Choose the way that makes the server compute the fewest tokens."""
        if not self._asked:
            self.block, self._asked = _block_of(self._at), True
        leading = sum(read.leading for read in found)
        if leading and self.way in self._strays:
            self._strays[self.way] = sum(read.strayed for read in found) / leading
        if self._costs is None or self._planned is not groups:
            self._planned = groups
            self._costs = costs(groups, self.block, shared_length(groups))
        self.way = self._costs.cheapest(self._strays)
        return self.way

    def gives_up(self, way: str) -> bool:
        """Plan without forcing, which no server takes that drafts what it generates."""
        return self._strays.pop(way, None) is not None

    def score(self, requests: Sequence[Request]) -> Read:
        """Return the log-likelihoods of one example's requests."""
        if self.way == "echo":
            return self._echoed(requests)
        spent = Spent()

        def ask(leg: Leg) -> Iterator[tuple[dict[int, float], int]]:
            values: list[dict[int, float]] = [{} for _ in range(leg.steps)]
            wanted = sorted(leg.told)
            for first in range(0, len(wanted), AT_MOST):
                part = wanted[first : first + AT_MOST]
                reply = self._at.post("/v1/completions", self._body(leg, part))
                check_read(reply, len(leg.text))
                spent.add(len(leg.text), cached_of(reply), leg.steps)
                logprobs = part_of(self._at, reply, "choices", 0, "logprobs")
                for step, known in enumerate(values):
                    top = part_of(self._at, logprobs, "top_logprobs", step)
                    self._check(top, part)
                    known |= {
                        token: log_probability(self._at, top, f"token_id:{token}") for token in part
                    }
            for step, known in enumerate(values):
                generated = str(part_of(self._at, logprobs, "tokens", step))
                yield known, int(generated.removeprefix("token_id:"))

        walked = walk(requests, ask, forced=self.way == "forced")
        return Read(walked.values, spent, walked.leading, walked.strayed)

    def _echoed(self, requests: Sequence[Request]) -> Read:
        values, spent = [], Spent()
        for request in requests:
            told = echo(self._at, self._model, request, spent)
            check_first(self._at, told)
            values.append(of_span(self._at, told, request))
        return Read(values, spent)

    def write(self, prompt: Sequence[int] | str, how: Generation, seed: int) -> Written:
        """Return what the model writes; see :class:`Dialect`."""
        # Without these the server takes what the model's own configuration says.
        plain = {"top_p": 1.0, "top_k": 0, "min_p": 0.0, "repetition_penalty": 1.0}
        return completed(self._at, self._model, prompt, how, seed, plain)

    def _check(self, told: Any, tokens: Sequence[int]) -> None:
        """Refuse a version that does not know by what it is asked for tokens, and tells others."""
        if isinstance(told, dict) and not all(f"token_id:{token}" in told for token in tokens):
            version = part_of(self._at, self._at.get("/version"), "version")
            raise ScoreError(
                f"the server at {self._at} is vLLM {version}, which does not tell the "
                f"log-probabilities of the tokens that it is asked for: update it to {LEAST_VLLM} "
                "or later, or write `backend: openai`, which sends each choice with its prompt"
            )

    def _body(self, leg: Leg, tokens: Sequence[int]) -> dict[str, object]:
        """Return what asks for the log-probabilities of some tokens along the way."""
        forcing = {
            "logit_bias": {
                str(token): _MOST - (_MOST - _LEAST) * at / len(leg.path)
                for at, token in enumerate(leg.path)
            },
            "repetition_penalty": _SCALE,
            "presence_penalty": 2.0,
        }
        return {
            "model": self._model,
            "prompt": list(leg.text),
            "max_tokens": leg.steps,
            "temperature": 0,
            "allowed_token_ids": sorted(leg.path) if leg.forced else tokens,
            "logprobs": 1,
            "logprob_token_ids": tokens,
            # Two tokens may have the same text.
            "return_tokens_as_token_ids": True,
            **(forcing if leg.forced else {"repetition_penalty": 1.0}),
        }


def _block_of(at: Endpoint) -> int:
    """Return the tokens of a block in a server's cache, by its metrics."""
    try:
        found = _CONFIGURATION.search(at.text("/metrics"))
    except ModelError:  # what stands in front of a server may show none
        found = None
    told = dict(re.findall(r'(\w+)="([^"]*)"', found[1])) if found else {}
    if told.get("enable_prefix_caching") == "False":
        return _NONE
    size = told.get("block_size", "")
    return int(size) if size.isdecimal() and int(size) else _BLOCK
