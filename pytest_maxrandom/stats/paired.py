"""Two arms on the same examples: their mean difference, by task and over all tasks.

The unit of everything is the task: replicates of one task share its texts and differ by more
than binomial noise, so tests and intervals are those of the sign-flip over task means.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.chances import integers, whole_number
from pytest_maxrandom.stats.counts import binomial_tail
from pytest_maxrandom.stats.differences import SignFlip, sign_flip
from pytest_maxrandom.stats.multiplicity import benjamini_hochberg, holm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Right answers of two arms; made by `paired`."""

    names: tuple[str, ...]
    """The tasks, sorted."""
    task: Counts
    """Index into `names`, ascending, shape (pairs,)."""
    replicate: Counts
    """Number of the replicate among its task's, from 0, ascending within the task."""
    correct_a: Counts
    n_a: Counts
    correct_b: Counts
    n_b: Counts
    """Right answers, and examples, of each arm."""

    def __len__(self) -> int:
        return len(self.task)

    @cached_property
    def differences(self) -> NDArray[np.float64]:
        """Accuracy of a minus that of b, of each pair."""
        return self.correct_a / self.n_a - self.correct_b / self.n_b

    @cached_property
    def by_replicate(self) -> tuple[NDArray[np.float64], ...]:
        """For each task the mean difference of each of its replicates."""
        return tuple(
            np.array([_mean(self.differences[rows]) for rows in replicates])
            for replicates in self.rows
        )

    @cached_property
    def by_task(self) -> NDArray[np.float64]:
        """For each task the mean over its replicates, shape (tasks,)."""
        return np.array([_mean(values) for values in self.by_replicate])

    @cached_property
    def rows(self) -> tuple[tuple[NDArray[np.intp], ...], ...]:
        """The places of the pairs, by task and replicate."""
        starts = np.flatnonzero(np.diff(self.task, prepend=-1))
        tasks = np.split(np.arange(len(self)), starts[1:])
        return tuple(
            tuple(np.split(rows, np.flatnonzero(np.diff(self.replicate[rows])) + 1))
            for rows in tasks
        )


def paired(
    task: Sequence[str],
    replicate: Sequence[str | int],
    correct_a: ArrayLike,
    n_a: ArrayLike,
    correct_b: ArrayLike,
    n_b: ArrayLike,
) -> Pairs:
    """Bring the results of two arms into order; that of the rows does not matter.

    Parameters
    ----------
    task, replicate
        What each pair belongs to, shape (pairs,). Pairs of the same task and replicate are
        different measurements of it (such as two models), which a single draw has all.
    correct_a, n_a, correct_b, n_b
        Right answers, and examples, of each arm.

    Raises
    ------
    TypeError, ValueError
        If the lengths differ, there is no pair, or a count is outside 0 to n.
    """
    if not len(task):
        raise ValueError("there must be at least one pair")
    given = {"correct_a": correct_a, "n_a": n_a, "correct_b": correct_b, "n_b": n_b}
    counts = [integers(name, values, 1) for name, values in given.items()]
    if len({len(task), len(replicate), *map(len, counts)}) > 1:
        raise ValueError("task, replicate and the four counts must be equally long")
    for correct, n in (counts[:2], counts[2:]):
        wrong = np.flatnonzero((n < 1) | (correct < 0) | (correct > n))
        if len(wrong):
            raise ValueError(
                f"pair {wrong[0]}: expected 0 <= correct <= n and n >= 1, found "
                f"{correct[wrong[0]]} and {n[wrong[0]]}"
            )
    names, of_task = np.unique(task, return_inverse=True)
    label = np.unique([str(name) for name in replicate], return_inverse=True)[1]
    order = np.lexsort((*counts, label, of_task))
    of_task, label = of_task[order], label[order]
    new_task = np.diff(of_task, prepend=-1) != 0
    new = new_task | (np.diff(label, prepend=-1) != 0)
    running = np.cumsum(new)
    first = np.maximum.accumulate(np.where(new_task, running, 0))
    return Pairs(
        tuple(names.tolist()), of_task, running - first, *(values[order] for values in counts)
    )


@dataclass(frozen=True, slots=True)
class TaskDifference:
    """One task's difference, tested by the sign-flip over its replicates."""

    task: str
    replicates: int
    difference: float
    p_value: float | None
    bh: float | None
    holm: float | None
    """Two-sided; adjusted for the number of tasks by Benjamini and Hochberg, and by Holm. None
    where the task has one replicate, which tells no p-value."""


@dataclass(frozen=True, eq=False, slots=True)
class ArmComparison:
    """Result of `compare_arms`."""

    pairs: int
    difference: float
    """Mean over tasks of the mean over replicates of (accuracy of a - accuracy of b)."""
    low: float
    high: float
    """Interval of it, the inverted sign-flip over tasks; -1 to 1 where tasks are too few."""
    confidence: float
    test: SignFlip
    """The sign-flip over tasks: ``p_value()``, ``p_greater(margin)``, ``p_less(margin)``."""
    overdispersion: float | None
    """See `overdispersion`."""
    tasks: tuple[TaskDifference, ...]
    """Each task by itself."""


def compare_arms(pairs: Pairs, *, confidence: float = 0.95, seed: int = 0) -> ArmComparison:
    """Compare two arms.

    "a is not worse than b by .02" is supported by a small ``test.p_greater(-0.02)``, "a is
    better" by a small ``test.p_greater()``.

    Parameters
    ----------
    confidence
        Of the interval, between 0 and 1.
    seed
        Of the signs, where they are too many to count.

    Raises
    ------
    ValueError
        If the confidence is outside its domain.
    """
    ps = {
        name: sign_flip(values, seed=seed).p_value()
        for name, values in zip(pairs.names, pairs.by_replicate, strict=True)
        if len(values) > 1
    }
    bh = dict(zip(ps, benjamini_hochberg([*ps.values()]), strict=True))
    by_holm = dict(zip(ps, holm([*ps.values()]), strict=True))
    test = sign_flip(pairs.by_task, seed=seed)
    low, high = test.interval(confidence)
    return ArmComparison(
        pairs=len(pairs),
        difference=test.mean,
        # Differences of accuracies, and so their mean, lie there.
        low=max(low, -1.0),
        high=min(high, 1.0),
        confidence=confidence,
        test=test,
        overdispersion=overdispersion(pairs),
        tasks=tuple(
            TaskDifference(
                name, len(values), float(mean), ps.get(name), bh.get(name), by_holm.get(name)
            )
            for name, values, mean in zip(
                pairs.names, pairs.by_replicate, pairs.by_task, strict=True
            )
        ),
    )


def overdispersion(pairs: Pairs) -> float | None:
    """How many times as much the differences vary as two binomials of equal chance would.

    The mean over pairs of (difference - mean)**2 / v, where v is the variance of the difference
    given how many answers of both arms together are right (hypergeometric). About 1 if the
    examples are independent; intervals of a binomial model are too narrow by its square root.

    Returns
    -------
    float or None
        None with fewer than two pairs that have both right and wrong answers.
    """
    total, n = pairs.correct_a + pairs.correct_b, pairs.n_a + pairs.n_b
    told = (total > 0) & (total < n)
    if told.sum() < 2:
        return None
    binomial = (total * (n - total) / (pairs.n_a * pairs.n_b * (n - 1)))[told]
    values = pairs.differences[told]
    ratios = (values - _mean(values)) ** 2 / binomial
    return math.fsum(ratios) / (len(ratios) - 1)


def mcnemar(only_a: int, only_b: int) -> float:
    """Two-sided p-value of "one prompt answers as many examples rightly with a as with b".

    McNemar (1947), with the exact binomial distribution.

    Parameters
    ----------
    only_a, only_b : int
        Examples that only one of the arms answers rightly.

    Raises
    ------
    TypeError, ValueError
        If one is no count.

    Examples
    --------
    >>> mcnemar(8, 2)
    0.109375
    """
    a, b = whole_number("only_a", only_a, 0), whole_number("only_b", only_b, 0)
    if a == b:
        return 1.0
    return min(1.0, 2 * binomial_tail(max(a, b), a + b, 0.5))


def _mean(values: NDArray[np.float64]) -> float:
    """Mean that no order of the values changes."""
    return math.fsum(values) / len(values)
