"""How servers of OpenAI's two interfaces are asked: completions with ``echo``, and messages."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

import numpy as np

from pytest_maxrandom.errors import ModelError, ScoreError
from pytest_maxrandom.models.requests import common_length
from pytest_maxrandom.models.served.dialects import Dialect
from pytest_maxrandom.models.served.endpoint import Refused
from pytest_maxrandom.models.served.handshake import Serving
from pytest_maxrandom.models.served.recognition import recognised, told_of, unscored, unwritten
from pytest_maxrandom.models.served.replies import (
    REFUSED,
    Read,
    Spent,
    Written,
    cached_of,
    check_first,
    completed,
    echo,
    entry_of,
    log_probability,
    of_span,
    part_of,
    posted,
    written,
)
from pytest_maxrandom.record import LARGEST_CHANGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.models.questions import Generation
    from pytest_maxrandom.models.requests import Request
    from pytest_maxrandom.models.served.endpoint import Endpoint

_COMPARED = 8
"""Examples whose lists are compared for a shift, which are those of the handshake."""
_NOISE = 1e-6
"""Nats below which two numbers are taken for the same."""


class OpenAI(Dialect):
    """Any server of ``/v1/completions`` that repeats a prompt with its log-probabilities.

    Each choice is read from its first token on, which no protocol of OpenAI's spares.
    """

    way = "echo"
    chats: ClassVar[bool] = False
    """Whether it is sent messages."""

    def __init__(self, at: Endpoint, model: str) -> None:
        super().__init__(at, model)
        self._answers = False
        self._apart: list[tuple[float, float]] = []

    def serving(self) -> Serving:
        """Return what the server says; see :class:`Dialect`.

        A server that is not behind TLS is also asked what kind it is, by paths that no hosted
        interface has.
        """
        server = recognised(self._at) if urlsplit(self._at.url).scheme == "http" else None
        if server is not None and server[0].templates and not self.chats:
            raise ModelError(told_of(self._at, *server))
        try:
            entry = entry_of(self._at, self._model, every=server is None or server[0].lists)
        except Refused as refused:
            # Some show their models to others than those who may ask them.
            if refused.status not in (400, 401, 403, 404, 405):
                raise
            entry = {}
        length = entry.get("max_model_len") or entry.get("context_length")
        owner = str(entry.get("owned_by") or "an unnamed server")
        name, version = owner, ""
        if server is not None:
            name, version, self.tested = server[0].name, server[1], server[0].tested
        return Serving(name, version, self._model, {}, length)

    def score(self, requests: Sequence[Request]) -> Read:
        """Return the log-likelihoods of one example's requests."""
        spent = Spent()
        lists = [self._echoed(request, spent) for request in requests]
        self._compare(requests, lists)
        pairs = zip(requests, lists, strict=True)
        return Read([of_span(self._at, told, request) for request, told in pairs], spent)

    def _echoed(self, request: Request, spent: Spent) -> list[Any]:
        """Return a list with a number for each token."""
        try:
            told = echo(self._at, self._model, request, spent)
        except (Refused, ScoreError) as error:
            # What passed once fails for a reason of its own.
            raise (error if self._answers else unscored(self._at, error)) from None
        self._answers = True
        check_first(self._at, told)
        return told

    def _compare(self, requests: Sequence[Request], lists: Sequence[list[Any]]) -> None:
        """Refuse numbers that stand one place from their tokens, in either direction.

        Two choices share the tokens before the place where they part. Of these, all must have the
        same numbers; at that place stand two tokens, whose numbers differ.
        """
        if len(self._apart) == _COMPARED or len(requests) < 2:
            return
        one, other = requests[0].ids, requests[-1].ids
        at = common_length(one, other)
        if not 1 < at < min(len(one), len(other)) or lists[0][at - 1] == lists[0][at]:
            return
        before, there = (
            abs(
                log_probability(self._at, lists[0], place)
                - log_probability(self._at, lists[-1], place)
            )
            for place in (at - 1, at)
        )
        self._apart.append((before, there))
        largest = max(before for before, _ in self._apart)
        if before > LARGEST_CHANGE:
            # What an earlier request changes is no shift; the handshake tells of that.
            again = self._echoed(requests[0], Spent())
            moved = abs(log_probability(self._at, again, at - 1) - lists[0][at - 1])
            shifted = moved <= min(LARGEST_CHANGE, before / 4)
        else:
            shifted = len(self._apart) == _COMPARED and all(
                there <= 2 * largest + _NOISE for _, there in self._apart
            )
        if shifted:
            raise ScoreError(
                f"the server at {self._at} tells numbers that stand one place from their tokens: "
                "that of the last token before two choices part depends on the choice, or those of "
                "the tokens at which they part do not; use another version of this server, or "
                "another server"
            )

    def likeliest(self, text: str, most: int, spent: Spent) -> dict[str, float]:
        """Return the log-probabilities of the likeliest tokens after a text.

        Parameters
        ----------
        most : int
            Of how many tokens, as the suite says.

        Raises
        ------
        ScoreError
            If it tells none, or what is no log-probability.
        ModelError
            If it does not answer.
        """
        body = {"model": self._model, "prompt": text, "max_tokens": 1, "temperature": 0}
        reply = self._reply(text, "/v1/completions", body | {"logprobs": most})
        _add(reply, spent)
        told = part_of(self._at, reply, "choices", 0, "logprobs", "top_logprobs", 0)
        return {one: log_probability(self._at, told, one) for one in told}

    def _reply(self, text: str, path: str, body: dict[str, Any]) -> Any:
        try:
            return self._at.post(path, body)
        except Refused as refused:
            raise self._unwritten(refused, text) from None

    def write(self, prompt: Sequence[int] | str, how: Generation, seed: int) -> Written:
        """Return what the model writes; see :class:`Dialect`."""
        try:
            written = completed(self._at, self._model, prompt, how, seed, {})
        except Refused as refused:
            raise self._unwritten(refused, prompt) from None
        self._answers = True
        return written

    def _unwritten(self, refused: Refused, prompt: Sequence[int] | str) -> ModelError:
        if self._answers:
            return refused
        return unwritten(self._at, refused, chats=self.chats, tokens=not isinstance(prompt, str))


class OpenAIChat(OpenAI):
    """Any server of ``/v1/chat/completions``, whose model answers one message of the user's."""

    chats = True

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
            raise self._unwritten(refused, prompt) from None
        if reply is None:
            return REFUSED
        self._answers = True
        return written(self._at, reply, how, lambda choice: choice.get("message") or {})

    def likeliest(self, text: str, most: int, spent: Spent) -> dict[str, float]:
        """Return the log-probabilities of the likeliest first tokens of an answer to a message."""
        body = {
            "model": self._model,
            "messages": [{"role": "user", "content": text}],
            "max_tokens": 1,
            "temperature": 0,
            "logprobs": True,
            "top_logprobs": most,
        }
        reply = self._reply(text, "/v1/chat/completions", body)
        _add(reply, spent)
        said = part_of(self._at, reply, "choices", 0, "logprobs", "content", 0, "top_logprobs")
        told: dict[str, float] = {}
        for one in said:
            # Two tokens may have the same text.
            told.setdefault(str(part_of(self._at, one, "token")), -math.inf)
            text = str(one["token"])
            told[text] = float(np.logaddexp(told[text], log_probability(self._at, one, "logprob")))
        return told

    def _learns(self, refusal: str, how: Generation) -> bool:
        """Note what models that think take otherwise; tell whether to ask again."""
        if self._most == "max_tokens" and "max_completion_tokens" in refusal:
            self._most = "max_completion_tokens"
            return True
        if how.stop and self._stops and re.search(r"\bstop\b", refusal):
            self._stops = False  # an answer is cut here as well
            return True
        return False


def _add(reply: Any, spent: Spent) -> None:
    """Add what a server read for one token."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    read = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    spent.add(int(read or 0), cached_of(reply))
