"""Was a model tuned on the benchmark's own text? Three arms, compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_maxrandom.hooks.items.arms import ArmsItem
from pytest_maxrandom.studies.arms.conclude import conclude_contamination

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.record import ContaminationRecord
    from pytest_maxrandom.studies.arms.planned import PlannedContamination
    from pytest_maxrandom.studies.arms.reduction import Difference


class ContaminationItem(ArmsItem):
    """The arms base, extra and test, on one task with one number of shots."""

    record: ContaminationRecord

    def __init__(self, *, planned: PlannedContamination, **kwargs: Any) -> None:
        super().__init__(planned=planned, sides=[planned.boost, planned.bias], **kwargs)
        self.planned = planned

    def __repr__(self) -> str:
        return f"<Contamination {self.name} t={self.sides[0].t} n={self.sides[0].n}>"

    def judge(self, found: Sequence[Difference]) -> None:
        """Fill the record."""
        boost, bias = found
        allowed = self.planned.spec.allow_inconclusive
        conclude_contamination(self.record, boost, bias, allow_inconclusive=allowed)
        self.tell("boost", "boost_p", "bias", "bias_p", "finding")
