"""Which sets of examples are the same set, changed a little."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pytest_maxrandom.ledger.digests import shared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SAME = 0.5
"""Share of the smaller of two sets that both must hold to be the same set."""


def related(sets: Mapping[str, Sequence[str]], own: Sequence[str]) -> dict[str, int]:
    """Return the sets that are the same as `own`, directly or through others.

    Returns
    -------
    dict of str to int
        By the name of the set: how many examples it shares with `own`.

    Examples
    --------
    >>> sets = {"a": "12345", "b": "34567", "c": "6789", "d": "xyz"}
    >>> related(sets, "1234")
    {'a': 4, 'b': 2, 'c': 0}
    """
    left = {name: Counter(examples) for name, examples in sets.items()}
    found: list[str] = []
    waiting = [Counter(own)]
    while waiting:
        one = waiting.pop()
        near = [name for name, other in left.items() if _are_same(one, other)]
        found += near
        waiting += [left.pop(name) for name in near]
    return {name: shared(own, sets[name]) for name in found}


def _are_same(one: Counter[str], other: Counter[str]) -> bool:
    if one.keys().isdisjoint(other):  # as those of another task are, which this tells at once
        return False
    return (one & other).total() >= SAME * min(one.total(), other.total())
