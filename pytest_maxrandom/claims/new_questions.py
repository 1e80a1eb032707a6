"""What a claim's best prompt is worth on new questions: from its predictions to its record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.record import NewQuestions
from pytest_maxrandom.stats.gold import hits
from pytest_maxrandom.stats.metrics import METRICS, Tally
from pytest_maxrandom.stats.permutation import NOT_EVALUATED
from pytest_maxrandom.stats.winner import RESAMPLES, lower_bound, out_of_bag

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from pytest_maxrandom.stats.winner import Select, Weights
    from pytest_maxrandom.suite.spec import Metric
    from pytest_maxrandom.sweeps.labels import Labels

_DIGITS = 12
"""Scores that differ less are the same score, computed differently."""


def of_answers(
    answers: ArrayLike,
    labels: Labels,
    best: int,
    t: int,
    *,
    metric: Metric = "accuracy",
    clusters: Sequence[Hashable] | None = None,
) -> NewQuestions:
    """Return what a sweep's best prompt is worth.

    Parameters
    ----------
    answers
        The label that each prompt gave to each example, shape (prompts, n); NOT_EVALUATED where a
        prompt was not scored on an example.
    labels : Labels
        Of the validation set.
    best : int
        Row of the best prompt.
    t : int
        All prompts, of which those at hand may be a part.
    metric : str
        What it is best in.
    clusters
        As `pytest_maxrandom.stats.winner.out_of_bag` takes them.
    """
    said = np.asarray(answers)
    right = hits(said, list(map(frozenset, labels.gold)), np.arange(said.shape[1]))
    classes = labels.classes()
    select = None
    if metric != "accuracy" and classes is not None:
        select = _by_class(metric, said, np.array(classes))
    return of_right(right, said != NOT_EVALUATED, best, t, clusters=clusters, select=select)


def of_right(
    right: NDArray[np.bool_],
    evaluated: NDArray[np.bool_],
    best: int,
    t: int,
    *,
    clusters: Sequence[Hashable] | None = None,
    select: Select | None = None,
) -> NewQuestions:
    """Return the same of answers of which it is known only which are right."""
    own = np.flatnonzero(evaluated[best])
    of_best = None if clusters is None else [clusters[place] for place in own.tolist()]
    return NewQuestions(
        low=lower_bound(int(right[best].sum()), len(own), t, clusters=of_best),
        estimate=out_of_bag(right, evaluated, clusters=clusters, select=select),
        resamples=RESAMPLES,
        clusters=None if of_best is None else len(set(of_best)),
    )


def _by_class(metric: Metric, said: NDArray[np.int64], classes: NDArray[np.int64]) -> Select:
    """Select by the metric, of the examples that were drawn."""
    labels, statistic = np.unique(classes), METRICS[metric].statistic
    is_gold = [classes == label for label in labels]
    is_said = [(said == label).astype(np.float32).T for label in labels]

    def scores(weights: Weights) -> NDArray[np.float64]:
        hit = [weights[:, gold] @ given[gold] for gold, given in zip(is_gold, is_said, strict=True)]
        there = [weights[:, gold].sum(axis=1, keepdims=True) for gold in is_gold]
        answered = [weights @ given for given in is_said]
        parts = (np.stack(part, axis=-1, dtype=np.float64) for part in (hit, there, answered))
        hits, seen, answers = parts
        return statistic.of(Tally(hits, seen, answers, seen.sum(axis=-1, keepdims=True)))

    def select(weights: Weights) -> NDArray[np.float64]:
        # As much memory as one label takes, however many there are.
        parts = np.array_split(weights, min(len(labels), len(weights)))
        return np.round(np.concatenate([scores(part) for part in parts]), _DIGITS)

    return select
