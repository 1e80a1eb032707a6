"""A claim's choices by probability without the labels' prior: is the best prompt above chance?

A prior is estimated for each number of choices by itself, because labels that stand beside more
others have less of the probability.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.prompts.formats import shown_order
from pytest_maxrandom.record import Calibrated
from pytest_maxrandom.stats.labels.priors import (
    NoPrior,
    contextual_log_prior,
    pride_log_prior,
    without_prior,
)
from pytest_maxrandom.stats.maximum import BestOfPrompts
from pytest_maxrandom.stats.seeding import Stream
from pytest_maxrandom.studies.label_bias.interactions import rotations

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from pytest_maxrandom.record import Calibration
    from pytest_maxrandom.sweeps.labels import Labels
    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.tasks.task import Example

    Prior = Mapping[int, NDArray[np.float64]]

_TIED = 1e-9
"""Calibrated scores closer than this, in nats, are equal: dividing by a prior rounds them."""


@dataclass(frozen=True)
class _Outcome:
    """One prompt's answers to the examples that no prior was estimated on."""

    plain: int
    calibrated: int
    chances: tuple[Fraction, ...]
    prior: Prior


def contextual(
    labels: Labels,
    names: Sequence[str],
    natural: Sequence[PromptPredictions],
    content_free: Sequence[PromptPredictions],
    t: int,
) -> Calibrated:
    """Remove what each prompt says of inputs that say nothing (Zhao et al. 2021).

    Parameters
    ----------
    labels : Labels
        Of the validation set.
    t : int
        All prompts that count.

    Raises
    ------
    NoPrior
        If an input has a label without probability.
    """
    outcomes = []
    for one, free in zip(natural, content_free, strict=True):
        rows = _by_size(free.log_likelihoods)
        prior = {m: contextual_log_prior(np.array(of_size)) for m, of_size in rows.items()}
        outcomes.append(_outcome(labels, one, prior, frozenset()))
    return _best("contextual", outcomes, names, t)


def pride(
    labels: Labels,
    names: Sequence[str],
    natural: Sequence[PromptPredictions],
    rotated: Sequence[PromptPredictions],
    held: frozenset[str],
    t: int,
) -> Calibrated:
    """Remove the prior of places, estimated on held-back examples (PriDe, Zheng et al. 2023).

    Parameters
    ----------
    rotated : sequence of PromptPredictions
        The prompts on the held-back examples in all rotations but the natural one.
    held : frozenset of str
        Ids of the held-back examples.

    Raises
    ------
    NoPrior
        If no prompt was scored on a held-back example and on another of as many choices, or a label
        has no probability.
    """
    outcomes = []
    for one, turned in zip(natural, rotated, strict=True):
        prior = _pride_prior(one, turned, held)
        outcomes.append(_outcome(labels, one, prior, held))
    return _best("pride", outcomes, names, t)


def _pride_prior(
    natural: PromptPredictions, turned: PromptPredictions, held: frozenset[str]
) -> Prior:
    scores = {
        example.presentation: row
        for part in (natural, turned)
        for example, row in zip(part.examples, part.log_likelihoods, strict=True)
    }
    samples: dict[int, list[list[list[float]]]] = {}
    for example in natural.examples:
        if example.id in held:
            rows = [_by_place(one, scores[one.presentation]) for one in rotations(example)]
            samples.setdefault(len(example.choices), []).append(rows)
    return {m: pride_log_prior(np.array(of_size)) for m, of_size in samples.items()}


def _by_place(example: Example, row: Sequence[float]) -> list[float]:
    return [row[index] for index in shown_order(example)]


def _by_size(rows: Sequence[Sequence[float]]) -> dict[int, list[Sequence[float]]]:
    found: dict[int, list[Sequence[float]]] = {}
    for row in rows:
        found.setdefault(len(row), []).append(row)
    return found


def _outcome(
    labels: Labels,
    one: PromptPredictions,
    prior: Prior,
    held: frozenset[str],
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
        (scores,) = without_prior(observed, log_prior)
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


def _best(
    method: Calibration,
    found: Sequence[_Outcome],
    names: Sequence[str],
    t: int,
) -> Calibrated:
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
