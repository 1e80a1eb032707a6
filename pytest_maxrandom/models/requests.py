"""Tokenized requests, and where the prompt ends and the answer begins."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import PromptTooLong, QuestionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_maxrandom.models.questions import Question
    from pytest_maxrandom.tasks.task import Example

_AT_ONCE = 1000
"""Examples whose texts are put through a model together, so that memory does not grow with n."""
_GIVE = "give the task an instruction, an input or an output prefix"
_SLICE = 256
"""Questions that are tokenized at once, so that their texts take little memory."""


@dataclass(frozen=True, slots=True)
class Request:
    """One question with one of its continuations, in tokens."""

    ids: tuple[int, ...]
    """The whole text."""
    start: int
    """Index of the first token that is scored, at least 1: ``ids[start:]`` is the answer's span."""


@dataclass(slots=True)
class Picks:
    """The scored positions of one forward pass."""

    rows: list[int] = field(default_factory=list)
    columns: list[int] = field(default_factory=list)
    """Where the prediction stands."""
    targets: list[int] = field(default_factory=list)
    """The token that should follow."""
    owners: list[int] = field(default_factory=list)
    """Index of the request of which that token is a part."""

    def add(self, row: int, columns: Sequence[int], owner: int, targets: Sequence[int]) -> None:
        """Score consecutive tokens of one request, each predicted at a column."""
        self.rows += [row] * len(targets)
        self.columns += columns
        self.targets += targets
        self.owners += [owner] * len(targets)


@dataclass(slots=True)
class Likelihoods:
    """What a model says of requests, in their order, and what it cost."""

    log_likelihoods: list[float]
    """Of each request: the sum over the tokens of its span, in nats."""
    tokens_forwarded: int = 0
    trie_nodes: int = 0
    """As in :class:`pytest_maxrandom.models.questions.Reply`; forward passes that failed are not
    counted."""

    def add(self, picks: Picks, values: Sequence[float]) -> None:
        """Add what one pass tells of the tokens that it picked."""
        for owner, value in zip(picks.owners, values, strict=True):
            self.log_likelihoods[owner] += value


def encode(
    questions: Sequence[Question],
    encoder: Callable[[Sequence[str]], Sequence[Sequence[int]]],
    beginning: int | None = None,
) -> list[tuple[Request, ...]]:
    """Tokenize each question with each of its answers.

    Every text is encoded as a whole, because a token may span the boundary.

    With the span "boundary", the context's trailing spaces go with the answer (most vocabularies
    write a space at the head of a word), and the answers of one question share one boundary: the
    end of what all of their texts have in common with the context's own tokens. So every token
    that depends on the answer is scored, and the likelihoods of two answers are conditioned on the
    same tokens.

    With the span "paper", the last tokens of a text are scored, as many as the answer has when it
    is encoded alone with whatever the tokenizer puts in front, as in the code of arXiv 2404.13020.
    That is another span than the answer's wherever a token spans the boundary or a token is put in
    front; it is here so that its effect can be shown.

    Parameters
    ----------
    encoder : callable
        Turns texts into tokens, with what its tokenizer puts in front and nothing at the end.
    beginning : int, optional
        Token that stands before a text of which the first token is scored already.

    Raises
    ------
    QuestionError
        If no token stands before an answer, or an answer has none.
    """
    requests: list[tuple[Request, ...]] = []
    for first in range(0, len(questions), _SLICE):
        part = questions[first : first + _SLICE]
        texts: list[str] = []
        for question in part:
            texts.append(question.context.rstrip(" "))
            texts += [question.context + answer for answer in question.answers]
            if question.span == "paper":
                texts += question.answers
        encoded = iter(encoder(texts))
        for question in part:
            context = list(next(encoded))
            wholes = [list(next(encoded)) for _ in question.answers]
            if question.span == "paper":
                starts = [len(whole) - len(next(encoded)) for whole in wholes]
            else:
                # What the first and the last in order have in common, all between them have too.
                every = (context, *wholes)
                shared = common_length(min(every), max(every))
                # Where one answer's tokens are all of the context's, its last is still scored.
                starts = [min(shared, *(len(whole) - 1 for whole in wholes))] * len(wholes)
            if min(starts) < 1 and beginning is not None:
                wholes = [[beginning, *whole] for whole in wholes]
                starts = [start + 1 for start in starts]
            if min(starts) < 1:
                raise QuestionError(f"there is no token before the answer; {_GIVE}")
            if any(start >= len(whole) for start, whole in zip(starts, wholes, strict=True)):
                raise QuestionError(f"an answer has no token of its own; {_GIVE}")
            pairs = zip(wholes, starts, strict=True)
            requests.append(tuple(Request(tuple(whole), start) for whole, start in pairs))
    return requests


def encode_prompts(
    questions: Sequence[Question],
    encoder: Callable[[Sequence[str]], Sequence[Sequence[int]]],
    beginning: int | None = None,
    around: Callable[[str], str] | None = None,
) -> list[tuple[int, ...]]:
    """Tokenize the texts after which answers are generated.

    Trailing spaces are left out, as they go with an answer that is scored: most vocabularies write
    a space at the head of a word, and a model that is given the space would not begin one. A
    chat template is written around a message as it is.

    Parameters
    ----------
    encoder, beginning
        As :func:`encode` takes them.
    around : callable, optional
        Writes a chat template around a message.

    Raises
    ------
    QuestionError
        If nothing stands before an answer.
    """
    texts = [
        question.context.rstrip(" ") if around is None else around(question.context)
        for question in questions
    ]
    found: list[tuple[int, ...]] = []
    for first in range(0, len(texts), _SLICE):
        found += map(tuple, encoder(texts[first : first + _SLICE]))
    if not all(found) and beginning is not None:
        found = [ids or (beginning,) for ids in found]
    if not all(found):
        raise QuestionError(f"there is no token before the answer; {_GIVE}")
    return found


def fit(
    question: Question, length: int, limit: int | None, said: str = "the model's context"
) -> None:
    """Refuse a text that does not fit the model's context, with what is generated after it.

    Raises
    ------
    PromptTooLong
        In one sentence that begins with the example.
    """
    more = 0 if question.generation is None else question.generation.max_tokens
    if limit is None or length + more <= limit:
        return
    about = f"example {question.example.id}" if question.example else "a question"
    written = f" and is followed by up to {more} more" if more else ""
    less = ", a smaller `generation.max_tokens`" if more else ""
    raise PromptTooLong(
        f"{about} has {length} tokens{written}, but {said} holds {limit}; use fewer shots, shorter "
        f"demonstrations{less} or another model (text is never cut)"
    )


def uniform(seed: int, step: int) -> float:
    """Return by what the token of a step is drawn, in [0, 1): its place among all, likely or not.

    Parameters
    ----------
    seed : int
        That of the question.
    step : int
        From 0.
    """
    raw = hashlib.sha256(f"{seed} {step}".encode()).digest()
    return int.from_bytes(raw[:6]) / 2**48


def common_length(one: Sequence[object], other: Sequence[object]) -> int:
    """Return how many tokens two sequences of one type have in common from the first."""
    low, high = 0, min(len(one), len(other))
    # Slices are compared without a Python step for each token.
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def in_parts(questions: Iterable[Question]) -> Iterator[list[Question]]:
    """Yield questions in parts of so many examples that memory holds them."""
    examples = (list(same) for _, same in groupby(questions, subject))
    while part := [question for same in islice(examples, _AT_ONCE) for question in same]:
        yield part


def subject(question: Question) -> Example | Question:
    """Return what the questions about one example have in common."""
    return question.example or question
