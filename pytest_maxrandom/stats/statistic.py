"""What a max-T test takes the best of: scores that are made of counts by label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tally:
    """What the scores of t prompts are made of, by label; counts as floats, shape (..., t, m).

    Attributes
    ----------
    hits
        Right answers with the label.
    seen
        Scored examples for which the label is right.
    said
        Answers with the label, shape (t, m).
    scored
        Scored examples of the label's stratum, or all of them, shape (t, m).
    """

    hits: Floats
    seen: Floats
    said: Floats
    scored: Floats


@dataclass(frozen=True, eq=False)
class Statistic:
    """What a max-T test takes the best of.

    Attributes
    ----------
    of
        The scores of a tally, shape (..., t); NaN where a prompt has none.
    by_stratum
        Whether the labels of different strata are different labels.
    """

    of: Callable[[Tally], Floats]
    by_stratum: bool = False


def _accuracy(tally: Tally) -> Floats:
    scores: Floats = tally.hits.sum(axis=-1) / tally.said.sum(axis=-1)
    return scores


def _lift(tally: Tally) -> Floats:
    expected = tally.said * tally.seen / np.maximum(tally.scored, 1)
    scores: Floats = (tally.hits - expected).sum(axis=-1) / tally.said.sum(axis=-1)
    return scores


def _balanced_accuracy(tally: Tally) -> Floats:
    return _mean_of_classes(tally.hits / np.maximum(tally.seen, 1), tally.seen)


def _macro_f1(tally: Tally) -> Floats:
    return _mean_of_classes(2 * tally.hits / np.maximum(tally.seen + tally.said, 1), tally.seen)


def _mean_of_classes(values: Floats, seen: Floats) -> Floats:
    classes = seen > 0
    scores: Floats = np.where(classes, values, 0.0).sum(axis=-1) / classes.sum(axis=-1)
    return scores


ACCURACY = Statistic(_accuracy)
LIFT = Statistic(_lift, by_stratum=True)
"""Accuracy above what the same answers are expected to reach, dealt at random to the examples that
the prompt was scored on. For prompts that leave out their own demonstrations: which right answers
are missing is known to the model, and whoever answers against them would seem to know."""
STATISTICS: Mapping[str, Statistic] = {
    "accuracy": ACCURACY,
    "balanced_accuracy": Statistic(_balanced_accuracy),
    "macro_f1": Statistic(_macro_f1),
}
"""By the names that metrics have in a suite."""
