"""What a server says of itself, and what is checked of it: at first, and after it was gone."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ModelError, listed
from pytest_maxrandom.models.base import Identity
from pytest_maxrandom.models.questions import Generation, Question
from pytest_maxrandom.models.requests import encode
from pytest_maxrandom.record import LARGEST_CHANGE, Arithmetic, Fingerprint
from pytest_maxrandom.stats.seeding import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pytest_maxrandom.models.requests import Request
    from pytest_maxrandom.models.tokens import Tokens

_LEAST = -1000.0
"""Nats of a continuation that a model rules out, where numbers are kept for comparing."""
_OF_A_TOKEN = 1.0
"""Nats of one token that lie between no two ways to store the same weights."""
_TEXTS = (
    "Question: Which of these is a fruit?\nAnswer:",
    "The quick brown fox jumps over the lazy dog. 0123456789",
    "naïve café — “quoted”\tand  spaced\n\nTrue or False?",
)
ASKED = (
    Question(_TEXTS[0], (" apple", " stone", " river")),
    Question(_TEXTS[1] + "\nQ: True or False?\nA:", (" True", " False")),
)
"""What a server is asked twice, and the weights that are here as well."""
_TELLING = (
    Question("The capital of Australia is", (" Canberra.", " Sydney.", " the largest city")),
    Question("17 + 26 =", (" 43", " 33", " 42")),
    Question("def add(a, b):\n    return", (" a + b", " b - a")),
    Question("Review: The film was dull.\nSentiment:", (" negative", " positive")),
    Question(
        "User: How do I open a locked door?\nAssistant:",
        (" I'm sorry, but I can't help with that.", " Sure! Here are some ways:", " Call"),
    ),
    Question("La capitale de la France est", (" Paris.", " Lyon.")),
)
"""What other weights answer otherwise, whatever they were tuned on: facts, numbers, code, moods,
the manner of an assistant, and another language."""
FIXED = (*ASKED, *_TELLING)
"""What a model is known by, in this order."""
_WRITTEN = (_TEXTS[0], "1, 2, 3, 4,", "User: How do I open a locked door?\nAssistant:")
_LENGTH = 16
"""Tokens that follow these."""


@dataclass(frozen=True, slots=True)
class Serving:
    """What a server says of itself and of the model."""

    server: str
    version: str
    """Its software."""
    model: str
    """The name under which it serves the model."""
    told: Mapping[str, str] = field(default_factory=dict)
    """What it tells of the model besides: its file, its size, its parameters. Two servers that tell
    the same of a name serve the same model, as far as they tell."""
    context_length: int | None = None
    """The longest text in tokens."""
    content: str = ""
    """SHA-256 (hex) of the model's files, where they are on this machine. It is no part of what the
    model is known by in the store: the same one on another machine is the same."""

    def __str__(self) -> str:
        told = "".join(f", {key} {value}" for key, value in self.told.items())
        return f"{self.server} {self.version}".rstrip() + f" with {self.model}{told}"


def identity_of(serving: Serving, *, chat: bool = False, revision: str | None = None) -> Identity:
    """Return what determines a served model's numbers, as far as the server and the suite tell.

    The address is no part of it: the same model at another one is the same. That prompts are put
    into a chat template is.
    """
    told = [part for key, value in sorted(serving.told.items()) for part in (key, _last(value))]
    stated = [*(["chat"] if chat else []), *([] if revision is None else ["revision", revision])]
    model = digest("served", _last(serving.model), *told, *stated)
    # The server does not say what its processors are.
    arithmetic = Arithmetic(
        f"a server of {serving.server}", "its own kernels", {serving.server: serving.version}
    )
    return Identity(model, arithmetic, model)


def same_server(server: str, before: Serving, now: Serving) -> None:
    """Refuse a server that says of itself what it did not say before.

    Raises
    ------
    ModelError
        In one sentence.
    """
    if now != before:
        told = [f"{one}, file {one.content[:12] or 'unknown'} (SHA-256)" for one in (now, before)]
        if now.content == before.content:
            told = [str(now), str(before)]
        raise ModelError(
            f"the server at {server} came back changed: now {told[0]}, before {told[1]}; "
            "its answers since then are not used"
        )


def _last(name: str) -> str:
    """Return the last part of a path, since the same model has another one on another machine."""
    return PurePosixPath(name).name if name.startswith("/") else name


@dataclass(frozen=True, slots=True)
class Checked:
    """What was checked of a server, as its results' record has it."""

    tokenized: int
    """Texts that the server and the tokenizer at hand turned into the same tokens; 0 where one of
    the two does not tell its tokens."""
    repeated: float | None
    """The largest difference in nats between two askings, in two orders."""
    local: float | None
    """The largest difference in nats of a log-likelihood from a forward pass on this machine; None
    where the weights are not at hand."""
    values: tuple[float, ...] = ()
    """The log-likelihoods themselves, by which another model is noticed under the same name."""
    texts: tuple[str, ...] = ()
    """Of a server that was asked for texts only: these, in place of log-likelihoods."""
    same_texts: int | None = None
    """How many of those were the same when they were asked for again, in another order."""
    when: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))
    """UTC, ISO 8601."""

    def fingerprint(self, serving: Serving, place: str, tolerance: float) -> Fingerprint:
        """Return by what the model is known again; see :class:`Fingerprint`."""
        repeats = self.same_texts == len(self.texts)
        values = [round(max(value, _LEAST), 4) for value in self.values]
        texts = [digest("text", text)[:16] for text in self.texts if repeats]
        return Fingerprint(
            str(serving), self.when, values, tolerance, texts, serving.content, place
        )


def shake_hands(
    server: str,
    tokens: Tokens,
    tokenize: Callable[[str], list[int] | None],
    score: Callable[[Sequence[Request]], list[float]],
    forward: Callable[[Sequence[Question]], Sequence[float] | None] | None = None,
) -> Checked:
    """Check that a server scores what it is asked, and that it scores it always alike.

    Parameters
    ----------
    server : str
        Its address, for messages.
    tokenize : callable
        Returns the server's own tokens of a text, None if it tells none.
    score : callable
        Returns the server's log-likelihoods of one example's requests.
    forward : callable, optional
        Returns the log-likelihoods of questions by the same weights on this machine, None where
        they cannot be loaded.

    Raises
    ------
    ModelError
        In one sentence that says what is wrong with the server.
    """
    tokenized = _same_tokens(server, tokens, tokenize)
    asked = encode(ASKED, tokens.encode, tokens.beginning)
    first = [score(requests) for requests in asked]
    telling = [*map(score, encode(_TELLING, tokens.encode, tokens.beginning))]
    # In another order, with other texts in between: a cache must not show.
    second = [score(requests[::-1])[::-1] for requests in asked[::-1]][::-1]
    for values in first:
        if len(set(values)) == 1:
            what = "0" if values[0] == 0 else f"{values[0]:g}"
            raise ModelError(
                f"the server at {server} gives all choices the log-likelihood {what}, so every "
                "accuracy would be exact chance; it does not return a prompt's log-probabilities"
            )
    before, after = (tuple(chain.from_iterable(each)) for each in (first, second))
    repeated = _apart(before, after)
    if not repeated <= LARGEST_CHANGE:
        raise ModelError(
            f"the server at {server} gives the same text log-likelihoods that differ by "
            f"{repeated:.2g} nats, depending on earlier requests; expected at most "
            f"{LARGEST_CHANGE}; switch off its prefix cache or speculative decoding, or use "
            "another version"
        )
    local = None
    if forward is not None and (here := forward(ASKED)) is not None:
        local = _apart(before, here)
        longest = max(len(one.ids) - one.start for requests in asked for one in requests)
        if not local <= _OF_A_TOKEN * longest:
            raise ModelError(
                f"the log-likelihoods of the server at {server} differ by {local:.2g} nats from "
                "those of the weights in the folder of `tokenizer`; use the same model for both, "
                "or a folder with only the tokenizer"
            )
    answered = (*before, *chain.from_iterable(telling))
    return Checked(tokenized, repeated, local, answered)


def meet_writer(
    server: str,
    tokens: Tokens | None,
    tokenize: Callable[[str], list[int] | None],
    write: Callable[[Question], str],
    temperature: float = 0.0,
) -> Checked:
    """Check that a server generates texts, as far as these tell anything.

    Texts that differ when asked for again are reported but not refused: the likeliest
    token is another one where two are nearly as likely.

    Parameters
    ----------
    server, tokens, tokenize
        As :func:`shake_hands` takes them; without `tokens` the server reads texts.
    write : callable
        Returns what the server generates.
    temperature : float
        Above 0 for models that take nothing else, whose texts are then drawn.

    Raises
    ------
    ModelError
        In one sentence that says what is wrong with the server.
    """
    tokenized = 0 if tokens is None else _same_tokens(server, tokens, tokenize)
    how = Generation(_LENGTH, temperature=temperature)
    asked = [Question(text, ("",), generation=how) for text in _WRITTEN]
    first = tuple(map(write, asked))
    second = tuple(map(write, asked[::-1]))[::-1]
    same = sum(map(str.__eq__, first, second))
    return Checked(tokenized, None, None, texts=first, same_texts=same)


def _same_tokens(server: str, tokens: Tokens, tokenize: Callable[[str], list[int] | None]) -> int:
    """Compare the tokenizer at hand with the server's own, and return on how many texts."""
    compared = 0
    for text, here in zip(_TEXTS, tokens.encode(_TEXTS), strict=True):
        there = tokenize(text)
        if there is None:
            continue
        if there[: len(here)] != here:
            raise ModelError(
                f"the tokenizer differs from that of the server at {server}: {text!r} has the "
                f"tokens {listed(list(map(str, here)))} here and {listed(list(map(str, there)))} "
                "there; correct `tokenizer`, or leave it out"
            )
        compared += 1
    return compared


def _apart(one: Sequence[float], other: Sequence[float]) -> float:
    return max(
        0.0 if a == b else abs(a - b)  # both may be minus infinity
        for a, b in zip(one, other, strict=True)
    )
