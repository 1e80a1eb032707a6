"""What makes an example, a validation set and a look the same as another, or nearly so."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import TYPE_CHECKING, TypeVar

from pytest_maxrandom.stats.seeding import digest

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from pytest_maxrandom.ledger.lines import Subject
    from pytest_maxrandom.tasks.task import Example

_Name = TypeVar("_Name", bound="Hashable")
_SHORT = 16  # 64 bits: a million examples collide with probability 3e-8
_SAME = 0.5
"""Share of the smaller of two sets that both must hold to be the same set."""


def example_digest(example: Example) -> str:
    """First 16 digits of the SHA-256 of the content; the id does not count."""
    text = json.dumps(example.content)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:_SHORT]


def set_digest(examples: Iterable[str]) -> str:
    """SHA-256 of the examples' digests; their order does not count."""
    return digest("set", *sorted(examples))


def examples_digest(examples: Iterable[Example]) -> str:
    """SHA-256 of a validation set; neither ids nor order count."""
    return set_digest(map(example_digest, examples))


def look_digest(subject: Subject, set_: str, prompts: Iterable[str]) -> str:
    """SHA-256 of what was compared: the same prompts again are the same look."""
    of = (subject.model, subject.quantization, subject.shots, subject.model_digest)
    return digest("look", set_, *of, subject.scoring, *sorted(set(prompts)))


def shared(these: Iterable[str], those: Iterable[str]) -> int:
    """Return how many examples two sets have in common, repeated ones as often as in both."""
    return (Counter(these) & Counter(those)).total()


def related(sets: Mapping[_Name, Sequence[str]], own: Sequence[str]) -> dict[_Name, int]:
    """Return the sets that are the same as `own`, directly or through others.

    Returns
    -------
    dict
        By the name of the set: how many examples it shares with `own`.

    Examples
    --------
    >>> sets = {"a": "12345", "b": "34567", "c": "6789", "d": "xyz"}
    >>> related(sets, "1234")
    {'a': 4, 'b': 2, 'c': 0}
    """
    left = {name: Counter(examples) for name, examples in sets.items()}
    found: list[_Name] = []
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
    return (one & other).total() >= _SAME * min(one.total(), other.total())
