"""What a sweep of a model shows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.claims.verdict import DEFAULT_LEVEL
from pytest_maxrandom.flags.seen import Outcome, ScoreOutcome, Seen
from pytest_maxrandom.notation import METRICS
from pytest_maxrandom.stats.metrics import SCORES
from pytest_maxrandom.sweeps.answers import of_predictions
from pytest_maxrandom.sweeps.labels import label
from pytest_maxrandom.sweeps.scorers import SCORERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.claims.verdict import Verdict
    from pytest_maxrandom.flags.compare import Compared
    from pytest_maxrandom.sweeps.labels import Labels
    from pytest_maxrandom.sweeps.sweep import Sweep


def seen_of_sweep(
    planned: PlannedClaim,
    sweep: Sweep,
    labels: Labels,
    answers: ArrayLike,
    best: int = 0,
    verdict: Verdict | None = None,
    others: Sequence[Seen] = (),
    compared: Compared | None = None,
) -> Seen:
    """Return what a sweep shows.

    Parameters
    ----------
    labels : Labels
        Of the validation set.
    answers : array_like of int
        Shape (t, n): the label of each answer, as `Labels.answers` returns them.
    best : int
        Row of the best prompt.
    verdict : Verdict, optional
        What the claim comes to; not needed where the sweep stands beside another.
    others : sequence of Seen
        The same of other models.
    compared : Compared, optional
        The best prompt beside heuristics.
    """
    cell, prompt_set = planned.cell, planned.cell.prompt_set
    found = of_predictions(
        sweep.predictions,
        labels,
        model=planned.model.name,
        shots=cell.shots,
        whole=SCORERS[planned.suite.scoring].whole_answer,
        said=np.asarray(answers, dtype=np.int64),
    )
    return Seen.of(
        found,
        t=planned.null.t,
        chance=cell.null.chance,
        comparable=labels.meaningful(prompt_set.prompts),
        full_texts=sweep.full_texts,
        asked=_asked(planned),
        outcome=None if verdict is None else _outcome(planned, labels, best, verdict),
        compared=compared,
        others=tuple(others),
    )


def _asked(planned: PlannedClaim) -> int | None:
    """Return how many prompts were asked for; one without demonstrations has no variants."""
    prompts, found = planned.suite.prompts, planned.cell.prompt_set
    if found.possible == 1:
        return None
    if prompts.combine == "cross":
        variants = found.possible // math.perm(found.pool, planned.cell.shots)
        return prompts.count - prompts.count % variants
    return prompts.count


def _outcome(planned: PlannedClaim, labels: Labels, best: int, verdict: Verdict) -> Outcome:
    claim = planned.claim
    ways = None if claim.permutation_p is None else labels.arrangements
    return Outcome(
        best=best,
        correct=verdict.best_correct,
        n=verdict.n,
        passed=verdict.passed,
        p_max=verdict.p_max,
        permutation_p=verdict.permutation_p,
        level=verdict.levels.get("p_max", DEFAULT_LEVEL),
        impossible=tuple(claim.impossible(planned.null, ways)),
        score=_score(planned, labels, verdict),
    )


def _score(planned: PlannedClaim, labels: Labels, verdict: Verdict) -> ScoreOutcome | None:
    """Score every constant answer as the claim does: whose classes are texts."""
    metric = planned.suite.metric
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
    scores = tuple(SCORES[metric](row, classes) for row in constants)
    return ScoreOutcome(METRICS[metric], verdict.best_score, scores)
