"""Which examples exchange right answers where recorded results do not list their choices.

What was answered, and what is right, tells which labels mean the same, as far as it does.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_maxrandom.answers import RECURRING, Answers, letter_place
from pytest_maxrandom.claims.shuffles import NoPermutations, refuse_untold
from pytest_maxrandom.stats.clusters import united
from pytest_maxrandom.stats.gold import NOT_EVALUATED, times_given

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray


_OFTEN = (0.05, 0.2)
"""Shares of the answers where a label is right from which on another one is no stray answer; the
second where by the first more labels belong together than there are choices."""
_LISTS = (
    "list the choices of each example (column `choices` of a table, array `choice_texts` of an "
    "archive)"
)


class _Parts(NamedTuple):
    """Examples that exchange their right answers, by view."""

    one: list[list[int]]
    confused: list[list[int]]


def strata(results: Answers, chances: Sequence[Fraction] | None) -> list[NDArray[np.int64]]:
    """Put together examples with as many choices whose labels mean the same.

    A right answer that is shuffled to an example without that choice is never given there, and
    whoever prefers a label would look knowing. Places are choices of every example with as many;
    of these `by_places` tells what is not seen. Else there are two views, of which the larger
    p-value counts:

    - all examples together, where no more labels are right or given than there are choices;
    - those whose right answers are given in place of each other. What is never confused stays
      together where the first view holds; else the answers given tell what was offered, or right
      answers stay where they are.

    Of the results the answers and the right answers must be known; `chances` has per example the
    chance of one guess.

    Returns
    -------
    list of ndarray of int
        Per view, of which there are one or two, and example the number of its stratum, from 1.

    Raises
    ------
    NoPermutations
        If it is not known what can be shuffled.
    """
    refuse_untold(results)
    assert results.gold is not None
    if chances is None:
        raise NoPermutations("the results do not say how many choices each example has")
    choices = [len(right) / chance for right, chance in zip(results.gold, chances, strict=True)]
    alike = {
        number: [place for place, many in enumerate(choices) if many == number]
        for number in sorted(set(choices))
    }
    parts = [_parts(results, members, number) for number, members in alike.items()]
    views = [
        [part for each in parts for part in each.one or each.confused],
        [part for each in parts for part in each.confused or each.one],
    ]
    if not any(_several(results, part) for view in views for part in view):
        placed = {place for view in views for part in view for place in part}
        for number, members in alike.items():
            if _several(results, set(members) - placed):
                raise NoPermutations(_unknown(results, members, number))
    one, confused = (_numbered(view, len(choices)) for view in views)
    return [one] if np.array_equal(one, confused) else [one, confused]


def _unknown(results: Answers, members: list[int], number: Fraction) -> str:
    many = len(_right(results, members))
    return (
        f"{many} different answers are right to questions with {number} choices each, and the "
        f"results do not say which questions have the same choices: {_LISTS}"
    )


def by_places(results: Answers, chances: Sequence[Fraction] | None) -> bool:
    """Tell whether all labels that are right are places of choices, or may be, and no text is told.

    Who says "none of these" wherever that stands prefers no place, so shuffling places does not
    tell.
    """
    if results.gold is None or results.offered is not None or chances is None:
        return False
    if not results.labels:
        return True
    most = max(len(right) / chance for right, chance in zip(results.gold, chances, strict=True))
    names = {results.labels[label].strip() for right in results.gold for label in right}
    return all(_place(name) <= most for name in names)


def _place(name: str) -> float:
    """Return the place that a letter, or a number from 0 or 1 on, stands for; infinity of others.

    It may be in brackets, or before a dot, as in (a) or B.
    """
    bare = name.strip("().[]:").upper()
    if bare.isascii() and bare.isdecimal():
        return int(bare)
    place = letter_place(bare)
    return math.inf if place < 0 else place + 1


def _parts(results: Answers, members: list[int], number: Fraction) -> _Parts:
    """Return what can be exchanged among examples with as many choices."""
    if not results.labels:
        return _Parts([members], [])
    found, never = _told_apart(results, members, number, _OFTEN)
    # Of what is given, only what is given often enough not to be stray.
    given = (each for _, each in _given(results, members, _OFTEN[0]))
    if len(_right(results, members).union(*given)) <= number:
        return _Parts([members], [*found, never] if found and never else found)
    return _Parts([], [*found, *_by_answers(results, never, number)])


def _told_apart(
    results: Answers, members: list[int], number: Fraction, shares: Sequence[float]
) -> tuple[list[list[int]], list[int]]:
    """Return examples whose right answers are given in place of each other, and all others."""
    groups: list[list[int]] = []
    never: list[int] = []
    for group in _confused(results, members, shares[0]):
        if len(_right(results, group)) > number:
            parts, others = (
                _told_apart(results, group, number, shares[1:]) if shares[1:] else ([], group)
            )
            groups += parts
            never += others
        elif _several(results, group):
            groups.append(group)
        else:
            never += group
    return groups, never


def _confused(results: Answers, members: list[int], share: float) -> list[list[int]]:
    """Put together examples whose right answers are given in place of each other often enough."""
    assert results.gold is not None
    right = _right(results, members)
    pairs = [results.gold[place] for place in members]
    for label, given in _given(results, members, share):
        pairs += [frozenset({label, other}) for other in given if other in right]
    parts = united(pairs)
    groups: dict[int, list[int]] = {}
    for place in members:
        groups.setdefault(parts[min(results.gold[place])], []).append(place)
    return list(groups.values())


def _given(results: Answers, members: list[int], share: float) -> Iterator[tuple[int, list[int]]]:
    """Yield each right label, and what is given often enough where it is right."""
    assert results.answers is not None
    assert results.gold is not None
    where: dict[int, list[int]] = {}
    for place in members:
        for label in results.gold[place]:
            where.setdefault(label, []).append(place)
    for label, own in where.items():
        said = results.answers[:, own]
        said = said[said != NOT_EVALUATED]
        # Where a label is right once and one prompt was asked, that answer is all there is.
        often = max(share * said.size, min(2, said.size / 2))
        given, times = times_given(said)
        yield label, given[times >= often].tolist()


def _by_answers(results: Answers, members: list[int], number: Fraction) -> list[list[int]]:
    """Put together examples to which the same answers were given, as many as there are choices.

    Right answers play no part in it, so guessers cannot look knowing. None are put together where
    most examples have not shown all their choices.
    """
    assert results.answers is not None
    given = {
        place: frozenset(results.answers[:, place].tolist()) - {NOT_EVALUATED} for place in members
    }
    shown = [place for place in members if len(given[place]) == number]
    parts = _recurring(shown, [given[place] for place in shown])
    return parts if 2 * sum(map(len, parts)) >= len(members) else []


def _recurring(members: Sequence[int], kinds: Sequence[Hashable]) -> list[list[int]]:
    """Put together examples of a kind that recurs, or is the only one."""
    parts: dict[Hashable, list[int]] = {}
    for place, kind in zip(members, kinds, strict=True):
        parts.setdefault(kind, []).append(place)
    return [part for part in parts.values() if len(part) >= RECURRING or len(parts) == 1]


def _right(results: Answers, members: Iterable[int]) -> frozenset[int]:
    """Return all labels that are right in one of the examples."""
    assert results.gold is not None
    return frozenset().union(*(results.gold[place] for place in members))


def _several(results: Answers, members: Iterable[int]) -> bool:
    """Tell whether examples have different right answers."""
    assert results.gold is not None
    return len({results.gold[place] for place in members}) > 1


def _numbered(parts: Sequence[Sequence[int]], n: int) -> NDArray[np.int64]:
    """Return per example the number of its part, or one of its own."""
    found = len(parts) + 1 + np.arange(n)
    for number, part in enumerate(parts, start=1):
        found[list(part)] = number
    return found
