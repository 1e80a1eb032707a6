"""A claim's choices by probability without the labels' prior: is the best prompt above chance?

A prior is estimated for each number of choices by itself, because labels that stand beside more
others have less of the probability.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

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
from pytest_maxrandom.sweeps.prompts.formats import shown_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from pytest_maxrandom.record import Calibration
    from pytest_maxrandom.sweeps.labels import Labels
    from pytest_maxrandom.sweeps.predictions import PromptPredictions

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
    priors = [
        {m: contextual_log_prior(rows) for m, rows in _by_size(free.log_likelihoods).items()}
        for free in content_free
    ]
    return _calibrated("contextual", labels, names, natural, priors, frozenset(), t)


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
    priors = []
    for one, turned in zip(natural, rotated, strict=True):
        scores = {
            example.presentation: row
            for part in (one, turned)
            for example, row in zip(part.examples, part.log_likelihoods, strict=True)
        }
        samples = _by_size(
            [
                [scores[each.presentation][index] for index in shown_order(each)]
                for each in rotations(example)
            ]
            for example in one.examples
            if example.id in held
        )
        priors.append({m: pride_log_prior(of_size) for m, of_size in samples.items()})
    return _calibrated("pride", labels, names, natural, priors, held, t)


def _by_size(samples: Iterable[Sequence[object]]) -> dict[int, NDArray[np.float64]]:
    """Stack samples of as many labels."""
    found: dict[int, list[Sequence[object]]] = {}
    for each in samples:
        found.setdefault(len(each), []).append(each)
    return {m: np.array(of_size) for m, of_size in found.items()}


def _outcome(
    labels: Labels, one: PromptPredictions, prior: Prior, held: frozenset[str]
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


def _calibrated(
    method: Calibration,
    labels: Labels,
    names: Sequence[str],
    natural: Sequence[PromptPredictions],
    priors: Sequence[Prior],
    held: frozenset[str],
    t: int,
) -> Calibrated:
    """Compare the best prompt without its prior with the best of t guessers."""
    found = (_outcome(labels, one, prior, held) for one, prior in zip(natural, priors, strict=True))
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
