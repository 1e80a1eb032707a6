"""Ways to ask a server for the choices of an example, and what each of them makes it compute.

A server that keeps what it has read, in whole blocks of tokens, can be led along the choices: it
begins at a text from which they go on, and tells what it says of the next tokens of all of them.
What it generates then is free (`walk`), or made to be the tokens of one choice (`forced`). Or it
repeats each choice with its whole text (`echo`), for which it reads nothing that it has kept.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from pytest_maxrandom.models.requests import common_length

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence, Set

    from pytest_maxrandom.models.requests import Request

    Text = tuple[int, ...]
    Step = tuple[Mapping[int, float], int]

AT_MOST = 128
"""Tokens of which vLLM tells the log-probability after one text."""
PIECE = 12
"""Tokens that one request can be made to generate."""
_EXAMPLES = 16
"""Of so many examples is it counted what a prompt costs."""
_SAVED = 0.9
"""Share of what `echo` costs that another way may cost: a new way costs the checks of a server."""


class Leg(NamedTuple):
    """One request on the way along the choices."""

    text: Text
    """Where the server begins."""
    path: Text
    """Along which it is to go on: the tokens of the longest choice of which nothing is known."""
    steps: int
    """How many tokens it generates: one more than those, since each step tells what follows."""
    told: Set[int]
    """Those whose log-probabilities it tells at each step."""
    forced: bool
    """Whether it is made to generate `path`; else it may generate what it tells."""


class Walked(NamedTuple):
    """Log-likelihoods of requests in nats, and how well a server was led."""

    values: list[float]
    leading: int
    """Tokens along which it was to go."""
    strayed: int
    """Those of them that it did not reach."""


def walk(
    requests: Sequence[Request],
    ask: Callable[[Leg], Iterable[Step]],
    *,
    forced: bool = False,
) -> Walked:
    """Return the log-likelihood of each request's span, in nats.

    All that the server says on the way is taken, since what it generates costs it little and what
    it reads again costs much; then it begins at what was left out, shorter texts first.

    Parameters
    ----------
    requests : sequence of Request
        Those of one example.
    ask : callable
        Called with a leg. Yields for each step the log-probabilities of the tokens to be told after
        the text so far, and the token generated.
    """
    shared = _shared(requests)
    base = requests[0].ids[:shared]
    following: dict[Text, set[int]] = {}
    for request in requests:
        for place in range(request.start, len(request.ids)):
            node = request.ids[shared:place]
            following.setdefault(node, set()).add(request.ids[place])
    by_text: dict[Text, dict[int, float]] = {}
    leading = strayed = 0
    for beginning in sorted(following, key=len):
        text = beginning
        while text in following and text not in by_text:
            below = [
                node for node in following if node[: len(text)] == text and node not in by_text
            ]
            path = max(below, key=len)[len(text) :]
            nodes = set(below)
            if forced:
                path = _piece({*base, *text}, path)
                nodes = {(*text, *path[:count]) for count in range(len(path) + 1)}
            tokens = {token for node in nodes for token in following[node]}
            if len(tokens) > AT_MOST:
                nodes, tokens, path = {text}, following[text], ()
            before = len(by_text)
            leg = Leg((*base, *text), path, len(path) + 1, tokens, forced and bool(path))
            for said, generated in ask(leg):
                by_text[text] = {token: said[token] for token in following[text]}
                text = (*text, generated)
                if text not in nodes or text in by_text:
                    break
            leading += len(path)
            strayed += max(0, len(path) + 1 - (len(by_text) - before))
    values = [
        math.fsum(
            by_text[request.ids[shared:place]][request.ids[place]]
            for place in range(request.start, len(request.ids))
        )
        for request in requests
    ]
    return Walked(values, leading, strayed)


class Costs(NamedTuple):
    """Tokens that a server computes for a prompt's examples, by each way."""

    echo: int
    walk: tuple[int, int]
    """Where the model follows the choices, and where it leaves them with its first token."""
    forced: tuple[int, int]
    """Where what it is made to generate is what it generates, and where it never is."""

    def cheapest(self, strays: Mapping[str, float]) -> str:
        """Return the cheapest way.

        Parameters
        ----------
        strays : mapping
            Of each way that leads a server, the share of tokens along which it is not led. Of ways
            that cost the same, the first one is taken; `echo` where none of them saves a tenth.
        """
        expected = {"echo": _SAVED * self.echo}
        for way, strayed in strays.items():
            led, lost = getattr(self, way)
            expected[way] = led + strayed * (lost - led)
        return min((*strays, "echo"), key=expected.__getitem__)


def costs(groups: Sequence[Sequence[Request]], block: int, kept: int = 0) -> Costs:
    """Return what asking costs.

    Parameters
    ----------
    groups : sequence of sequences of Request
        Those of each example of a prompt.
    block : int
        Tokens of a block in the server's cache; more than a text has where it keeps nothing.
    kept : int
        Tokens from the first that the server has kept of what all examples share.
    """
    groups = groups[:_EXAMPLES]
    ends = [
        tuple(
            sum(_computed(group, block, kept, forced=forced, led=led) for group in groups)
            for led in (True, False)
        )
        for forced in (False, True)
    ]
    echo = sum(len(request.ids) for group in groups for request in group)
    return Costs(echo, *ends)  # type: ignore[arg-type]


def shared_length(groups: Sequence[Sequence[Request]]) -> int:
    """Return how many tokens, from the first, all requests of some examples have in common."""
    texts = [request.ids for group in groups for request in group]
    # What the first and the last in order have in common, all between them have too.
    return common_length(min(texts), max(texts))


def _computed(
    requests: Sequence[Request], block: int, kept: int, *, forced: bool, led: bool
) -> int:
    """Count what a server computes for one example, with what it generates."""
    computed = 0
    read: list[Text] = []
    shared = _shared(requests)

    def ask(leg: Leg) -> Iterable[Step]:
        nonlocal computed
        own = leg.text[shared:]
        known = max((shared + common_length(own, text) for text in read), default=kept)
        known = min(max(known, kept), len(leg.text) - 1)
        computed += len(leg.text) - known // block * block + leg.steps - 1
        way = leg.path if led else ()
        read.append((*own, *way))
        for token in (*way, -1):
            yield dict.fromkeys(leg.told, 0.0), token

    walk(requests, ask, forced=forced)
    return computed


def _shared(requests: Sequence[Request]) -> int:
    """Return how many tokens stand before anything that is scored, and are those of all."""
    return min(*(request.start for request in requests), shared_length([requests]))


def _piece(seen: Set[int], path: Text) -> Text:
    """Return the tokens, from the first, that one request can be made to generate.

    None of them twice, and none that stands for the first time but the first; see `Vllm`.
    """
    piece: list[int] = []
    for token in path[:PIECE]:
        if token in piece or (piece and token not in seen):
            break
        piece.append(token)
    return tuple(piece)
