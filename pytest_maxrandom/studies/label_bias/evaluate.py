"""Label bias of a claim, from its plan to its record: all that is asked, and what it says.

Choices by probability are also judged without the labels' prior: is the best prompt above chance
then? A prior is estimated for each number of choices by itself, because labels that stand beside
more others have less of the probability.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.claims.recorded_claims import RecordedClaim
from pytest_maxrandom.claims.views import result_of_recorded
from pytest_maxrandom.record import Calibrated, Remark, note
from pytest_maxrandom.stats.labels import priors
from pytest_maxrandom.stats.labels.priors import NoPrior
from pytest_maxrandom.stats.maximum import BestOfPrompts
from pytest_maxrandom.stats.seeding import Stream
from pytest_maxrandom.studies.label_bias.answers import label_answers, moved_answers
from pytest_maxrandom.studies.label_bias.conclude import (
    add_base_rates,
    doubt,
    record_finding,
    reduce,
)
from pytest_maxrandom.studies.label_bias.interactions import rotations
from pytest_maxrandom.sweeps.executor import total
from pytest_maxrandom.sweeps.prompts.formats import shown_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from pytest_maxrandom.claims.evaluation import Evaluation
    from pytest_maxrandom.record import Calibration, InteractionBias, LabelBiasRecord
    from pytest_maxrandom.studies.label_bias.interactions import InteractionPlan
    from pytest_maxrandom.studies.label_bias.plan import PlannedLabelBias
    from pytest_maxrandom.sweeps.executor import Job
    from pytest_maxrandom.sweeps.labels import Labels
    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.sweeps.sweep import Progress, Sweep

    Prior = Mapping[int, NDArray[np.float64]]
    Rows = Sequence[PromptPredictions]
    Ask = Callable[[Sequence[Job]], Rows]
    """Puts further jobs through the model."""

_TIED = 1e-9
"""Calibrated scores closer than this, in nats, are equal: dividing by a prior rounds them."""


def prepare(planned: PlannedLabelBias, evaluation: Evaluation) -> None:
    """Load the model, unless all that is asked of it is stored; the evaluation is the claim's.

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
    record.doubt = doubt(result, planned.spec.level, asserts=asserts)
    t, *_ = evaluation.tries.counted()
    further: list[Sweep] = []

    def ask(jobs: Sequence[Job]) -> Rows:
        further.append(evaluation.ask(jobs, progress))
        return further[-1].predictions

    found = []
    for plan in planned.interactions:
        natural = own.predictions if plan.own else ask(plan.natural)
        found.append(_of_interaction(plan, natural, t, ask, record))
    record_finding(record, found, result.cannot_tell)
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
    record.doubt = doubt(result, planned.spec.level, asserts=asserts)
    t, is_sound = recorded.evidence.t, record.doubt is None
    found = reduce(planned.answers, "cloze", planned.spec, t, claim_holds=is_sound)
    record_finding(record, [found], result.cannot_tell)


def _of_interaction(
    plan: InteractionPlan, natural: Rows, t: int, ask: Ask, record: LabelBiasRecord
) -> InteractionBias:
    """Return the numbers of a way of asking, and note which of them there are not.

    `natural` is what the prompts answered to the examples as they are; t counts all prompts.
    """
    labels, names, named = plan.labels, plan.names, {"interaction": plan.interaction}
    moved, is_sound = None, record.doubt is None
    if plan.moved:
        moved = moved_answers(labels, len(names), natural, ask(plan.moved))
    shown = label_answers(labels, names, natural)
    bias = reduce(shown, plan.interaction, plan.spec, t, moved=moved, claim_holds=is_sound)
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
            add_base_rates(bias, priors.base_rates(np.minimum(rows, 0.0)))
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


@dataclass(frozen=True)
class _Outcome:
    """One prompt's answers to the examples that no prior was estimated on."""

    plain: int
    calibrated: int
    chances: tuple[Fraction, ...]
    prior: Prior


def contextual(
    labels: Labels, names: Sequence[str], natural: Rows, content_free: Rows, t: int
) -> Calibrated:
    """Remove what each prompt says of inputs that say nothing (Zhao et al. 2021); t counts all.

    Raises
    ------
    NoPrior
        If an input has a label without probability.
    """
    estimated = [
        {m: priors.contextual_log_prior(rows) for m, rows in _by_size(free.log_likelihoods).items()}
        for free in content_free
    ]
    return _calibrated("contextual", labels, names, natural, estimated, frozenset(), t)


def pride(
    labels: Labels, names: Sequence[str], natural: Rows, rotated: Rows, held: frozenset[str], t: int
) -> Calibrated:
    """Remove the prior of places, estimated on held-back examples (PriDe, Zheng et al. 2023).

    `rotated` are the prompts on the held-back examples in all rotations but the natural one, and
    `held` the ids of these examples.

    Raises
    ------
    NoPrior
        If no prompt was scored on a held-back example and on another of as many choices, or a label
        has no probability.
    """
    estimated = []
    for one, turned in zip(natural, rotated, strict=True):
        scores = {
            example.presentation: row
            for part in (one, turned)
            for example, row in zip(part.examples, part.log_likelihoods, strict=True)
        }
        samples = _by_size(
            [
                [scores[each.presentation][index] for index in shown_order(each)]
                for each in rotations(example)
            ]
            for example in one.examples
            if example.id in held
        )
        estimated.append({m: priors.pride_log_prior(of_size) for m, of_size in samples.items()})
    return _calibrated("pride", labels, names, natural, estimated, held, t)


def _by_size(samples: Iterable[Sequence[object]]) -> dict[int, NDArray[np.float64]]:
    """Stack samples of as many labels."""
    found: dict[int, list[Sequence[object]]] = {}
    for each in samples:
        found.setdefault(len(each), []).append(each)
    return {m: np.array(of_size) for m, of_size in found.items()}


def _outcome(
    labels: Labels, one: PromptPredictions, prior: Prior, held: frozenset[str]
) -> _Outcome:
    places, gold = {e.id: number for number, e in enumerate(labels.examples)}, labels.gold
    plain = calibrated = 0
    chances = []
    for example, row in zip(one.examples, one.log_likelihoods, strict=True):
        # A number of choices of which no example was held back has no prior.
        log_prior = prior.get(len(row))
        if example.id in held or log_prior is None:
            continue
        number = places[example.id]
        observed = np.array([labels.by_label(number, row)])
        (scores,) = priors.without_prior(observed, log_prior)
        digest, right = one.prompt.digest, gold[number]
        plain += _answer(observed[0], digest, example.id) in right
        calibrated += _answer(scores, digest, example.id) in right
        chances.append(example.chance)
    return _Outcome(plain, calibrated, tuple(sorted(chances)), prior)


def _answer(scores: NDArray[np.float64], digest: str, name: str) -> int:
    """Return the label with the highest score; equal ones are decided by lot, as in a sweep."""
    known = np.nan_to_num(scores, nan=-np.inf)
    equal = np.flatnonzero(known >= known.max() - _TIED)
    return int(equal[Stream("calibrated tie", digest, name).below(len(equal))])


def _calibrated(
    method: Calibration,
    labels: Labels,
    names: Sequence[str],
    natural: Rows,
    estimated: Sequence[Prior],
    held: frozenset[str],
    t: int,
) -> Calibrated:
    """Compare the best prompt without its prior with the best of t guessers."""
    both = zip(natural, estimated, strict=True)
    found = (_outcome(labels, one, prior, held) for one, prior in both)
    outcomes = [one for one in found if one.chances]
    if not outcomes:
        raise NoPrior("no prompt was scored on held-back examples and on others")
    sizes = Counter(one.chances for one in outcomes)
    likely = max(sizes, key=lambda chances: sum(chances) / len(chances))
    sizes[likely] += max(0, t - len(outcomes))
    baseline = BestOfPrompts(list(sizes.items()))
    best = max(outcomes, key=lambda one: one.calibrated / len(one.chances))
    n = len(best.chances)
    prior = np.exp(best.prior[max(best.prior)]).tolist()
    return Calibrated(
        method=method,
        n=n,
        best_correct=best.calibrated,
        best_accuracy=best.calibrated / n,
        plain_accuracy=max(one.plain / len(one.chances) for one in outcomes),
        max_random_baseline=baseline.expected_accuracy,
        p_max=baseline.p_value(best.calibrated, n),
        prior=dict(zip(names[: len(prior)], prior, strict=True)),
    )
