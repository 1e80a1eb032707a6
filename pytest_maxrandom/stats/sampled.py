"""The best mean score of guessers who gave the same samples as the prompts.

The score of an example has the law of its samples (`pytest_maxrandom.stats.samples`); the sum over
examples is their convolution, by Fourier transforms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.chances import whole_number

if TYPE_CHECKING:
    from typing import Self

    from pytest_maxrandom.stats.maximum import Floats
    from pytest_maxrandom.stats.samples import Kinds

_FINEST = 4096
"""Steps between 0 and 1 that a score may have; finer ones are rounded up, so that no p-value is too
small and no baseline too low, by more than 1/4096."""
FLOOR = 1e-12
"""No p-value of a mean of samples is said to be smaller: sums by Fourier transforms are exact to
that."""
_NEAR = 1e-9
"""Steps by which a score may be off that was divided and multiplied again."""


@dataclass(frozen=True, eq=False)
class BestOfSamples:
    """Best mean score of guessers who gave the same samples, each prompt's as they are.

    Prompts are scored on the same n examples. Of those that are not at hand nothing is known: they
    are taken to be as good as the best of the others.

    Attributes
    ----------
    t
        Number of guessers, at least that of the prompts.
    n
        Number of examples.
    steps
        Of how many steps a score is made, between 0 and 1.
    above
        P(score of one guesser >= j / steps), j = 0, ..., steps; shape (prompts, steps + 1).
    means
        Expected score of each prompt's guesser.
    """

    t: int
    n: int
    steps: int
    above: Floats
    means: Floats

    @classmethod
    def of(cls, kinds: Kinds, unit: int, t: int) -> Self:
        """Return the best of t guessers.

        Parameters
        ----------
        kinds
            Of the answers of the prompts at hand.
        unit
            What scores are units of.
        t
            Number of guessers.
        """
        prompts, n = kinds.places.shape
        fine = min(unit, _FINEST)
        masses = np.zeros((len(kinds.laws), fine + 1))
        exact = np.zeros(len(kinds.laws))
        for place, law in enumerate(kinds.laws):
            exact[place] = float(sum(score * p for score, p in law.items()) / unit)
            for score, p in law.items():
                masses[place, -(-score * fine // unit)] += float(p)
        counts = np.stack([np.bincount(row, minlength=len(masses)) for row in kinds.places]).astype(
            np.float64
        )
        steps = n * fine
        length = 1 << (steps + 1).bit_length()
        spectra = np.fft.rfft(masses, length, axis=1)
        with np.errstate(divide="ignore"):
            logs = np.log(np.where(spectra == 0, 1e-300, spectra))
        above = np.empty((prompts, steps + 1))
        for place, row in enumerate(counts):
            used = np.flatnonzero(row)
            sums = np.fft.irfft(np.exp(row[used] @ logs[used]), length)[: steps + 1]
            tail = np.cumsum(np.maximum(sums, 0.0)[::-1])[::-1]
            above[place] = np.minimum(tail, 1.0)
        above[:, 0] = 1.0
        return cls(whole_number("t", t, prompts), n, steps, above, counts @ exact / n)

    @cached_property
    def values(self) -> Floats:
        """All scores, ascending."""
        return np.arange(self.steps + 1) / self.steps

    @cached_property
    def _reached(self) -> Floats:
        """P(best score >= j / steps)."""
        with np.errstate(divide="ignore"):
            below = np.log1p(-np.minimum(self.above, 1.0))
        others = self.t - len(below)
        total = below.sum(axis=0)
        if others:
            total = total + others * below.min(axis=0)
        return np.asarray(-np.expm1(total))

    def _place(self, score: float) -> int:
        if not 0 <= score <= 1:
            raise ValueError(f"score must be from 0 to 1, found {score!r}")
        return min(self.steps, math.ceil(score * self.steps - _NEAR * self.steps))

    @cached_property
    def expected(self) -> float:
        """Expected best score: the maximum random baseline."""
        return math.fsum(self._reached[1:].tolist()) / self.steps

    @cached_property
    def standard_baseline(self) -> float:
        """Expected score of one guesser, mean over the prompts."""
        return float(self.means.mean())

    def p_standard(self, score: float, prompt: int) -> float:
        """P(this prompt's guesser scores at least this)."""
        return max(FLOOR, float(self.above[prompt, self._place(score)]))

    def p_value(self, score: float) -> float:
        """P(best score >= score)."""
        return max(FLOOR, float(self._reached[self._place(score)]))

    def union_p(self, score: float) -> float:
        """Bound of `p_value` that holds for every dependence between prompts."""
        own = self.above[:, self._place(score)]
        total = math.fsum(own.tolist()) + (self.t - len(own)) * float(own.max())
        return min(1.0, max(FLOOR, total))
