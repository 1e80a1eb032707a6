"""Right answers that follow which things are compared, where no test allows for that."""

from __future__ import annotations

from itertools import chain

import numpy as np

from pytest_maxrandom.flags.dependence import Dependent
from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind
from pytest_maxrandom.flags.questions import as_choices, compared_in
from pytest_maxrandom.flags.things import things_of
from pytest_maxrandom.stats.compared import FOLLOW, comparisons, follows_things
from pytest_maxrandom.stats.gold import NOT_EVALUATED
from pytest_maxrandom.stats.orders import order_test
from pytest_maxrandom.stats.permutation import permutations_for


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
    said = answers.answers.astype(np.int64)
    said[said != NOT_EVALUATED] += most
    for place, two, is_first in zip(asked, first, yes, strict=True):
        codes = number[two[0]], number[two[1]]
        offered[place], gold[place] = codes, frozenset([codes[0 if is_first else 1]])
        for label, code in zip(labels, codes, strict=True):
            said[answers.answers[:, place] == label, place] = code
    p = follows_things(gold, offered)
    if p is None or p > FOLLOW:
        return
    permutations = permutations_for(answers.level)
    test = order_test(
        said, gold, offered, permutations=permutations,
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
        "nothing, passes far more often than the p-values say; record what was answered "
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
