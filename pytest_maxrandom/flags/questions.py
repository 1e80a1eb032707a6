"""Things that questions compare in their texts, such as "is X larger than Y?", yes or no."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from pytest_maxrandom.stats.compared import FEWEST, comparisons

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_WORDS = 12
"""Words at most, of those that are no frame, of a question that compares two things."""
_LONG = 4
"""Words at most of the name of a thing."""

_Template = tuple[str | None, ...]
"""The words of a question, with None where a thing stands."""
_Span = tuple[int, int]


class Compared(NamedTuple):
    """Two things of a question, and its template."""

    first: str
    second: str
    template: int


@lru_cache(maxsize=4)  # all claims on a task have the same texts
def compared_in(texts: tuple[str, ...]) -> list[Compared | None]:
    """Return per text the two things that it compares; None where it compares none that recur.

    Five questions or more have all words in common but the names of two things, and the things
    recur as `pytest_maxrandom.stats.compared.comparisons` tells. Several words are the name of one
    thing if one of them stands nowhere else.
    """
    words = [tuple(re.findall(r"\w+|[^\w\s]", text.casefold())) for text in texts]
    times = Counter(word for own in words for word in set(own))
    frame = {word for word, many in times.items() if 2 * many > len(texts)}
    asked: dict[_Template, dict[int, tuple[str, str]]] = {}
    for place, (own, names) in enumerate(zip(words, _names(words, frame), strict=True)):
        for (start, end), (other, last) in combinations(names, 2):
            if end < other:
                template = (*own[:start], None, *own[end:other], None, *own[last:])
                things = " ".join(own[start:end]), " ".join(own[other:last])
                asked.setdefault(template, {})[place] = things
    found: list[Compared | None] = [None] * len(texts)
    number = 0
    for template in sorted(asked, key=lambda each: -len(asked[each])):
        new = {place: two for place, two in asked[template].items() if found[place] is None}
        if len(asked[template]) < FEWEST:
            break
        if len(new) >= FEWEST:
            for place, (first, second) in new.items():
                found[place] = Compared(first, second, number)
            number += 1
    pairs = [() if each is None else (each.first, each.second) for each in found]
    return [
        each if things else None for each, things in zip(found, comparisons(pairs), strict=True)
    ]


def _names(words: Sequence[tuple[str, ...]], frame: set[str]) -> Iterator[list[_Span]]:
    """Yield where a thing may be named in a text: from which word to before which."""
    spans = [[*_spans(own, frame)] for own in words]
    times = Counter(word for own in words for word in own)
    phrases = Counter(own[start:end] for own, each in zip(words, spans, strict=True)
                      for start, end in each)  # fmt: skip
    for own, each in zip(words, spans, strict=True):
        yield [
            (start, end)
            for start, end in each
            if end - start == 1
            or any(times[word] == phrases[own[start:end]] for word in own[start:end])
        ]


def _spans(own: Sequence[str], frame: set[str]) -> Iterator[_Span]:
    """Yield runs of words that are no frame, of texts with few such words."""
    free = [word not in frame and word[0].isalnum() for word in own]
    if sum(free) > _WORDS:
        return
    for start in range(len(own)):
        for end in range(start + 1, min(start + _LONG, len(own)) + 1):
            if not free[end - 1]:
                break
            yield start, end


def as_choices(asked: Sequence[Compared], yes: Sequence[bool]) -> list[tuple[str, str]]:
    """Return per question the thing that is first if its right answer is yes, and the other one.

    Templates may ask the opposite ("is X smaller than Y?"). Which of them do is told by the right
    answers: the things that are first by the commonest template are the others by these.

    Parameters
    ----------
    asked
        Things and template of each question.
    yes
        Whether its right answer is the first of the two labels.
    """
    known: Counter[str] = Counter()
    opposite: dict[int, bool] = {}
    for template, _ in Counter(each.template for each in asked).most_common():
        own = [(each, said) for each, said in zip(asked, yes, strict=True)
               if each.template == template]  # fmt: skip
        ahead = sum(
            (known[each.first] - known[each.second]) * (1 if said else -1) for each, said in own
        )
        opposite[template] = ahead < 0
        for each, said in own:
            won = said != opposite[template]
            known[each.first] += 1 if won else -1
            known[each.second] -= 1 if won else -1
    return [
        (each.second, each.first) if opposite[each.template] else (each.first, each.second)
        for each in asked
    ]
