"""How right answers are exchanged among examples: one by one, by clusters, or by orders of things.

=================================  =================================================
one by one, or by whole clusters   `permutation`
by clusters of unequal size        `clustered`
by other orders of what recurs     `orders`
=================================  =================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from pytest_maxrandom.stats.clustered import (
    Ways,
    is_exchanged_whole,
    ways_of_clusters,
)
from pytest_maxrandom.stats.orders import ways_of_orders
from pytest_maxrandom.stats.permutation import arrangements

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pytest_maxrandom.stats.gold import Gold

By = Literal["examples", "whole clusters", "clusters", "orders"]
"""What exchanges right answers."""


class Exchange(NamedTuple):
    """Right answers, and what can be exchanged."""

    gold: Gold
    """Per example the labels of its right choices."""
    strata: Sequence[int] | NDArray[np.int64]
    """Per example a number: labels mean the same in examples with the same one."""
    groups: Sequence[Hashable] | None = None
    """Per example the name of its cluster, or one of its own; None where none has one."""
    offered: Sequence[Sequence[int]] | None = None
    """Per example its choices, where these are things that examples compare; else None."""

    @property
    def by(self) -> By:
        """What exchanges right answers, and so which test is made of it."""
        if self.offered is not None:
            return "orders"
        if self.groups is None:
            return "examples"
        return "whole clusters" if is_exchanged_whole(self.groups, self._strata) else "clusters"

    @property
    def arrangements(self) -> int:
        """In how many ways right answers can be exchanged, at most."""
        match self.by:
            case "orders":
                assert self.offered is not None
                return ways_of_orders(self.gold, self.offered)
            case "clusters":
                return self._of_clusters.arrangements
            case _:
                return arrangements(self.gold, self.strata, self.groups)

    def few_clusters(self, level: float) -> Ways | None:
        """Return the clusters where these are too few to conclude anything at a level, else None.

        No test can learn from fewer than five how much clusters vary.
        """
        match self.by:
            case "clusters":
                ways = self._of_clusters
            case "whole clusters":
                assert self.groups is not None
                ways = Ways(len(set(self.groups)), 0, self.arrangements)
            case _:
                return None
        return None if ways.tells(level) else ways

    @property
    def _strata(self) -> list[int]:
        return [int(stratum) for stratum in self.strata]

    @property
    def _of_clusters(self) -> Ways:
        assert self.groups is not None
        return ways_of_clusters(self.gold, self.groups, self._strata)
