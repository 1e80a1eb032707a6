"""Replicates: one claim again and again, with examples and demonstrations that are drawn anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_maxrandom.claims.evaluation import Evaluation
from pytest_maxrandom.errors import ClaimFailed
from pytest_maxrandom.hooks.items.base import SuiteItem, all_sweeps
from pytest_maxrandom.hooks.items.claims import SweepItem
from pytest_maxrandom.hooks.items.means import means
from pytest_maxrandom.hooks.progress import Progress
from pytest_maxrandom.models.registry import model_key
from pytest_maxrandom.record import Remark, note
from pytest_maxrandom.reports.wording import word
from pytest_maxrandom.studies.replicates import conclude, replicate

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord, Replicate
    from pytest_maxrandom.studies.replicates import PlannedReplicates


class ReplicatesItem(SuiteItem):
    """The replicates of one claim."""

    def __init__(self, *, planned: PlannedReplicates, **kwargs: Any) -> None:
        super().__init__(planned=planned, **kwargs)
        self.planned = planned
        self.sweeps = planned.claims
        self.model = model_key(planned.claim.model, planned.claim.base)
        self.record = planned.record(self.nodeid, self.suite)
        self.record_as(self.record)

    def __repr__(self) -> str:
        return f"<Replicates {self.name} count={self.record.count}>"

    def setup(self) -> None:
        """Load the model, unless all answers are known."""
        shared, run = means(self.config), all_sweeps(self)
        with self.prepared():
            self._evaluations = {
                planned.replicate: Evaluation(planned, run, shared)
                for planned in self.planned.claims
                if planned.replicate or self._claim is None
            }
            for evaluation in self._evaluations.values():
                evaluation.prepare()

    def runtest(self) -> None:
        """Test the claim in each replicate."""
        try:
            runs = [self._run(number) for number in range(self.record.count)]
        finally:
            found = (each.warnings for each in self._evaluations.values())
            self.record.warnings = list(dict.fromkeys(text for each in found for text in each))
        conclude(self.record, runs, self.planned.in_replicates)
        word(self.record)
        if means(self.config).settings.predictions:
            note(self.record, Remark("predictions_are_the_first"))
        self.user_properties += [
            (name, getattr(self.record, name))
            for name in ("count", "share_passed", "contradicting", "passed")
        ]
        if self.record.message:
            raise ClaimFailed(self.record.message)

    def teardown(self) -> None:
        """Let go of the model; the pool keeps it while the next item needs it."""
        self.__dict__.pop("_evaluations", None)

    def _run(self, number: int) -> Replicate:
        if number not in self._evaluations:
            assert self._claim is not None
            self.record.add_arithmetic(self._claim.engine)
            return replicate(self._claim)
        record = self.planned.claims[number].record(self.nodeid, self.suite)
        where = f"{self.planned.claim.name}, replicate {number + 1} of {self.record.count}"
        with Progress(self.config, where) as progress:
            self._evaluations[number].replicate(record, progress)
        self.record.add_arithmetic(record.engine)
        return replicate(record)

    @property
    def _claim(self) -> ClaimRecord | None:
        """The record of the claim itself, if it was tested in this process."""
        for item in self.session.items:
            if isinstance(item, SweepItem) and item.planned is self.planned.claim:
                return item.record if item.record.passed is not None else None
        return None
