"""What answers tell of labels; how many of them something is so of, and when by accident."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pytest_maxrandom.answers import NO_CHOICE, Answers
from pytest_maxrandom.stats.counts import GuesserCount
from pytest_maxrandom.stats.gold import NOT_EVALUATED, times_given
from pytest_maxrandom.stats.majority import ConstantAnswer, majority_answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.flags.kind import JudgedAnswers, Parts


_AT_ONCE = 64  # examples
UNLIKELY = 1e-6
"""What guessers do with at most this probability is no accident."""
OF_ANSWERS = "{told:,} of {answers:,} answers ({part:percent}){of_best}"
"""How sentences say what `part_of_answers` returns."""
PARTS_OF_ANSWERS: Parts = {
    "part": lambda of: of["told"] / of["answers"],
    "of_best": lambda of: "" if of["best"] is None else f" of prompt {of['best']!r}, the best,",
}


class Accident(NamedTuple):
    """How likely it is that so many of t guessers do something, from `of_several`."""

    times: int
    """How many of them."""
    log_p: float
    """Logarithm of the probability at most that so many of t do."""


def of_several(singles: Sequence[float], t: int) -> Accident:
    """Judge what several of t prompts do by how many of them do it.

    Of t guessers k or more have p-values up to b with a probability of at most P(Bin(t, b) >= k)
    (Wilkinson 1951, "A statistical consideration in psychological research"). The least over all b
    counts (Bonferroni), so that one prompt with few examples, which says little, does not hide what
    others say.

    Parameters
    ----------
    singles
        For each prompt that does it, the probability at most that a guesser with its examples
        does: at least one.
    t
        Number of prompts.
    """
    ordered = sorted(singles)
    last = {single: times for times, single in enumerate(ordered, 1)}
    looks = math.log(len(last))
    accidents = []
    for single, times in last.items():
        log_p = GuesserCount(((Fraction(single), t),)).log_p_at_least(times)
        accidents.append(Accident(times, min(0.0, looks + log_p)))
    return min(accidents, key=lambda each: each.log_p)


def part_of_answers(
    share: float, marked: NDArray[np.bool_], judged: JudgedAnswers, *, least: int = 1
) -> dict[str, Any] | None:
    """Count the answers of which something holds, where it is more than a share of them.

    It is looked for in all prompts together, and in the best prompt, which is what is claimed.

    Parameters
    ----------
    marked : ndarray of bool
        Shape (t, n): of which answers it holds.
    least : int
        How many are few, whatever their share.

    Returns
    -------
    dict of str, or None
        Of all prompts; of the best where it is that one only; None where it is neither.
    """
    tried = judged.answers
    rows: dict[str | None, NDArray[np.intp]] = {None: np.arange(len(marked))}
    if judged.result is not None:
        best = judged.result.best
        rows[tried.prompts[best]] = np.array([best])
    for prompt, those in rows.items():
        part, whole = int(marked[those].sum()), int(tried.sizes[those].sum())
        if part >= least and part > share * whole:
            return {"told": part, "answers": whole, "best": prompt}
    return None


def row_codes(rows: NDArray[np.float64]) -> NDArray[np.intp]:
    """Give equal rows the same number, from 0; scores that both lack (NaN) are equal."""
    # Zero is added because -0. and 0. are other bytes.
    rows = np.ascontiguousarray(np.where(np.isnan(rows), np.nan, rows)) + 0.0
    whole = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1]))).ravel()
    codes: NDArray[np.intp] = np.unique(whole, return_inverse=True)[1]
    return codes


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
    return _constant(tuple(gold if result is None else compress(gold, evaluated[result.best])))


@lru_cache(maxsize=16)  # asked for by several kinds, and of most claims of a task the same
def _constant(gold: tuple[frozenset[int], ...]) -> ConstantAnswer[int]:
    return majority_answer(gold)


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
        right = frozenset[int]().union(*gold)
        for start in range(0, len(shown), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            # Turned, because what is said to one example lies far apart.
            said, there = tried.answers[:, part].T.copy(), tried.evaluated[:, part].T.copy()
            for own, answers, scored in zip(shown[part], said, there, strict=True):
                labels, times = times_given(answers[scored])
                for label, many in zip(labels.tolist(), times.tolist(), strict=True):
                    if label in right:
                        own[label] = own.get(label, 0) + many
    return shown
