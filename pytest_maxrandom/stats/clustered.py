"""Max-T test where examples form clusters of unequal size, such as the questions on one passage.

Where clusters have equal sizes, whole clusters exchange their right answers (`permutation`). Here a
cluster takes those of another one, whatever their sizes: the first of them where it has fewer
examples, and all of them again and again where it has more. T is the best *lift*: right answers
less those that the same answers reach on average when right answers are dealt at random, so a
preferred label is worth nothing, and a constant answer reaches 0 under every arrangement.

What holds. If no answer depends on the right answers, and clusters have independent right answers
whose law does not depend on the size of the cluster:

- the test is exact where all clusters have the same size: it exchanges whole ones;
- it is exact where each cluster has one right answer throughout, whatever its size;
- in between it is not exact. Right answers that are repeated vary more together than they did, so
  the best lift of guessers varies more among arrangements than it does; `tests/proof/test_nulls.py`
  simulates it.

Sign flips of the lift of each cluster do not hold their level where one label prevails, nor with
more than two labels: a rare hit is larger than a miss, or smaller.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_maxrandom.stats.arranged import (
    ArrangementTest,
    batches,
    checked,
    compared_with,
    scores_by_labels,
)
from pytest_maxrandom.stats.chances import whole_number
from pytest_maxrandom.stats.clusters import numbered
from pytest_maxrandom.stats.gold import right_labels
from pytest_maxrandom.stats.metrics import LIFT

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from pytest_maxrandom.stats.gold import Gold

FEWEST = 5
"""Clusters below which nothing is concluded: no test can learn from them how much they vary."""
_KEPT = 10
"""Times as many examples as keep their right answers, from which on whole ones are exchanged."""
_APART = 3
"""Clusters that are so many times as large as the next smaller ones are exchanged by themselves."""
_MANY = 1e5
"""Ways to exchange clusters that are left at least when they are told apart by size."""


class Ways(NamedTuple):
    """In how many ways clusters can take each other's right answers."""

    clusters: int
    """Those that can take another's; the others keep theirs."""
    fixed: int
    """Examples of the others."""
    arrangements: int
    """How many different ways there are, at most."""

    def tells(self, level: float) -> bool:
        """Tell whether clusters are enough, and any answers could have a p of at most a level."""
        return self.clusters >= FEWEST and 1 / self.arrangements <= level


@dataclass(frozen=True, kw_only=True)
class ClusterTest(ArrangementTest):
    """Result of `cluster_test`."""

    ways: Ways


def cluster_test(
    predictions: ArrayLike,
    gold: Gold,
    clusters: Sequence[Hashable],
    choices: ArrayLike | None = None,
    *,
    strata: ArrayLike | None = None,
    permutations: int = 9_999,
    stop_after: int | None = None,
    seed: int = 0,
) -> ClusterTest:
    """Test the best lift of t prompts by giving clusters the right answers of others.

    Westfall and Young, "Resampling-Based Multiple Testing" (1993), with the arrangements that the
    module describes.

    Parameters
    ----------
    predictions
        Label of each answer, shape (t, n); -1 where a prompt was not scored on an example.
    gold
        Label of the right choice for each example, shape (n,), or a set of labels for each.
    clusters
        What each example shares with others, shape (n,); its own name where it stands alone.
    choices
        Number of labels of each example, shape (n,). None: all examples have the same.
    strata
        In which examples labels mean the same, a number for each, shape (n,): an example takes
        right answers of its own stratum only. None: the numbers of choices.
    permutations, stop_after, seed
        As of `pytest_maxrandom.stats.permutation.max_t_test`.

    Raises
    ------
    TypeError, ValueError
        If an array has the wrong kind or shape, a value lies outside the choices, or a prompt was
        evaluated on no example.
    """
    chosen, rights, right, apart = checked(predictions, gold, choices, strata, clusters=clusters)
    n = chosen.shape[1]
    scores = scores_by_labels(LIFT, chosen, right, apart)
    kinds = _kinds(clusters, apart.tolist())
    generator = np.random.default_rng(seed)

    def draw(count: int) -> NDArray[np.int64]:
        order = np.tile(np.arange(n), (count, 1))
        for kind in kinds:
            order[:, kind.places] = kind.draw(generator, count)
        return order

    limit = whole_number("permutations", permutations, 1)
    orders = batches(draw, limit, max(n, len(chosen)) * right.shape[1])
    return ClusterTest(
        **compared_with(orders, scores, limit, stop_after), ways=_ways(kinds, rights)
    )


def ways_of_clusters(gold: Gold, clusters: Sequence[Hashable], strata: Sequence[int]) -> Ways:
    """Return in how many ways `cluster_test`, whose arguments these are, gives right answers."""
    return _ways(_kinds(clusters, strata), right_labels(gold))


def is_exchanged_whole(clusters: Sequence[Hashable], strata: Sequence[int]) -> bool:
    """Tell whether clusters exchange all their right answers with others of their size.

    That is exact, so it is done where it moves enough: where all clusters have the same size, or an
    example keeps its own right answer in at most a tenth of the permutations, on average.
    """
    members: dict[Hashable, list[int]] = {}
    for name, stratum in zip(clusters, strata, strict=True):
        members.setdefault(name, []).append(stratum)
    # Of c clusters of one size s, each keeps its own in 1/c: s examples, however many clusters.
    kinds = {tuple(sorted(each)) for each in members.values()}
    return len(kinds) == 1 or _KEPT * sum(map(len, kinds)) <= len(clusters)


def _kinds(clusters: Sequence[Hashable], strata: Sequence[int]) -> list[_Kind]:
    return [_Kind.of(members) for members in exchangeable(clusters, strata)]


def _ways(kinds: Sequence[_Kind], rights: Sequence[frozenset[int]]) -> Ways:
    moved = [kind for kind in kinds if kind.clusters > 1]
    numbers = numbered(rights).tolist()
    return Ways(
        clusters=sum(kind.clusters for kind in moved),
        fixed=len(rights) - sum(len(kind.places) for kind in moved),
        arrangements=math.prod(kind.arrangements(numbers) for kind in kinds),
    )


def exchangeable(
    clusters: Sequence[Hashable], strata: Sequence[int]
) -> list[list[dict[int, list[int]]]]:
    """Return which clusters can take each other's right answers.

    Those with examples of the same strata. Of these, large clusters and small ones go apart where
    there is a gap between their sizes, and enough ways are left: a large cluster whose right
    answers are those of one example, repeated, would tell little. Right answers play no part.

    Parameters
    ----------
    clusters
        Per example the name of its cluster.
    strata
        Per example the number of its stratum.

    Returns
    -------
    list of list of dict
        Per kind and cluster the places of its examples, by stratum.
    """
    members: dict[Hashable, dict[int, list[int]]] = {}
    for place, (name, stratum) in enumerate(zip(clusters, strata, strict=True)):
        members.setdefault(name, {}).setdefault(stratum, []).append(place)
    kinds: dict[frozenset[int], list[dict[int, list[int]]]] = {}
    for members_of_one in members.values():
        kinds.setdefault(frozenset(members_of_one), []).append(members_of_one)
    parts = [sorted(kind, key=_size) for kind in kinds.values()]
    gaps = sorted(
        (-ratio, number, at)
        for number, kind in enumerate(parts)
        for at, (smaller, larger) in enumerate(pairwise(map(_size, kind)), start=1)
        if (ratio := larger / smaller) >= _APART
    )
    cuts: dict[int, list[int]] = {number: [0, len(kind)] for number, kind in enumerate(parts)}
    for _, number, at in gaps:
        tried = {**cuts, number: sorted([*cuts[number], at])}
        pieces = [np.diff(each) for each in tried.values()]
        alone = min(np.diff(tried[number])) < 2
        ways = sum(math.lgamma(piece + 1) for each in pieces for piece in each)
        if not alone and ways >= math.log(_MANY):
            cuts = tried
    return [
        parts[number][start:end] for number, ends in cuts.items() for start, end in pairwise(ends)
    ]


def _size(cluster: dict[int, list[int]]) -> int:
    return sum(map(len, cluster.values()))


@dataclass(frozen=True, eq=False)
class _Kind:
    """Clusters that can take each other's right answers."""

    members: list[dict[int, list[int]]]
    """Per cluster its examples, by stratum."""
    places: NDArray[np.int64]
    """All examples, ordered by cluster and stratum, shape (examples,)."""
    owner: NDArray[np.int64]
    part: NDArray[np.int64]
    rank: NDArray[np.int64]
    """Per example: its cluster, its stratum, and its place among the examples of both."""
    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    """Per cluster and stratum: where its examples begin in `places`, and how many there are."""

    @classmethod
    def of(cls, members: list[dict[int, list[int]]]) -> _Kind:
        strata = sorted(members[0])
        sizes = np.array([[len(each[stratum]) for stratum in strata] for each in members])
        starts = (np.cumsum(sizes) - sizes.ravel()).reshape(sizes.shape)
        flat = np.repeat(np.arange(sizes.size), sizes.ravel())
        places = [place for each in members for stratum in strata for place in each[stratum]]
        return cls(
            members,
            np.array(places, dtype=np.int64),
            flat // len(strata),
            flat % len(strata),
            np.arange(len(flat)) - starts.ravel()[flat],
            starts,
            sizes,
        )

    @property
    def clusters(self) -> int:
        return len(self.members)

    def draw(self, generator: np.random.Generator, count: int) -> NDArray[np.int64]:
        """Return per arrangement and place from which example it takes its right answer."""
        donors = generator.permuted(np.tile(np.arange(self.clusters), (count, 1)), axis=1)
        donor = donors[:, self.owner]
        taken = self.starts[donor, self.part] + self.rank % self.sizes[donor, self.part]
        return np.asarray(self.places[taken])

    def arrangements(self, rights: Sequence[int]) -> int:
        """Return in how many ways right answers can go round; those that repeat alike are one."""
        alike = Counter(
            tuple(
                _period([rights[place] for place in places]) for _, places in sorted(each.items())
            )
            for each in self.members
        )
        ways = math.factorial(alike.total())
        for times in alike.values():
            ways //= math.factorial(times)
        return ways


def _period(rights: Sequence[int]) -> tuple[int, ...]:
    """Return the shortest part that gives the sequence when it is repeated to its length."""
    n = len(rights)
    length = next(each for each in range(1, n + 1) if rights[each:] == rights[: n - each])
    return tuple(rights[:length])
