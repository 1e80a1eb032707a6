"""Examples that are answered as copies of each other are, where no texts tell that they are copies.

To copies all prompts give the same answers. So do they to other examples: to easy ones, and by
accident where prompts are few. Then there are also examples that differ in one or two prompts.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from pytest_maxrandom.stats.counts import GuesserCount

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import NDArray

Told = Literal["copies", "untold", "accident"]

_UNLIKE = 3
"""Prompts that answer an example otherwise than others with the same right answer, so that its
answers tell it apart."""
_NEAR = 2
"""Prompts at most that answer two examples differently which are hardly told apart."""
_ERRORS = 3
"""Standard errors by which pairs of the same answers are more than there should be."""
_ALONE = 0.001
"""Probability of so many examples that are the same, where to be nearly so is as likely."""
_FEWEST = 10
"""Examples with the same right answer from which on their commonest answer is one."""


class Alike(NamedTuple):
    """Examples to which all prompts give the same answers.

    Attributes
    ----------
    pairs
        Of them, those that are not easy.
    told
        Whether they stand alone, as only copies do; are more than accidents come to, so that some
        must be copies and nobody can tell which; or are as many as there should be.
    """

    pairs: list[tuple[int, int]]
    told: Told


def answered_alike(answers: NDArray[np.int64], classes: Sequence[Hashable]) -> Alike:
    """Find examples to which all prompts give the same answers, and tell whether they are copies.

    Only those count to which several prompts say something else than to most with the same right
    answer: to what is easy, all say the same, and constant answers are no difference.

    - If the t answers to two examples differ independently of each other, d0 is expected to be
      (t - 1) / 2t * d1^2 / d2, where d0, d1 and d2 are how many pairs differ in no prompt, in one
      and in two (the binomial law). More are no accidents.
    - If, besides, hardly any examples are nearly the same, those that are the same are copies.

    Parameters
    ----------
    answers
        Shape (t, n), -1 where there is none.
    classes
        Per example its right answers.
    """
    columns = np.unique(answers, axis=0).T
    t = columns.shape[1]
    unlike = (columns != _usual(columns, classes)).sum(axis=1)
    telling = unlike >= _UNLIKE
    if telling.sum() < 2:
        return Alike([], "accident")
    apart = _differing(columns)
    np.fill_diagonal(apart, t + 1)
    one = telling[:, np.newaxis] & telling
    either = telling[:, np.newaxis] | telling
    pairs = _pairs((apart == 0) & one)
    d0, d1, d2 = len(pairs), *(int(((apart == by) & either).sum()) // 2 for by in (1, 2))
    expected = (t - 1) / (2 * t) * d1**2 / max(d2, 1)
    variance = max(expected, 1) + expected**2 * (4 / max(d1, 1) + 1 / max(d2, 1))
    if d0 - expected <= _ERRORS * np.sqrt(variance):
        return Alike(pairs, "accident")
    same = telling & ((apart == 0) & one).any(axis=1)
    nearly = telling & ~same & (apart <= _NEAR).any(axis=1)
    # Were either as likely, hardly ever would so many be the same.
    either_way = GuesserCount(((Fraction(1, 2), int((same | nearly).sum())),))
    if t > 2 * _NEAR and either_way.p_at_least(int(same.sum())) <= _ALONE:
        return Alike(pairs, "copies")
    # Of few prompts, hardly any answer some of the copies otherwise than most examples.
    hard = (unlike > 0)[:, np.newaxis]
    return Alike(_pairs((apart == 0) & hard & hard.T), "untold")


def _usual(columns: NDArray[np.int64], classes: Sequence[Hashable]) -> NDArray[np.int64]:
    """Return what prompts answer most often to examples of the same class, shape (n, t)."""
    sizes = Counter(classes)
    members: dict[Hashable, list[int]] = {}
    for place, own in enumerate(classes):
        members.setdefault(own if sizes[own] >= _FEWEST else None, []).append(place)
    usual = np.empty_like(columns)
    labels = np.unique(columns)
    for places in members.values():
        times = np.stack([(columns[places] == label).sum(axis=0) for label in labels])
        usual[places] = labels[times.argmax(axis=0)]
    return usual


def _pairs(marked: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return the examples of a symmetric table that are marked, the first of each pair first."""
    one, other = np.nonzero(np.triu(marked))
    return [*zip(one.tolist(), other.tolist(), strict=True)]


def _differing(columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return to how many prompts two examples have different answers, shape (n, n)."""
    same = np.zeros((len(columns), len(columns)), dtype=np.float32)
    for label in np.unique(columns).tolist():
        marked = (columns == label).astype(np.float32)
        same += marked @ marked.T
    return np.asarray(columns.shape[1] - same.astype(np.int64))
