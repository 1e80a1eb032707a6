"""Label bias of a claim whose model is run: all that is asked, and what it says."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.record import Remark, note
from pytest_maxrandom.stats.labels.priors import NoPrior, base_rates
from pytest_maxrandom.studies.label_bias import answers
from pytest_maxrandom.studies.label_bias.calibrate import contextual, pride
from pytest_maxrandom.studies.label_bias.conclude import add_base_rates, conclude, holds, reduce
from pytest_maxrandom.sweeps.executor import total
from pytest_maxrandom.sweeps.predictions import Predictions, together

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_maxrandom.claims.evaluation import Evaluation
    from pytest_maxrandom.record import Calibrated, Calibration, LabelBiasRecord
    from pytest_maxrandom.stats.labels.priors import BaseRates
    from pytest_maxrandom.studies.label_bias.conclude import InteractionResult
    from pytest_maxrandom.studies.label_bias.interactions import InteractionPlan
    from pytest_maxrandom.studies.label_bias.plan import PlannedLabelBias
    from pytest_maxrandom.sweeps.executor import Job
    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.sweeps.sweep import Progress, Sweep


class LabelBiasEvaluation:
    """Label bias of one claim, being found out.

    Parameters
    ----------
    planned : PlannedLabelBias
        What is to be found out.
    evaluation : Evaluation
        Of the claim itself: its prompts are counted in the ledger; all else that is asked is no
        try, because nothing is chosen by it.
    """

    def __init__(self, planned: PlannedLabelBias, evaluation: Evaluation) -> None:
        self._planned = planned
        self._evaluation = evaluation

    @property
    def warnings(self) -> list[str]:
        """What happened to the ledger and the store, one sentence each."""
        return self._evaluation.warnings

    def prepare(self) -> None:
        """Load the model, unless all that is asked of it is stored.

        Raises
        ------
        ModelError
            If it cannot be loaded.
        """
        self._evaluation.prepare()
        sweeps = (jobs for plan in self._planned.interactions for jobs in plan.sweeps)
        if not all(map(self._evaluation.knows, sweeps)):
            self._evaluation.load()

    def run(self, record: LabelBiasRecord, progress: Progress) -> None:
        """Ask in every way, and write down what is found.

        Raises
        ------
        SweepError
            If a prompt cannot be scored.
        """
        own = self._evaluation.sweep(progress)
        record.add_arithmetic(own.engine)
        spec, claim = self._planned.spec, self._planned.claim.record(record.claim, record.suite)
        self._evaluation.judge(own, claim, progress)
        record.claim_holds = holds(claim, spec.level)
        t, *_ = self._evaluation.counted()
        further: list[Sweep] = []

        def ask(jobs: Sequence[Job]) -> Predictions:
            further.append(self._evaluation.ask(jobs, progress))
            return further[-1].predictions

        found = []
        for plan in self._planned.interactions:
            natural = own.predictions if plan.own else ask(plan.natural)
            asked = _Asked(plan, natural, t, record.claim_holds, ask)
            found.append(_of_interaction(asked, record))
        conclude(record, found)
        if further:
            record.engine = total([sweep.engine for sweep in further])
            tokens = sum(sweep.tokens for sweep in further)
            record.sweeps = tokens / own.tokens if own.tokens else None


@dataclass(frozen=True)
class _Asked:
    """One way of asking, being asked.

    Attributes
    ----------
    natural : Predictions
        The prompts' answers to the examples as they are.
    t : int
        All prompts that count.
    claim_holds : bool
        Whether the claim holds.
    ask : callable
        Puts further jobs through the model.
    """

    plan: InteractionPlan
    natural: Predictions
    t: int
    claim_holds: bool
    ask: Callable[[Sequence[Job]], Predictions]


def _of_interaction(asked: _Asked, record: LabelBiasRecord) -> InteractionResult:
    """Return the numbers of a way of asking, and add to the notes which of them there are not."""
    plan, named = asked.plan, {"interaction": asked.plan.interaction}
    found = _scored(asked)
    free = asked.ask(plan.content_free) if plan.content_free else Predictions(())
    if plan.spec.base_rate != "off":
        try:
            add_base_rates(found.bias, _base_rates(asked, free, found.best))
        except NoPrior as error:
            note(record, Remark("no_base_rates", {**named, "why": str(error)}))
    for method in plan.spec.calibration:
        try:
            found.bias.calibrated.append(_calibrated(asked, free, method))
        except NoPrior as error:
            values = {**named, "method": method, "why": str(error)}
            note(record, Remark("not_calibrated", values))
        else:
            if method == "pride":
                note(record, Remark("held_back", {**named, "examples": _held_back(asked)}))
    return found


def _scored(asked: _Asked) -> InteractionResult:
    """Compare answers, to examples as they are or with right answers moved, with guessers."""
    plan = asked.plan
    if plan.moved:
        further = asked.ask(plan.moved)
        shown = answers.moved(plan.labels, plan.names, together(asked.natural, further))
    else:
        shown = answers.natural(plan.labels, plan.names, asked.natural)
    return reduce(shown, plan.interaction, plan.spec, asked.t, claim_holds=asked.claim_holds)


def _base_rates(asked: _Asked, free: Predictions, best: int) -> BaseRates:
    """Return the probabilities of the labels of examples with the most choices.

    Parameters
    ----------
    free : Predictions
        Of content-free inputs.
    best : int
        Place of the prompt that the labels are shown of.

    Raises
    ------
    NoPrior
        If no label has any.
    """
    plan = asked.plan
    texts = free.prompts[best] if plan.spec.base_rate == "content_free" else _control(asked, best)
    rows = [row for row in texts.log_likelihoods if len(row) == len(plan.names)]
    # Rounding may leave a probability of 1 a little above it.
    return base_rates(np.minimum(rows, 0.0))


def _control(asked: _Asked, best: int) -> PromptPredictions:
    """Ask the control texts of all formats, and return those of one prompt's."""
    plan = asked.plan
    texts = asked.ask(plan.control).prompts
    return texts[plan.formats.index(asked.natural.prompts[best].prompt.format)]


def _calibrated(asked: _Asked, free: Predictions, method: Calibration) -> Calibrated:
    """Take the labels' prior out of the scores.

    Raises
    ------
    NoPrior
        If there is none, or nothing to compare without it.
    """
    plan = asked.plan
    if method == "contextual":
        return contextual(plan.labels, plan.names, asked.natural, free, asked.t)
    rotated = asked.ask(plan.rotated)
    return pride(plan.labels, plan.names, asked.natural, rotated, plan.held, asked.t)


def _held_back(asked: _Asked) -> dict[str, int]:
    """Count the examples that PriDe's prior comes from, by their number of choices."""
    plan = asked.plan
    pairs = zip(plan.labels.examples, plan.labels.choices, strict=True)
    sizes = Counter(choices for example, choices in pairs if example.id in plan.held)
    return {str(choices): size for choices, size in sorted(sizes.items())}
