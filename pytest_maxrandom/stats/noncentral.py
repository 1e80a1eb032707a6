"""How much arm a raises the log odds of a right answer, whatever each pair's own level is.

In ``logit P(right) = pair + beta [arm a]`` the number of right answers of a, given how many a
and b have together, follows Fisher's noncentral hypergeometric distribution with odds
exp(beta): the pair's own effect drops out (McCullagh and Nelder, "Generalized Linear Models",
2nd edition, section 7.3). One parameter is left, so the posterior is integrated, not sampled.

The model takes answers for independent. Where `overdispersion` is far above 1 its intervals are
too narrow, and the sign-flip over tasks decides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.polynomial import Chebyshev

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_maxrandom.stats.paired import Pairs

    Numbers = NDArray[np.float64]

_SPREADS = 8
"""The posterior is integrated as far as it is above exp(-8**2 / 2) of its peak."""
_GRID = 4001
_CELLS = 2**21
"""Probabilities at a time: 16 MiB."""
_MOST_CELLS = 2**27
"""Probabilities that are kept: 1 GiB."""


class Moments(NamedTuple):
    """Of the right answers of a given the pair's total, for each pair, shape (pairs,)."""

    log_normaliser: Numbers
    mean: Numbers
    variance: Numbers


@dataclass(frozen=True, slots=True)
class Effect:
    """Posterior of the effect beta of arm a over arm b, and what it predicts."""

    mean: float
    sd: float
    """Of beta, in log odds."""
    low: float
    high: float
    """Equal-tailed interval of beta."""
    difference: float
    difference_low: float
    difference_high: float
    """The same as the average over these pairs of (accuracy of a - accuracy of b)."""
    predictive_sd: float
    """Standard deviation of that average in a repetition: posterior spread and binomial noise
    together."""


@dataclass(frozen=True, slots=True)
class ConditionalEffect(Effect):
    """The same given the total of each pair, which repetitions share."""

    mode: float
    """Of beta, in log odds."""


@dataclass(frozen=True, eq=False, slots=True)
class ConditionalLikelihood:
    """Likelihood of beta given the total of each pair; made by `conditional_likelihood`."""

    right: NDArray[np.int64]
    """Right answers of a, shape (pairs,)."""
    per_answer: Numbers
    least: Numbers
    """The difference of the accuracies is ``right * per_answer + least``."""
    log_weights: Numbers
    """Log of C(n_a, k) C(n_b, total - k) for k = 0, ..., largest n_a, shape (pairs, k)."""

    def take(self, rows: NDArray[np.intp]) -> ConditionalLikelihood:
        """Return the likelihood of some of the pairs, each as often as it is named."""
        return ConditionalLikelihood(
            self.right[rows], self.per_answer[rows], self.least[rows], self.log_weights[rows]
        )

    def moments(self, beta: float) -> Moments:
        """Return the moments of every pair at a log odds ratio."""
        k = np.arange(self.log_weights.shape[1], dtype=np.float64)
        step = max(1, _CELLS // len(k))
        pieces = []
        for start in range(0, len(self.right), step):
            terms = self.log_weights[start : start + step] + beta * k
            largest = terms.max(axis=1)
            masses = np.exp(terms - largest[:, None])
            sums = masses.sum(axis=1)
            mean = masses @ k / sums
            variance = np.maximum(masses @ k**2 / sums - mean**2, 0.0)
            pieces.append((largest + np.log(sums), mean, variance))
        return Moments(*(np.concatenate(parts) for parts in zip(*pieces, strict=True)))

    def mode(self) -> tuple[float, float]:
        """Return the mode of the posterior, and its standard deviation by Laplace's method.

        Newton's method within a bracket: the logarithm of the posterior is concave.
        """
        # Where the gradient is 0, beta is a sum of counts less their means.
        most = float(self.log_weights.size)
        low, high, beta = -most, most, 0.0
        while True:
            moments = self.moments(beta)
            slope = float(self.right.sum() - moments.mean.sum()) - beta
            curvature = float(moments.variance.sum()) + 1
            low, high = (beta, high) if slope > 0 else (low, beta)
            step = slope / curvature
            if abs(step) < 1e-8 / math.sqrt(curvature):
                return beta, curvature**-0.5
            beta = beta + step if low < beta + step < high else (low + high) / 2

    def posterior(self, confidence: float = 0.89) -> ConditionalEffect:
        """Integrate the posterior; the prior of beta is standard normal.

        Parameters
        ----------
        confidence
            Probability within the interval, between 0 and 1.

        Raises
        ------
        ValueError
            If the confidence is outside its domain.
        """
        if not 0 < confidence < 1:
            raise ValueError(f"confidence must be between 0 and 1, found {confidence!r}")
        mode, spread = self.mode()
        log_density, difference, noise = self._curves(mode, spread)
        least, most = log_density.domain
        grid = np.linspace(float(least), float(most), _GRID)
        density = np.exp(log_density(grid) - log_density(mode))
        cumulated = np.concatenate(([0.0], np.cumsum((density[1:] + density[:-1]) / 2)))
        weights = density / density.sum()
        mean = float(weights @ grid)
        average = float(weights @ difference(grid))
        tail = (1 - confidence) / 2
        low, high = np.interp([tail, 1 - tail], cumulated / cumulated[-1], grid)
        within = float(weights @ noise(grid))
        between = float(weights @ (difference(grid) - average) ** 2)
        return ConditionalEffect(
            mode=mode,
            mean=mean,
            sd=math.sqrt(weights @ (grid - mean) ** 2),
            low=float(low),
            high=float(high),
            difference=average,
            difference_low=float(difference(low)),
            difference_high=float(difference(high)),
            predictive_sd=math.sqrt(max(0.0, within) + between),
        )

    def _curves(self, mode: float, spread: float) -> tuple[Chebyshev, Chebyshev, Chebyshev]:
        """Interpolate log posterior, average difference and its variance around the mode."""

        def values(beta: float) -> tuple[float, float, float]:
            moments = self.moments(beta)
            log_likelihood = beta * float(self.right.sum()) - float(moments.log_normaliser.sum())
            differences = moments.mean * self.per_answer + self.least
            variance = (moments.variance * self.per_answer**2).sum() / len(self.right) ** 2
            log_posterior = log_likelihood - beta**2 / 2
            return log_posterior, float(differences.mean()), float(variance)

        # The curvature is nowhere less than the prior's, so this is far enough at last.
        half, floor = _SPREADS * spread, values(mode)[0] - _SPREADS**2 / 2
        while half < _SPREADS and max(values(mode + s * half)[0] for s in (-1, 1)) > floor:
            half *= 1.5
        half = min(half, _SPREADS)
        # All three are analytic up to |Im beta| = pi: the normaliser is a polynomial in
        # exp(beta) with real, negative roots. So the error falls as this ratio to the degree
        # (Trefethen, "Approximation Theory and Approximation Practice", theorem 8.2).
        ratio = math.pi / half + math.hypot(1, math.pi / half)
        degree = math.ceil(-math.log(np.finfo(float).eps) / math.log(ratio))
        domain = [mode - half, mode + half]
        nodes = mode + half * np.cos(np.pi * (np.arange(degree + 1) + 0.5) / (degree + 1))
        curves = np.array([values(float(node)) for node in nodes])
        log_posterior, difference, variance = (
            Chebyshev.fit(nodes, curve, degree, domain=domain) for curve in curves.T
        )
        return log_posterior, difference, variance


def conditional_likelihood(pairs: Pairs) -> ConditionalLikelihood:
    """Return the likelihood of the effect of arm a over arm b.

    Raises
    ------
    ValueError
        If pairs times the largest n is beyond what fits in memory.
    """
    total = pairs.correct_a + pairs.correct_b
    width = int(pairs.n_a.max()) + 1
    if len(pairs) * width > _MOST_CELLS:
        raise ValueError(
            f"the conditional model takes pairs times n up to {_MOST_CELLS:,}, found "
            f"{len(pairs):,} pairs with n up to {width - 1:,}; compare fewer pairs at a time"
        )
    most = int(max(pairs.n_a.max(), pairs.n_b.max()))
    log_factorials = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, most + 1)))))
    k, log_weights = np.arange(width), np.empty((len(pairs), width))
    step = max(1, _CELLS // width)
    for start in range(0, len(pairs), step):
        part = slice(start, start + step)
        n_a, n_b, both = pairs.n_a[part, None], pairs.n_b[part, None], total[part, None]
        possible = (k <= n_a) & (k <= both) & (both - k <= n_b)
        a, b = np.where(possible, k, 0), np.where(possible, both - k, 0)
        less = sum(log_factorials[counts] for counts in (a, n_a - a, b, n_b - b))
        whole = log_factorials[n_a] + log_factorials[n_b]
        log_weights[part] = np.where(possible, whole - less, -np.inf)
    return ConditionalLikelihood(
        right=pairs.correct_a,
        per_answer=1 / pairs.n_a + 1 / pairs.n_b,
        least=-total / pairs.n_b,
        log_weights=log_weights,
    )
