"""Right answers that follow which things are compared, where no test allows for that.

Things are choices that recur, or stand in the texts of questions, such as "is X larger than Y?".
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from itertools import chain, combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_maxrandom.flags.dependence import Dependent
from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind
from pytest_maxrandom.flags.things import things_of
from pytest_maxrandom.stats.compared import FEWEST, FOLLOW, comparisons, follows_things
from pytest_maxrandom.stats.gold import NOT_EVALUATED
from pytest_maxrandom.stats.orders import order_test
from pytest_maxrandom.stats.permutation import permutations_for

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
    compared: list[Compared | None] = [None] * len(texts)
    number = 0
    for template in sorted(asked, key=lambda each: -len(asked[each])):
        new = {place: two for place, two in asked[template].items() if compared[place] is None}
        if len(asked[template]) < FEWEST:
            break
        if len(new) >= FEWEST:
            for place, (first, second) in new.items():
                compared[place] = Compared(first, second, number)
            number += 1
    pairs = [() if each is None else (each.first, each.second) for each in compared]
    return [
        each if things else None for each, things in zip(compared, comparisons(pairs), strict=True)
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
    answers: the things that are first by the commonest template are the others by these. `yes` says
    whether a question's right answer is the first of the two labels.
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


def _check(judged: JudgedAnswers) -> Found:
    if judged.orders_tested:
        return
    things = things_of(judged.answers)
    if things is None:
        yield from _by_questions(judged)
        return
    p = follows_things(things.gold, things.offered)
    if p is not None and p <= FOLLOW:
        each = comparisons(things.offered)
        own = [compares for compares in each if compares]
        parameters = {
            "case": "choices",
            "examples": len(own),
            "n": len(each),
            "things": len({thing for compares in own for thing in compares}),
        }
        yield Flag("compared_things", parameters)


def _by_questions(judged: JudgedAnswers) -> Found:
    """Find a claim that does not hold if the things in the questions are given other orders."""
    answers, texts = Dependent.of(judged), judged.answers.inputs
    if answers is None or texts is None:
        return
    asked = {
        place: each
        for place, each in enumerate(compared_in(texts))
        if each is not None and len(answers.gold[place]) == 1
    }
    labels = sorted({label for place in asked for label in answers.gold[place]})
    if len(labels) != 2:
        return
    yes = [labels[0] in answers.gold[place] for place in asked]
    first = as_choices([*asked.values()], yes)
    number = {thing: at for at, thing in enumerate(dict.fromkeys(chain(*first)))}
    # The others are exchanged as they were: each offers all labels, beyond all things.
    most = len(number)
    others = tuple(most + label for label in range(1 + max(map(max, answers.gold))))
    offered = [others] * len(texts)
    gold = [frozenset(most + label for label in right) for right in answers.gold]
    answered = answers.answers.astype(np.int64)
    answered[answered != NOT_EVALUATED] += most
    for place, two, is_first in zip(asked, first, yes, strict=True):
        codes = number[two[0]], number[two[1]]
        offered[place], gold[place] = codes, frozenset([codes[0 if is_first else 1]])
        for label, code in zip(labels, codes, strict=True):
            answered[answers.answers[:, place] == label, place] = code
    p = follows_things(gold, offered)
    if p is None or p > FOLLOW:
        return
    permutations = permutations_for(answers.level)
    test = order_test(
        answered, gold, offered, permutations=permutations,
        stop_after=int(answers.level * (permutations + 1)),
    )  # fmt: skip
    if test is not None and test.p_value > answers.level:
        parameters = {
            "case": "questions",
            "examples": test.compared,
            "n": len(texts),
            "things": test.things,
            "alike": [*next(iter(asked.values()))[:2]],
            "p": test.p_value,
            "level": answers.level,
        }
        yield Flag("compared_things", parameters)


_COMPARE = "{examples:,} of {n:,} examples compare {things:,} things that recur"

RED_FLAG = RedFlagKind(
    kind="compared_things",
    rank=65,
    topic="examples",
    default="fail",
    description="Examples that compare things which recur, and right answers that follow these "
    "things, where the permutation p does not allow for it.",
    sentences={
        "choices": f"{_COMPARE}, and the same "
        "things are right again and again: who has an order of its own over them, and knows "
        "nothing, does as well far more often than the p-values say; record what was answered "
        "(`prediction`), so that other orders of the things can be tried.",
        "questions": f"{_COMPARE} in the questions' texts, such as {{alike[0]!r}} and "
        "{alike[1]!r}: if the things are given other orders, p is {p:p}, above {level:level}, so "
        "who has an order of its own over them, and knows nothing, does as well; ask about more "
        "things, so that each stands in few questions.",
    },
    brief="the same things are compared again and again",
    remedy="record the answers, or ask about more things",
    check=_check,
)
