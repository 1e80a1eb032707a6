"""Right labels of examples: one of each, or several."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pytest_maxrandom.stats.chances import whole_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Gold: TypeAlias = Sequence[int | Iterable[int]] | NDArray[np.integer]


def right_labels(gold: Gold) -> list[frozenset[int]]:
    """Return the right labels of each example, given one label or several of them.

    Raises
    ------
    TypeError, ValueError
        If one is no integer from 0, or an example has none.
    """
    found = []
    for place, given in enumerate(gold):
        right = given if isinstance(given, Iterable) else [given]
        name = f"gold of example {place}"
        found.append(frozenset(whole_number(name, label, 0) for label in right))
        if not found[-1]:
            raise ValueError(f"{name} names no right choice")
    return found


def membership(rights: Sequence[frozenset[int]], labels: int) -> NDArray[np.bool_]:
    """Mark which of the labels 0, ..., m - 1 are right, shape (n, m)."""
    member: NDArray[np.bool_] = np.array(
        [[label in right for label in range(labels)] for right in rights], dtype=np.bool_
    )
    return member
