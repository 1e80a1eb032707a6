"""Log-likelihoods from a server that tells those of single tokens: a walk along the choices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence, Set

    from pytest_maxrandom.models.requests import Request

    Text = tuple[int, ...]
    Step = tuple[Mapping[int, float], int]

AT_MOST = 128
"""Tokens of which vLLM tells the log-probability after one text."""


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
