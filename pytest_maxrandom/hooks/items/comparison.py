"""Two arms on one task, compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_maxrandom.hooks.items.arms import ArmsItem
from pytest_maxrandom.studies.arms.conclude import conclude

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.record import ComparisonRecord
    from pytest_maxrandom.studies.arms.planned import PlannedComparison
    from pytest_maxrandom.studies.arms.reduction import Difference


class ComparisonItem(ArmsItem):
    """The first arm less the second, on one task with one number of shots."""

    record: ComparisonRecord

    def __init__(self, *, planned: PlannedComparison, **kwargs: Any) -> None:
        super().__init__(planned=planned, sides=[planned.sides], **kwargs)
        self.planned = planned

    def __repr__(self) -> str:
        return f"<Comparison {self.name} t={self.record.t} n={self.record.n}>"

    def judge(self, found: Sequence[Difference]) -> None:
        """Fill the record."""
        conclude(self.record, found[0], self.planned.claim)
        self.tell("t", "n", "replicates", "difference", "low", "high", "p_value", "assertion_p")
