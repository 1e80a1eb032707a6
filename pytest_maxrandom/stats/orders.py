"""Max-T test where questions compare things that recur: "which is larger, X or Y?"

Each thing occurs in many questions and no set of things in many, so right answers cannot be
exchanged: to permute them breaks that the larger of two is the larger throughout. A guesser with an
order of its own over the things is then right on far more questions, or far fewer, than independent
guesses are. So the things are given another order, and the right answer becomes the thing that is
first in it. T is the best *lift* (`clustered`), so a preferred place is worth nothing.

A choice that all such questions offer beside the things ("about the same") is no thing. In another
order it is right to as many questions as it was, to those whose things are closest.

What holds. If no answer depends on the right answers, and these are those of one order over the
things of which no order was likelier than another, the observed right answers and the drawn ones
have the same law and are independent, given the answers: the p-value is exact, whatever prompts
prefer or share, for pairs, for the best of three, and if a question recurs. If right answers follow
no order, or one with exceptions, they agree less with any order of a guesser's own than the drawn
ones do, and the test passes guessers less often; so too where "about the same" is right of things
that are not close, because what is left are then closer ones; `tests/proof/test_nulls.py` simulates
it.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_maxrandom.stats.arranged import (
    ArrangementTest,
    batches,
    compared_with,
    scores_by_labels,
)
from pytest_maxrandom.stats.chances import integers, whole_number
from pytest_maxrandom.stats.clusters import numbered, united
from pytest_maxrandom.stats.compared import items_of, ordered
from pytest_maxrandom.stats.gold import NOT_EVALUATED, padded, places_of, right_labels
from pytest_maxrandom.stats.metrics import LIFT

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from pytest_maxrandom.stats.gold import Gold


@dataclass(frozen=True, kw_only=True)
class OrderTest(ArrangementTest):
    """Result of `order_test`."""

    things: int
    """Things that recur."""
    compared: int
    """Examples that compare them; the others exchange the places of their right answers."""


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
        None where no things recur: see `pytest_maxrandom.stats.compared.comparisons`.

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
    compares = ordered(rights, offered)
    marked = np.array([bool(things) for things in compares])
    if not marked.any():
        return None
    # What stands beside things has a place of its own, wherever it is shown.
    beside = [
        tuple(sorted({*choices} - {*things})) if things else ()
        for choices, things in zip(offered, compares, strict=True)
    ]
    shown = [
        (*things, *others) if things else tuple(choices)
        for choices, things, others in zip(offered, compares, beside, strict=True)
    ]
    table = padded(shown, NOT_EVALUATED - 1)
    most = table.shape[1]
    found = labels[:, :, None] == table
    chosen = np.where(found.any(axis=2), found.argmax(axis=2), most)
    chosen[labels == NOT_EVALUATED] = NOT_EVALUATED
    # Right answers that an order gives are the rows below those of the examples.
    right = np.zeros((n + most, most + 1), dtype=np.bool_)
    right[:n, :most] = places_of(rights, shown)
    right[n:, :most] = np.eye(most, dtype=np.bool_)
    sizes = np.array([len(choices) for choices in offered])
    strata = numbered(zip(sizes.tolist(), marked.tolist(), beside, strict=True))
    scores = scores_by_labels(LIFT, chosen, right, strata)
    own = np.flatnonzero(marked)
    sets = [compares[place] for place in own.tolist()]
    items = items_of(sets)
    things = int(items.max()) + 1
    tied = _Tied.of([rights[place] for place in own], [shown[place] for place in own], sets)
    others = [np.flatnonzero(~marked & (sizes == size)) for size in np.unique(sizes[~marked])]
    generator = np.random.default_rng(seed)

    def draw(count: int) -> NDArray[np.int64]:
        order = np.tile(np.arange(n), (count, 1))
        for members in others:
            order[:, members] = generator.permuted(np.tile(members, (count, 1)), axis=1)
        # What pads an example is last in every order.
        strengths = np.concatenate(
            [generator.random((count, things)), np.full((count, 1), -1.0)], 1
        )
        of_items = strengths[:, items]
        order[:, own] = n + of_items.argmax(axis=2)
        for kind in tied:
            order[:, own[kind.offering]] = kind.draw(
                generator, order[:, own[kind.offering]], of_items[:, kind.offering], n
            )
        return order

    limit = whole_number("permutations", permutations, 1)
    orders = batches(draw, limit, max(n, len(labels)) * right.shape[1])
    return OrderTest(
        **compared_with(orders, scores, limit, stop_after), things=things, compared=len(own)
    )


class _Tied(NamedTuple):
    """Questions that offer the same beside things, where that is right to some of them."""

    offering: NDArray[np.int64]
    """Which of the questions that compare things."""
    places: NDArray[np.int64]
    """Of what is right beside things, one for each question to which such a choice is right."""

    @classmethod
    def of(
        cls,
        rights: Sequence[frozenset[int]],
        shown: Sequence[Sequence[int]],
        sets: Sequence[Sequence[Hashable]],
    ) -> list[_Tied]:
        """Find them: per question its right answers, its choices, things first, and the things."""
        kinds: dict[Hashable, list[int]] = {}
        for number, (choices, things) in enumerate(zip(shown, sets, strict=True)):
            kinds.setdefault((len(things), *choices[len(things) :]), []).append(number)
        orders = []
        for members in kinds.values():
            at = [shown[number].index(min(rights[number])) for number in members]
            beside = [
                place
                for number, place in zip(members, at, strict=True)
                if place >= len(sets[number])
            ]
            if beside:
                orders.append(cls(np.array(members), np.array(beside)))
        return orders

    def draw(
        self,
        generator: np.random.Generator,
        order: NDArray[np.int64],
        strengths: NDArray[np.float64],
        first: int,
    ) -> NDArray[np.int64]:
        """Give the questions whose two strongest things are closest what is beside things."""
        two = np.partition(strengths, -2, axis=2)[:, :, -2:]
        closest = np.argsort(two[:, :, 1] - two[:, :, 0], axis=1, kind="stable")
        places = generator.permuted(np.tile(self.places, (len(order), 1)), axis=1)
        np.put_along_axis(order, closest[:, : len(self.places)], first + places, axis=1)
        return order


def ways_of_orders(gold: Gold, offered: Sequence[Sequence[int]]) -> int:
    """Return how many right answers orders can give, at most; 0 where no things recur.

    Arguments are as of `order_test`.
    """
    sets = [things for things in ordered(right_labels(gold), offered) if things]
    if not sets:
        return 0
    # Things that do not hang together are ordered by themselves.
    parts = Counter(united(sets).values())
    orders = math.prod(map(math.factorial, parts.values()))
    return min(orders, math.prod(map(len, {frozenset(things) for things in sets})))
