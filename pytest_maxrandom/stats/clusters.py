"""Examples that belong together, such as the questions about one passage."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Sequence

    from numpy.typing import NDArray

_Thing = TypeVar("_Thing", bound="Hashable")

_BLOCK = 1 << 22
"""Numbers that are shuffled at a time."""


def effective_n(clusters: Iterable[Hashable]) -> float:
    """Return how many independent examples n clustered ones are worth at least.

    n^2 / sum of squared cluster sizes: n over the design effect of Kish (1965, "Survey Sampling")
    for an intraclass correlation of 1. So many independent examples have a mean that varies as
    much, where whole clusters are answered right or wrong; where answers follow their cluster
    less, it is more.

    Parameters
    ----------
    clusters : iterable of hashable
        Per example what tells its cluster from others; at least one.

    Examples
    --------
    >>> effective_n("aaabbc")
    2.5714285714285716
    """
    sizes = [*Counter(clusters).values()]
    if not sizes:
        raise ValueError("expected at least one example, found none")
    return float(sum(sizes) ** 2 / sum(size * size for size in sizes))


def summary(clusters: Iterable[Hashable | None]) -> tuple[int | None, float | None]:
    """Return the number of clusters and :func:`effective_n`; None twice where no cluster is stated.

    Parameters
    ----------
    clusters : iterable of hashable or None
        Per example its cluster; of those without one, each stands alone.
    """
    given = [*clusters]
    if all(cluster is None for cluster in given):
        return None, None
    names = [(place, None) if name is None else (None, name) for place, name in enumerate(given)]
    return len(set(names)), effective_n(names)


def named_clusters(names: Sequence[str], clusters: Iterable[str | None]) -> tuple[str, ...] | None:
    """Return what tells each example's cluster from others: its own name where it has none.

    Returns
    -------
    tuple of str, or None
        None where no example has a cluster.

    Examples
    --------
    >>> named_clusters(["a", "b"], ["a", None]), named_clusters(["a", "b"], [None, None])
    (('cluster a', 'id b'), None)
    """
    given = [*clusters]
    if all(cluster is None for cluster in given):
        return None
    named = zip(names, given, strict=True)
    return tuple(f"id {name}" if own is None else f"cluster {own}" for name, own in named)


def design_effect(gold: Sequence[Collection[int]], clusters: Sequence[Hashable]) -> float:
    """Return by how much right answers that follow their cluster lower what n is worth.

    The variance of the number of right answers of one who answers whole clusters alike, over that
    where right answers are independent of the cluster: the sum over clusters c and labels y of
    (n_cy - n_c f_y)^2, over n sum of f_y (1 - f_y), with n_cy the examples of c whose right answer
    is y and f_y the share of y. It is about 1 where right answers do not follow the cluster, and
    below 1 where they differ within it by design; where they are the same throughout it, it is
    about n over :func:`effective_n` (Kish 1965).

    Parameters
    ----------
    gold : sequence of sets of int
        Per example the labels of its right choices.
    clusters : sequence of hashable
        Per example what tells its cluster from others.

    Examples
    --------
    >>> design_effect([{0}, {0}, {1}, {1}], "aabb"), design_effect([{0}, {1}, {0}, {1}], "aabb")
    (2.0, 0.0)
    """
    return float(_effects(_centred(gold), numbered(clusters))[0])


def follows(
    gold: Sequence[Collection[int]],
    clusters: Sequence[Hashable],
    permutations: int = 999,
    seed: int = 0,
) -> float:
    """Return the permutation p-value of right answers that follow their cluster.

    The share of shuffles of the right answers, the observed order counted as one, whose
    :func:`design_effect` is at least the observed one; so at least 1 / (permutations + 1).
    """
    rng = np.random.default_rng(seed)
    centred, numbers = _centred(gold), numbered(clusters)
    observed = _effects(centred, numbers)[0]
    at_once = max(1, _BLOCK // max(1, centred.size))
    reached, left = 1, permutations
    while left:
        many = min(at_once, left)
        orders = rng.permuted(np.tile(np.arange(len(centred)), (many, 1)), axis=1)
        # Sums in another order differ in their last digits.
        reached += int((_effects(centred[orders], numbers) >= observed * (1 - 1e-9)).sum())
        left -= many
    return reached / (permutations + 1)


def alike_within(
    answers: NDArray[np.int64],
    clusters: Sequence[Hashable],
    classes: Sequence[Hashable],
    permutations: int = 999,
) -> float:
    """Return the permutation p-value of answers that are alike within their cluster.

    Examples exchange their answers within classes, so what depends on the class alone, such as
    what is right, does not count: the share of such shuffles, the observed order counted as one, in
    which at least as many answers are those to the example before in the cluster.

    Parameters
    ----------
    answers : ndarray of int
        Shape (t, n).
    clusters, classes : sequence of hashable
        Per example.
    """
    numbers, kinds = numbered(clusters), numbered(classes)
    order = np.argsort(numbers, kind="stable")
    beside = np.flatnonzero(np.diff(numbers[order]) == 0)
    one, other = order[beside], order[beside + 1]
    groups = [np.flatnonzero(kinds == kind) for kind in range(kinds.max() + 1)]
    rng = np.random.default_rng(0)
    reached, observed = 0, int((answers[:, one] == answers[:, other]).sum())
    for _ in range(permutations):
        moved = np.empty(len(numbers), dtype=np.int64)
        for group in groups:
            moved[group] = rng.permutation(group)
        shuffled = answers[:, moved]
        reached += int((shuffled[:, one] == shuffled[:, other]).sum()) >= observed
    return (1 + reached) / (permutations + 1)


def united(sets: Iterable[Iterable[_Thing]]) -> dict[_Thing, _Thing]:
    """Return of each thing one that stands for all that hang together with it by the sets.

    Examples
    --------
    >>> united(["ad", "b", "de"])
    {'a': 'a', 'd': 'a', 'b': 'b', 'e': 'a'}
    """
    parts: dict[_Thing, list[_Thing]] = {}
    for things in sets:
        one: list[_Thing] | None = None
        for thing in things:
            part = parts.get(thing)
            if part is None:
                part = parts[thing] = [thing]
            if one is None or part is one:
                one = part
                continue
            less, one = sorted((part, one), key=len)
            one += less
            parts |= dict.fromkeys(less, one)
    return {thing: part[0] for thing, part in parts.items()}


def numbered(clusters: Iterable[Hashable]) -> NDArray[np.intp]:
    """Return per example the number of its cluster, from 0 in the order in which they come."""
    known: dict[Hashable, int] = {}
    return np.array([known.setdefault(name, len(known)) for name in clusters], dtype=np.intp)


def units_of(clusters: Iterable[Hashable] | None, n: int) -> NDArray[np.intp]:
    """Return the number of each example's cluster, shape (n,); of its own where there are none.

    Raises
    ------
    ValueError
        If there are not n names of clusters.
    """
    if clusters is None:
        return np.arange(n)
    numbers = numbered(clusters)
    if len(numbers) != n:
        raise ValueError(f"clusters names {len(numbers)} examples, the scores have {n}")
    return numbers


def _centred(gold: Sequence[Collection[int]]) -> NDArray[np.float64]:
    """Return per example and label whether that is right, less the label's share; shape (n, m)."""
    labels = sorted({label for right in gold for label in right})
    marked = np.array([[label in right for label in labels] for right in gold], dtype=np.float64)
    return np.asarray(marked - marked.mean(axis=0))


def _effects(centred: NDArray[np.float64], numbers: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the design effect of each order; 1 where all examples have the same right answer."""
    orders = centred.reshape(-1, *centred.shape[-2:])
    by_cluster = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[by_cluster], prepend=-1))
    sums = np.add.reduceat(orders[:, by_cluster], starts, axis=1)
    spread = np.square(orders[0]).sum()
    if not spread:
        return np.ones(len(orders))
    return np.asarray(np.square(sums).sum(axis=(1, 2)) / spread)
