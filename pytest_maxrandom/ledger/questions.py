"""What makes two examples the same question, however they are written."""

from __future__ import annotations

import functools
import hashlib
import json
import re
import unicodedata
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from pytest_maxrandom.tasks.task import Example

_SHORT = 16  # as many as an example's own digest has
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164"
    "\u2065\u2800\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
"""What shows nothing, and is of no category of its own: controls, fillers, variation selectors."""
_BETWEEN_DIGITS = re.compile(r"(?<=\d)\s+(?=\d)")
_SPACE = re.compile(r"\s+")
_CLOSING = ".,;:!?\u00a1\u00bf\u037e\u055c\u055e\u061b\u061f\u06d4\u0964\u0965\u3001\u3002\uff61"
_GAP = "\x00"  # which no normalised text has


class Explaining(Protocol):
    """What lines say of questions."""

    @property
    def questions(self) -> Mapping[str, str]:
        """Digest of an example to that of its question."""

    @property
    def joins(self) -> Mapping[tuple[str, str], Mapping[str, str]]:
        """Which questions of a set are examples of one before in other words.

        Digests of both sets, to digests of questions, each with that of the example.
        """

    @property
    def undone(self) -> Container[tuple[str, str]]:
        """Sets, and those before, whose questions are others nevertheless."""


def explained(lines: Iterable[Explaining], own: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return what the question of each example is, also of those in other words.

    `lines` are files of a ledger. `own` has the digests of examples, each with that of its
    question, which is known for certain.
    """
    files = list(lines)
    questions = {e: q for file in files for e, q in file.questions.items()} | dict(own or {})
    renamed = {
        question: example
        for file in files
        for sets, pairs in file.joins.items()
        if not any(sets in other.undone for other in files)
        for question, example in pairs.items()
    }

    def first(question: str) -> str:
        seen = set()
        while question in renamed and question not in seen:
            seen.add(question)
            question = questions.get(renamed[question], renamed[question])
        return question

    return {e: first(q) for e, q in questions.items()} if renamed else questions


def visible_text(text: str) -> str:
    """Return a text with one form for each character, in small letters, without what is invisible.

    That is NFKC, case folded, without characters that format (zero-width, bidirectional).

    Examples
    --------
    >>> visible_text("Stra\u200b\u00dfe \uff12")
    'strasse 2'
    """
    if not text.isascii():
        folded = unicodedata.normalize("NFKC", text).casefold()
        text = "".join(
            letter
            for letter in unicodedata.normalize("NFKC", folded)
            if unicodedata.category(letter) != "Cf"
        )
    return _INVISIBLE.sub("", text.lower())


def normalised(text: str) -> str:
    """Return what stays of a text if neither case, form, space nor closing punctuation counts.

    Space counts between digits alone, where it tells numbers apart.

    Examples
    --------
    >>> normalised(" Is 1 2  an\u00a0answer ? ")
    'is1 2ananswer'
    """
    kept = _BETWEEN_DIGITS.sub(_GAP, visible_text(text))
    kept = _SPACE.sub("", kept).replace(_GAP, " ")
    return kept.rstrip(_CLOSING) or kept


def answers_of(example: Example) -> list[tuple[str, bool]]:
    """Return the normalised choices, each with whether it is right, in no order of the file's."""
    pairs = enumerate(example.choices)
    return sorted((normalised(choice), number in example.right) for number, choice in pairs)


@functools.lru_cache(maxsize=2**14)  # each claim asks for those of its set several times
def question_digest(example: Example) -> str:
    """First 16 digits of the SHA-256 of the normalised question, its choices and right answers.

    The order of the choices does not count.
    """
    text, after = normalised(example.input), normalised(example.continuation or "")
    content = json.dumps(["question", text, after, answers_of(example)])
    return hashlib.sha256(content.encode("ascii")).hexdigest()[:_SHORT]


def named(examples: Iterable[str], questions: Mapping[str, str]) -> tuple[str, ...]:
    """Return one name for each example: its question's digest, where that is known, or its own.

    Examples are given by their digests as they stand.
    """
    return tuple(questions.get(example, example) for example in examples)
