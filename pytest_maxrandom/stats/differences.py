"""Tests of the mean of paired differences: by sign-flips with an interval, and tilted.

Fisher, "The Design of Experiments" (1935), section 21: where two arms do not differ, each task's
difference is as likely to be negative as positive, so the mean is compared with the means under
all choices of signs. The test is exact if the differences are independent and symmetric about a
common centre, whatever their variances, which overdispersed replicates do not disturb. Of skewed
differences of few units the interval holds the mean less often than stated, as Student's does.

Flipping the signs of a subset S moves the mean by as much as the sum over S does, hence
P(mean of flipped >= mean) = share of the subsets, the empty one with them, whose sum of
(difference - margin) is at most 0. The interval inverts the test: its ends are quantiles of the
subset means (Hartigan, "Using subsample values as typical values", 1969).

Units may weigh differently (clusters of unequal size): the mean is then the weighted one, and each
unit's sum of (difference - margin), which is what its sign turns, is its weight times as large.

Differences that may be rare and skewed are not symmetric: see `TiltedTest`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.best_of import narrowed
from pytest_maxrandom.stats.chances import whole_number

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    _Subsets = tuple[NDArray[np.float64], NDArray[np.float64]]

MOST_EXACT = 30
"""Up to so many units all subsets are counted; each half of the units has at most 2**15."""

_TIE = 1e-12
"""Sums closer than this, relative to the sum of absolute values, count as equal."""
_CELLS = 2**22  # signs drawn at a time: 4 MiB
_STEPS = 18
"""Halvings of the interval from -1 to the mean: its end is then known to 8e-6."""
_TABLE = 2**16
"""Units times steps from 0 to 1; as many cells has the table of the sum's distribution, twice."""
_FEWEST_STEPS, _MOST_STEPS = 32, 512
_ROUNDING = 1e-9

_NONE = (np.zeros(1), np.zeros(1))
"""Weighted sums, and weights, of the members of no subset."""


@dataclass(frozen=True, eq=False, slots=True)
class SignFlip:
    """The sign-flip distribution of some paired differences; made by `sign_flip`."""

    mean: float
    """Their mean."""
    units: int
    """How many there are."""
    draws: int | None
    """How many choices of signs were drawn; None where all 2**units were counted."""
    _values: NDArray[np.float64]
    _size: float
    """Weighted sum of their absolute values."""
    _mirrored: bool
    _halves: tuple[_Subsets, _Subsets]
    """Weighted sums, and weights, of the members of subsets of each half of the units."""

    @property
    def smallest_p(self) -> float:
        """Smallest two-sided p-value that this many differences can give."""
        return min(1.0, 2.0 / (2.0**self.units if self.draws is None else 1 + self.draws))

    def p_greater(self, margin: float = 0.0) -> float:
        """P-value of "the mean is greater than the margin" (one-sided)."""
        return self._share(-margin, 1.0) if self._mirrored else self._share(margin, -1.0)

    def p_less(self, margin: float = 0.0) -> float:
        """P-value of "the mean is less than the margin" (one-sided)."""
        return self._share(-margin, -1.0) if self._mirrored else self._share(margin, 1.0)

    def p_value(self, margin: float = 0.0) -> float:
        """P-value of "the mean differs from the margin": twice the smaller one-sided one."""
        # The other one is at least as large: no need to count it.
        one_sided = self.p_greater if self.mean > margin else self.p_less
        return min(1.0, 2.0 * one_sided(margin))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return all margins from which the mean does not differ at level 1 - confidence.

        Returns
        -------
        tuple of float
            Ends of the interval, infinite where the units are too few for the confidence:
            at .95 fewer than 6, at .89 fewer than 5.

        Raises
        ------
        ValueError
            If the confidence is not between 0 and 1.
        """
        if not 0 < confidence < 1:
            raise ValueError(f"confidence must be between 0 and 1, found {confidence!r}")
        level = (1 - confidence) / 2
        least, most = float(self._values[0]), float(self._values[-1])
        low = _first_above(lambda margin: self._share(margin, -1.0), level, least, most)
        high = -_first_above(lambda margin: self._share(-margin, 1.0), level, -most, -least)
        return (-high, -low) if self._mirrored else (low, high)

    def _share(self, margin: float, sign: float) -> float:
        """Share of subsets whose sum of (value - margin), times the sign, is at least 0."""
        tie = _TIE * (self._size + self.units * abs(margin))
        # Of the two halves of the units; their sums of (value - margin).
        first, second = (sign * (sums - sizes * margin) for sums, sizes in self._halves)
        second = np.sort(second)
        reached = second.size - np.searchsorted(second, -tie - first, side="left")
        count = int(reached.sum())
        if self.draws is None:
            return count / 2.0**self.units
        return (1 + count) / (1 + self.draws)


def sign_flip(
    differences: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    draws: int = 9999,
    seed: int = 0,
    most_exact: int = MOST_EXACT,
) -> SignFlip:
    """Prepare the sign-flip test of the mean of some differences.

    The order of the differences does not matter, and their negatives give the mirror image, also
    where signs are drawn.

    Parameters
    ----------
    differences
        One per independent unit (a task, or a replicate of one task), shape (units,).
    weights
        How much each counts, above 0, shape (units,); only their ratios matter. By default all
        count the same.
    draws, seed
        Choices of signs to draw where the units are more than `most_exact`; p-values are then
        (1 + exceedances) / (1 + draws) (Phipson and Smyth 2010).
    most_exact
        Up to so many units, at most 40, all 2**units choices are counted.

    Raises
    ------
    TypeError, ValueError
        If there is no difference, one is not finite, or a number is outside its domain.

    Examples
    --------
    >>> test = sign_flip([0.02, 0.05, 0.01, 0.03, 0.04, 0.06])
    >>> test.p_value(), [round(end, 3) for end in test.interval(0.95)]
    (0.03125, [0.01, 0.06])
    """
    values = np.asarray(differences, dtype=np.float64)
    if values.ndim != 1 or not values.size:
        raise ValueError(f"differences must be a row of numbers, found shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError("differences must be finite")
    values, shares = _ordered(values, unit_weights(weights, values.size))
    drawn = whole_number("draws", draws, 1)
    exact = values.size <= whole_number("most_exact", most_exact, 0, 40)
    mean = math.fsum(values * shares) / values.size
    # One of the two mirror images is drawn for, so that both give the same p-values.
    mirror = _ordered(-values, shares)
    mirrored = list(zip(*mirror, strict=True)) > list(zip(values, shares, strict=True))
    if mirrored:
        values, shares = mirror
    sums = values * shares
    if exact:
        half = values.size // 2
        halves = _all_subsets(sums[:half], shares[:half]), _all_subsets(sums[half:], shares[half:])
    else:
        halves = _NONE, _random_subsets(sums, shares, drawn, seed)
    size, counted = float(np.abs(sums).sum()), None if exact else drawn
    return SignFlip(mean, values.size, counted, values, size, mirrored, halves)


def unit_weights(weights: ArrayLike | None, units: int) -> NDArray[np.float64]:
    """Return weights whose mean is 1; all the same where none are given.

    Raises
    ------
    ValueError
        If they are not as many as the units, or one is not finite and above 0.
    """
    if weights is None:
        return np.ones(units)
    given = np.asarray(weights, dtype=np.float64)
    if given.shape != (units,) or not (np.isfinite(given) & (given > 0)).all():
        raise ValueError(f"weights must be {units} finite numbers above 0, found {weights!r}")
    return np.asarray(given / (math.fsum(given.tolist()) / units))


def _ordered(
    values: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    order = np.lexsort((weights, values))
    return values[order], weights[order]


def _all_subsets(values: NDArray[np.float64], weights: NDArray[np.float64]) -> _Subsets:
    sums, sizes = _NONE
    for value, weight in zip(values, weights, strict=True):
        sums = np.concatenate((sums, sums + value))
        sizes = np.concatenate((sizes, sizes + weight))
    return sums, sizes


def _random_subsets(
    values: NDArray[np.float64], weights: NDArray[np.float64], draws: int, seed: int
) -> _Subsets:
    generator = np.random.default_rng(seed)
    sums, sizes = np.empty(draws), np.empty(draws)
    step = max(1, _CELLS // values.size)
    for start in range(0, draws, step):
        part = slice(start, min(start + step, draws))
        members = generator.integers(0, 2, (part.stop - start, values.size), dtype=np.int8)
        sums[part], sizes[part] = members @ values, members @ weights
    return sums, sizes


def _first_above(
    p_value: Callable[[float], float], level: float, least: float, most: float
) -> float:
    """Smallest margin whose p-value, which grows with it, exceeds the level.

    No subset mean lies outside `least` to `most`: below them the p-value is constant, and from
    `most` on it is 1.
    """
    below = least - 1 - abs(least)
    if p_value(below) > level:
        return -math.inf
    if p_value(least) > level:
        return least
    enough = _TIE * max(abs(least), abs(most))
    return narrowed(least, most, lambda margin: p_value(margin) <= level, enough)[1]


def in_steps(parts: NDArray[np.float64], most: int) -> NDArray[np.int64]:
    """Return parts as whole numbers of steps, shape as given.

    From 0 to 1 there are the fewest steps of which all parts are whole numbers. If up to `most`,
    but no fewer than 32 and no more than 512, no number will do, parts are rounded to the most.
    """
    for steps in range(1, 1 + min(_MOST_STEPS, max(_FEWEST_STEPS, most))):
        if (abs(parts * steps - np.rint(parts * steps)) < _ROUNDING * steps).all():
            break
    return np.rint(parts * steps).astype(np.int64)


class TiltedTest:
    """A one-sided test that the mean of values between -1 and 1 is above a margin.

    A sign-flip takes differences for symmetric about the margin. With rare losses they are not: of
    20 examples on which two arms agree, each is .02 above a margin of -.02, and yet a true loss of
    2 % shows none of them with probability .98 ** 20 = .67. The same holds of a margin of 0 where
    many small gains make up for few whole losses.

    Here the null distribution is the likeliest one whose mean is the margin, over the values that
    were seen and a whole loss, seen or not; the p-value is the probability that a sample from it
    has a mean as high. That is the bootstrap of a constrained multinomial (Efron and Tibshirani,
    "An Introduction to the Bootstrap", 1993, chapter 16) at the maximum of the empirical likelihood
    (Owen, "Empirical likelihood ratio confidence intervals for a single functional", 1988), with
    the end of the support added. Nothing is drawn: the distribution of the sum comes by Fourier
    transform. The test is exact where all differences are zeros and losses.

    Parameters
    ----------
    values
        One for each unit; the units are independent. Where they are no fractions with one small
        denominator, or weigh differently, they are rounded: to 1/512 where units are few, to
        1/32 where they are thousands.
    weights
        How much each unit counts, above 0; by default all the same.
    """

    def __init__(self, values: ArrayLike, *, weights: ArrayLike | None = None) -> None:
        row = np.asarray(values, dtype=np.float64)
        shares = unit_weights(weights, len(row))
        pairs = np.round(np.column_stack((row, shares)), 12)
        distinct, self._counts = np.unique(pairs, axis=0, return_counts=True)
        self._values, self._weights = distinct.T
        self._units = len(row)
        self._mean = math.fsum(row * shares) / len(row)
        # The (weighted) mean of a sample is as high where the sum of these is: the loss is last.
        if np.ptp(self._weights) < _ROUNDING:
            parts = np.append(self._values, -1.0)
        else:
            parts = np.append(self._weights * (self._values - self._mean), -1 - self._mean)
        self._parts = in_steps(parts, _TABLE // self._units)

    def p_greater(self, margin: float) -> float:
        """P-value of "the mean is above the margin"; 1 where the observed one is not.

        The more, the higher the margin is.
        """
        if margin >= self._mean:
            return 1.0
        if margin <= -1:
            return 0.0
        # What each unit adds to the sum of (value - margin), and what a whole loss would.
        excess = np.append(self._weights * (self._values - margin), -1 - margin)
        chances = _null(excess, self._counts / self._units)
        least = int(self._parts.min())
        one = np.bincount(self._parts - least, chances)
        size = 1 << (self._units * (len(one) - 1)).bit_length()
        sums = np.fft.irfft(np.fft.rfft(one, size) ** self._units, size)
        observed = int(self._counts @ self._parts[:-1]) - self._units * least
        return min(1.0, max(0.0, math.fsum(sums[observed:])))

    def lowest(self, level: float) -> float:
        """Return the highest margin, from -1 on, that the test excludes at this level."""
        enough = 1.5 * (1 + self._mean) / 2**_STEPS  # rounding adds no further halving
        return narrowed(-1.0, self._mean, lambda margin: self.p_greater(margin) <= level, enough)[0]


def _null(excess: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the likeliest chances under which the mean of some parts, above 0 as seen, is 0.

    Parameters
    ----------
    excess
        What was seen, and last a loss that need not have been.
    shares
        Of what was seen, how often.
    """
    observed, loss = excess[:-1], float(excess[-1])

    def mean(tilt: float) -> float:
        return float((shares * observed / (1 + tilt * observed)).sum())

    # Chances are shares / (1 + tilt * part), above 0 for all that was seen; the loss gets one from
    # the tilt on at which it would be worth as much as what was seen.
    worst = min(loss, float(observed.min()))
    low, high = 0.0, -1 / worst
    if worst < float(observed.min()) and mean(high) > 0:
        low = high
    tilt, _ = narrowed(low, high, lambda tilt: mean(tilt) > 0)
    chances = shares / (1 + tilt * observed)
    chances = np.append(chances, max(0.0, 1 - float(chances.sum())))
    return np.asarray(chances / chances.sum())
