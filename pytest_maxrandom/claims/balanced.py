"""What balanced accuracy would show where the same answer to all is right as often as any."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.claims.classes import in_metric
from pytest_maxrandom.claims.nulls import NoMetric
from pytest_maxrandom.claims.shuffles import NoPermutations, Shuffle, permuted
from pytest_maxrandom.record import Remark
from pytest_maxrandom.record.metrics import METRICS
from pytest_maxrandom.record.result import DEFAULT_LEVEL, Result

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_maxrandom.claims.assessment import View
    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.claims.recorded_claims import RecordedClaim
    from pytest_maxrandom.suite.claims import Metric


def _by_class(
    result: Result, shuffles: Sequence[Shuffle], classes: Sequence[int], t: int
) -> Iterator[Remark]:
    """Tell of a failing claim that balanced accuracy shows what the prompts know, if it does.

    `shuffles` are all by which a claim in balanced accuracy would be judged, and `classes` the
    right labels of the examples.
    """
    if any(each.exchange.by not in ("examples", "whole clusters") for each in shuffles):
        return  # such a test is about lifts, whatever the metric
    metric = METRICS["balanced_accuracy"]
    level = min(result.levels.values(), default=DEFAULT_LEVEL)
    p = max(permuted(each, t, level=level, metric="balanced_accuracy").p for each in shuffles)
    if p <= level:
        rows = np.asarray(shuffles[0].answers).tolist()
        values = {
            "rate": result.majority_rate,
            "score": max(metric.score(row, classes) for row in rows),
            "constant": 1 / len(set(classes)),
            "p": p,
        }
        yield Remark("by_class", values)


def _shows_nothing(metric: Metric, result: Result) -> bool:
    """Tell whether a claim fails in accuracy, and the same answer to all is as often right."""
    rate, best = result.majority_rate, result.best_accuracy
    if metric != "accuracy" or result.passed is not False or rate is None or best is None:
        return False
    return rate >= best


def balanced_of_sweep(
    planned: PlannedClaim, views: Sequence[View], result: Result
) -> Iterator[Remark]:
    """Tell of a sweep's failing claim that balanced accuracy shows what its prompts know."""
    if not _shows_nothing(planned.suite.metric, result):
        return
    classes = planned.condition.labels.classes()
    if classes is not None and views[0].answers.evaluated.all():
        shuffles = [shuffle for view in views for shuffle in view.shuffles]
        yield from _by_class(result, shuffles, classes, planned.null.t)


def balanced_of_recorded(claim: RecordedClaim, result: Result) -> Iterator[Remark]:
    """Tell it of a failing claim about recorded results that tell classes."""
    assert claim.evidence is not None
    if not _shows_nothing(claim.metric, result):
        return
    try:
        judged = in_metric(claim.evidence, "balanced_accuracy")
    except NoMetric:
        return
    assert judged.results.gold is not None
    if not isinstance(judged.shuffles, NoPermutations):
        classes = [label for right in judged.results.gold for label in right]
        yield from _by_class(result, judged.shuffles, classes, judged.t)
