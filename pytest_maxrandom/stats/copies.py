"""Examples that are answered as copies of each other are, where no texts tell that they are copies.

To copies all prompts give the same answers. So do they to other examples: to easy ones, and by
accident where prompts are few. Then there are also examples that differ in one or two prompts.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from pytest_maxrandom.stats.counts import binomial_tail
from pytest_maxrandom.stats.gold import times_given

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

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
_PROMPTS = 256
"""Prompts by which examples are compared at a time."""
_ROWS = 1_024
"""Examples, or pairs, that are compared at a time."""
_FEWEST = 10
"""Examples with the same right answer from which on their commonest answer is one."""


class Alike(NamedTuple):
    """Examples to which all prompts give the same answers."""

    pairs: list[tuple[int, int]]
    """Of them, those that are not easy."""
    told: Told
    """Whether they stand alone, as only copies do; are more than accidents come to, so that some
    must be copies and nobody can tell which; or are as many as there should be."""


def answered_alike(answers: NDArray[np.integer[Any]], classes: Sequence[Hashable]) -> Alike:
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
    rows = np.unique(answers, axis=0)
    columns, t = np.ascontiguousarray(rows.T), len(rows)
    unlike = np.count_nonzero(rows != _usual(rows, classes), axis=0)
    telling = unlike >= _UNLIKE
    if telling.sum() < 2:
        return Alike([], "accident")
    same, nearly = np.zeros_like(telling), np.zeros_like(telling)
    alike: list[tuple[int, int]] = []
    d1 = d2 = 0
    hard = unlike > 0
    for one, other, apart in _near(columns, hard, telling):
        either = telling[one] | telling[other]
        equal = (apart == 0) & hard[one] & hard[other]
        alike += zip(one[equal].tolist(), other[equal].tolist(), strict=True)
        both = equal & telling[one] & telling[other]
        for ends in (one, other):
            same[ends[both]] = True
            nearly[ends[either]] = True
        d1 += int((either & (apart == 1)).sum())
        d2 += int((either & (apart == 2)).sum())
    pairs = [(one, other) for one, other in alike if telling[one] and telling[other]]
    d0 = len(pairs)
    expected = (t - 1) / (2 * t) * d1**2 / max(d2, 1)
    variance = max(expected, 1) + expected**2 * (4 / max(d1, 1) + 1 / max(d2, 1))
    if d0 - expected <= _ERRORS * np.sqrt(variance):
        return Alike(pairs, "accident")
    nearly &= telling
    # Were either as likely, hardly ever would so many be the same.
    by_lot = binomial_tail(int(same.sum()), int((same | nearly).sum()), 0.5)
    if t > 2 * _NEAR and by_lot <= _ALONE:
        return Alike(pairs, "copies")
    # Of few prompts, hardly any answer some of the copies otherwise than most examples.
    return Alike(alike, "untold")


def _usual(rows: NDArray[np.integer[Any]], classes: Sequence[Hashable]) -> NDArray[np.integer[Any]]:
    """Return what prompts answer most often to examples of the same class, shape (t, n)."""
    sizes = Counter(classes)
    members: dict[Hashable, list[int]] = {}
    for place, own in enumerate(classes):
        members.setdefault(own if sizes[own] >= _FEWEST else None, []).append(place)
    usual = np.empty_like(rows)
    labels = times_given(rows.ravel())[0].astype(rows.dtype)
    for places in members.values():
        said = rows[:, places]
        times = np.stack([np.count_nonzero(said == label, axis=1) for label in labels])
        usual[:, places] = labels[times.argmax(axis=0)][:, None]
    return usual


def _near(
    columns: NDArray[np.integer[Any]], hard: NDArray[np.bool_], telling: NDArray[np.bool_]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]]:
    """Yield pairs of examples that differ in few prompts, and in how many.

    Both are hard, or one of them is telling. Of most pairs some prompts tell that they differ in
    more, so that the others are not looked at.
    """
    n, t = columns.shape
    first = columns[:, :_PROMPTS]
    labels = times_given(first.ravel())[0].tolist()
    for start in range(0, n, _ROWS):
        rows, later = slice(start, start + _ROWS), slice(start, n)
        same = np.zeros((len(columns[rows]), n - start), dtype=np.float32)
        for label in labels:
            marked = (first[later] == label).astype(np.float32)
            same += marked[:_ROWS] @ marked.T
        near = same >= min(t, _PROMPTS) - _NEAR
        near &= (hard[rows, None] & hard[later]) | telling[rows, None] | telling[later]
        one, other = np.nonzero(np.triu(near, 1))
        apart = min(t, _PROMPTS) - same[one, other].astype(np.intp)
        one, other = one + start, other + start
        for at in range(_PROMPTS, t, _PROMPTS):
            part = columns[:, at : at + _PROMPTS]
            for few in range(0, len(one), _ROWS):
                own = slice(few, few + _ROWS)
                apart[own] += (part[one[own]] != part[other[own]]).sum(axis=1)
            left = apart <= _NEAR
            one, other, apart = one[left], other[left], apart[left]
        yield one, other, apart
