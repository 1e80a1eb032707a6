"""Right answers that follow the order of the examples, while answers follow it too.

Questions often stand in sections. Who answers each section alike is right on whole sections or on
none, and single right answers that are shuffled do not show how often. It matters where the claim
does not hold any more, at half its level, if right answers are shuffled among neighbours only, or
moved on along the file. A model that knows is not accused: where its answers follow the right ones
and nothing else, they are in no order among examples with the same right answer. Nor is one whose
errors come in sections, where right answers take turns: the order has to be a shared one.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from pytest_maxrandom.flags.dependence import Dependent
from pytest_maxrandom.flags.kind import Flag, Found, JudgedAnswers, RedFlagKind
from pytest_maxrandom.flags.texts import CLUSTERS
from pytest_maxrandom.stats.order import follows_order, rotated

_RIGHT = 0.1
"""Probability of right answers that follow the order as far, where they do not depend on it."""
_SAID = 0.01
"""The same of answers, where right answers are alike."""
_PARTS = 10
"""Parts of the file among whose examples right answers are shuffled."""
_FEWEST = 20
"""Examples; among fewer no order can be told."""


@lru_cache(maxsize=64)
def _order_of_right(right: bytes, strata: tuple[int, ...]) -> float:
    """Return the p-value of right answers in order, which all claims on a task have in common."""
    return follows_order(np.frombuffer(right).reshape(-1, len(strata)), strata)


def _check(judged: JudgedAnswers) -> Found:
    answers = Dependent.of(judged)
    n = len(judged.answers.examples)
    if answers is None or n < _FEWEST or judged.answers.clusters is not None:
        return
    right = answers.right()
    if _order_of_right(right.tobytes(), tuple(answers.strata.tolist())) > _RIGHT:
        return
    # The best one alone, and what several share; the smaller of two p-values counts twice.
    rows = dict.fromkeys([answers.best[:1], answers.best])
    if not any(
        len(rows)
        * follows_order(
            answers.answer_marks(each), answers.classes, beside=right.repeat(len(each), axis=0)
        )
        <= _SAID
        for each in rows
    ):
        return
    # Guessers pass if their order is not seen, or if this p-value is low by luck: each has half.
    level = answers.level / 2
    p = rotated(answers.answers, answers.marked(), answers.strata)
    if p <= level:
        parts = np.arange(n) * _PARTS // n
        p = max(p, answers.p_value(strata=1 + parts * (1 + answers.strata.max()) + answers.strata))
    if p > max(level, 1 / n):
        changes = sum(
            one != other for one, other in zip(answers.gold, answers.gold[1:], strict=False)
        )
        yield Flag("ordered_answers", {"n": n, "changes": changes, "p": p, "level": level})


RED_FLAG = RedFlagKind(
    kind="ordered_answers",
    rank=64,
    topic="examples",
    default="fail",
    description="Right answers that follow the order of the examples, where answers follow it too.",
    sentences="The right answers follow the order of the {n:,} examples (they change "
    "{changes:,} {changes:time/times}), and so do the answers: if right answers are shuffled among "
    "neighbours only, or moved on along the file, p is {p:p}, above {level:level} "
    "(half the level), so a model that answers each section alike does as well; add a column with "
    f"what neighbours have in common, such as their section, and name it with {CLUSTERS}",
    brief="answers follow the file's order",
    remedy="name the sections as clusters",
    check=_check,
    reads_labels=True,
)
