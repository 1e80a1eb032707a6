"""What a claim's best prompt is worth on new questions: from its predictions to its record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.record import NewQuestions
from pytest_maxrandom.stats.gold import hits
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
    """Select by balanced accuracy or macro-F1 of the examples that were drawn."""
    labels = np.unique(classes)

    def select(weights: Weights) -> NDArray[np.float64]:
        scores = np.zeros((len(weights), len(said)))
        for label in labels:
            gold, given = classes == label, (said == label).astype(np.float32)
            size = weights[:, gold].sum(axis=1, keepdims=True)
            found = (weights[:, gold] @ given[:, gold].T).astype(np.float64)
            whole = 2 * size if metric == "balanced_accuracy" else size + weights @ given.T
            # A class of which no example was drawn counts for no prompt.
            scores += np.divide(2 * found, whole, where=whole > 0, out=np.zeros_like(scores))
        return np.round(scores, _DIGITS)

    return select
