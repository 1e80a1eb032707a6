"""What is compared on one task with one number of shots, known when a suite has been read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.arms import joined
from pytest_maxrandom.claims.planned import Planned
from pytest_maxrandom.record import ComparisonRecord, ContaminationRecord, Heading, Remark, note

if TYPE_CHECKING:
    from pytest_maxrandom.studies.arms.answers import Sides
    from pytest_maxrandom.suite.arms import ContaminationSpec, DifferenceSpec


@dataclass(frozen=True, kw_only=True)
class Compared(Planned):
    """What is compared on one task with one number of shots.

    Its name is ``compare[first-second]``, ``compare[all]`` or ``contamination``, with the number of
    shots where there are several.
    """

    task: str
    shots: int | None
    compared: tuple[Sides, ...]
    """Each pair of arms that is compared; of all arms each by itself."""
    level: float | None
    """That of what is asserted; None where nothing is."""

    def _heading(self, node_id: str, suite: str) -> Heading:
        return {
            "id": node_id,
            "suite": suite,
            "line": self.line,
            "task": self.task,
            "shots": self.shots or 0,
            "simulated": any(sides.simulated for sides in self.compared),
        }


@dataclass(frozen=True, kw_only=True)
class PlannedComparison(Compared):
    """Two arms on one task with one number of shots."""

    first: str
    second: str
    changed: tuple[str, ...]
    """What differs between the arms."""
    claim: DifferenceSpec | None
    """What is claimed of the difference."""

    @property
    def confidence(self) -> float:
        """That of the interval: what is claimed holds exactly where it lies above the margin."""
        return 0.95 if self.level is None else 1 - 2 * self.level

    def record(self, node_id: str, suite: str) -> ComparisonRecord:
        """Return what can be said before it is made."""
        (sides,) = self.compared
        record = ComparisonRecord(
            **self._heading(node_id, suite),
            xfail=self.xfail,
            first=self.first,
            second=self.second,
            changed=joined(self.changed),
            asserted=self.claim.model_dump(exclude_none=True) if self.claim else {},
            replicates=sides.replicates,
            t=sides.t,
            n=sides.n,
            confidence=self.confidence,
        )
        arms = {"first": self.first, "second": self.second}
        if len(self.changed) > 1:
            note(record, Remark("several_differences", arms))
        elif not self.changed:
            note(record, Remark("no_difference", arms))
        return record


@dataclass(frozen=True, kw_only=True)
class PlannedContamination(Compared):
    """Three arms of one task that tell whether a model was tuned on its text.

    What is compared are the arms extra and base, and then test and extra.
    """

    spec: ContaminationSpec

    def record(self, node_id: str, suite: str) -> ContaminationRecord:
        """Return what can be said before the arms are compared."""
        return ContaminationRecord(
            **self._heading(node_id, suite),
            xfail=self.xfail,
            base=self.spec.base,
            extra=self.spec.extra,
            test=self.spec.test,
            level=self.spec.level,
        )
