"""What answers show, of a sweep or recorded: all that red flags are found in."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ModelError, SweepError
from pytest_maxrandom.flags.compare import blanked
from pytest_maxrandom.flags.flag_input import FlagInput, JudgedScore
from pytest_maxrandom.notation import METRIC_NAMES
from pytest_maxrandom.record import Remark, note
from pytest_maxrandom.stats.chances import choices_of
from pytest_maxrandom.stats.metrics import METRICS
from pytest_maxrandom.sweeps.executor import jobs_of
from pytest_maxrandom.sweeps.labels import label
from pytest_maxrandom.sweeps.predictions import of_predictions, unread
from pytest_maxrandom.sweeps.scorers import SCORERS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.claims.planned_recorded import RecordedClaim
    from pytest_maxrandom.flags.compare import Compared
    from pytest_maxrandom.record import ClaimRecord
    from pytest_maxrandom.suite.claims import Metric
    from pytest_maxrandom.sweeps.executor import Job
    from pytest_maxrandom.sweeps.labels import Labels
    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.sweeps.sweep import Sweep


def flag_input_of_sweep(
    planned: PlannedClaim,
    sweep: Sweep,
    labels: Labels,
    others: Sequence[FlagInput] = (),
    compared: Compared | None = None,
) -> FlagInput:
    """Return what a sweep shows.

    Parameters
    ----------
    labels : Labels
        Of the validation set.
    others : sequence of FlagInput
        The same of other models.
    compared : Compared, optional
        The best prompt compared with heuristics.
    """
    condition = planned.condition
    found = of_predictions(
        sweep.predictions,
        labels,
        model=planned.model.name,
        shots=condition.shots,
        whole=SCORERS[planned.suite.scoring].whole_answer,
    )
    return FlagInput.of(
        found,
        t=planned.null.t,
        chance=condition.null.chance,
        comparable=labels.meaningful(condition.prompt_set.prompts),
        full_texts=sweep.full_texts,
        unread=unread(sweep.predictions, labels),
        asked=_asked(planned),
        compared=compared,
        others=tuple(others),
    )


def blank_control(
    planned: PlannedClaim,
    best: PromptPredictions,
    record: ClaimRecord,
    ask: Callable[[Sequence[Job]], Sweep],
) -> PromptPredictions | None:
    """Ask a prompt again with blank inputs, where the suite wants that and it tells anything.

    Parameters
    ----------
    ask : callable
        Runs jobs that are no try of the claim.

    Raises
    ------
    SweepError
        If it cannot be scored so.
    """
    suite = planned.suite
    if "choices_only" not in suite.shortcuts:
        return None
    if len({example.input for example in best.examples}) == 1:
        note(record, Remark("no_blank_control"))
        return None
    try:
        sweep = ask(jobs_of([(best.prompt, blanked(best.examples))], suite.scoring))
    except ModelError:
        raise
    except SweepError as error:
        raise SweepError(f"shortcuts: choices_only: with blank inputs, {error}") from error
    return sweep.predictions[0]


def judged_score(metric: Metric, labels: Labels, best: float) -> JudgedScore | None:
    """Score every constant answer as a claim does, whose classes are texts; None of accuracy."""
    if metric == "accuracy":
        return None
    texts = label(labels.examples)
    classes = texts.classes()
    assert classes is not None
    constants = [
        [
            of_texts[codes.index(said)]
            for codes, of_texts in zip(labels.codes, texts.codes, strict=True)
        ]
        for said in range(labels.choices[0])
    ]
    scores = tuple(METRICS[metric].score(row, classes) for row in constants)
    return JudgedScore(METRIC_NAMES[metric], best, scores)


def flag_input_of_recorded(claim: RecordedClaim) -> FlagInput:
    """Return what recorded results show; of a published maximum there are no answers."""
    evidence, model = claim.evidence, claim.model
    assert evidence is not None
    read, null = evidence.read, evidence.null
    choices = None
    if read.chances is not None:
        right = [1] * len(read.chances) if read.gold is None else [*map(len, read.gold)]
        choices = tuple(map(choices_of, right, read.chances))
    return FlagInput.of(
        read,
        # One name may stand for several models, which labels tell apart.
        model=model.name if model.label is None else f"{model.name} ({model.label})",
        t=null.t,
        chance=null.chance,
        choices=choices,
        declared_chance=evidence.declared_chance,
        declared_n=evidence.declared_n,
        comparable=bool(read.labels),
        asked=len(read.prompts),
        others=tuple(
            flag_input_of_recorded(other)
            for other in claim.others
            if other.evidence is not None and other.evidence.read.prompts
        ),
    )


def _asked(planned: PlannedClaim) -> int | None:
    """Return how many prompts were asked for; one without demonstrations has no variants."""
    prompts, found = planned.suite.prompts, planned.condition.prompt_set
    if found.possible == 1:
        return None
    if prompts.combine == "cross":
        variants = found.possible // math.perm(found.pool, planned.condition.shots)
        return prompts.count - prompts.count % variants
    return prompts.count
