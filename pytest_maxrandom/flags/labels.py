"""What answers and right answers tell of labels: which there are, and which is right most often."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.answers import NO_CHOICE
from pytest_maxrandom.stats.gold import NOT_EVALUATED
from pytest_maxrandom.stats.majority import ConstantAnswer, majority_answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.flags.kind import JudgedAnswers

LOOK = "check how many choices there are."


def majority(judged: JudgedAnswers) -> ConstantAnswer[int] | None:
    """Return the best constant answer to the best prompt's examples, or to all where none is best.

    Returns None where no label means the same everywhere.
    """
    gold = judged.answers.gold
    return best_constant(judged, gold) if gold is not None and judged.comparable else None


def best_constant(judged: JudgedAnswers, gold: Sequence[frozenset[int]]) -> ConstantAnswer[int]:
    """Return the label that is right most often, wherever the best prompt was scored."""
    result, evaluated = judged.result, judged.answers.evaluated
    return majority_answer(compress(gold, evaluated[result.best] if result else [True] * len(gold)))


def name_of(judged: JudgedAnswers, label: int) -> str | None:
    """Return what a label is called; None where it is a place of choices."""
    tried = judged.answers
    if tried.labels:
        return tried.labels[label]
    beyond = tried.unread is not None and tried.choices and label >= max(tried.choices)
    return NO_CHOICE if beyond else None


def seen_right(tried: Answers) -> tuple[frozenset[int], ...]:
    """Return per example its right answers, where they are not known those that were given."""
    if tried.gold is not None:
        return tried.gold
    if tried.answers is None:
        return ()
    right = np.where(tried.correct & tried.evaluated, tried.answers, NOT_EVALUATED)
    return tuple(frozenset(np.unique(column).tolist()) - {NOT_EVALUATED} for column in right.T)


def labels_shown(tried: Answers, gold: tuple[frozenset[int], ...]) -> list[dict[int, int]]:
    """Return per example the labels that it shows, with how many prompts gave each.

    These are those that are right, and what was given that is right somewhere: an answer that is
    nowhere right may be no choice, but what was read from a text.
    """
    shown = [dict.fromkeys(right, 0) for right in gold]
    if tried.answers is not None:
        known = tried.evaluated & np.isin(tried.answers, [*set().union(*gold)])
        examples, labels = np.nonzero(known)[1].tolist(), tried.answers[known].tolist()
        for example, label in zip(examples, labels, strict=True):
            shown[example][label] = shown[example].get(label, 0) + 1
    return shown
