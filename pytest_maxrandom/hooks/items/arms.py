"""What all items that compare arms have in common: they get at the answers."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.claims.evaluation import Evaluation
from pytest_maxrandom.errors import ClaimFailed, MaxRandomError, SweepError
from pytest_maxrandom.hooks.items.base import SuiteItem, all_sweeps
from pytest_maxrandom.hooks.items.means import drop_model, means
from pytest_maxrandom.hooks.progress import Progress
from pytest_maxrandom.reports.wording import word
from pytest_maxrandom.studies.arms.answers import beside
from pytest_maxrandom.studies.arms.planned import Recorded, Sweeps
from pytest_maxrandom.studies.arms.reduction import difference
from pytest_maxrandom.sweeps.answers import of_predictions
from pytest_maxrandom.sweeps.labels import label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.record import ComparisonRecord, ContaminationRecord
    from pytest_maxrandom.studies.arms.planned import PlannedComparison, PlannedContamination, Sides
    from pytest_maxrandom.studies.arms.reduction import Difference
    from pytest_maxrandom.sweeps.answers import Answers
    from pytest_maxrandom.sweeps.sweep import Sweep


class ArmsItem(SuiteItem):
    """A comparison of arms, after the claims: it reads what they found, or sweeps itself.

    It has no model that it shares with others, because it is about several.
    """

    last = True
    record: ComparisonRecord | ContaminationRecord

    def __init__(
        self,
        *,
        planned: PlannedComparison | PlannedContamination,
        sides: Sequence[Sides],
        **kwargs: Any,
    ) -> None:
        super().__init__(planned=planned, **kwargs)
        self.sides = sides
        self._answers: dict[int, Answers] = {}
        self.sweeps = [
            claim
            for side in sides
            if isinstance(side, Sweeps)
            for claim in (*side.first, *side.second)
        ]
        self.record = planned.record(self.nodeid, self.suite)
        self.record_as(self.record)

    def setup(self) -> None:
        """Skip what cannot be judged here."""
        for side in self.sides:
            if isinstance(side, Recorded) and side.missing:
                self.record.message = side.missing
                pytest.skip(side.missing)

    def runtest(self) -> None:
        """Compare the arms."""
        self.judge([self._difference(side) for side in self.sides])
        word(self.record)
        if self.record.message:
            raise ClaimFailed(self.record.message)

    def teardown(self) -> None:
        """Free the memory of a model that had to be loaded for this."""
        self._answers.clear()
        if self.sweeps:
            drop_model(self.config)

    @abstractmethod
    def judge(self, found: Sequence[Difference]) -> None:
        """Fill the record."""

    def tell(self, *names: str) -> None:
        """Put numbers into the JUnit report."""
        self.user_properties += [(name, getattr(self.record, name)) for name in names]

    def _difference(self, side: Sides) -> Difference:
        if isinstance(side, Recorded):
            assert side.answers is not None
            return difference([side.answers])
        # One arm after the other, so that no model is loaded twice.
        first = [self._swept(claim) for claim in side.first]
        second = [self._swept(claim) for claim in side.second]
        return difference([beside(one, two) for one, two in zip(first, second, strict=True)])

    def _swept(self, claim: PlannedClaim) -> Answers:
        """Return what the store has, or else sweep; arms that stand twice are swept once."""
        if id(claim) not in self._answers:
            self._answers[id(claim)] = self._sweep(claim)
        return self._answers[id(claim)]

    def _sweep(self, claim: PlannedClaim) -> Answers:
        where = f"{self.name} {claim.arm.name}"
        if self.sides[0].replicates > 1:
            where += f" {claim.replicate + 1} of {self.sides[0].replicates}"
        try:
            evaluation = Evaluation(claim, all_sweeps(self), means(self.config))
            with Progress(self.config, where) as progress:
                sweep = evaluation.sweep(progress)
            self._add_arithmetic(sweep)
        except MaxRandomError as error:
            message = f"the arm {claim.arm.name!r} has no results: {error}"
            raise SweepError(message) from error
        self.record.warnings = list(dict.fromkeys([*self.record.warnings, *evaluation.warnings]))
        return of_predictions(
            sweep.predictions,
            label(claim.cell.prompt_set.validation),
            model=claim.model.name,
            shots=claim.cell.shots,
        )

    def _add_arithmetic(self, sweep: Sweep) -> None:
        """Refuse arms on different processors: their difference may be that of the arithmetic."""
        self.record.add_arithmetic(sweep.engine)
        if len(on := {each.processor for each in self.record.arithmetics}) > 1:
            raise SweepError(
                f"its numbers are of another processor ({' and '.join(sorted(on))}), so that a "
                "difference may be that of their arithmetic; expected arms on one device (the key "
                "`device` of models)"
            )
