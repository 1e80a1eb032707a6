"""Claims, the best of t prompts against the best of t guessers, once or in replicates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.claims.decided import may_pass_early, undecidable
from pytest_maxrandom.claims.recorded_claims import RecordedClaim
from pytest_maxrandom.claims.tries import expected
from pytest_maxrandom.claims.views import result_of_recorded
from pytest_maxrandom.errors import MaxRandomError
from pytest_maxrandom.hooks.items.base import SuiteItem, all_sweeps, collected, session_state
from pytest_maxrandom.hooks.options import read_settings
from pytest_maxrandom.hooks.progress import board
from pytest_maxrandom.hooks.run import CELLS, run_name
from pytest_maxrandom.record import ClaimRecord, Remark, Replicate, ReplicatesRecord, note
from pytest_maxrandom.studies.replicates import PlannedReplicates, record_replicates, replicate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.claims.untestable import MissingClaim
    from pytest_maxrandom.record.result import Result
    from pytest_maxrandom.reports.page.cells import Cells

_KNOWN = ("task", "model", "quantization", "shots", "n", "standard_baseline")


class ClaimItem(SuiteItem):
    """One claim: a model, a task and a number of shots."""

    numbers = (
        "t", "max_random_baseline", "best_correct", "best_accuracy", "p_standard", "p_max",
        "union_p", "permutation_p", "baseline_p", "control_p", "incumbent_p", "majority_rate",
        "verdict", "passed", "passes_on",
    )  # fmt: skip
    record: ClaimRecord

    def __repr__(self) -> str:
        return f"<Claim {self.name} t={self.record.t} {self._on}>"

    @property
    def _on(self) -> str:
        """On how many examples it is judged, and beside what."""
        beside = " beside the incumbent" if "better_than" in self.record.asserted else ""
        return f"n={self.record.n}{beside}"

    def setup(self) -> None:
        """Say what is known, and load the model where one is needed."""
        self.user_properties += self.pairs(*_KNOWN)
        super().setup()

    def junit_properties(self) -> Iterator[tuple[str, object]]:
        """Yield what was found."""
        yield from super().junit_properties()
        if self.record.red_flags:
            kinds = dict.fromkeys(flag.kind for flag in self.record.red_flags)
            yield "red_flags", ", ".join(kinds)

    def show(self, cells: Cells | None) -> None:
        """Let the page have the claim's answers."""
        from pytest_maxrandom.record.packed import pack

        if cells is not None:
            self.stash[CELLS] = pack(cells)


class SweepItem(ClaimItem):
    """A claim about a model that is run."""

    planned: PlannedClaim

    def __repr__(self) -> str:
        try:
            found = expected(self.planned, all_sweeps(self))
        except (MaxRandomError, OSError):  # the run says it
            return super().__repr__()
        t, why = f"t{'>' * found.least}={found.t}", f" ({found.why})" if found.why else ""
        until = read_settings(self.config).until or self.planned.suite.until
        if until == "decided" and (reason := undecidable(self.planned)):
            from pytest_maxrandom.reports.remarks import UNDECIDED

            why += f" (not decided early: {UNDECIDED[reason]})"
        elif until == "decided" and not may_pass_early(self.planned):
            why += " (a failure is decided early; a pass takes all answers)"
        return f"<Claim {self.name} {t} {self._on}{why}>"

    def runs(self) -> Sequence[PlannedClaim]:
        """Return the claim."""
        return [self.planned]

    def prepare(self) -> None:
        """Load the model, or take the one at hand, where its answers are missing."""
        board(self.config).begin(self.planned)
        self.evaluation(self.planned).prepare()

    def judge(self) -> None:
        """Sweep the prompts, where that was not done before, and judge the best of them."""
        with self.progress(self.planned) as progress:
            result, sweep = self.evaluation(self.planned).run(progress)
        self.complete(result.record(self.record))
        settings = read_settings(self.config)
        if settings.predictions:
            from pytest_maxrandom.reports.predictions import append

            process = session_state(self.config).process
            append(settings.predictions, process, self.record, sweep.predictions)
        if settings.html:
            from pytest_maxrandom.reports.page.cells import may_show, of_sweep

            texts = may_show(self.record, settings.texts)
            self.show(of_sweep(self.record, sweep.predictions, texts=texts))


class RecordedItem(ClaimItem):
    """A claim about results that exist already."""

    planned: RecordedClaim

    def judge(self) -> None:
        """Judge the best of the recorded prompts."""
        known = (each for each in collected(self.config) if isinstance(each, RecordedClaim))
        claim = self.planned.looked_at(self.record, self.path.parent, run_name(self.config))
        self.complete(result_of_recorded(claim, known).record(self.record))
        settings = read_settings(self.config)
        if settings.predictions:
            note(self.record, Remark("predictions_are_recorded"))
        if settings.html and self.planned.evidence:
            from pytest_maxrandom.reports.page.cells import may_show, of_answers

            texts = may_show(self.record, settings.texts)
            self.show(of_answers(self.planned.evidence.results, texts=texts))


class MissingItem(ClaimItem):
    """A claim that is skipped, because its data or its model are not here."""

    planned: MissingClaim

    def judge(self) -> None:
        """Do nothing: what is missing was said before."""


class ReplicatesItem(SuiteItem):
    """One claim again and again, with examples and demonstrations that are drawn anew."""

    numbers = ("count", "share_passed", "contradicting", "passed")
    planned: PlannedReplicates
    record: ReplicatesRecord

    def __repr__(self) -> str:
        return f"<Replicates {self.name} count={self.record.count}>"

    def runs(self) -> Sequence[PlannedClaim]:
        """Return all replicates."""
        return self.planned.claims

    def prepare(self) -> None:
        """Load the model, unless all answers are known."""
        for claim in self.planned.claims[0 if self._claim is None else 1 :]:
            board(self.config).begin(claim)
            self.evaluation(claim).prepare()
            if claim.training is not None:
                return  # each replicate has a model of its own, loaded when its turn comes

    def judge(self) -> None:
        """Test the claim in each replicate."""
        runs = [self._run(claim) for claim in self.planned.claims]
        record_replicates(self.record, runs, self.planned.in_replicates)
        if read_settings(self.config).predictions:
            note(self.record, Remark("predictions_are_the_first"))

    def _run(self, claim: PlannedClaim) -> Replicate:
        outcome: ClaimRecord | Result | None = None if claim.replicate else self._claim
        if outcome is None:
            with self.progress(claim) as progress:
                evaluation = self.evaluation(claim)
                outcome, *_ = evaluation.judge(evaluation.sweep(progress), progress)
        self.record.add_arithmetic(outcome.engine)
        return replicate(outcome)

    @property
    def _claim(self) -> ClaimRecord | None:
        """The record of the claim itself, if it was tested in this process."""
        for item in self.session.items:
            if isinstance(item, SweepItem) and item.planned is self.planned.claim:
                told = item.record.passed is not None or item.record.cannot_tell is not None
                return item.record if told and item.record.best_prompt is not None else None
        return None
