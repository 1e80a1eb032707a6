"""Number correct of one random guesser: binomial, or Poisson binomial where chances differ.

Masses are held in a window, at least where they exceed 1e-60. Every mass is built from positive
terms alone (ratio recurrence outward from the mode, direct convolution), so each component keeps
its *relative* accuracy; nothing is ever subtracted.

Tails outside of the window come by exponential tilting. For every z > 1, with tilted chances
p_i z / (1 - p_i + p_i z) of a count Y,

    P(X >= k) = prod_i (1 - p_i + p_i z) / z^k  *  sum_{j >= k} z^(k - j) P(Y = j),

which is an identity, not an approximation (Peres, Lee and Keich, arXiv:2004.07429, use it with
fast Fourier transforms). With the mean of Y near k the sum is over the middle of a window, and
the product is taken in 50-digit decimal arithmetic, so no digits cancel however small the tail.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.stats.chances import Groups

CUT = 1e-60
"""Masses below this are left out of a long window."""

_LOG_CUT = -math.log(CUT)
_BLOCK = 4096  # BLAS starts threads for longer dot products, which is slower by orders here
_SHORT = 128  # masses that are not worth cutting
_UNDERFLOW = 1e-300
_ONE = np.ones(1)


@dataclass(frozen=True)
class Window:
    """Masses P(X = low + i) for i = 0 .. len(masses) - 1."""

    low: int
    masses: NDArray[np.float64]

    @property
    def high(self) -> int:
        """Largest count in the window."""
        return self.low + len(self.masses) - 1


def _trimmed(low: int, masses: NDArray[np.float64]) -> Window:
    cut = CUT if len(masses) > _SHORT else _UNDERFLOW
    if masses[0] >= cut and masses[-1] >= cut:
        return Window(low, masses)
    kept = np.flatnonzero(masses >= cut)
    return Window(low + int(kept[0]), masses[kept[0] : kept[-1] + 1])


def binomial_window(n: int, odds: float) -> Window:
    """Masses of a binomial count of ``n`` trials with success odds p/(1-p) = ``odds``.

    The half-width follows Bernstein's inequality, exp(-h^2 / (2 (variance + h/3))) = CUT.
    """
    mean = n * (odds / (1 + odds))
    variance = mean / (1 + odds)
    reach = _LOG_CUT / 3 + math.sqrt((_LOG_CUT / 3) ** 2 + 2 * _LOG_CUT * variance) + 2
    mode = min(n, int((n + 1) * (odds / (1 + odds))))
    low, high = max(0, math.floor(mean - reach)), min(n, math.ceil(mean + reach))
    falling = np.arange(mode, low, -1, dtype=np.float64)
    rising = np.arange(mode + 1, high + 1, dtype=np.float64)
    weights = np.concatenate(
        (
            (falling / ((n + 1 - falling) * odds)).cumprod()[::-1],
            _ONE,
            ((n + 1 - rising) / rising * odds).cumprod(),
        )
    )
    return _trimmed(low, weights / weights.sum())


def convolve(first: Window, second: Window) -> Window:
    """Masses of the sum of two independent counts."""
    long, short = first.masses, second.masses
    if len(long) < len(short):
        long, short = short, long
    if len(short) <= _BLOCK:
        return _trimmed(first.low + second.low, np.convolve(long, short))
    total = np.zeros(len(long) + len(short) - 1)
    for start in range(0, len(short), _BLOCK):
        part = np.convolve(long, short[start : start + _BLOCK])
        total[start : start + len(part)] += part
    return _trimmed(first.low + second.low, total)


def count_window(sure: int, odds: Sequence[tuple[float, int]]) -> Window:
    """Masses of the number of successes of ``sure`` certain trials and groups of random ones.

    Parameters
    ----------
    sure
        Trials that always succeed.
    odds
        Pairs (odds of success, number of trials with them), 0 < odds < infinity.
    """
    windows = [binomial_window(size, ratio) for ratio, size in odds]
    windows.sort(key=lambda window: len(window.masses))
    return functools.reduce(convolve, windows, Window(sure, _ONE))


_MOST_ODDS = 1e300  # a failure at these odds weighs nothing against the sum
_CONTEXT = Context(prec=50, Emin=-(10**17), Emax=10**17)


def _log_tilt(groups: Groups, target: float) -> float:
    """Find log z so that the tilted mean is ``target``, to within a thousandth of log z."""
    logits = np.array([math.log(p.numerator) - math.log(p.denominator - p.numerator)
                       for p, _ in groups])  # fmt: skip
    sizes = np.array([size for _, size in groups], dtype=np.float64)

    def mean(log_z: float) -> float:
        return float(np.sum(sizes * 0.5 * (1 + np.tanh((logits + log_z) / 2))))

    high = 1.0
    while mean(high) < target:
        high *= 2
    low = 0.0
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if mean(middle) < target else (low, middle)
    return high


def upper_tail(groups: Groups, k: int) -> Decimal:
    """P(X >= k) for a count k above the mean of X, to about 13 significant digits.

    Parameters
    ----------
    groups
        Chances of the trials and how many trials have each.
    k
        Count with mean of X < k <= largest possible count.
    """
    sure = sum(size for chance, size in groups if chance == 1)
    random = tuple(group for group in groups if 0 < group[0] < 1)
    wanted, trials = k - sure, sum(size for _, size in random)
    with localcontext(_CONTEXT):
        exact = [
            (Decimal(p.numerator), Decimal(p.denominator - p.numerator), size) for p, size in random
        ]
        if wanted == trials:
            return math.prod(((s / (s + f)) ** size for s, f, size in exact), start=Decimal(1))
        z = Decimal(_log_tilt(random, wanted)).exp()
        scale = math.prod(
            (((s * z + f) / (s + f)) ** size for s, f, size in exact), start=Decimal(1)
        )
        odds = [(min(_MOST_ODDS, float(s * z / f)), size) for s, f, size in exact]
        window = count_window(0, odds)
        masses = window.masses[wanted - window.low :]
        ratio = float(1 / z)
        tail = math.fsum(masses * ratio ** np.arange(len(masses), dtype=np.float64))
        return scale * Decimal(tail) / z**wanted


_EXACT = 1e-30
"""Tails below this are computed by tilting instead of read from the window (cut at 1e-60)."""


def log1m_exp(x: float) -> float:
    """log(1 - e^x) for x <= 0 without cancellation."""
    if x == 0:
        return -math.inf
    return math.log(-math.expm1(x)) if x > -math.log(2) else math.log1p(-math.exp(x))


class GuesserCount:
    """Distribution of the number correct of one random guesser.

    Parameters
    ----------
    groups
        Chances and the number of examples with each, from
        `pytest_maxrandom.stats.chances.chance_groups`.

    Attributes
    ----------
    n : int
        Number of examples.
    """

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        self.n = sum(size for _, size in groups)
        self._least = sum(size for chance, size in groups if chance == 1)
        self._most = self.n - sum(size for chance, size in groups if chance == 0)

    @cached_property
    def window(self) -> Window:
        """Masses P(X = k) above 1e-60."""
        odds = [  # correctly rounded
            (chance.numerator / (chance.denominator - chance.numerator), size)
            for chance, size in self.groups
            if 0 < chance.numerator < chance.denominator
        ]
        return count_window(self._least, odds)

    @cached_property
    def _above(self) -> NDArray[np.float64]:
        """P(X >= low + i) for i = 0 .. width - 1."""
        return self.window.masses[::-1].cumsum()[::-1]

    @cached_property
    def _below(self) -> NDArray[np.float64]:
        """P(X < low + i + 1) for i = 0 .. width - 1."""
        return self.window.masses.cumsum()

    @cached_property
    def log_below_window(self) -> NDArray[np.float64]:
        """Log P(X < k) for the counts k of the window but its lowest."""
        above, below = self._above[1:], self._below[:-1]
        half = int(below.searchsorted(0.5))
        return np.concatenate((np.log(below[:half]), np.log1p(-above[half:])))

    def _tail(self, k: int, *, upper: bool) -> tuple[float, float]:
        """P(X >= k), or P(X < k), and its logarithm; accurate where it is small."""
        window = self.window
        if k <= window.low if upper else k > window.high:
            return 1.0, 0.0
        if k > self._most if upper else k <= self._least:
            return 0.0, -math.inf
        held = self._above if upper else self._below
        place = k - window.low - (0 if upper else 1)
        if 0 <= place < len(held) and (tail := float(held[place])) >= _EXACT:
            return tail, math.log(tail)
        if upper:
            exact = upper_tail(self.groups, k)
        else:  # the upper tail of the failures
            failures = tuple((1 - chance, size) for chance, size in self.groups)
            exact = upper_tail(failures, self.n - k + 1)
        return float(exact), float(exact.ln()) if exact else -math.inf

    def p_at_least(self, k: int) -> float:
        """P(X >= k) for any integer k."""
        tail, _ = self._tail(k, upper=True)
        return tail if tail <= 0.5 else 1.0 - self._tail(k, upper=False)[0]

    def log_p_at_least(self, k: int) -> float:
        """Log P(X >= k), also where the probability is below the smallest double."""
        tail, log_tail = self._tail(k, upper=True)
        return log_tail if tail <= 0.5 else math.log1p(-self._tail(k, upper=False)[0])

    def log_p_below(self, k: int) -> float:
        """Log P(X < k), also where the probability is below the smallest double."""
        tail, _ = self._tail(k, upper=True)
        return math.log1p(-tail) if tail <= 0.5 else self._tail(k, upper=False)[1]


@functools.lru_cache(maxsize=4096)  # many claims differ on as many examples
def binomial_tail(k: int, n: int, chance: float | Fraction) -> float:
    """P(X >= k) of a binomial count of ``n`` trials; a float stands for its exact value."""
    return GuesserCount(((Fraction(chance), n),)).p_at_least(k)
