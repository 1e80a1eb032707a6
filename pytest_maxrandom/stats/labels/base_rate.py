"""Base-rate probabilities: what a model thinks of the labels before there is a question.

"The Base-Rate Effect on LLM Benchmark Performance" (arXiv 2406.11634): the probability of each
label after texts that only list the labels, set beside the accuracy by gold label.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_maxrandom.stats.labels.limits import FEWEST_LABELS

if TYPE_CHECKING:
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
    mean: NDArray[np.float64] = np.logaddexp.reduce(logs, axis=-2) - math.log(logs.shape[-2])
    return mean


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
