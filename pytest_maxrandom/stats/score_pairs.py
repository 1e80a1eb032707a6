"""An exact test of the mean difference of two prompts' scores on the same examples.

Where answers are right or wrong, no two examples belong together and the margin is 0, it is the
one-sided test of McNemar (1947) with the exact binomial distribution. With another margin the
number of wins less losses is compared with its distribution at the worst share of examples that
only one of the two answers rightly, of those in a confidence interval, whose own error is added
(Berger and Boos, "P values maximized over a confidence set for the nuisance parameter", 1994). For
graded scores, and for clusters, it is `pytest_maxrandom.stats.bounded.BoundedMean`, and so it is
where the other prompt is a stated baseline, which scores the same on each example.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.best_of import narrowed
from pytest_maxrandom.stats.bounded import BoundedMean
from pytest_maxrandom.stats.counts import binomial_tail

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_SIGNS = (-1.0, 0.0, 1.0)
_OF_BOUND = 0.02
"""Share of the level that bounds the share of examples that only one of two answers rightly."""
_FLOOR = 1e-12
"""A p-value that comes by Fourier transform is known to this."""
_ENDS = (-1.0, 1.0)
_SHARES = 9
"""Shares of an interval at which a probability is computed; it changes little between them."""
_ENOUGH = 1e-6


class ScorePair:
    """The differences of two prompts' scores, and an exact test of their mean.

    Parameters
    ----------
    differences
        Shape (n,).
    groups
        Number of each example's cluster, shape (n,).
    ends
        Between which values they can be at all.
    """

    def __init__(
        self,
        differences: Floats,
        groups: NDArray[np.int64],
        ends: tuple[float, float] = _ENDS,
    ) -> None:
        self.differences, self.groups, self.ends = differences, groups, ends
        _, of, sizes = np.unique(groups, return_inverse=True, return_counts=True)
        self.sizes = sizes
        self.means = np.bincount(of, differences) / sizes
        paired = ends == _ENDS and len(sizes) == len(differences)
        self.binary = paired and bool(np.isin(differences, _SIGNS).all())
        if self.binary:
            self.wins, self.losses = int((differences > 0).sum()), int((differences < 0).sum())

    @property
    def mirrored(self) -> ScorePair:
        """The same with the two prompts exchanged."""
        return ScorePair(-self.differences, self.groups, (-self.ends[1], -self.ends[0]))

    @cached_property
    def _bounded(self) -> BoundedMean:
        return BoundedMean(self.means, self.ends[0], self.sizes.astype(np.float64))

    @property
    def variance(self) -> float:
        """Variance of the mean difference."""
        n, mean = len(self.differences), float(self.differences.mean())
        return float((self.sizes**2 * (self.means - mean) ** 2).sum()) / n**2

    def p_greater(self, margin: float, level: float) -> float:
        """P-value of "the mean difference is above the margin", to be compared with a level."""
        if not self.binary:
            return self._bounded.p_greater(margin)
        apart = self.wins + self.losses
        if margin == 0:
            return binomial_tail(self.wins, apart, 0.5)
        if abs(margin) >= 1:
            return 1.0 if margin > 0 else 0.0
        error = _OF_BOUND * level
        least, most = _shares(apart, len(self.differences), error / 2)
        if most < abs(margin):
            # So large a difference, of whatever sign, takes more examples on which the two differ.
            return 1.0 if margin > 0 else error
        shares = np.linspace(max(abs(margin), least), most, _SHARES)
        worst = max(self._surplus(float(share), margin) for share in shares)
        return min(1.0, error + max(_FLOOR, worst))

    def _surplus(self, share: float, margin: float) -> float:
        """Return P(wins - losses is as large), where so many examples differ, by the margin."""
        n = len(self.differences)
        one = np.array([(share - margin) / 2, 1 - share, (share + margin) / 2])
        size = 1 << (2 * n).bit_length()
        sums = np.fft.irfft(np.fft.rfft(one, size) ** n, size)
        return float(sums[self.wins - self.losses + n : 2 * n + 1].sum())

    def excludes(self, margin: float, level: float) -> bool:
        """Tell whether the test excludes a margin, and all below it, at a level."""
        return self.p_greater(margin, level) <= level

    def lowest(self, level: float, enough: float = _ENOUGH) -> float:
        """Return the highest margin, from the least that there is, that the test excludes.

        It is found to within `enough`, and never too high.
        """
        if not self.binary:
            return self._bounded.lowest(level, enough)

        def excluded(margin: float) -> bool:
            return self.excludes(margin, level)

        found = narrowed(-1.0, float(self.differences.mean()), excluded, enough)[0]
        # The margin 0 has no unknown share, and so no error of its bound.
        return 0.0 if found < 0 and excluded(0.0) else found


@lru_cache(maxsize=4096)  # the prompts of many models differ on as many examples
def _shares(apart: int, n: int, error: float) -> tuple[float, float]:
    """Return bounds of the share of examples on which two prompts differ, each with an error."""
    low, _ = narrowed(0.0, apart / n, lambda at: binomial_tail(apart, n, at) <= error)
    same, _ = narrowed(0.0, 1 - apart / n, lambda at: binomial_tail(n - apart, n, at) <= error)
    return low, 1 - same
