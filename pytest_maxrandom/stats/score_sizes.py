"""How many scores show that a mean is above a bound: of graded scores, or of paired differences.

Scores are taken to be the least, the mean or the greatest, as often as their spread takes. The
lower end of the exact test (`pytest_maxrandom.stats.bounded`) of a sample that is just like that
is compared with the bound, and the sample's mean is taken for normal about the true one, which is
good enough for a plan.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from pytest_maxrandom.stats.best_of import narrowed
from pytest_maxrandom.stats.bounded import at_most_zero
from pytest_maxrandom.stats.chances import whole_number
from pytest_maxrandom.stats.sizes import POWERS, fewest_examples

_ENOUGH = 1e-6
SCORES, DIFFERENCES = (0.0, 1.0), (-1.0, 1.0)
"""Between which values scores, and differences of two scores, can be."""


@dataclass(frozen=True)
class ScoreClaim:
    """What is to be shown: that the mean score of the best of t prompts is above a bound.

    Raises
    ------
    TypeError, ValueError
        If a number is none, or lies outside its range.
    """

    true: float
    bound: float
    """The true mean, and what it is above."""
    spread: float | None = None
    """Standard deviation of the scores; the greatest that there can be if not given."""
    t: int = 1
    alpha: float = 0.05
    """Number of prompts, and the level of the test."""
    ends: tuple[float, float] = SCORES
    """`SCORES` or `DIFFERENCES`."""

    def __post_init__(self) -> None:
        whole_number("t", self.t, 1)
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha must be above 0 and below 1, found {self.alpha!r}")
        low, high = self.ends
        if not low < self.bound < self.true < high:
            raise ValueError(
                f"expected {low:g} < bound < true mean < {high:g}, found {self.bound:g} and "
                f"{self.true:g}"
            )
        if not 0 < self._deviation <= self._most:
            raise ValueError(
                f"the spread of scores with the mean {self.true:g} is above 0 and at most "
                f"{self._most:.3g}, found {self._deviation:g}"
            )

    @property
    def _most(self) -> float:
        """The greatest standard deviation that there can be."""
        low, high = self.ends
        return math.sqrt((high - self.true) * (self.true - low))

    @property
    def _deviation(self) -> float:
        return self._most if self.spread is None else self.spread

    def power(self, n: int) -> float:
        """Return about how probable it is that so many independent examples show it."""
        (low, high), true, own = self.ends, self.true, self._deviation
        values = np.array([low, true, high, low])
        shares = own**2 / (high - low) / np.array([true - low, high - true])
        counts = n * np.array([shares[0], 1 - shares.sum(), shares[1], 1 / n])

        def is_excluded(bound: float) -> bool:
            return at_most_zero(values - bound, counts) <= self.alpha / self.t

        lowest, _ = narrowed(low + _ENOUGH, true - _ENOUGH, is_excluded, _ENOUGH)
        return NormalDist().cdf((lowest - self.bound) * math.sqrt(n) / own)

    def examples_for(self, power: float) -> int | None:
        """Return about how many examples that takes; None where 10 million do not."""
        return fewest_examples(lambda n: self.power(n) >= power)


def score_plan(claim: ScoreClaim, n: int | None = None) -> dict[str, Any]:
    """Answer what scores can show: how many examples it takes, and what n of them do.

    Raises
    ------
    TypeError, ValueError
        If n is no number of examples.
    """
    given = {name: getattr(claim, name) for name in ("bound", "true", "spread", "t", "alpha")}
    answers: dict[str, Any] = {
        "given": {**given, "n": n},
        "n_for_power": {f"{power:g}": claim.examples_for(power) for power in POWERS},
    }
    if n is not None:
        answers["power"] = claim.power(whole_number("n", n, 1))
    return answers
