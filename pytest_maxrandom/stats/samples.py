"""Several answers of one prompt to one example: what they score.

A prompt that is asked k times at a temperature gives k *samples*. They score the share that is
right (mean), whether any is right (pass) or all are (all), or what their commonest answer (vote)
does. Where j of k samples are asked (pass@j), the score is the unbiased estimator of Chen et al.
("Evaluating Large Language Models Trained on Code", 2021): 1 - C(k - c, j) / C(k, j), where c are
right. Of samples with scores from 0 to 1 it is their mean, the best of them, the worst, or the
expected best of j.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from pytest_maxrandom.stats.gold import NOT_EVALUATED
from pytest_maxrandom.stats.seeding import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    Labels: TypeAlias = NDArray[np.int64]

How: TypeAlias = Literal["mean", "vote", "pass", "all"]
"""What several samples of an answer come to: the share that is right, the commonest answer, whether
any is right, whether all are. Of grades: their mean, that of the commonest answer, the best, the
worst."""

UNREAD = 2**62
"""The label of a sample that is no choice: nobody could read one in it."""


class Aggregate(NamedTuple):
    """How the samples of an answer are made one score."""

    how: How
    """What they come to."""
    samples: int
    """Their number k."""
    asked: int | None = None
    """For pass@j the number j, 1 to k; None where all samples count."""

    @property
    def j(self) -> int:
        """How many samples a pass may take."""
        return self.samples if self.asked is None else self.asked

    @property
    def binary(self) -> bool:
        """Whether an example is right or wrong, and nothing between."""
        return self.how != "mean" and (self.how != "pass" or self.j == self.samples)

    @property
    def unit(self) -> int:
        """The score of an example that is right."""
        if self.how == "mean":
            return self.samples
        return math.comb(self.samples, self.j) if self.how == "pass" else 1

    def of_fewer(self, samples: int) -> Aggregate:
        """Return what so many of the samples come to."""
        fewer = None if self.asked is None or self.asked >= samples else self.asked
        return self._replace(samples=samples, asked=fewer)

    def of_grades(self, grades: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the scores of examples whose samples have scores from 0 to 1, shape (..., k).

        Raises
        ------
        ValueError
            Of a vote, which depends on what was said, too.
        """
        k, j = self.samples, self.j
        # Else the last digit of a mean would depend on how the samples lie in memory.
        grades = np.ascontiguousarray(grades)
        if self.how == "mean":
            return np.asarray(grades.mean(axis=-1), dtype=np.float64)
        if self.how == "all":
            return np.asarray(grades.min(axis=-1), dtype=np.float64)
        if self.how == "vote":
            raise ValueError("a vote depends on what was said, too")
        if j == k:
            return np.asarray(grades.max(axis=-1), dtype=np.float64)
        # The i-th from below is the best of j where the others are drawn from those below it.
        weights = [math.comb(i, j - 1) / math.comb(k, j) for i in range(k)]
        return np.asarray(np.sort(grades, axis=-1) @ np.array(weights), dtype=np.float64)

    def credits(self, right: NDArray[np.integer]) -> Labels:
        """Return the scores of examples, in units of 1 / `unit`, by how many samples are right.

        Raises
        ------
        ValueError
            Of a vote, which depends on the wrong answers, too.
        """
        k = self.samples
        if self.how == "mean":
            return np.asarray(right, dtype=np.int64)
        if self.how == "all":
            return np.asarray(right == k, dtype=np.int64)
        if self.how == "vote":
            raise ValueError("a vote depends on the wrong answers, too: use `voted`")
        table = [self.unit - math.comb(k - c, self.j) for c in range(k + 1)]
        return np.asarray(np.array(table, dtype=np.int64)[right])


def voted(labels: Labels, names: Callable[[int, int], str], examples: Sequence[str]) -> Labels:
    """Return the commonest of the samples of each answer.

    Between equally common ones a lot decides that knows neither which is right nor where it stands:
    a digest of the example's id and the answers' texts.

    Parameters
    ----------
    labels
        Labels of the samples, shape (t, n, k); -1 where there is no answer. One that is `UNREAD`
        has no vote where anything could be read.
    names
        The text of a label of an example, by the example's place and the label.
    examples
        Ids, length n.

    Returns
    -------
    ndarray of int
        Shape (t, n).
    """
    votes = _votes(labels)
    read = labels != UNREAD
    votes = np.where(read | ~read.any(axis=2, keepdims=True), votes, 0)
    top = votes == votes.max(axis=2, keepdims=True)
    first = np.take_along_axis(labels, top.argmax(axis=2)[..., None], axis=2)[..., 0]
    winners: Labels = first.copy()
    tied = (top & (labels != first[..., None])).any(axis=2)
    own, of, top = labels[tied], tied.nonzero()[1], top[tied]
    if not len(own):
        return winners
    known, number = np.unique(own[top], return_inverse=True)
    keys, place = np.unique(of[top.nonzero()[0]] * len(known) + number, return_inverse=True)
    lots = [
        digest("vote", examples[example], names(example, label))
        for example, label in zip(
            (keys // len(known)).tolist(), known[keys % len(known)].tolist(), strict=True
        )
    ]
    drawn = np.full(own.shape, len(lots))
    drawn[top] = np.argsort(np.argsort(lots))[place]
    winners[tied] = np.take_along_axis(own, drawn.argmin(axis=1)[:, None], axis=1)[:, 0]
    return winners


def _votes(labels: Labels) -> Labels:
    """Return per sample how many have its label, shape (t, n, k)."""
    votes = np.zeros_like(labels)
    for sample in range(labels.shape[2]):
        votes += labels == labels[..., sample : sample + 1]
    return votes


def profiles(labels: Labels) -> Labels:
    """Return how often each different answer was given, descending, zeros behind: (t, n, k).

    What is `UNREAD` is none. Labels as of `voted`.
    """
    votes = _votes(labels)
    earlier = np.zeros(labels.shape, dtype=np.bool_)
    for sample in range(1, labels.shape[2]):
        before = labels[..., :sample] == labels[..., sample : sample + 1]
        earlier[..., sample] = before.any(axis=2)
    counted = ~earlier & (labels != NOT_EVALUATED) & (labels != UNREAD)
    return np.asarray(-np.sort(-np.where(counted, votes, 0), axis=2))
