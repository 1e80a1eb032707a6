"""How right answers can be shuffled where recorded results list the choices of each example."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_maxrandom.claims.shuffles import Shuffle, refuse_untold
from pytest_maxrandom.flags.things import choice_of, things_of
from pytest_maxrandom.stats.compared import settled
from pytest_maxrandom.stats.gold import NOT_EVALUATED
from pytest_maxrandom.sweeps.recurring import recurring

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.answers import Answers

    _Order = Sequence[str]
    """The choices of an example in the order of their labels."""


def shuffles_of_lists(results: Answers) -> list[Shuffle]:
    """Return how right answers can be shuffled, by the labels that a sweep's choices have.

    There are up to two views, of which the larger p-value counts. In the one, labels are places in
    the lists; in the other, texts, where all examples with as many choices list the same, or where
    texts recur in enough examples. Where all right answers stand at one place, the order of the
    lists is none that a model saw, and texts count alone. The results have `offered`, and their
    `labels`, if any, are texts or letters.

    Raises
    ------
    NoPermutations
        If the answers or the right ones are not known.
    """
    refuse_untold(results)
    assert results.offered is not None
    lists = [*map(_told_apart, results.offered)]
    sizes = [len(choices) for choices in lists]
    by_place = _shuffle(results, lists, _of_clusters(results, lists), sizes)
    common, strata = _common(lists)
    things = things_of(results)
    # A text cannot exchange its right answers where these follow an order of things.
    if not any(common) or (things is not None and settled(things.gold, things.offered)):
        return [by_place]
    ordered = [
        [*sorted(own), *(text for text in choices if text not in own)]
        for choices, own in zip(lists, common, strict=True)
    ]
    by_text = _shuffle(results, lists, ordered, strata)
    same = len(set(lists)) == len(set(sizes))  # places are texts
    return [by_text] if same or by_place.arrangements == 1 else [by_text, by_place]


def answers_by_text(
    results: Answers, texts: Sequence[str]
) -> tuple[NDArray[np.int64], tuple[frozenset[int], ...]]:
    """Return answers, shape (t, n), and right ones by the places of texts that all lists share.

    What is no choice has the place behind the last one.
    """
    assert results.offered is not None
    n = len(results.offered)
    found = _shuffle(results, results.offered, [texts] * n, [0] * n)
    return np.asarray(found.answers), tuple(map(frozenset, found.gold))


def _told_apart(choices: _Order) -> _Order:
    """Give a text that a list repeats another name at each place but its first."""
    times: Counter[str] = Counter()
    names = []
    for text in choices:
        names.append(f"{text}\0{times[text]}" if times[text] else text)
        times[text] += 1
    return tuple(names)


def _common(lists: Sequence[_Order]) -> tuple[Sequence[_Order], Sequence[int]]:
    """Return per example which of its choices are labels by their texts, and its stratum."""
    sizes = [len(choices) for choices in lists]
    if len(set(map(frozenset, lists))) == len(set(sizes)):
        return lists, sizes
    found = recurring(lists)
    return ([()] * len(lists), sizes) if found is None else found


def _of_clusters(results: Answers, lists: Sequence[_Order]) -> list[_Order]:
    """Order the same choices of one cluster alike: who prefers some of them answers it alike."""
    if results.clusters is None:
        return [*lists]
    first: dict[tuple[str, frozenset[str]], _Order] = {}
    return [
        choices if cluster is None else first.setdefault((cluster, frozenset(choices)), choices)
        for cluster, choices in zip(results.clusters, lists, strict=True)
    ]


def _shuffle(
    results: Answers, lists: Sequence[_Order], orders: Sequence[_Order], strata: Sequence[int]
) -> Shuffle:
    """Return answers by the places of choices in an order of each example's own.

    What is none of its choices has a label of its own, which is never right.
    """
    assert results.answers is not None
    assert results.gold is not None
    beyond = max(map(len, lists))
    answers: NDArray[np.signedinteger[Any]] = np.full(
        results.answers.shape, NOT_EVALUATED, dtype=np.min_scalar_type(-1 - beyond)
    )
    gold = []
    for place, (choices, order) in enumerate(zip(lists, orders, strict=True)):
        number: dict[str | None, int] = {text: code for code, text in enumerate(order)}
        given, which = np.unique(results.answers[:, place], return_inverse=True)
        codes = [
            NOT_EVALUATED
            if label == NOT_EVALUATED
            else number.get(choice_of(results.labels, label, choices), beyond)
            for label in given.tolist()
        ]
        answers[:, place] = np.array(codes)[which.ravel()]
        right = (choice_of(results.labels, each, choices) for each in results.gold[place])
        gold.append(frozenset(number[text] for text in right if text in number))
    many = [len(choices) for choices in lists]
    if (answers == beyond).any():
        many = [beyond + 1] * len(many)
    return Shuffle(answers, gold, many, strata, results.groups)
