"""Noise of prediction and noise of data: two components of the variance of a mean of samples.

Each of n examples was asked k times. Its own rate of right answers differs from that of others
(*data*: another set of examples would have other ones), and its k samples differ from that rate
(*prediction*: the same examples asked again would be answered otherwise). With p_i the rate of
example i, of examples that are independent draws and samples that are so given the example,

    Var(mean) = between / n + within / (n k),    between = Var(p_i), within = E[p_i (1 - p_i)].

Both are estimated without bias by the mean squares of a one-way layout with random effects (Searle,
Casella and McCulloch, "Variance Components", 1992, chapter 3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Components:
    """What a mean over n examples of k samples varies by."""

    n: int
    k: int
    """Examples, and samples of each."""
    mean: float
    """The mean score."""
    between: float
    """Unbiased estimate of the variance of examples' own rates; below 0 by luck where these hardly
    differ."""
    within: float
    """Unbiased estimate of the mean variance of a sample about its example's rate."""

    def error(self, n: int, k: int) -> float:
        """Return the standard error of the mean of n examples with k samples each."""
        return math.sqrt(max(0.0, self.between) / n + self.within / (n * k))

    @property
    def of_data(self) -> float:
        """Standard error that is left however many samples are taken."""
        return math.sqrt(max(0.0, self.between) / self.n)

    @property
    def of_prediction(self) -> float:
        """Standard error of the same examples, asked again."""
        return math.sqrt(self.within / (self.n * self.k))


def components(scores: ArrayLike) -> Components:
    """Estimate both components.

    Parameters
    ----------
    scores
        The score of each sample, shape (n, k), n >= 2 and k >= 2.

    Raises
    ------
    ValueError
        If there are fewer examples or samples: one of each shows no difference.
    """
    cells = np.asarray(scores, dtype=np.float64)
    if cells.ndim != 2 or min(cells.shape) < 2:
        raise ValueError(
            f"scores must have the shape (n, k), at least 2 of each, found {cells.shape}"
        )
    n, k = cells.shape
    rates = cells.mean(axis=1)
    within = float(((cells - rates[:, None]) ** 2).sum() / (n * (k - 1)))
    return Components(
        n=n,
        k=k,
        mean=float(rates.mean()),
        between=float(rates.var(ddof=1)) - within / k,
        within=within,
    )


def more_of_examples(score: float, n: int) -> dict[str, float]:
    """Return the standard error of a share of examples that are right or wrong, as by any of k.

    More samples of each example make no such share more certain: they ask another question.

    Examples
    --------
    >>> more_of_examples(0.5, 100)["now"]
    0.05
    """
    error = math.sqrt(score * (1 - score) / n)
    return {"now": error, "twice the examples": error / math.sqrt(2)}


def expected_of(parts: Components, how: str, samples: int) -> float | None:
    """Return the share of examples of which any (pass) or all of so many samples would be right.

    The examples' own rates are taken to be beta variates with the mean and the variance that were
    found (the beta-binomial law); None where their variance fits none.

    Examples
    --------
    >>> alike = Components(n=100, k=4, mean=0.5, between=0.25 / 3 - 1e-12, within=1 / 6)
    >>> round(expected_of(alike, "all", 2), 6)  # of uniform rates the mean of p * p
    0.333333
    """
    most = parts.mean * (1 - parts.mean)
    if not 0 < parts.between < most:
        return None
    size = most / parts.between - 1
    one, other = parts.mean * size, (1 - parts.mean) * size
    asked = one if how == "all" else other
    share = math.exp(
        math.lgamma(asked + samples)
        - math.lgamma(asked)
        - math.lgamma(size + samples)
        + math.lgamma(size)
    )
    return share if how == "all" else 1 - share


def more(parts: Components) -> dict[str, float]:
    """Return the standard error as it is, and with twice as much of either.

    Examples
    --------
    >>> told = more(Components(n=100, k=4, mean=0.5, between=0.04, within=0.16))
    >>> round(told["now"], 4), told["any number of samples"]
    (0.0283, 0.02)
    """
    n, k = parts.n, parts.k
    return {
        "now": parts.error(n, k),
        "twice the samples": parts.error(n, 2 * k),
        "any number of samples": parts.of_data,
        "twice the examples": parts.error(2 * n, k),
        "twice the examples, half the samples": parts.error(2 * n, max(1, k // 2)),
    }
