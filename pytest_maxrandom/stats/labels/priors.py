"""What a model thinks of the labels before there is a question, and scores without that.

Base-rate probabilities ("The Base-Rate Effect on LLM Benchmark Performance", arXiv 2406.11634) are
those of each label after texts that only list the labels, compared with the accuracy by gold label.

Contextual calibration (Zhao et al. 2021, "Calibrate Before Use", section 5) estimates the same from
inputs that say nothing; PriDe (Zheng et al. 2023, "Large Language Models Are Not Robust Multiple
Choice Selectors", section 4) from examples whose choices are rotated under the labels. Both then
answer with the label of the largest log observed - log prior. All logarithms are natural; columns
are labels (A, B, ...), never the choices that stand there.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_maxrandom.stats.labels import FEWEST_LABELS
from pytest_maxrandom.stats.seeding import Stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_NORMAL_975 = NormalDist().inv_cdf(0.975)
_APART = 1e-3
"""Values closer than this, in units of their range, are no different values."""


class NoPrior(ValueError):
    """Why it is not known what a model thinks of the labels anyway, in one clause."""


class BaseRates(NamedTuple):
    """Base-rate probabilities, from `base_rates`."""

    rates: NDArray[np.float64]
    """Shape (..., m): probability of each label, normalised over the labels."""
    mass: NDArray[np.float64]
    """Shape (...): probability of all labels together, of all that the model could say."""


class Correlation(NamedTuple):
    """Pearson's r and its 95 % interval; None where two values only tell nothing of its error."""

    r: float
    low: float | None
    high: float | None


def base_rates(log_probabilities: NDArray[np.float64]) -> BaseRates:
    """Mean probability of each label over texts without a question.

    Parameters
    ----------
    log_probabilities
        Shape (..., texts, m): natural logarithm of the probability of each label after each text.

    Raises
    ------
    ValueError
        If there is no text.
    NoPrior
        If a value is NaN or above 0, or no label has any probability.
    """
    logs = np.asarray(log_probabilities, dtype=np.float64)
    if logs.ndim < 2 or 0 in logs.shape[-2:]:
        raise ValueError(f"log-probabilities of at least 1 text are needed, found {logs.shape}")
    if not np.all(logs <= 0):
        raise NoPrior("log-probabilities must be at most 0, found NaN or a larger number")
    means = log_mean(logs)
    whole = np.logaddexp.reduce(means, axis=-1)
    if not np.all(np.isfinite(whole)):
        raise NoPrior("no label has any probability after the texts without a question")
    return BaseRates(np.exp(means - whole[..., None]), np.exp(whole))


def log_mean(logs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Logarithm of the mean, over the last axis but one, of numbers given by theirs."""
    return np.asarray(np.logaddexp.reduce(logs, axis=-2) - math.log(logs.shape[-2]))


def correlation(rates: NDArray[np.float64], recall: NDArray[np.float64]) -> Correlation | None:
    """Pearson correlation of base rates and recalls, with Fisher's 95 % interval.

    tanh(atanh r -+ 1.96 / sqrt(m - 3)): with m = 4 labels r = .95 could be anything from -.13 to
    1.00. It is that of normal variables; where one variable has two values only, there is none: a
    single label that stands out in both makes r = 1, by chance in 1 of m cases.

    Parameters
    ----------
    rates, recall
        Shape (m,); labels whose recall is NaN are left out.

    Returns
    -------
    None for fewer than 4 labels, or where all rates or all recalls are equal.
    """
    if np.shape(rates) != np.shape(recall):
        raise ValueError(f"found {np.shape(rates)} base rates and {np.shape(recall)} recalls")
    known = ~(np.isnan(rates) | np.isnan(recall))
    m = int(known.sum())
    if m < FEWEST_LABELS:
        return None
    x, y = rates[known], recall[known]
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):  # of differences whose squares underflow
        r = float(np.corrcoef(x, y)[0, 1])
    if math.isnan(r):
        return None
    if min(_distinct(x), _distinct(y)) == 2:
        return Correlation(r, None, None)
    if abs(r) == 1:
        return Correlation(r, r, r)
    half = _NORMAL_975 / math.sqrt(m - 3)
    return Correlation(r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half))


def _distinct(values: NDArray[np.float64]) -> int:
    gaps = np.diff(np.sort(values))
    return 1 + int((gaps > _APART * np.ptp(values)).sum())


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


def held_back(ids: Sequence[str], choices: Sequence[int], *, seed: int = 0) -> NDArray[np.bool_]:
    """Draw the examples that PriDe's prior is estimated on; they take no part in the evaluation.

    A prior belongs to one number of labels: of each number, 5 % of the examples are held back
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
        held[drawn[: max(1, math.floor(0.05 * len(members) + 0.5))]] = True
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
    return logs - np.logaddexp.reduce(logs, axis=-1, keepdims=True)
