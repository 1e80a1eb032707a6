"""Claims: the best of t prompts against the best of t guessers."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.claims.assessment import assess_recorded
from pytest_maxrandom.claims.evaluation import Evaluation
from pytest_maxrandom.claims.recorded import RecordedClaim
from pytest_maxrandom.claims.tries import expected
from pytest_maxrandom.errors import ClaimFailed, MaxRandomError, RedFlagged
from pytest_maxrandom.hooks.items.base import SuiteItem, all_sweeps, collected
from pytest_maxrandom.hooks.items.means import means
from pytest_maxrandom.hooks.options import read_settings
from pytest_maxrandom.hooks.progress import Progress
from pytest_maxrandom.models.registry import model_key
from pytest_maxrandom.record import Remark, note
from pytest_maxrandom.reports.predictions import append
from pytest_maxrandom.reports.red_flags import explained
from pytest_maxrandom.reports.wording import word

if TYPE_CHECKING:
    from pytest_maxrandom.claims.planned import PlannedClaim

_KNOWN = ("task", "model", "quantization", "shots", "n", "standard_baseline")
_FOUND = (
    "t", "max_random_baseline", "best_correct", "best_accuracy", "p_standard", "p_max", "union_p",
    "permutation_p", "majority_rate", "verdict", "passed",
)  # fmt: skip
"""What stands in a JUnit report: flat pairs of builtin types."""


class ClaimItem(SuiteItem):
    """One claim: a model, a task and a number of shots."""

    def __init__(self, *, planned: PlannedClaim | RecordedClaim, **kwargs: Any) -> None:
        super().__init__(planned=planned, **kwargs)
        self.record = planned.record(self.nodeid, self.suite)
        self.record_as(self.record)

    def __repr__(self) -> str:
        return f"<Claim {self.name} t={self.record.t} n={self.record.n}>"

    def setup(self) -> None:
        """Say what is known, and get at the results or the model."""
        self._tell(_KNOWN)
        self.prepare()

    def runtest(self) -> None:
        """Judge the best of the prompts."""
        record = self.record
        try:
            self.judge()
        finally:
            word(record)
        self._tell(_FOUND)
        if record.red_flags:
            kinds = dict.fromkeys(flag.kind for flag in record.red_flags)
            self.user_properties.append(("red_flags", ", ".join(kinds)))
        if record.failing_flags:
            raise RedFlagged(explained(record))
        if record.message:
            raise ClaimFailed(record.message)

    @abstractmethod
    def prepare(self) -> None:
        """Get at the results or the model."""

    @abstractmethod
    def judge(self) -> None:
        """Fill the record."""

    def _tell(self, names: tuple[str, ...]) -> None:
        self.user_properties += [(name, getattr(self.record, name)) for name in names]


class SweepItem(ClaimItem):
    """A claim about a model that is run."""

    def __init__(self, *, planned: PlannedClaim, **kwargs: Any) -> None:
        super().__init__(planned=planned, **kwargs)
        self.planned = planned
        self.sweeps = [planned]
        self.model = model_key(planned.model, planned.base)

    def __repr__(self) -> str:
        try:
            found = expected(self.planned, all_sweeps(self))
        except (MaxRandomError, OSError):  # the run says it
            return super().__repr__()
        t, why = f"t{'>' * found.least}={found.t}", f" ({found.why})" if found.why else ""
        return f"<Claim {self.name} {t} n={self.record.n}{why}>"

    def prepare(self) -> None:
        """Load the model, or take the one at hand, where its answers are missing."""
        with self.prepared():
            self._evaluation = Evaluation(self.planned, all_sweeps(self), means(self.config))
            self._evaluation.prepare()

    def judge(self) -> None:
        """Sweep the prompts, where that was not done before, and judge the best of them."""
        shared = means(self.config)
        try:
            with Progress(self.config, self.name) as progress:
                predictions = self._evaluation.run(self.record, progress)
        finally:
            self.record.warnings = self._evaluation.warnings
        if shared.settings.predictions:
            append(shared.settings.predictions, shared.process, self.record, predictions)

    def teardown(self) -> None:
        """Let go of the model; the pool keeps it while the next item needs it."""
        self.__dict__.pop("_evaluation", None)


class RecordedItem(ClaimItem):
    """A claim about results that exist already."""

    def __init__(self, *, planned: RecordedClaim, **kwargs: Any) -> None:
        super().__init__(planned=planned, **kwargs)
        self.planned = planned

    def prepare(self) -> None:
        """Skip what cannot be judged here."""
        if self.planned.missing:
            self.record.message = self.planned.missing
            pytest.skip(self.planned.missing)

    def judge(self) -> None:
        """Judge the best of the recorded prompts."""
        known = (each for each in collected(self.config) if isinstance(each, RecordedClaim))
        assess_recorded(self.planned.beside(known), self.record)
        if read_settings(self.config).predictions:
            note(self.record, Remark("predictions_are_recorded"))
