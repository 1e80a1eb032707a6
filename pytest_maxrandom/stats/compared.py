"""Things that questions compare, such as "which is larger, X or Y?", and whether some prevail."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.gold import right_labels

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.stats.gold import Gold

FEWEST = 5
"""Things that recur together below which labels are exchanged instead."""
FOLLOW = 0.01
"""Probability of things that are right as unevenly, where it does not matter which one it is."""


def compared(offered: Sequence[Sequence[Hashable]]) -> NDArray[np.bool_]:
    """Mark the examples that compare recurring things, shape (n,).

    Right answers play no part; see `comparisons`.

    Parameters
    ----------
    offered
        Per example its choices.

    Examples
    --------
    >>> compared([*["ab", "bc", "cd", "de", "ea"], "ax"]).tolist()
    [True, True, True, True, True, False]
    >>> compared(["yn"] * 9).any()
    np.False_
    """
    return np.array([bool(things) for things in comparisons(offered)], dtype=np.bool_)


def comparisons(offered: Sequence[Sequence[Hashable]]) -> list[tuple[Hashable, ...]]:
    """Return per example the recurring things that it compares, in their order; often none.

    Each thing occurs in at least two different sets of things of such examples, and at least five
    things hang together by these sets. Neither labels that all examples share are such things, nor
    choices of one question beside labels ("none"), nor what all questions with as many choices
    offer beside things ("about the same").

    Parameters
    ----------
    offered
        Per example its choices.

    Examples
    --------
    >>> comparisons([*["ab=", "bc=", "cd=", "=de", "ea="], "ax="])[2:]
    [('c', 'd'), ('d', 'e'), ('e', 'a'), ()]
    """
    left = {place: tuple(choices) for place, choices in enumerate(offered) if len(choices) > 1}
    while True:
        left = _recurring(left)
        beside = _beside(left, offered)
        if not beside:
            break
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


_Lists = dict[int, tuple["Hashable", ...]]
"""By the place of an example, things that it may compare."""


def _recurring(lists: _Lists) -> _Lists:
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


def _beside(lists: _Lists, offered: Sequence[Sequence[Hashable]]) -> _Lists:
    """Return of lists that hang together what all with as many choices have."""
    parts = united(lists.values())
    alike: dict[Hashable, list[int]] = {}
    for place, things in lists.items():
        alike.setdefault((parts[things[0]], len(offered[place])), []).append(place)
    found: _Lists = {}
    for places in alike.values():
        sets = {frozenset(lists[place]) for place in places}
        # Few questions have something in common by accident.
        if len(sets) >= FEWEST and (shared := frozenset.intersection(*sets)):
            found |= dict.fromkeys(places, tuple(shared))
    return found


def follows_things(
    gold: Gold, offered: Sequence[Sequence[Hashable]], permutations: int = 999, seed: int = 0
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
        None where no things recur: see `compared`.
    """
    rights, things = right_labels(gold), comparisons(offered)
    firsts: dict[frozenset[Hashable], int] = {}
    for place, own in enumerate(things):
        if rights[place] & {*own}:
            firsts.setdefault(frozenset(own), place)
    if not firsts:
        return None
    kept = [*firsts.values()]
    items = numbered([things[place] for place in kept])
    right = places_of([rights[place] for place in kept], [things[place] for place in kept])
    sizes = (items >= 0).sum(axis=1)
    share = np.where(items >= 0, (right.sum(axis=1) / sizes)[:, None], 0.0)
    many = int(items.max()) + 1
    spread = np.bincount(items[items >= 0], (share * (1 - share))[items >= 0], many)
    generator = np.random.default_rng(seed)
    order = np.arange(len(kept))

    def unevenness(marks: NDArray[np.bool_]) -> float:
        counted = np.bincount(items[items >= 0], (marks - share)[items >= 0], many)
        return float((counted**2 / np.where(spread, spread, 1)).sum())

    observed, reached = unevenness(right), 1
    for _ in range(permutations):
        for size in np.unique(sizes):
            alike = np.flatnonzero(sizes == size)
            order[alike] = generator.permutation(alike)
        # Sums in another order differ in their last digits.
        reached += unevenness(right[order]) >= observed * (1 - 1e-9)
    return reached / (permutations + 1)


def united(sets: Iterable[Sequence[Hashable]]) -> dict[Hashable, Hashable]:
    """Return of each thing one that stands for all that hang together with it by the sets."""
    above: dict[Hashable, Hashable] = {}

    def top(thing: Hashable) -> Hashable:
        while above.setdefault(thing, thing) != thing:
            above[thing] = thing = above[above[thing]]
        return thing

    for first, *others in sets:
        for other in others:
            above[top(other)] = top(first)
    return {thing: top(thing) for thing in [*above]}


def numbered(offered: Sequence[Sequence[Hashable]]) -> NDArray[np.int64]:
    """Return per example and choice the number of the thing, -1 beyond the choices it has."""
    known: dict[Hashable, int] = {}
    return padded(
        [[known.setdefault(choice, len(known)) for choice in choices] for choices in offered], -1
    )


def padded(rows: Sequence[Sequence[int]], value: int) -> NDArray[np.int64]:
    """Return rows of numbers as a table, with a value beyond the end of each."""
    most = max(map(len, rows))
    return np.array([[*row, *[value] * (most - len(row))] for row in rows], dtype=np.int64)


def places_of(
    rights: Sequence[frozenset[int]], offered: Sequence[Sequence[Hashable]]
) -> NDArray[np.bool_]:
    """Mark at which places the right choices are, shape (n, most choices)."""
    marks = [
        [choice in right for choice in choices]
        for right, choices in zip(rights, offered, strict=True)
    ]
    return padded(marks, 0).astype(np.bool_)
