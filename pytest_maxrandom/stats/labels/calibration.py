"""Scores from which what a model thinks of the labels anyway is removed.

Contextual calibration (Zhao et al. 2021, "Calibrate Before Use", section 5) estimates it from
inputs that say nothing; PriDe (Zheng et al. 2023, "Large Language Models Are Not Robust Multiple
Choice Selectors", section 4) from examples whose choices are rotated under the labels. Both then
answer with the label of the largest log observed - log prior. All logarithms are natural; columns
are labels (A, B, ...), never the choices that stand there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.labels.base_rate import NoPrior, log_mean
from pytest_maxrandom.stats.seeding import Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def contextual_log_prior(log_probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log-probability of the labels, mean over content-free inputs.

    Parameters
    ----------
    log_probabilities
        Shape (..., inputs, m): of each label after each input; leading axes are usually prompts.

    Returns
    -------
    Shape (..., m): log of the mean over the inputs of the probabilities, which are normalised over
    the labels for each input.

    Raises
    ------
    ValueError
        If the shape is another one.
    NoPrior
        If a value is not finite.
    """
    return log_mean(_normalised(_finite(log_probabilities, 2)))


def pride_log_prior(log_probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log of PriDe's prior of the labels.

    Parameters
    ----------
    log_probabilities
        Shape (..., samples, permutations, m): of each label, where under the permutations (all m
        rotations) every choice stands at every label once.

    Returns
    -------
    Shape (..., m): log of the mean over samples of softmax(mean over permutations of log observed).

    Raises
    ------
    ValueError, NoPrior
        As of `contextual_log_prior`.
    """
    logs = _finite(log_probabilities, 3)
    return log_mean(_normalised(logs.mean(axis=-2)))


def without_prior(
    log_likelihoods: NDArray[np.float64], log_prior: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Scores log observed - log prior; the largest of a row is the calibrated answer.

    Parameters
    ----------
    log_likelihoods
        Shape (..., n, m); labels that an example does not have are NaN or -inf and stay so.
    log_prior
        Shape (..., m): one for all n examples.
    """
    observed, prior = np.asarray(log_likelihoods), np.asarray(log_prior)
    if prior.shape != (*observed.shape[:-2], observed.shape[-1]):
        raise ValueError(f"prior of shape {prior.shape} for scores of shape {observed.shape}")
    if not np.all(np.isfinite(prior)):
        raise ValueError("a label without a prior probability cannot be calibrated")
    return observed - prior[..., None, :]


def held_back(
    ids: Sequence[str], choices: Sequence[int], *, share: float = 0.05, seed: int = 0
) -> NDArray[np.bool_]:
    """Draw the examples that PriDe's prior is estimated on; they take no part in the evaluation.

    A prior belongs to one number of labels: of each number, ``share`` of the examples is held back
    (rounded, at least 1).

    Raises
    ------
    ValueError
        If no example remains.
    """
    if len(ids) != len(choices):
        raise ValueError(f"found {len(ids)} ids and {len(choices)} numbers of choices")
    held = np.zeros(len(ids), dtype=bool)
    for count in sorted(set(choices)):
        members = [i for i, own in enumerate(choices) if own == count]
        # In the order of their ids, so that the order of the examples does not matter.
        drawn = Stream("pride", seed, count).shuffled(sorted(members, key=lambda i: ids[i]))
        held[drawn[: max(1, math.floor(share * len(members) + 0.5))]] = True
    if held.all():
        raise ValueError(f"of {len(ids)} examples none remains when some are held back")
    return held


def _finite(log_probabilities: NDArray[np.float64], axes: int) -> NDArray[np.float64]:
    logs = np.asarray(log_probabilities, dtype=np.float64)
    if logs.ndim < axes or 0 in logs.shape[-axes:]:
        raise ValueError(f"at least {axes} axes, none empty, are needed; found shape {logs.shape}")
    if not np.all(np.isfinite(logs)):
        raise NoPrior("log-probabilities of labels must be finite")
    return logs


def _normalised(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    normalised: NDArray[np.float64] = logs - np.logaddexp.reduce(logs, axis=-1, keepdims=True)
    return normalised
