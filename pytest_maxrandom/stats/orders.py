"""Max-T test where questions compare things that recur: "which is larger, X or Y?"

Each thing occurs in many questions and no set of things in many, so right answers cannot be
exchanged: to permute them breaks that the larger of two is the larger throughout. A guesser with an
order of its own over the things is then right on far more questions, or far fewer, than independent
guesses are. So the things are given another order, and the right answer becomes the thing that is
first in it. T is the best *lift* (`clustered`), so a preferred place is worth nothing.

What holds. If no answer depends on the right answers, and these are those of one order over the
things of which no order was likelier than another, the observed right answers and the drawn ones
have the same law and are independent, given the answers: the p-value is exact, whatever prompts
prefer or share, for pairs, for the best of three, and if a question recurs. If right answers follow
no order, or one with exceptions, they agree less with any order of a guesser's own than the drawn
ones do, and the test passes guessers less often; `tests/proof/test_nulls.py` simulates it.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.arranged import (
    ArrangementTest,
    batches,
    compared_with,
    scores_by_labels,
)
from pytest_maxrandom.stats.chances import integers, whole_number
from pytest_maxrandom.stats.gold import NOT_EVALUATED, right_labels
from pytest_maxrandom.stats.metrics import LIFT

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from pytest_maxrandom.stats.gold import Gold

FEWEST = 5
"""Things that recur together below which labels are exchanged instead."""
FOLLOW = 0.01
"""Probability of things that are right as unevenly, where it does not matter which one it is."""


@dataclass(frozen=True, kw_only=True)
class OrderTest(ArrangementTest):
    """Result of `order_test`."""

    things: int
    """Things that recur."""
    compared: int
    """Examples that compare them; the others exchange the places of their right answers."""
    arrangements: int
    """How many different right answers orders can give, at most."""

    @property
    def smallest_p(self) -> float:
        """The smallest p-value that any answers could have reached."""
        return max(1 / self.arrangements, 1 / (self.permutations + 1))

    def tells(self, level: float) -> bool:
        """Tell whether the test can conclude anything at a level; if not, nobody can tell."""
        return self.smallest_p <= level


def compared(offered: Sequence[Sequence[Hashable]]) -> NDArray[np.bool_]:
    """Mark the examples that compare recurring things, shape (n,).

    Each of their choices occurs in at least two different sets of choices of such examples, and at
    least five choices hang together by these sets. Neither labels that all examples share are such
    things, nor choices of one question beside labels ("none"). Right answers play no part.

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
    kept = [place for place, choices in enumerate(offered) if len(choices) > 1]
    while True:
        sets = Counter(
            choice for each in {frozenset(offered[place]) for place in kept} for choice in each
        )
        left = [place for place in kept if all(sets[choice] > 1 for choice in offered[place])]
        if len(left) == len(kept):
            break
        kept = left
    united = _united(offered[place] for place in kept)
    sizes = Counter(united.values())
    marked = np.zeros(len(offered), dtype=np.bool_)
    marked[[place for place in kept if sizes[united[offered[place][0]]] >= FEWEST]] = True
    return marked


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
        As of `order_test`.

    Returns
    -------
    float or None
        None where no things recur: see `compared`.
    """
    rights, marked = right_labels(gold), compared(offered)
    firsts: dict[frozenset[Hashable], int] = {}
    for place in np.flatnonzero(marked).tolist():
        firsts.setdefault(frozenset(offered[place]), place)
    if not firsts:
        return None
    kept = [*firsts.values()]
    items = _numbered([offered[place] for place in kept])
    right = _places([rights[place] for place in kept], [offered[place] for place in kept])
    sizes = (items >= 0).sum(axis=1)
    share = np.where(items >= 0, (right.sum(axis=1) / sizes)[:, None], 0.0)
    things = int(items.max()) + 1
    spread = np.bincount(items[items >= 0], (share * (1 - share))[items >= 0], things)
    generator = np.random.default_rng(seed)
    order = np.arange(len(kept))

    def unevenness(marks: NDArray[np.bool_]) -> float:
        counted = np.bincount(items[items >= 0], (marks - share)[items >= 0], things)
        return float((counted**2 / np.where(spread, spread, 1)).sum())

    observed, reached = unevenness(right), 1
    for _ in range(permutations):
        for size in np.unique(sizes):
            own = np.flatnonzero(sizes == size)
            order[own] = generator.permutation(own)
        # Sums in another order differ in their last digits.
        reached += unevenness(right[order]) >= observed * (1 - 1e-9)
    return reached / (permutations + 1)


def order_test(
    predictions: ArrayLike,
    gold: Gold,
    offered: Sequence[Sequence[int]],
    *,
    permutations: int = 9_999,
    stop_after: int | None = None,
    seed: int = 0,
) -> OrderTest | None:
    """Test the best lift of t prompts by giving the things that are compared another order.

    Parameters
    ----------
    predictions
        Label of each answer, the same for the same thing wherever it is a choice, shape (t, n); -1
        where a prompt was not scored on an example. A label that is no choice is a wrong answer.
    gold
        Label of the right choice for each example, shape (n,), or a set of labels for each.
    offered
        Per example the labels of its choices, in the order in which they were shown, if it is
        known.
    permutations, stop_after, seed
        As of `pytest_maxrandom.stats.permutation.max_t_test`.

    Returns
    -------
    OrderTest or None
        None where no things recur: see `compared`.

    Raises
    ------
    TypeError, ValueError
        If an array has the wrong kind or shape, or a right answer is no choice.
    """
    labels = integers("predictions", predictions, 2)
    n, rights = labels.shape[1], right_labels(gold)
    for name, each in {"gold": rights, "offered": offered}.items():
        if len(each) != n:
            raise ValueError(f"{name} names {len(each)} examples, the predictions {n}")
    for number, (own_right, choices) in enumerate(zip(rights, offered, strict=True)):
        if len(set(choices)) < len(choices) or not own_right <= set(choices):
            raise ValueError(
                f"example {number} must offer different labels, the right ones among them; found "
                f"{[*choices]}, of which {sorted(own_right)} are right"
            )
    marked = _ordered(rights, offered)
    if not marked.any():
        return None
    padded = _padded(offered, NOT_EVALUATED - 1)
    most = padded.shape[1]
    found = labels[:, :, None] == padded
    chosen = np.where(found.any(axis=2), found.argmax(axis=2), most)
    chosen[labels == NOT_EVALUATED] = NOT_EVALUATED
    # Right answers that an order gives are the rows below those of the examples.
    right = np.zeros((n + most, most + 1), dtype=np.bool_)
    right[:n, :most] = _places(rights, offered)
    right[n:, :most] = np.eye(most, dtype=np.bool_)
    sizes = np.array([len(choices) for choices in offered])
    scores = scores_by_labels(LIFT, chosen, right, 2 * sizes + marked)
    own = np.flatnonzero(marked)
    sets = [offered[place] for place in own.tolist()]
    items = _numbered(sets)
    things = int(items.max()) + 1
    others = [np.flatnonzero(~marked & (sizes == size)) for size in np.unique(sizes[~marked])]
    generator = np.random.default_rng(seed)

    def draw(count: int) -> NDArray[np.int64]:
        order = np.tile(np.arange(n), (count, 1))
        for members in others:
            order[:, members] = generator.permuted(np.tile(members, (count, 1)), axis=1)
        ranks = generator.permuted(np.tile(np.arange(things), (count, 1)), axis=1)
        # What pads an example is last in every order.
        ranks = np.concatenate([ranks, np.full((count, 1), -1)], axis=1)
        order[:, own] = n + ranks[:, items].argmax(axis=2)
        return order

    limit = whole_number("permutations", permutations, 1)
    orders = batches(draw, limit, max(n, len(labels)) * right.shape[1])
    return OrderTest(
        **compared_with(orders, scores, limit, stop_after),
        things=things,
        compared=len(own),
        arrangements=_arrangements(sets),
    )


def _ordered(
    rights: Sequence[frozenset[int]], offered: Sequence[Sequence[Hashable]]
) -> NDArray[np.bool_]:
    """Mark the examples whose right answer an order gives: it gives them one."""
    marked: NDArray[np.bool_] = compared(offered) & np.array([len(each) == 1 for each in rights])
    return marked


def ways_of_orders(gold: Gold, offered: Sequence[Sequence[Hashable]]) -> int:
    """Return how many right answers orders can give, at most; 0 where no things recur.

    Arguments are as of `order_test`.
    """
    marked = np.flatnonzero(_ordered(right_labels(gold), offered)).tolist()
    return _arrangements([offered[place] for place in marked]) if marked else 0


def _arrangements(offered: Sequence[Sequence[Hashable]]) -> int:
    """Return how many right answers orders can give at most: by their number, and by that of sets.

    Things that do not hang together are ordered by themselves.
    """
    united = _united(offered)
    ways = math.prod(map(math.factorial, Counter(united.values()).values()))
    return min(ways, math.prod(map(len, {frozenset(choices) for choices in offered})))


def _united(sets: Iterable[Sequence[Hashable]]) -> dict[Hashable, Hashable]:
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


def _numbered(offered: Sequence[Sequence[Hashable]]) -> NDArray[np.int64]:
    """Return per example and choice the number of the thing, -1 beyond the choices it has."""
    known: dict[Hashable, int] = {}
    return _padded(
        [[known.setdefault(choice, len(known)) for choice in choices] for choices in offered], -1
    )


def _padded(rows: Sequence[Sequence[int]], value: int) -> NDArray[np.int64]:
    most = max(map(len, rows))
    return np.array([[*row, *[value] * (most - len(row))] for row in rows], dtype=np.int64)


def _places(
    rights: Sequence[frozenset[int]], offered: Sequence[Sequence[Hashable]]
) -> NDArray[np.bool_]:
    """Mark at which places the right choices are, shape (n, most choices)."""
    marks = [
        [choice in right for choice in choices]
        for right, choices in zip(rights, offered, strict=True)
    ]
    return _padded(marks, 0).astype(np.bool_)
