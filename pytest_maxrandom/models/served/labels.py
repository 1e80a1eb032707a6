"""Choices of one token, scored by what a server says of the likeliest tokens after a text."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.errors import ModelError, ScoreError, listed
from pytest_maxrandom.models.questions import Answer, Estimate, Reply
from pytest_maxrandom.models.served.handshake import FIXED, Checked
from pytest_maxrandom.models.served.model import ServedModel
from pytest_maxrandom.models.served.openai import OpenAI
from pytest_maxrandom.models.served.replies import Spent
from pytest_maxrandom.record import LARGEST_CHANGE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_maxrandom.models.questions import Question

_KNOWN_BY = 5
"""Of each fixed text so many of the largest log-probabilities are what a model is known by."""
_LEAST = -1000.0
"""Stands for those that a server does not tell."""
_MOST = 1.001
"""What probabilities of several tokens add up to at most."""


class LabelModel(ServedModel):
    """A served model whose choices are labels of one token; see :class:`ServedModel`."""

    def _scored(self, questions: Sequence[Question]) -> Reply:
        """Ask once after each text; the first one alone, as with other log-likelihoods."""
        self._begin(generates=False)
        sent = [str(prompt) for prompt in self._sent(questions)]
        first, *rest = dict.fromkeys(sent)
        replies = [self._likeliest(first), *self._at.flow.spread(self._likeliest, rest)]
        told = dict(zip((first, *rest), replies, strict=True))
        answers = tuple(
            Answer(
                tuple(label(str(self._at), told[prompt][0], each) for each in question.answers),
                (1,) * len(question.answers),
            )
            for prompt, question in zip(sent, questions, strict=True)
        )
        return self._reply(answers, [spent for _, spent in replies], 0)

    def _estimated(self, questions: Sequence[Question]) -> Estimate:
        """Return what asking takes; nobody knows the tokens of texts that are sent as they are."""
        return Estimate(len(questions), at_most=True)

    def _way(self, generates: bool) -> str:
        return super()._way(generates) if generates else "labels"

    def _met(self, generates: bool) -> Checked:
        if generates:
            return super()._met(generates)
        return meet_labels(str(self._at), lambda text: self._likeliest(text)[0])

    def _likeliest(self, prompt: str) -> tuple[dict[str, float], Spent]:
        assert isinstance(self._dialect, OpenAI)
        spent = Spent()
        return self._dialect.likeliest(prompt, self._most_told, spent), spent


def label(server: str, told: Mapping[str, float], answer: str) -> float:
    """Return the log-probability that the next token reads as a label, with or without a space.

    Raises
    ------
    ScoreError
        If no token does that is among those that the server tells of.
    """
    values = [value for text, value in told.items() if text.strip() == answer.strip()]
    if not values:
        raise ScoreError(
            f"{answer.strip()!r} is not among the {len(told)} likeliest tokens that the server at "
            f"{server} tells of ({listed(list(told))}), so it has no log-probability; raise "
            "`top_logprobs`, show choices as letters (`labels: letter`), or write `scoring: "
            "generate`"
        )
    return float(np.logaddexp.reduce(values))


def meet_labels(server: str, likeliest: Callable[[str], Mapping[str, float]]) -> Checked:
    """Check that a server tells log-probabilities of the likeliest tokens, and always alike.

    Parameters
    ----------
    server : str
        Its address, for messages.
    likeliest : callable
        Returns what it says of the likeliest tokens after a text.

    Raises
    ------
    ModelError
        In one sentence that says what is wrong with the server.
    """
    texts = [question.context for question in FIXED]
    first = [likeliest(text) for text in texts]
    second = [likeliest(text) for text in texts[::-1]][::-1]
    for reply in first:
        if not reply or math.fsum(map(math.exp, reply.values())) > _MOST:
            raise ModelError(
                f"the server at {server} tells of the tokens {listed(list(reply)) or 'none'} after "
                "a text, whose probabilities do not add up to at most 1; expected a server that "
                "tells log-probabilities of the likeliest tokens"
            )
    repeated = max(
        (abs(one[text] - other[text]) for one, other in zip(first, second, strict=True)
         for text in set(one) & set(other)),
        default=math.inf,
    )  # fmt: skip
    if not repeated <= LARGEST_CHANGE:
        raise ModelError(
            f"the server at {server} gives the same text log-likelihoods that differ by "
            f"{repeated:.2g} nats when it is asked again; expected at most {LARGEST_CHANGE}; use "
            "another version, or write `scoring: generate`"
        )
    largest = [sorted(told.values(), reverse=True)[:_KNOWN_BY] for told in first]
    values = (value for one in largest for value in (*one, *[_LEAST] * (_KNOWN_BY - len(one))))
    return Checked(0, repeated, None, tuple(values))
