"""Claims, the best of t prompts against the best of t guessers, once or in replicates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.claims.assessment import assess_recorded
from pytest_maxrandom.claims.counting import expected
from pytest_maxrandom.claims.evaluation import Evaluation
from pytest_maxrandom.claims.planned import RecordedClaim
from pytest_maxrandom.errors import MaxRandomError, RedFlagged
from pytest_maxrandom.hooks.items.base import SuiteItem, all_sweeps, collected
from pytest_maxrandom.hooks.options import read_settings
from pytest_maxrandom.hooks.progress import Progress
from pytest_maxrandom.hooks.session_state import session_state
from pytest_maxrandom.record import Remark, note
from pytest_maxrandom.reports.predictions import append
from pytest_maxrandom.reports.red_flags import explained
from pytest_maxrandom.studies.replicates import conclude, replicate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.record import ClaimRecord, Replicate, ReplicatesRecord
    from pytest_maxrandom.studies.replicates import PlannedReplicates

_KNOWN = ("task", "model", "quantization", "shots", "n", "standard_baseline")
_FOUND = (
    "t", "max_random_baseline", "best_correct", "best_accuracy", "p_standard", "p_max", "union_p",
    "permutation_p", "majority_rate", "verdict", "passed",
)  # fmt: skip


class ClaimItem(SuiteItem):
    """One claim: a model, a task and a number of shots."""

    record: ClaimRecord

    def __repr__(self) -> str:
        return f"<Claim {self.name} t={self.record.t} n={self.record.n}>"

    def setup(self) -> None:
        """Say what is known, and get at the results or the model."""
        self.user_properties += self.pairs(*_KNOWN)
        super().setup()

    def told(self) -> Iterator[tuple[str, object]]:
        """Yield what was found."""
        yield from self.pairs(*_FOUND)
        if self.record.red_flags:
            kinds = dict.fromkeys(flag.kind for flag in self.record.red_flags)
            yield "red_flags", ", ".join(kinds)

    def fail(self) -> None:
        """Raise what the record says, red flags first."""
        if self.record.failing_flags:
            raise RedFlagged(explained(self.record))
        super().fail()


class SweepItem(ClaimItem):
    """A claim about a model that is run."""

    planned: PlannedClaim
    _evaluation: Evaluation | None = None

    def __repr__(self) -> str:
        try:
            found = expected(self.planned, all_sweeps(self))
        except (MaxRandomError, OSError):  # the run says it
            return super().__repr__()
        t, why = f"t{'>' * found.least}={found.t}", f" ({found.why})" if found.why else ""
        return f"<Claim {self.name} {t} n={self.record.n}{why}>"

    def runs(self) -> Sequence[PlannedClaim]:
        """Return the claim."""
        return [self.planned]

    def prepare(self) -> None:
        """Load the model, or take the one at hand, where its answers are missing."""
        self._evaluation = Evaluation(self.planned, all_sweeps(self), session_state(self.config))
        self._evaluation.prepare()

    def judge(self) -> None:
        """Sweep the prompts, where that was not done before, and judge the best of them."""
        shared, evaluation = session_state(self.config), self._evaluation
        assert evaluation is not None
        try:
            with Progress(self.config, self.name) as progress:
                predictions = evaluation.run(self.record, progress)
        finally:
            self.record.warnings = evaluation.warnings
        if shared.settings.predictions:
            append(shared.settings.predictions, shared.process, self.record, predictions)

    def release(self) -> None:
        """Let go of the model; the pool keeps it while the next item needs it."""
        self._evaluation = None


class RecordedItem(ClaimItem):
    """A claim about results that exist already."""

    planned: RecordedClaim

    def prepare(self) -> None:
        """Skip what cannot be judged here."""
        self.skip_missing(self.planned.missing)

    def judge(self) -> None:
        """Judge the best of the recorded prompts."""
        known = (each for each in collected(self.config) if isinstance(each, RecordedClaim))
        assess_recorded(self.planned.with_other_models(known), self.record)
        if read_settings(self.config).predictions:
            note(self.record, Remark("predictions_are_recorded"))


class ReplicatesItem(SuiteItem):
    """One claim again and again, with examples and demonstrations that are drawn anew."""

    planned: PlannedReplicates
    record: ReplicatesRecord
    _evaluations: dict[int, Evaluation] | None = None

    def __repr__(self) -> str:
        return f"<Replicates {self.name} count={self.record.count}>"

    def runs(self) -> Sequence[PlannedClaim]:
        """Return all replicates."""
        return self.planned.claims

    def prepare(self) -> None:
        """Load the model, unless all answers are known."""
        shared, run = session_state(self.config), all_sweeps(self)
        self._evaluations = {
            planned.replicate: Evaluation(planned, run, shared)
            for planned in self.planned.claims
            if planned.replicate or self._claim is None
        }
        for evaluation in self._evaluations.values():
            evaluation.prepare()

    def judge(self) -> None:
        """Test the claim in each replicate."""
        evaluations = self._evaluations or {}
        try:
            runs = [self._run(number, evaluations) for number in range(self.record.count)]
        finally:
            found = (each.warnings for each in evaluations.values())
            self.record.warnings = list(dict.fromkeys(text for each in found for text in each))
        conclude(self.record, runs, self.planned.in_replicates)
        if session_state(self.config).settings.predictions:
            note(self.record, Remark("predictions_are_the_first"))

    def told(self) -> Iterator[tuple[str, object]]:
        """Yield what the replicates say together."""
        return self.pairs("count", "share_passed", "contradicting", "passed")

    def release(self) -> None:
        """Let go of the model; the pool keeps it while the next item needs it."""
        self._evaluations = None

    def _run(self, number: int, evaluations: dict[int, Evaluation]) -> Replicate:
        if number not in evaluations:
            assert self._claim is not None
            self.record.add_arithmetic(self._claim.engine)
            return replicate(self._claim)
        record = self.planned.claims[number].record(self.nodeid, self.suite)
        where = f"{self.planned.claim.name}, replicate {number + 1} of {self.record.count}"
        with Progress(self.config, where) as progress:
            evaluations[number].replicate(record, progress)
        self.record.add_arithmetic(record.engine)
        return replicate(record)

    @property
    def _claim(self) -> ClaimRecord | None:
        """The record of the claim itself, if it was tested in this process."""
        for item in self.session.items:
            if isinstance(item, SweepItem) and item.planned is self.planned.claim:
                return item.record if item.record.passed is not None else None
        return None
