"""Label bias: whether a claim's best prompt knows answers, or prefers a label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.claims.evaluation import Evaluation
from pytest_maxrandom.errors import ClaimFailed
from pytest_maxrandom.hooks.items.base import SuiteItem, all_sweeps
from pytest_maxrandom.hooks.items.means import means
from pytest_maxrandom.hooks.progress import Progress
from pytest_maxrandom.models.registry import model_key
from pytest_maxrandom.record import Remark, note
from pytest_maxrandom.reports.wording import word
from pytest_maxrandom.studies.label_bias.evaluate import LabelBiasEvaluation

if TYPE_CHECKING:
    from pytest_maxrandom.studies.label_bias.plan import PlannedLabelBias
    from pytest_maxrandom.studies.label_bias.recorded import PlannedRecordedLabelBias


class LabelBiasItem(SuiteItem):
    """The labels of one claim."""

    expected: str | None = None
    """Why the claim is expected to be no better than chance."""

    def __init__(
        self, *, planned: PlannedLabelBias | PlannedRecordedLabelBias, **kwargs: Any
    ) -> None:
        super().__init__(planned=planned, **kwargs)
        self.expected = planned.claim.xfail
        self.record = planned.record(self.nodeid, self.suite)
        self.record_as(self.record)

    def __repr__(self) -> str:
        return f"<LabelBias {self.name} check={self.record.check}>"

    def conclude(self) -> None:
        """Tell the numbers, and fail where what is asserted does not hold.

        A claim that is expected to be no better than chance may prefer a label, and this may fail
        then; it may also hold, because the two are not about the same.
        """
        record = self.record
        word(record)
        for bias in record.interactions:
            for name in ("score", "score_baseline", "p_value", "rstd"):
                self.user_properties.append((f"{bias.interaction}_{name}", getattr(bias, name)))
        self.user_properties += [("finding", record.finding), ("passed", record.passed)]
        if record.message and self.expected and not self.config.option.runxfail:
            record.xfail = self.expected
            pytest.xfail(self.expected)
        if record.message:
            raise ClaimFailed(record.message)


class SweptLabelBiasItem(LabelBiasItem):
    """The labels of a claim about a model that is run."""

    def __init__(self, *, planned: PlannedLabelBias, **kwargs: Any) -> None:
        super().__init__(planned=planned, **kwargs)
        self.planned = planned
        self.sweeps = [planned.claim]
        self.model = model_key(planned.claim.model, planned.claim.base)

    def setup(self) -> None:
        """Load the model, unless all answers are known."""
        with self.prepared():
            self._claim = Evaluation(self.planned.claim, all_sweeps(self), means(self.config))
            self._evaluation = LabelBiasEvaluation(self.planned, self._claim)
            self._evaluation.prepare()

    def runtest(self) -> None:
        """Ask for the labels, and compare with random guessers."""
        try:
            with Progress(self.config, self.name) as progress:
                self._evaluation.run(self.record, progress)
        finally:
            self.record.warnings = self._claim.warnings
        if means(self.config).settings.predictions and self.record.engine is not None:
            note(self.record, Remark("predictions_are_the_claims"))
        self.conclude()

    def teardown(self) -> None:
        """Let go of the model; the pool keeps it while the next item needs it."""
        self.__dict__.pop("_evaluation", None)
        self.__dict__.pop("_claim", None)


class RecordedLabelBiasItem(LabelBiasItem):
    """The labels of a claim about results that exist already."""

    def __init__(self, *, planned: PlannedRecordedLabelBias, **kwargs: Any) -> None:
        super().__init__(planned=planned, **kwargs)
        self.planned = planned

    def setup(self) -> None:
        """Skip what cannot be judged here."""
        if self.planned.claim.missing:
            self.record.message = self.planned.claim.missing
            pytest.skip(self.planned.claim.missing)

    def runtest(self) -> None:
        """Compare the recorded answers with random guessers."""
        self.planned.judge(self.record)
        self.conclude()
