"""Texts that recur among the choices of examples which do not share them all."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from pytest_maxrandom.answers import RECURRING

if TYPE_CHECKING:
    from collections.abc import Sequence


class Recurring(NamedTuple):
    """Which texts of lists of choices recur.

    Attributes
    ----------
    texts : tuple of tuple of str
        Per list those that do, the commonest first.
    strata : tuple of int
        Per list a number below 0, the same where these are the same; else how many choices it has.
    """

    texts: tuple[tuple[str, ...], ...]
    strata: tuple[int, ...]


def recurring(lists: Sequence[Sequence[str]]) -> Recurring | None:
    """Find the texts that enough lists of choices share; None where there are none.

    Where too few lists share all of theirs, the rarest of them counts as a choice of its own.
    """
    times = Counter(text for choices in lists for text in set(choices))
    ordered = [
        sorted(
            (text for text in set(choices) if times[text] >= RECURRING),
            key=lambda text: (-times[text], text),
        )
        for choices in lists
    ]
    kinds = _kinds(lists, ordered)
    while few := {kind for kind, many in Counter(kinds).items() if kind[0] and many < RECURRING}:
        for texts, kind in zip(ordered, kinds, strict=True):
            if kind in few:
                texts.pop()
        kinds = _kinds(lists, ordered)
    number = {kind: -1 - place for place, kind in enumerate(dict.fromkeys(kinds)) if kind[0]}
    if not number:
        return None
    strata = tuple(number.get(kind, kind[1]) for kind in kinds)
    return Recurring(tuple(map(tuple, ordered)), strata)


def _kinds(
    lists: Sequence[Sequence[str]], found: Sequence[Sequence[str]]
) -> list[tuple[tuple[str, ...], int]]:
    return [
        (tuple(sorted(texts)), len(choices)) for choices, texts in zip(lists, found, strict=True)
    ]
