"""What prompts answered, as labels: what label bias is computed from, live or recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.gold import hits, membership
from pytest_maxrandom.stats.permutation import NOT_EVALUATED
from pytest_maxrandom.studies.label_bias.placements import placements
from pytest_maxrandom.sweeps.labels import label

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.sweeps.labels import Labels
    from pytest_maxrandom.sweeps.predictions import Predictions


@dataclass(frozen=True, eq=False)
class LabelAnswers:
    """The answers of t prompts to n examples.

    Attributes
    ----------
    names : tuple of str
        What the labels 0, ..., m - 1 are called.
    ids : tuple of str
        Of the examples.
    choices : tuple of int
        Number of choices of each example.
    gold : tuple of frozenset of int
        Labels of the right choices of each example, as it is shown by itself.
    prompts : tuple of str
        Digests, or what else prompts are called.
    answers : ndarray of int
        Shape (t, n): the label that was given. Shape (t, n, m): given to the example with its right
        answer at label l. NOT_EVALUATED where an example was not scored, or has no such label;
        m or more where what was given is no label.
    groups : tuple of str or None
        The cluster of each example, or what is its own; None where none has one.
    """

    names: tuple[str, ...]
    ids: tuple[str, ...]
    choices: tuple[int, ...]
    gold: tuple[frozenset[int], ...]
    prompts: tuple[str, ...]
    answers: NDArray[np.int64]
    groups: tuple[str, ...] | None = None

    @property
    def presented(self) -> NDArray[np.bool_]:
        """Which answers there are, in the shape of `answers`."""
        presented: NDArray[np.bool_] = self.answers != NOT_EVALUATED
        return presented

    @property
    def evaluated(self) -> NDArray[np.bool_]:
        """Which examples each prompt was scored on, shape (t, n)."""
        shown = self.presented.reshape(*self.answers.shape[:2], -1)
        evaluated: NDArray[np.bool_] = np.any(shown, axis=2)
        return evaluated

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which answers are right, in the shape of `answers`.

        Where right answers were moved, the one that was moved counts.
        """
        if self.answers.ndim == 2:
            return hits(self.answers, self.gold, np.arange(len(self.gold)))
        right: NDArray[np.bool_] = self.answers == np.arange(len(self.names))
        return right

    def gold_counts(self, prompt: int) -> list[int]:
        """Count, for each label, the prompt's presentations in which it is right."""
        if self.answers.ndim == 3:
            return [int(count) for count in self.presented[prompt].sum(axis=0)]
        marked = membership(self.gold, len(self.names))
        return [int(count) for count in marked[self.evaluated[prompt]].sum(axis=0)]


def natural(labels: Labels, names: Sequence[str], predictions: Predictions) -> LabelAnswers:
    """Return the answers to the examples as they are."""
    return _answers(labels, names, predictions, np.array(labels.answers(predictions)))


def moved(labels: Labels, names: Sequence[str], predictions: Predictions) -> LabelAnswers:
    """Return the answers to the examples with their right answers at each label.

    Parameters
    ----------
    labels : Labels
        Of the examples as they are; labels are places.
    predictions : Predictions
        Of all the placements.
    """
    shown = [placements(example) for example in labels.examples]
    flat = [one for of_example in shown for one in of_example]
    given = np.array(label(flat, by_place=True).answers(predictions))
    answers = np.full((len(given), len(shown), len(names)), NOT_EVALUATED, dtype=np.int64)
    example = np.repeat(np.arange(len(shown)), [len(of_example) for of_example in shown])
    place = [number for of_example in shown for number in range(len(of_example))]
    answers[:, example, place] = given
    return _answers(labels, names, predictions, answers)


def _answers(
    labels: Labels, names: Sequence[str], predictions: Predictions, answers: NDArray[np.int64]
) -> LabelAnswers:
    return LabelAnswers(
        names=tuple(names),
        ids=tuple(example.id for example in labels.examples),
        choices=tuple(labels.choices),
        gold=_frozen(labels.gold),
        prompts=tuple(one.prompt.digest for one in predictions.prompts),
        answers=answers,
        groups=None if (groups := labels.groups) is None else tuple(groups),
    )


def _frozen(gold: Sequence[Collection[int]]) -> tuple[frozenset[int], ...]:
    return tuple(frozenset(right) for right in gold)
