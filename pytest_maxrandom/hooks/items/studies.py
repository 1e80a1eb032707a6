"""What is asked beyond a claim: of its labels, and of the difference of arms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.claims.planned import PlannedClaim
from pytest_maxrandom.claims.recorded_claims import RecordedClaim
from pytest_maxrandom.claims.views import answers_of
from pytest_maxrandom.errors import MaxRandomError, SweepError
from pytest_maxrandom.hooks.items.base import SuiteItem, drop_model
from pytest_maxrandom.hooks.options import read_settings
from pytest_maxrandom.record import Remark, note
from pytest_maxrandom.studies.arms.all_models import evidence_of, record_best_models
from pytest_maxrandom.studies.arms.conclude import record_contamination, record_difference
from pytest_maxrandom.studies.arms.reduction import Difference
from pytest_maxrandom.studies.label_bias.evaluate import judge, judge_recorded, prepare

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.claims.dry_run import Asked
    from pytest_maxrandom.record import (
        BestModelsRecord,
        ComparisonRecord,
        ContaminationRecord,
        LabelBiasRecord,
    )
    from pytest_maxrandom.studies.arms.all_models import PlannedBestModels
    from pytest_maxrandom.studies.arms.compared import PlannedComparison, PlannedContamination
    from pytest_maxrandom.studies.label_bias.plan import PlannedLabelBias
    from pytest_maxrandom.sweeps.sweep import Sweep


class LabelBiasItem(SuiteItem):
    """Whether a claim's best prompt knows answers, or prefers a label."""

    planned: PlannedLabelBias
    numbers = ("finding", "passed")
    record: LabelBiasRecord

    def __repr__(self) -> str:
        return f"<LabelBias {self.name} check={self.record.check}>"

    def junit_properties(self) -> Iterator[tuple[str, object]]:
        """Yield the numbers of each way of asking."""
        for bias in self.record.interactions:
            for name in ("score", "score_baseline", "p_value", "rstd"):
                if (value := getattr(bias, name)) is not None:
                    yield f"{bias.interaction}_{name}", value
        yield from super().junit_properties()

    def fail(self) -> None:
        """Raise what the record says.

        A claim that is expected to be no better than chance may prefer a label, and this may fail
        then; it may also hold, because the two are not about the same.
        """
        expected = self.planned.claim.xfail
        if self.record.message and expected and not self.config.option.runxfail:
            self.record.xfail = expected
            pytest.xfail(expected)
        super().fail()

    def runs(self) -> Sequence[PlannedClaim]:
        """Return the claim, where its model is run."""
        return [self.planned.claim] if isinstance(self.planned.claim, PlannedClaim) else []

    def prepare(self) -> None:
        """Load the model, unless all answers are known."""
        if isinstance(self.planned.claim, PlannedClaim):
            prepare(self.planned, self.evaluation(self.planned.claim))

    def asks(self) -> list[Asked]:
        """Return the claim's own prompts, and all by which its labels are asked for."""
        claim = self.planned.claim
        if not isinstance(claim, PlannedClaim):
            return []
        further = (jobs for plan in self.planned.interactions for jobs in plan.sweeps)
        return [*super().asks(), *((claim, jobs) for jobs in further)]

    def judge(self) -> None:
        """Ask for the labels, or read the answers, and compare with random guessers."""
        claim = self.planned.claim
        if isinstance(claim, RecordedClaim):
            judge_recorded(self.planned, self.record)
            return
        with self.progress(claim) as progress:
            judge(self.planned, self.evaluation(claim), self.record, progress)
        if read_settings(self.config).predictions and self.record.engine is not None:
            note(self.record, Remark("predictions_are_the_claims"))


class ArmsItem(SuiteItem):
    """A comparison of arms, after the claims: it reads what they found, or sweeps itself.

    It has no model that it shares with others, because it is about several.
    """

    last = True
    counts_searches = False
    """Whether its p-values count what a search could have tried."""
    planned: PlannedComparison | PlannedBestModels | PlannedContamination
    record: ComparisonRecord | BestModelsRecord | ContaminationRecord

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._answers: dict[PlannedClaim, Answers] = {}

    def runs(self) -> Sequence[PlannedClaim]:
        """Return the claims of all arms that are run."""
        return [claim for side in self.planned.compared for claim in (*side.first, *side.second)]

    def teardown(self) -> None:
        """Free the memory of a model that had to be loaded for this."""
        super().teardown()
        self._answers.clear()
        if self.sweeps:
            drop_model(self.config)

    def _differences(self) -> list[Difference]:
        return [Difference(sides.paired(self._swept)) for sides in self.planned.compared]

    def _swept(self, claim: PlannedClaim) -> Answers:
        """Return what the store has, or else sweep; arms that stand twice are swept once."""
        if claim in self._answers:
            return self._answers[claim]
        try:
            evaluation = self.evaluation(claim)
            with self.progress(claim) as progress:
                sweep = evaluation.sweep(progress)
            if not self.counts_searches:
                told = (one for one in evaluation.searches if one not in self.record.notes)
                note(self.record, *told)
            self._add_arithmetic(sweep)
        except MaxRandomError as error:
            message = f"the arm {claim.arm.name!r} has no results: {error}"
            raise SweepError(message) from error
        return self._answers.setdefault(claim, answers_of(claim, sweep.predictions))

    def _add_arithmetic(self, sweep: Sweep) -> None:
        """Refuse arms on different processors: their difference may be that of the arithmetic."""
        self.record.add_arithmetic(sweep.engine)
        if len(on := {each.processor for each in self.record.arithmetics}) > 1:
            raise SweepError(
                f"its numbers come from another device ({' and '.join(sorted(on))}), so that a "
                "difference may come from rounding; run all arms on one device (the key `device` "
                "of models)"
            )


class ComparisonItem(ArmsItem):
    """The first arm less the second, on one task with one number of shots."""

    numbers = ("t", "n", "replicates", "difference", "low", "high", "p_value", "assertion_p")
    planned: PlannedComparison
    record: ComparisonRecord

    def __repr__(self) -> str:
        return f"<Comparison {self.name} t={self.record.t} n={self.record.n}>"

    def judge(self) -> None:
        """Compare the arms."""
        record_difference(self.record, self._differences()[0], self.planned.claim)


class BestModelsItem(ArmsItem):
    """All models, or arms, on one task: which of them may be the best."""

    numbers = ("n", "units", "passed")
    counts_searches = True
    planned: PlannedBestModels
    record: BestModelsRecord

    def __repr__(self) -> str:
        return f"<BestModels {self.name} models={len(self.planned.arms)} n={self.record.n}>"

    def judge(self) -> None:
        """Compare all of them."""
        answers, tried = [], dict[str, int]()
        run = {name: claim for name, claim in self.planned.arms if isinstance(claim, PlannedClaim)}
        for name, claim in self.planned.arms:
            if isinstance(claim, PlannedClaim):
                answers.append(self._swept(claim))
                others = [other for other in run.values() if other is not claim]
                best = answers[-1].identities[answers[-1].best]
                tried[name] = self.evaluation(claim).tries.of_model(best, others)
            else:
                evidence = evidence_of(claim)
                answers.append(evidence.results)
                tried[name] = evidence.t
        record_best_models(self.planned, self.record, answers, tried)


class ContaminationItem(ArmsItem):
    """Was a model tuned on the benchmark's own text? The arms base, extra and test, compared."""

    numbers = ("boost", "boost_p", "bias", "bias_p", "finding")
    planned: PlannedContamination
    record: ContaminationRecord

    def __repr__(self) -> str:
        boost = self.planned.compared[0]
        return f"<Contamination {self.name} t={boost.t} n={boost.n}>"

    def judge(self) -> None:
        """Compare the arms."""
        boost, bias = self._differences()
        spec, extra = self.planned.spec, self.planned.compared[0].first
        record_contamination(
            self.record,
            boost,
            bias,
            allow_inconclusive=spec.allow_inconclusive,
            trained=any(each.arm.train is not None for each in extra),  # none is run if recorded
        )
