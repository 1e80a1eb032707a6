"""Whether answers got worse: paired scores of a base and of a head, on the same examples.

Each unit (an example, or a cluster of them) has one difference, head minus base, averaged over the
prompts that both were asked with. Two things can be shown of their mean: that it is below 0
("worse"), and that it is above a margin below 0 ("not worse by more than the margin"). Where
neither can, nobody can tell.

Of one prompt whose answers are right or wrong, "worse" is McNemar's exact test (1947), and the
margin is excluded by `TiltedTest`, whose level no share of changed answers breaks
(`tests/unit/stats/test_regressions.py` sums it exactly). Means over prompts, clusters and graded
scores are neither gain nor loss: there the sign-flip must agree with the tilted test, because the
one takes differences for symmetric, and the other few units for all that there is. The sign-flip is
counted here and not drawn, so that a p-value can be as small as a correction needs it.
"""

from __future__ import annotations

import math
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.clusters import units_of
from pytest_maxrandom.stats.counts import binomial_tail
from pytest_maxrandom.stats.differences import TiltedTest, in_steps, unit_weights

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import ArrayLike, NDArray

FEWEST_PROMPTS = 6
"""Fewer prompts say nothing of other prompts at .05, of which the first look has half: 1 / 2**5 is
their smallest p-value."""
_TABLE = 2**17
"""Units times steps from 0 to 1 of the largest difference."""
_ROUNDING = 1e-9
_LEAST_P = 1e-14
"""What a Fourier transform cannot tell from 0."""


class LossTest:
    """Tests of the mean of some differences, head minus base, one for each independent unit.

    Parameters
    ----------
    differences
        From -1 to 1, shape (units,).
    weights
        How much each unit counts, above 0, shape (units,); by default all the same.
    symmetric
        Whether the sign-flip suffices: a prompt's mean over many examples is no rare loss.

    Attributes
    ----------
    units
        How many differences there are.

    Raises
    ------
    ValueError
        If there is no difference, one is outside -1 to 1, or a weight is none.
    """

    def __init__(
        self,
        differences: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        symmetric: bool = False,
    ) -> None:
        self._symmetric = symmetric
        values = np.asarray(differences, dtype=np.float64)
        if values.ndim != 1 or not values.size or not (abs(values) <= 1 + _ROUNDING).all():
            raise ValueError(
                f"differences must be a row of numbers from -1 to 1, found shape {values.shape}"
            )
        self._values, self._weights = values, unit_weights(weights, values.size)
        self.units = values.size
        self._is_whole = bool(
            np.isin(values, (-1.0, 0.0, 1.0)).all() and np.ptp(self._weights) < _ROUNDING
        )

    @cached_property
    def mean(self) -> float:
        """The (weighted) mean of the differences."""
        return math.fsum((self._values * self._weights).tolist()) / self.units

    @cached_property
    def deviation(self) -> float:
        """Standard deviation of what one unit adds to the mean."""
        parts = (self._weights * (self._values - self.mean)) ** 2
        return math.sqrt(math.fsum(parts.tolist()) / max(1, self.units - 1))

    def p_worse(self) -> float:
        """P-value of "the mean is below 0" (one-sided)."""
        if self._is_whole:
            return self._mcnemar(-1)
        if self.mean >= 0:
            return 1.0
        p = flipped(-self._values * self._weights)
        return p if self._symmetric else max(p, self._tilted(-self._values, 0.0))

    def p_not_worse(self, margin: float) -> float:
        """P-value of "the mean is above the margin" (one-sided).

        Parameters
        ----------
        margin
            From -1 to 0.
        """
        if not -1 <= margin <= 0:
            raise ValueError(f"margin must be from -1 to 0, found {margin!r}")
        better = 1.0
        if self._is_whole:
            better = self._mcnemar(1)
            if margin == 0:
                return better
        if self.mean <= margin:
            return 1.0
        if self._is_whole:
            return min(better, self._tilted(self._values, margin))
        p = flipped((self._values - margin) * self._weights)
        return p if self._symmetric else max(p, self._tilted(self._values, margin))

    def _mcnemar(self, sign: int) -> float:
        """P-value of "of what differs, most has this sign"."""
        of_sign = int((self._values * sign > 0).sum())
        return binomial_tail(of_sign, int((self._values != 0).sum()), 0.5)

    def _tilted(self, values: NDArray[np.float64], margin: float) -> float:
        return TiltedTest(values, weights=self._weights).p_greater(margin)


def flipped(parts: ArrayLike) -> float:
    """Return the share of all choices of signs whose sum of parts is at least the one with none.

    Fisher's sign-flip test of "the mean is above 0", over all 2**units choices at once: the sum of
    the parts whose sign is kept has the product of (1 + z**size) / 2 for its generating function.
    Parts that are no multiples of one small number are rounded, to 1/512 of the largest where they
    are few and to 1/32 where they are thousands.

    Examples
    --------
    >>> round(flipped([0.02, 0.05, 0.01, 0.03, 0.04, 0.06]), 12)
    0.015625
    """
    values = np.asarray(parts, dtype=np.float64)
    values = values[values != 0]
    if not values.size:
        return 1.0
    values = values / abs(values).max()
    whole = in_steps(values, _TABLE // values.size)
    sizes, counts = np.unique(abs(whole), return_counts=True)
    most = int((sizes * counts).sum())
    length = 1 << most.bit_length()
    turns = np.exp(-2j * np.pi * np.arange(length) / length)
    places = np.arange(length // 2 + 1)
    product = np.ones(len(places), dtype=np.complex128)
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        product *= ((1 + turns[places * size % length]) / 2) ** count
    sums = np.fft.irfft(product, length)
    reached = int(whole[whole > 0].sum())
    return min(1.0, max(_LEAST_P, math.fsum(sums[reached : most + 1])))


class Change:
    """The scores of the same prompts on the same examples, before and after.

    Parameters
    ----------
    base, head
        Scores from 0 to 1, shape (prompts, examples); NaN where there is none. A cell counts where
        both have one.
    clusters
        What each example shares with others, shape (examples,); None: all stand alone.
    sampled
        Whether the prompts stand for others: then they are units as well, from `FEWEST_PROMPTS` on,
        and what is shown must hold for both. Else it is said of these prompts.

    Attributes
    ----------
    prompts, examples
        How many have a score in both.
    base_mean, head_mean
        Mean scores over the cells that count.
    by_unit
        The test over examples, or over their clusters.

    Raises
    ------
    ValueError
        If the shapes differ, or no cell has a score in both.
    """

    def __init__(
        self,
        base: ArrayLike,
        head: ArrayLike,
        clusters: Sequence[Hashable] | None = None,
        *,
        sampled: bool = False,
    ) -> None:
        before, after = (np.atleast_2d(np.asarray(each, dtype=np.float64)) for each in (base, head))
        if before.shape != after.shape or before.ndim != 2:
            raise ValueError(f"found scores of the shapes {before.shape} and {after.shape}")
        there = ~(np.isnan(before) | np.isnan(after))
        if not there.any():
            raise ValueError("no prompt and example has a score in both")
        cells = int(there.sum())
        self.prompts, self.examples = int(there.any(axis=1).sum()), int(there.any(axis=0).sum())
        self.base_mean = math.fsum(before[there].tolist()) / cells
        self.head_mean = math.fsum(after[there].tolist()) / cells
        of_example = units_of(clusters, before.shape[1])
        gains = np.where(there, after - before, 0.0)
        values, weights = _grouped(of_example, gains.sum(axis=0), there.sum(axis=0))
        self.by_unit = LossTest(values, weights=weights)
        self._tests = [self.by_unit]
        if sampled and self.prompts >= FEWEST_PROMPTS:
            self._tests = _crossed(gains, there, of_example)

    @property
    def mean(self) -> float:
        """Mean difference."""
        return self.by_unit.mean

    def p_worse(self) -> float:
        """P-value of "the mean is below 0" (one-sided)."""
        return max(test.p_worse() for test in self._tests)

    def p_not_worse(self, margin: float) -> float:
        """P-value of "the mean is above the margin" (one-sided)."""
        return max(test.p_not_worse(margin) for test in self._tests)


def _grouped(
    groups: NDArray[np.int64], gains: NDArray[np.float64], cells: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean difference of each group, and its number of cells."""
    sizes = np.bincount(groups, cells)
    known = sizes > 0
    means = np.bincount(groups, gains)[known] / sizes[known]
    return np.clip(means, -1.0, 1.0), sizes[known].astype(np.float64)


def _crossed(
    gains: NDArray[np.float64], there: NDArray[np.bool_], of_example: NDArray[np.int64]
) -> list[LossTest]:
    """Return the tests over examples and over prompts, the one that varies most stretched.

    Neither grouping counts all of the variance of the mean: that is the sum of both less that of
    their intersections (Cameron, Gelbach and Miller, "Robust inference with multiway clustering",
    2011).
    """
    prompts = np.arange(len(gains))
    mean = gains.sum() / there.sum()
    rests = np.where(there, gains - mean, 0.0) / there.sum()
    groups = int(of_example.max()) + 1
    together = np.stack([np.bincount(of_example, row, groups) for row in rests])
    own = [
        (together.sum(axis=axis) ** 2).sum() * size / max(1, size - 1)
        for axis, size in ((0, groups), (1, len(gains)))
    ]
    whole = sum(own) - (together**2).sum()
    sides = [
        _grouped(of_example, gains.sum(axis=0), there.sum(axis=0)),
        _grouped(prompts, gains.sum(axis=1), there.sum(axis=1)),
    ]
    most = int(np.argmax(own))
    tests = []
    for side, (values, weights) in enumerate(sides):
        factor = 1.0
        if side == most and own[most] > 0:
            factor = math.sqrt(max(1.0, whole / own[most]))
        stretched = mean + factor * (values - mean)
        values = np.clip(stretched, -1.0, 1.0)
        tests.append(LossTest(values, weights=weights, symmetric=side == 1))
    return tests


def needed_units(deviation: float, margin: float, level: float, power: float = 0.8) -> int | None:
    """Return about how many units show "not worse by more than the margin" of what is as good.

    Parameters
    ----------
    deviation
        Standard deviation of one unit's difference.
    margin, level
        Below 0; above 0. Without any difference the level needs log(level) / log(1 + margin) units.

    Returns
    -------
    int or None
        None where no number does.
    """
    if margin >= 0 or level <= 0:
        return None
    normal = NormalDist()
    z = normal.inv_cdf(1 - min(level, 0.5)) + normal.inv_cdf(power)
    least = math.log(level) / math.log1p(margin) if margin > -1 else 1.0
    return math.ceil(max(least, (z * deviation / margin) ** 2))
