"""How a server of SGLang is asked: by its own ``/generate``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ScoreError, listed, quoted
from pytest_maxrandom.models.served.dialects import Dialect
from pytest_maxrandom.models.served.endpoint import Refused
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

_UNNAMED = "default"
"""What a server calls weights that nobody gave a version."""


class Sglang(Dialect):
    """A server of SGLang, which is sent all choices of an example as one batch of tokens.

    Its cache is used up to where log-probabilities begin (``logprob_start_len``), so that these
    begin at the last token before a choice. Where all choices are one token, what it says of these
    tokens after the context is enough.
    """

    way = "batch"

    def serving(self) -> Serving:
        """Return what the server says; see :class:`Dialect`."""
        info = self._at.get("/model_info")
        told = {"root": str(part_of(self._at, info, "model_path"))}
        weights = str(info.get("weight_version") or _UNNAMED)
        if weights != _UNNAMED:
            told["weights"] = weights
        entry = entry_of(self._at, self._model)
        version = str(part_of(self._at, self._at.get("/server_info"), "version"))
        return Serving("SGLang", version, self._model, told, entry.get("max_model_len"))

    def tokenize(self, text: str) -> list[int] | None:
        """Return the tokens of a text; None from a server that has no ``/tokenize``."""
        try:
            return tokens_of(self._at, {"model": self._model, "prompt": text})
        except Refused as refused:
            if refused.status not in (404, 405):
                raise
            return None

    def score(self, requests: Sequence[Request]) -> Read:
        """Return the log-likelihoods of one example's requests."""
        contexts = {request.ids[: request.start] for request in requests}
        if len(contexts) == 1 and all(len(one.ids) == one.start + 1 for one in requests):
            return self._score_tokens(contexts.pop(), [request.ids[-1] for request in requests])
        replies = self._generated(
            {
                "input_ids": [list(request.ids) for request in requests],
                "logprob_start_len": [request.start - 1 for request in requests],
                "sampling_params": {"temperature": 0, "max_new_tokens": 0},
            }
        )
        if not isinstance(replies, list) or len(replies) != len(requests):
            raise ScoreError(
                f"the server at {self._at} was sent {len(requests)} texts in one request, but "
                f"answers {quoted(str(replies))}; expected one answer each"
            )
        values, spent = [], Spent()
        for request, reply in zip(requests, replies, strict=True):
            self._add(reply, len(request.ids), spent)
            values.append(math.fsum(self._of_span(request, reply)))
        return Read(values, spent)

    def _score_tokens(self, context: tuple[int, ...], tokens: Sequence[int]) -> Read:
        """Return what the server says of single tokens after one text."""
        reply = self._generated(
            {
                "input_ids": list(context),
                "token_ids_logprob": sorted(set(tokens)),
                "sampling_params": {"temperature": 0, "max_new_tokens": 1},
            }
        )
        told = part_of(self._at, reply, "meta_info", "output_token_ids_logprobs", 0)
        known = {part_of(self._at, one, 1): one for one in told}
        values = [log_probability(self._at, part_of(self._at, known, one), 0) for one in tokens]
        spent = Spent()
        self._add(reply, len(context), spent)
        return Read(values, spent)

    def _of_span(self, request: Request, reply: Any) -> list[float]:
        """Return the log-probabilities of a request's span, which each name their token."""
        entries = part_of(self._at, reply, "meta_info", "input_token_logprobs")
        expected = list(request.ids[request.start - 1 :])
        names = [part_of(self._at, one, 1) for one in entries] if isinstance(entries, list) else []
        if names != expected or entries[0][0] is not None:
            raise ScoreError(
                f"the server at {self._at} tells log-probabilities of the tokens "
                f"{listed(list(map(str, names)))}, the first of them "
                f"{'none' if entries and entries[0][0] is None else 'a number'}; expected "
                f"{listed(list(map(str, expected)))}, and none of the first, since else each "
                "number may be that of another token"
            )
        return [log_probability(self._at, one, 0) for one in entries[1:]]

    def write(self, prompt: Sequence[int] | str, how: Generation, seed: int) -> Written:
        """Return what the model writes; see :class:`Dialect`."""
        # Without these the server takes what the model's own configuration says.
        plain = {"top_p": 1.0, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}
        reply = self._at.post(
            "/generate",
            {
                **({"text": prompt} if isinstance(prompt, str) else {"input_ids": list(prompt)}),
                "sampling_params": {
                    "max_new_tokens": how.max_tokens,
                    "temperature": how.temperature,
                    "stop": list(how.stop),
                    **({"sampling_seed": seed} if how.temperature else {}),
                    **plain,
                },
            },
        )
        spent = Spent()
        self._add(reply, None if isinstance(prompt, str) else len(prompt), spent)
        reason = part_of(self._at, reply, "meta_info", "finish_reason", "type")
        finish: Finish = "length" if reason == "length" else "stop"
        return ending(str(part_of(self._at, reply, "text")), finish, how, spent)

    def _generated(self, body: dict[str, Any]) -> Any:
        return self._at.post("/generate", {**body, "return_logprob": True})

    def _add(self, reply: Any, sent: int | None, spent: Spent) -> None:
        """Add what an answer cost: tokens read, those of them that were kept, tokens written."""
        told = part_of(self._at, reply, "meta_info", "prompt_tokens")
        if sent is not None:
            check_length(told, sent)
        meta = reply["meta_info"]
        cached, written = meta.get("cached_tokens"), int(meta.get("completion_tokens") or 0)
        spent.add(int(told), None if cached is None else int(cached), written)
