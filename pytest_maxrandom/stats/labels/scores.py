"""How answers treat the labels: recalls, Nvr-X scores, placements of the right answer.

A model that always says "A" is right wherever A is. Averaged over the labels X that are taken
away from the right answers ("never X"), such a model is right nowhere: the Nvr-X score is the mean
recall of the labels other than the best one,

    (sum_l r_l - max_l r_l) / (m - 1)

("The Base-Rate Effect on LLM Benchmark Performance", arXiv 2406.11634), 0 for a constant answer.
Recall r_l is the share of the presentations whose right answers include label l that are answered
with l itself. Of several right answers none stands in for another: an answer that is right because
it is one of several would otherwise give a constant answer a score above 0.

Labels are 0, ..., m - 1; answers are labels, `NOT_EVALUATED` where a prompt was not scored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.gold import NOT_EVALUATED, membership, right_labels
from pytest_maxrandom.stats.metrics import Statistic, Tally
from pytest_maxrandom.stats.seeding import Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.stats.gold import Gold


def recalls(answers: NDArray[np.integer], gold: Gold, labels: int) -> NDArray[np.float64]:
    """Accuracy by gold label.

    Parameters
    ----------
    answers
        Shape (t, n).
    gold
        The right label of each of the n examples, or several.
    labels
        Number of labels m.

    Returns
    -------
    Shape (t, m); NaN where no evaluated example of a prompt has the label among its right ones.
    """
    shown = _answers(answers, 2)
    rights = right_labels(gold)
    if len(rights) != shown.shape[1]:
        raise ValueError(f"gold names {len(rights)} examples, answers {shown.shape[1]}")
    member = membership(rights, labels)
    evaluated = shown != NOT_EVALUATED
    seen = evaluated.astype(np.int64) @ member
    hits = [((shown == label) & member[:, label]).sum(axis=1) for label in range(labels)]
    return shares(np.stack(hits, axis=1), seen)


def moved_recalls(answers: NDArray[np.integer]) -> NDArray[np.float64]:
    """Recalls when every right answer is shown at every label.

    Parameters
    ----------
    answers
        Shape (t, n, m): entry [j, i, l] is prompt j's answer to example i with its right answer
        at label l; `NOT_EVALUATED` also where the example has no such label.

    Returns
    -------
    Shape (t, m).
    """
    shown = _answers(answers, 3)
    hits = shown == np.arange(shown.shape[2])
    return shares(hits.sum(axis=1), (shown != NOT_EVALUATED).sum(axis=1))


def redraw_places(
    ids: Sequence[str], choices: Sequence[int], *, seed: int = 0
) -> NDArray[np.int64]:
    """Draw where right answers stand when they are never at label X, for each X.

    Every place is uniform over the example's labels other than X. The places of one example for
    different X are all different (a random permutation without fixed points), so that no
    presentation serves two redraws and guesses in different redraws are independent. For an X that
    the example does not have, any of its labels is drawn.

    Parameters
    ----------
    ids
        Names of the n examples; an example's places depend on nothing else and the seed.
    choices
        Number of labels of each example; m is the largest.

    Returns
    -------
    Shape (m, n); `NOT_EVALUATED` where an example has one label only.
    """
    if len(ids) != len(choices) or not len(ids):
        raise ValueError(f"found {len(ids)} ids and {len(choices)} numbers of choices")
    places = np.full((max(choices), len(ids)), NOT_EVALUATED, dtype=np.int64)
    for i, (name, count) in enumerate(zip(ids, choices, strict=True)):
        if count < 2:
            continue
        stream = Stream("never-X redraw", seed, name)
        own = list(range(count))
        drawn = stream.shuffled(own)
        while any(place == label for label, place in enumerate(drawn)):
            drawn = stream.shuffled(own)
        places[:count, i] = drawn
        places[count:, i] = [stream.below(count) for _ in range(count, len(places))]
    return places


def redrawn_accuracies(
    answers: NDArray[np.integer], places: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Accuracy in each redraw.

    Parameters
    ----------
    answers
        As of `moved_recalls`: every redrawn presentation is one of its placements.
    places
        Shape (m, n), from `redraw_places`.

    Returns
    -------
    Shape (t, m): entry [j, x] of prompt j where no right answer stands at label x; NaN where none
    of its examples could be redrawn.
    """
    shown = _answers(answers, 3)
    accuracies = []
    for drawn in places:
        movable = drawn != NOT_EVALUATED
        there = shown[:, np.flatnonzero(movable), drawn[movable]]
        hits = (there == drawn[movable]).sum(axis=1)
        accuracies.append(shares(hits, (there != NOT_EVALUATED).sum(axis=1)))
    return np.stack(accuracies, axis=1)


def never_score(recall: NDArray[np.float64]) -> NDArray[np.float64]:
    """Nvr-X score (sum of recalls - largest)/(m - 1) over the last axis.

    m counts the labels that have a recall: a label that is never gold says nothing of what the
    model knows, and adds nothing to the score. NaN where fewer than 2 labels have one.
    """
    known = np.sum(~np.isnan(recall), axis=-1)
    rest = np.nansum(recall, axis=-1) - np.max(np.nan_to_num(recall, nan=0.0), axis=-1)
    return np.where(known < 2, np.nan, rest / np.maximum(known - 1, 1))


def _never(tally: Tally) -> NDArray[np.float64]:
    return never_score(shares(tally.hits, tally.seen))


NEVER_X = Statistic(_never)
"""The Nvr-X score of examples as they are, for `pytest_maxrandom.stats.permutation.max_t_test`.

Uniform guessers are not the hardest to beat without knowledge: where a label is rarely right, its
recall is a matter of luck, and whoever leans to the other labels has the rest for certain. With
shuffled right answers the level holds whatever is preferred."""


def worst_redraw(accuracies: NDArray[np.float64]) -> NDArray[np.float64]:
    """Least accuracy over the redraws: the Nvr-X score as arXiv 2406.11634 measures it."""
    return np.asarray(np.fmin.reduce(accuracies, axis=-1))


def rstd(recall: NDArray[np.float64]) -> NDArray[np.float64]:
    """RStd: standard deviation of the recalls of the last axis (Zheng et al. 2023, section 2.3).

    Of the labels that have a recall, as a population: divided by their number.
    """
    return np.asarray(np.nanstd(recall, axis=-1))


def label_shares(answers: NDArray[np.integer], labels: int) -> NDArray[np.float64]:
    """Share of the evaluated answers of each prompt that are each label: shape (t, labels)."""
    shown = np.asarray(answers).reshape(len(answers), -1)
    said = [(shown == label).sum(axis=1) for label in range(labels)]
    evaluated = (shown != NOT_EVALUATED).sum(axis=1)
    return shares(np.stack(said, axis=1), evaluated[:, None])


def best_of_prompts(scores: NDArray[np.float64]) -> tuple[int, float]:
    """Return the first prompt with the highest score, and that score.

    Raises
    ------
    ValueError
        If no prompt has a score: fewer than 2 labels are gold.
    """
    known = np.nan_to_num(scores, nan=-np.inf)
    best = int(np.argmax(known))
    if np.isnan(scores[best]):
        raise ValueError("a score by label needs at least 2 labels that are right somewhere")
    return best, float(scores[best])


def _answers(answers: NDArray[np.integer], axes: int) -> NDArray[np.integer]:
    shown = np.asarray(answers)
    if shown.ndim != axes:
        raise ValueError(f"answers must have {axes} axes, found shape {shown.shape}")
    return shown


def shares(part: NDArray[np.number], whole: NDArray[np.number]) -> NDArray[np.float64]:
    """Divide counts; NaN where there is nothing to count."""
    return np.where(whole == 0, np.nan, part / np.maximum(whole, 1))
