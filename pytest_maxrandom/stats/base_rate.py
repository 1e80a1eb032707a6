"""Base-rate probabilities: what a model thinks of the labels before there is a question.

"The Base-Rate Effect on LLM Benchmark Performance" (arXiv 2406.11634): the probability of each
label after texts that only list the labels, set beside the accuracy by gold label.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from pytest_maxrandom.stats.label_limits import FEWEST_LABELS

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NORMAL_975 = NormalDist().inv_cdf(0.975)


class BaseRates(NamedTuple):
    """Base-rate probabilities, from `base_rates`."""

    rates: NDArray[np.float64]
    """Shape (..., m): probability of each label, normalised over the labels."""
    mass: NDArray[np.float64]
    """Shape (...): probability of all labels together, of all that the model could say."""


class Correlation(NamedTuple):
    """Pearson's r and its 95 % interval."""

    r: float
    low: float
    high: float


def base_rates(log_probabilities: NDArray[np.float64]) -> BaseRates:
    """Mean probability of each label over texts without a question.

    Parameters
    ----------
    log_probabilities
        Shape (..., texts, m): natural logarithm of the probability of each label after each text.

    Raises
    ------
    ValueError
        If there is no text, a value is NaN or above 0, or no label has any probability.
    """
    logs = np.asarray(log_probabilities, dtype=np.float64)
    if logs.ndim < 2 or 0 in logs.shape[-2:]:
        raise ValueError(f"log-probabilities of at least 1 text are needed, found {logs.shape}")
    if not np.all(logs <= 0):
        raise ValueError("log-probabilities must be at most 0, found NaN or a larger number")
    # The largest is taken out, so that labels of any smallness keep their proportions.
    largest = logs.max(axis=(-2, -1), keepdims=True)
    if not np.all(np.isfinite(largest)):
        raise ValueError("no label has any probability after the texts without a question")
    scaled = np.exp(logs - largest).mean(axis=-2)
    whole = scaled.sum(axis=-1)
    return BaseRates(scaled / whole[..., None], whole * np.exp(largest[..., 0, 0]))


def correlation(rates: NDArray[np.float64], recall: NDArray[np.float64]) -> Correlation | None:
    """Pearson correlation of base rates and recalls, with Fisher's 95 % interval.

    tanh(atanh r -+ 1.96 / sqrt(m - 3)): with m = 4 labels r = .95 could be anything from -.13 to
    1.00.

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
    if abs(r) == 1:
        return Correlation(r, r, r)
    half = _NORMAL_975 / math.sqrt(m - 3)
    return Correlation(r, math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half))
