"""Which questions are earlier ones in other words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_maxrandom.ledger.questions import answers_of, question_digest, visible_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pytest_maxrandom.tasks.task import Example

MOST = 3
"""Tokens that may differ."""
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+(?:['\u2019][^\W\d_]+)*|[^\w\s]")
_NUMBER = re.compile(r"\d")
_NUMBERS_IN_WORDS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred
thousand million billion first second third fourth fifth sixth seventh eighth ninth tenth once twice
half double
"""
_NEGATIONS = """
no not never none nor neither nobody nothing nowhere cannot without except unless hardly barely
false untrue incorrect wrong
"""
_KEPT = frozenset(re.findall(r"\w+", _NUMBERS_IN_WORDS + _NEGATIONS))
_CLOSING = ".,;:!?\"'()[]\u2018\u2019\u201c\u201d"


@dataclass(frozen=True)
class _Question:
    """A question as its words."""

    digest: str
    words: tuple[str, ...]
    kept: tuple[object, ...]
    """What no rewording changes: numbers and negations in their order, choices and answers."""

    @property
    def counted(self) -> Counter[str]:
        return Counter(self.words)


def _read(example: Example) -> _Question:
    text = visible_text(f"{example.input} | {example.continuation or ''}")
    text = text.replace("\u2019", "'").replace("\u02bc", "'")
    words = tuple(one for one in _TOKEN.findall(text) if one not in _CLOSING)
    kept = tuple(one for one in words if _is_kept(one))
    return _Question(question_digest(example), words, (kept, tuple(answers_of(example))))


def _is_kept(word: str) -> bool:
    negated = word.endswith(("n't", "n\u2019t"))
    return negated or word in _KEPT or _NUMBER.search(word) is not None


def changed(one: Sequence[str], other: Sequence[str], most: int = MOST) -> int:
    """Return how many words must be replaced, added or left out; `most` + 1 where it is more.

    Examples
    --------
    >>> changed("is the cat black".split(), "is that cat really black".split())
    2
    """
    if abs(len(one) - len(other)) > most:
        return most + 1
    row = list(range(len(other) + 1))
    for place, word in enumerate(one, 1):
        before, row[0] = row[0], place
        for index, theirs in enumerate(other, 1):
            before, row[index] = (
                row[index],
                min(row[index] + 1, row[index - 1] + 1, before + (word != theirs)),
            )
        if min(row) > most:
            return most + 1
    return min(row[-1], most + 1)


class Earlier:
    """All questions that tasks held before, whether they were tried or not.

    The same question may stand there several times.
    """

    def __init__(self, examples: Iterable[Example]) -> None:
        self._questions = {question.digest: question for question in map(_read, examples)}
        self._by_word: dict[tuple[object, str], list[_Question]] = defaultdict(list)
        for question in self._questions.values():
            for word in set(question.words):
                self._by_word[question.kept, word].append(question)

    def reworded(self, examples: Iterable[Example]) -> dict[str, str]:
        """Return which questions are earlier ones in other words, one to one.

        A question that was there before is no other one in new words. Where an earlier question is
        nearly another earlier one, both come from a template, and so may what is nearly one of
        them. What is returned has the digest of each question, with that of the earlier one.
        """
        read = {question.digest: question for question in map(_read, examples)}
        pairs = sorted(
            (words, digest, other.digest)
            for digest, question in read.items()
            if digest not in self._questions
            for words, other in self._near(question)
        )
        templates = {other for other in {old for _, _, old in pairs} if self._has_near(other)}
        found: dict[str, str] = {}
        taken = set(templates)
        for _, question, other in pairs:
            if question not in found and other not in taken:
                found[question] = other
                taken.add(other)
        return found

    def _has_near(self, digest: str) -> bool:
        return next(self._near(self._questions[digest]), None) is not None

    def _near(self, question: _Question) -> Iterator[tuple[int, _Question]]:
        """Yield the questions that are this one in other words, and how many differ.

        Of a question that differs in at most `MOST` words, one of any `MOST` + 1 different words
        stays, so that few are looked at.
        """
        with_word = {
            word: self._by_word.get((question.kept, word), []) for word in set(question.words)
        }
        rare = sorted(with_word.values(), key=len)[: MOST + 1]
        for other in {each.digest: each for same in rare for each in same}.values():
            if other.digest == question.digest:
                continue
            if sum((question.counted - other.counted).values()) > MOST:
                continue
            words = changed(question.words, other.words)
            # Of a few words, three others are another question.
            if words <= MOST and 2 * words < max(len(question.words), len(other.words)):
                yield words, other
