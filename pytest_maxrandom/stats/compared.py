"""Things that questions compare, such as "which is larger, X or Y?", and whether some prevail."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from pytest_maxrandom.stats.clusters import united
from pytest_maxrandom.stats.gold import padded, places_of, right_labels

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Iterable, Sequence, Set

    from numpy.typing import NDArray

    from pytest_maxrandom.stats.gold import Gold

_Thing = TypeVar("_Thing", bound="Hashable")

FEWEST = 5
"""Things that recur together below which labels are exchanged instead."""
FOLLOW = 0.01
"""Probability of things that are right as unevenly, where it does not matter which one it is."""
_BLOCK = 2**22
"""Places of right answers that are exchanged at a time."""


def comparisons(offered: Sequence[Sequence[_Thing]]) -> list[tuple[_Thing, ...]]:
    """Return per example the recurring things that it compares, in their order; often none.

    Each thing occurs in at least two different sets of things of such examples, and at least five
    things hang together by these sets. Neither labels that all examples share are such things, nor
    choices of one question beside labels ("none"), nor what all questions with as many choices
    offer beside things ("about the same"). Right answers play no part.

    Parameters
    ----------
    offered
        Per example its choices.

    Examples
    --------
    >>> comparisons([*["ab=", "bc=", "cd=", "=de", "ea="], "ax="])[2:]
    [('c', 'd'), ('d', 'e'), ('e', 'a'), ()]
    >>> any(comparisons(["yn"] * 9))
    False
    """
    left = {place: tuple(choices) for place, choices in enumerate(offered) if len(choices) > 1}
    while beside := _beside(left := _recurring(left), offered):
        left = {
            place: own
            for place, things in left.items()
            if len(own := tuple(each for each in things if each not in beside.get(place, ()))) > 1
        }
    parts = united(left.values())
    sizes = Counter(parts.values())
    return [
        things if (things := left.get(place, ())) and sizes[parts[things[0]]] >= FEWEST else ()
        for place in range(len(offered))
    ]


def ordered(
    rights: Sequence[Collection[object]], offered: Sequence[Sequence[_Thing]]
) -> list[tuple[_Thing, ...]]:
    """Return per example what it compares where an order gives its right answer: it gives one."""
    return [
        things if len(right) == 1 else ()
        for right, things in zip(rights, comparisons(offered), strict=True)
    ]


def settled(rights: Iterable[Set[_Thing]], offered: Iterable[Iterable[_Thing]]) -> bool:
    """Tell whether each set of choices that recurs always has the same right answers."""
    known: dict[frozenset[_Thing], Set[_Thing]] = {}
    return all(
        known.setdefault(frozenset(choices), right) == right
        for right, choices in zip(rights, offered, strict=True)
    )


def _recurring(lists: dict[int, tuple[_Thing, ...]]) -> dict[int, tuple[_Thing, ...]]:
    """Leave lists of which each thing occurs in several sets of those that are left."""
    while True:
        sets = Counter(chain(*set(map(frozenset, lists.values()))))
        left = {
            place: things
            for place, things in lists.items()
            if all(sets[thing] > 1 for thing in things)
        }
        if len(left) == len(lists):
            return left
        lists = left


def _beside(
    lists: dict[int, tuple[_Thing, ...]], offered: Sequence[Sequence[_Thing]]
) -> dict[int, frozenset[_Thing]]:
    """Return of lists that hang together what all with as many choices have."""
    parts = united(lists.values())
    alike: dict[Hashable, list[int]] = {}
    for place, things in lists.items():
        alike.setdefault((parts[things[0]], len(offered[place])), []).append(place)
    found: dict[int, frozenset[_Thing]] = {}
    for places in alike.values():
        sets = {frozenset(lists[place]) for place in places}
        # Few questions have something in common by accident.
        if len(sets) >= FEWEST and (shared := frozenset.intersection(*sets)):
            found |= dict.fromkeys(places, shared)
    return found


def follows_things(
    gold: Gold, offered: Sequence[Sequence[Hashable]], permutations: int = 999
) -> float | None:
    """Return the permutation p-value of right answers that depend on which things are compared.

    The sum over things of (times right - expected)^2 / variance is compared with that where the
    places of right answers are exchanged; of each set of choices the first example counts, because
    a question that recurs has the same right answer.

    Parameters
    ----------
    gold, offered
        As of `pytest_maxrandom.stats.orders.order_test`.

    Returns
    -------
    float or None
        None where no things recur: see `comparisons`.
    """
    rights, things = right_labels(gold), comparisons(offered)
    firsts: dict[frozenset[Hashable], int] = {}
    for place, own in enumerate(things):
        if rights[place] & {*own}:
            firsts.setdefault(frozenset(own), place)
    if not firsts:
        return None
    kept = [*firsts.values()]
    sets = [things[place] for place in kept]
    items, right = items_of(sets), places_of([rights[place] for place in kept], sets)
    sizes = (items >= 0).sum(axis=1)
    share = np.where(items >= 0, (right.sum(axis=1) / sizes)[:, None], 0.0)
    many = int(items.max()) + 1
    spread = np.bincount(items[items >= 0], (share * (1 - share))[items >= 0], many)
    # All numbers of one thing stand together.
    places = np.argsort(items, axis=None, kind="stable")[(items < 0).sum() :]
    starts = np.searchsorted(items.ravel()[places], np.arange(many))
    expected = np.add.reduceat(share.ravel()[places], starts)

    def unevenness(marks: NDArray[np.bool_]) -> NDArray[np.float64]:
        own = marks.reshape(len(marks), -1)[:, places]
        counted = np.add.reduceat(own, starts, axis=1, dtype=np.float64) - expected
        return np.asarray(counted**2 @ (1 / np.where(spread, spread, 1)))

    generator, kinds = np.random.default_rng(0), [sizes == size for size in np.unique(sizes)]
    # Sums in another order differ in their last digits.
    least, reached = unevenness(right[None])[0] * (1 - 1e-9), 1
    at_once = max(1, _BLOCK // items.size)
    for start in range(0, permutations, at_once):
        order = np.tile(np.arange(len(kept)), (min(at_once, permutations - start), 1))
        for alike in kinds:
            order[:, alike] = generator.permuted(order[:, alike], axis=1)
        reached += int((unevenness(right[order]) >= least).sum())
    return reached / (permutations + 1)


def items_of(sets: Sequence[Sequence[Hashable]]) -> NDArray[np.int64]:
    """Return per set of things the number of each, -1 beyond the things it has."""
    known: dict[Hashable, int] = {}
    return padded([[known.setdefault(each, len(known)) for each in own] for own in sets], -1)
