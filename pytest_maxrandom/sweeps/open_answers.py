"""Open answers as labels: which of them match whose references, and which can stand for each other.

There are no choices, so an answer's label is what it says, and the right labels of an example are
all those that match its references, unless its question offers or holds the answer: see
`open_roles`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.answers import OpenAnswers, Voices
from pytest_maxrandom.stats.gold import NOT_EVALUATED
from pytest_maxrandom.stats.samples import UNREAD
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.sweeps.labels import Labels
from pytest_maxrandom.sweeps.open_roles import COPIED, Role, offer_of, roles_of, strata_of
from pytest_maxrandom.sweeps.scorers import SCORERS
from pytest_maxrandom.tasks.references import Matching, number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from fractions import Fraction

    from pytest_maxrandom.suite.prompts import GenerationSpec
    from pytest_maxrandom.suite.spec import SuiteSpec
    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.tasks.task import Example, Task


def matching_of(suite: SuiteSpec, task: Task) -> Matching | None:
    """Return how open answers are compared: as the task says, else the suite; None with choices."""
    if not SCORERS[suite.scoring].is_open:
        return None
    return task.matching or Matching.of(suite.exact_match)


def is_right(text: str, example: Example, matching: Matching) -> bool:
    """Tell whether a text is one of an open example's references."""
    assert example.open is not None
    return matching.matched(text, example.choices, example.open) is not None


def generation_of(suite: SuiteSpec, task: Task) -> GenerationSpec:
    """Return how answers are generated: as the suite says, or else the task."""
    how, own = suite.generation, task.matching
    if own is None or not SCORERS[suite.scoring].is_open:
        return how
    said = {"stop": own.stop, "max_tokens": own.max_tokens}
    unsaid = {
        key: value
        for key, value in said.items()
        if value is not None and key not in how.model_fields_set
    }
    return how.model_copy(update=unsaid)


def labels_of_references(examples: Sequence[Example], matching: Matching) -> Labels:
    """Return the references as labels: known before anything is answered.

    Two references have one label where who says the one would be right with the other.
    """
    return _labels_of_references(tuple(examples), matching)


@lru_cache(maxsize=16)  # a task's claims have the same examples
def _labels_of_references(examples: tuple[Example, ...], matching: Matching) -> Labels:
    roles = roles_of(examples, matching)
    number: dict[object, int] = {}
    codes = []
    for example, role in zip(examples, roles, strict=True):
        name: object = role.place if role.place is not None else matching.key(example.choices[0])
        if role.place is None and (value := matching.number(example.choices[0])) is not None:
            name = value
        codes.append((number.setdefault(name, len(number)),) * len(example.choices))
    return Labels(examples, tuple(codes), shared=False, strata=strata_of(roles))


class _Texts:
    """Numbers of texts that were said, or are references, and which are right for whom."""

    def __init__(self, matching: Matching, texts: Iterable[str]) -> None:
        self.matching = matching
        keys = dict.fromkeys(map(matching.key, texts))
        self._codes = {key: code for code, key in enumerate(keys)}
        self._by_number: dict[Fraction, list[int]] = defaultdict(list)
        self._by_normal: dict[str, list[int]] = defaultdict(list)
        for (number, normal), code in self._codes.items():
            self._by_normal[normal].append(code)
            if number is not None:
                self._by_number[number].append(code)
        self._numbers = sorted(self._by_number)
        self._holding: dict[str, list[int]] = {}

    def code(self, text: str) -> int:
        """Return the number of one of the texts."""
        return self._codes[self.matching.key(text)]

    def right(self, example: Example) -> frozenset[int]:
        """Return all the texts that are references of an example."""
        how, texts = example.open, set[int]()
        assert how is not None
        for reference in example.choices:
            value = self.matching.number(reference)
            if value is None or self.matching.math:
                texts.update(self._texts_with(reference))
            else:
                texts.update(self._by_number[value])
            if how.tolerance and (value := number_of(reference)) is not None:
                most = how.most_off(value)
                first = bisect_left(self._numbers, value - most)
                for number in self._numbers[first : bisect_right(self._numbers, value + most)]:
                    texts.update(self._by_number[number])
        return frozenset(texts)

    def _texts_with(self, reference: str) -> Iterable[int]:
        """Return all the texts in which a reference stands where it must."""
        matching, own = self.matching, self.matching.normal(reference)
        if matching.math:
            own = reference
        elif matching.place == "whole":
            return self._by_normal[own]
        if own not in self._holding:
            self._holding[own] = [
                code
                for text, codes in self._by_normal.items()
                if (matching.same if matching.math else matching.stands_in)(text, own)
                for code in codes
            ]
        return self._holding[own]

    @property
    def other(self) -> int:
        """What is right nowhere; the numbers behind it are free."""
        return len(self._codes)


class _Free:
    """Answers to an example whose references take the places of others: labels are texts."""

    def __init__(self, texts: _Texts, example: Example) -> None:
        self._texts, self.right = texts, texts.right(example)

    def code(self, text: str | None) -> int:
        """Return the label of what was said."""
        return self._texts.other if text is None else self._texts.code(text)


class _Fixed:
    """Answers to an example whose question offers its answers, or holds the right one.

    Labels are the places of what it offers, or tell the right answer from all others.
    """

    def __init__(self, texts: _Texts, example: Example, role: Role) -> None:
        self._texts, self._example, self._role = texts, example, role
        self._offer = None if role.place is None else offer_of(example.text)
        self.right = frozenset([self._place(role.place)])

    def _place(self, place: int | None) -> int:
        return self._texts.other + (1 if place is None else 2 + place)

    def code(self, text: str | None) -> int:
        """Return the label of what was said."""
        own, matching = self._role.place, self._texts.matching
        if text is None:
            return self._texts.other
        if is_right(text, self._example, matching):
            return self._place(own)
        place = None if self._offer is None else self._offer.place(text, matching)
        # A part of the right item may end like it, and be none of its spellings.
        return self._texts.other if place is None or place == own else self._place(place)


def coded(
    examples: Sequence[Example],
    written: Sequence[Mapping[str, str | None]],
    matching: Matching,
    *,
    alike: bool = False,
) -> OpenAnswers:
    """Return open answers as labels.

    Parameters
    ----------
    said : sequence of t mappings of str to str or None
        Per prompt, by the ids of the examples that it was asked: what was read, None where nothing
        could be.
    alike : bool
        Whether references are exchanged by kind alone, whatever their questions hold.
    """
    if alike:
        roles = tuple(Role(each.open.kind) for each in examples if each.open is not None)
    else:
        roles = roles_of(examples, matching)
    free = [role.place is None and role.name != COPIED for role in roles]
    references = [each.choices for each, is_free in zip(examples, free, strict=True) if is_free]
    spoken = dict.fromkeys(text for row in written for text in row.values() if text is not None)
    texts = _Texts(matching, [*chain(*references), *spoken])
    columns, gold = [], []
    for example, role, is_free in zip(examples, roles, free, strict=True):
        column = _Free(texts, example) if is_free else _Fixed(texts, example, role)
        numbers = {text: column.code(text) for text in {row.get(example.id) for row in written}}
        columns.append(
            [numbers[row[example.id]] if example.id in row else NOT_EVALUATED for row in written]
        )
        gold.append(column.right)
    # What is right nowhere is one label, however many texts there are.
    kept = sorted(frozenset().union(*gold))
    answers = np.array(columns, dtype=np.int64).T
    number = np.full(2 + max(int(answers.max()), kept[-1]), len(kept), dtype=np.int64)
    number[kept] = range(len(kept))
    number[NOT_EVALUATED] = NOT_EVALUATED
    return OpenAnswers(
        number[answers],
        tuple(frozenset(number[[*own]].tolist()) for own in gold),
        strata_of(roles),
        tuple(role.name for role in roles),
    )


def voices_of(written: Sequence[Sequence[str | None]], matching: Matching) -> Voices:
    """Return which answers to an example say the same.

    Parameters
    ----------
    said : t sequences of n str or None
        Per prompt and example what was read; None where nothing could be.
    """
    keys = [[None if text is None else matching.key(text) for text in row] for row in written]
    number = {key: at for at, key in enumerate(dict.fromkeys(filter(None, chain(*keys))))}
    labels = [[UNREAD if key is None else number[key] for key in row] for row in keys]
    names = tuple(digest(*map(str, key))[:16] for key in number)
    return Voices(np.array(labels, dtype=np.int64), names)


def said_of(predictions: Sequence[PromptPredictions]) -> list[dict[str, str | None]]:
    """Return what was read of each prompt's answers, by the ids of the examples."""
    return [
        {example.id: text for example, text in zip(each.examples, each.said, strict=True)}
        for each in predictions
    ]


def counted(roles: Sequence[str]) -> dict[str, int]:
    """Return how many examples have each role, by its name."""
    return dict(sorted(Counter(roles).items()))
