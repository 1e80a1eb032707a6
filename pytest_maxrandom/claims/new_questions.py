"""What a claim's best prompt is worth on new questions: from its predictions to its record."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.record import NewQuestions
from pytest_maxrandom.stats.metrics import METRICS, Tally
from pytest_maxrandom.stats.winner import RESAMPLES, lower_bound, out_of_bag

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.stats.winner import Select, Weights
    from pytest_maxrandom.suite.claims import Metric

_DIGITS = 12
"""Scores that differ less are the same score, computed differently."""


def new_questions(
    answers: Answers, best: int, t: int, metric: Metric = "accuracy", *, searched: bool = False
) -> NewQuestions:
    """Return what the best prompt is worth.

    Parameters
    ----------
    answers : Answers
        Where the metric is about classes, labels must mean the same in all examples.
    best : int
        Row of the best prompt.
    t : int
        All prompts, of which those at hand may be a part.
    metric : str
        What it is best in.
    searched : bool
        Whether prompts were proposed by what the examples told of others. Examples that are not
        drawn have told of them as well, so that they give no estimate.
    """
    own, groups, select = np.flatnonzero(answers.evaluated[best]), answers.groups, None
    of_best = None if groups is None else [groups[place] for place in own.tolist()]
    if metric != "accuracy":
        assert answers.answers is not None
        assert answers.gold is not None
        classes = np.array([label for right in answers.gold for label in right])
        select = _by_class(metric, answers.answers, classes)
    return NewQuestions(
        low=lower_bound(int(answers.correct_counts[best]), len(own), t, clusters=of_best),
        estimate=None
        if searched
        else out_of_bag(answers.correct, answers.evaluated, clusters=groups, select=select),
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
