"""Claims whose verdict is known before all answers are: which, when, and what is reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pytest_maxrandom.claims.nulls import Guessers
from pytest_maxrandom.claims.samples import aggregate_of
from pytest_maxrandom.claims.verdict import BESIDE, OF_ANSWERS, standing
from pytest_maxrandom.record import DecidedEarly, Remark
from pytest_maxrandom.record.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.suite.spec import SuiteSpec
    from pytest_maxrandom.sweeps.decided import DecidedSweep
    from pytest_maxrandom.sweeps.predictions import PromptPredictions

Undecidable = Literal[
    "no_budget", "metric", "samples", "learnt", "all_answers", "red_flags", "unpassable"
]
"""Why all answers of a claim are computed: t is not declared; its metric is no accuracy; each
answer has several samples; what guessers reach is learnt from the answers; what is
claimed depends on all answers, or on a check that reads all of them; red flags may fail it in
another way than it is expected to fail; no count can pass."""


def undecidable(planned: PlannedClaim) -> Undecidable | None:
    """Say why nothing can be decided early; None where something can."""
    suite = planned.suite
    if why := _of_suite(suite):
        return why
    if planned.condition.task.is_open:
        return "learnt"
    untold = planned.claim.cannot_tell is not None
    bounds = planned.claim.bounds().keys()
    if untold or bounds <= OF_ANSWERS or not bounds.isdisjoint(BESIDE) or planned.replicate:
        return "all_answers"
    if planned.xfail and "fail" in planned.claim.severities().values():
        return "red_flags"
    return "unpassable" if planned.claim.critical(planned.null) is None else None


def _of_suite(suite: SuiteSpec) -> Undecidable | None:
    if suite.prompts.budget is None:
        return "no_budget"
    if suite.metric != "accuracy":
        return "metric"
    if aggregate_of(suite) is not None:
        return "samples"
    others = (suite.replicates, suite.compare, suite.contamination, suite.label_bias)
    return "all_answers" if any(others) or suite.incumbent is not None else None


def may_pass_early(planned: PlannedClaim) -> bool:
    """Tell whether one prompt that reaches the critical count is enough.

    Labels, red flags that fail the claim, and a test set need all answers, or the best prompt.
    """
    return (
        planned.claim.permutation_p is None
        and not planned.condition.test
        and "fail" not in planned.claim.severities().values()
    )


class ClaimGoal:
    """What a claim's sweep is to decide; see :class:`pytest_maxrandom.sweeps.decided.Goal`.

    `t` counts the tries, which another process may raise.
    """

    def __init__(self, planned: PlannedClaim, t: Callable[[], int]) -> None:
        self._planned = planned
        self._t = t
        self._known: dict[int, int] = {}
        self.chance = float(planned.condition.null.chance)

    def critical(self) -> int:
        """Return the fewest right answers that pass; one more than n where none do."""
        t = self._t()
        if t not in self._known:
            planned = self._planned.with_t(t)
            least = planned.claim.critical(planned.null)
            self._known[t] = planned.null.n + 1 if least is None else int(least)
        return self._known[t]

    def is_reached(self, predictions: PromptPredictions) -> bool:
        """Tell whether the prompt is enough."""
        return may_pass_early(self._planned)


def result_of_decided(planned: PlannedClaim, decided: DecidedSweep) -> Result:
    """Return what is known of a claim that was decided early."""
    null, claim = planned.null, planned.claim
    assert isinstance(null, Guessers)
    pairs = planned.condition.prompt_set.pairs
    critical = claim.critical(null)
    lowest, highest = (standing(null, each) for each in (decided.at_least, decided.at_most))
    return Result(
        n=null.n,
        t=null.t,
        levels=claim.levels(null.t),
        holds=decided.passes,
        passed=decided.passes,
        standard_baseline=null.standard_baseline,
        max_random_baseline=null.max_random_baseline,
        max_random_baseline_error=0.0,
        critical_count=None if critical is None else int(critical),
        critical_parts=[key for key in claim.bounds() if key not in OF_ANSWERS],
        verdict=lowest if lowest == highest else None,
        engine=decided.sweep.engine,
        revision=decided.sweep.revision,
        decided=DecidedEarly(
            at_least=decided.at_least,
            at_most=decided.at_most,
            answers=decided.scored,
            of_answers=sum(len(examples) for _, examples in pairs),
            begun=len(decided.sweep.predictions),
            whole=decided.whole,
            of_prompts=len(planned.condition.prompt_set.prompts),
            p_at_most=null.p_max(decided.at_least),
        ),
        notes=(Remark("labels_not_tested" if decided.passes else "red_flags_not_looked_for"),),
    )
