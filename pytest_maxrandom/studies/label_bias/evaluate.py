"""Label bias of a claim, from its plan to its record: all that is asked, and what it says."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.claims.recorded_claims import RecordedClaim
from pytest_maxrandom.claims.views import result_of_recorded
from pytest_maxrandom.record import Remark, note
from pytest_maxrandom.stats.labels.priors import NoPrior, base_rates
from pytest_maxrandom.studies.label_bias.answers import label_answers, moved_answers
from pytest_maxrandom.studies.label_bias.calibrate import contextual, pride
from pytest_maxrandom.studies.label_bias.conclude import add_base_rates, conclude, holds, reduce
from pytest_maxrandom.sweeps.executor import total

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_maxrandom.claims.evaluation import Evaluation
    from pytest_maxrandom.record import InteractionBias, LabelBiasRecord
    from pytest_maxrandom.studies.label_bias.interactions import InteractionPlan
    from pytest_maxrandom.studies.label_bias.plan import PlannedLabelBias
    from pytest_maxrandom.sweeps.executor import Job
    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.sweeps.sweep import Progress, Sweep

    Rows = Sequence[PromptPredictions]
    Ask = Callable[[Sequence[Job]], Rows]
    """Puts further jobs through the model."""


def prepare(planned: PlannedLabelBias, evaluation: Evaluation) -> None:
    """Load the model, unless all that is asked of it is stored.

    Parameters
    ----------
    evaluation : Evaluation
        Of the claim itself.

    Raises
    ------
    ModelError
        If it cannot be loaded.
    """
    evaluation.prepare()
    sweeps = (jobs for plan in planned.interactions for jobs in plan.sweeps)
    if not all(map(evaluation.knows, sweeps)):
        evaluation.ready()


def judge(
    planned: PlannedLabelBias, evaluation: Evaluation, record: LabelBiasRecord, progress: Progress
) -> None:
    """Ask in every way, and write down what is found.

    The claim's prompts are counted in the ledger; all else that is asked is no try, because nothing
    is chosen by it.

    Raises
    ------
    SweepError
        If a prompt cannot be scored.
    """
    own = evaluation.sweep(progress)
    record.add_arithmetic(own.engine)
    result, *_ = evaluation.judge(own, progress)
    asserts = bool(planned.claim.claim.asserted())
    record.claim_holds = holds(result, planned.spec.level, asserts=asserts)
    t, *_ = evaluation.tries.counted()
    further: list[Sweep] = []

    def ask(jobs: Sequence[Job]) -> Rows:
        further.append(evaluation.ask(jobs, progress))
        return further[-1].predictions

    found = []
    for plan in planned.interactions:
        natural = own.predictions if plan.own else ask(plan.natural)
        found.append(_of_interaction(plan, natural, t, ask, record))
    conclude(record, found)
    if further:
        record.engine = total([sweep.engine for sweep in further])
        tokens = sum(sweep.tokens for sweep in further)
        record.sweeps = tokens / own.tokens if own.tokens else None


def judge_recorded(planned: PlannedLabelBias, record: LabelBiasRecord) -> None:
    """Write down what the recorded answers of a claim say."""
    recorded = planned.claim
    assert planned.answers is not None
    assert isinstance(recorded, RecordedClaim)
    assert recorded.evidence is not None
    result, asserts = result_of_recorded(recorded), bool(recorded.claim.asserted())
    record.claim_holds = held = holds(result, planned.spec.level, asserts=asserts)
    t = recorded.evidence.null.t
    conclude(record, [reduce(planned.answers, "cloze", planned.spec, t, claim_holds=held)])


def _of_interaction(
    plan: InteractionPlan, natural: Rows, t: int, ask: Ask, record: LabelBiasRecord
) -> InteractionBias:
    """Return the numbers of a way of asking, and add to the notes which of them there are not.

    Parameters
    ----------
    natural : sequence of PromptPredictions
        The prompts' answers to the examples as they are.
    t : int
        All prompts that count.
    """
    labels, names, named = plan.labels, plan.names, {"interaction": plan.interaction}
    moved, held = None, bool(record.claim_holds)
    if plan.moved:
        moved = moved_answers(labels, len(names), natural, ask(plan.moved))
    shown = label_answers(labels, names, natural)
    bias = reduce(shown, plan.interaction, plan.spec, t, moved=moved, claim_holds=held)
    free = ask(plan.content_free) if plan.content_free else ()
    if plan.spec.base_rate != "off":
        best = plan.asked.digests.index(bias.best_prompt)
        if plan.spec.base_rate == "content_free":
            texts = free[best]
        else:  # the control texts, once for each format
            texts = ask(plan.control)[plan.formats.index(plan.asked.prompts[best].format)]
        rows = [row for row in texts.log_likelihoods if len(row) == len(names)]
        try:
            # Rounding may leave a probability of 1 a little above it.
            add_base_rates(bias, base_rates(np.minimum(rows, 0.0)))
        except NoPrior as error:
            note(record, Remark("no_base_rates", {**named, "why": str(error)}))
    for method in plan.spec.calibration:
        try:
            if method == "contextual":
                bias.calibrated.append(contextual(labels, names, natural, free, t))
                continue
            turned = ask(plan.rotated)
            bias.calibrated.append(pride(labels, names, natural, turned, plan.held, t))
        except NoPrior as error:
            values = {**named, "method": method, "why": str(error)}
            note(record, Remark("not_calibrated", values))
        else:
            note(record, Remark("held_back", {**named, "examples": _held_back(plan)}))
    return bias


def _held_back(plan: InteractionPlan) -> dict[str, int]:
    """Count the examples that PriDe's prior comes from, by their number of choices."""
    pairs = zip(plan.labels.examples, plan.labels.choices, strict=True)
    sizes = Counter(choices for example, choices in pairs if example.id in plan.held)
    return {str(choices): size for choices, size in sorted(sizes.items())}
