"""From the answers of two arms to their difference: first minus second throughout.

Prompts share their examples, and replicates share the task, so neither are independent. The signs
are flipped of examples, each with its difference averaged over all prompts that met it; and, where
there are enough replicates, of these. Either test alone would take part of what varies for fixed:
examples that replicates share, or demonstrations that examples share. So what is claimed must hold
by both, and an interval holds both.

Signs are flipped about a margin as well, but where few examples change, what they do is not
symmetric about it: that a loss was not seen in few examples says little. So margins below 0, and
ends of an interval beyond 0, must be excluded by `TiltedTest` too, unless 0 itself is.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from pytest_maxrandom.stats.multiplicity import holm
from pytest_maxrandom.stats.paired import mcnemar
from pytest_maxrandom.stats.signflip import MOST_EXACT, sign_flip
from pytest_maxrandom.stats.tilted import TiltedTest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.arms.answers import PairedAnswers
    from pytest_maxrandom.stats.signflip import SignFlip

Units = Literal["examples", "replicates"]

FEWEST_REPLICATES = 6
"""Fewer have no interval at .95: 2 / 2**5 is above .05."""
DRAWS = 9_999
"""Choices of signs, where they are too many to count."""


@dataclass(frozen=True, slots=True)
class PromptDifference:
    """McNemar's test of one prompt.

    Attributes
    ----------
    only_first, only_second : int
        Examples on which only this arm is right.
    p_value, adjusted_p : float
        Two-sided, exact; adjusted over all prompts by Holm's method.
    """

    only_first: int
    only_second: int
    p_value: float
    adjusted_p: float


class Difference:
    """The difference of two arms over some replicates; made by `difference`.

    Attributes
    ----------
    t, n : int
        Prompts of the first replicate; examples of each prompt, the rounded mean.
    first_accuracy, second_accuracy : float
        Mean over replicates of the mean over prompts and examples.
    by_replicate : tuple of float
        Mean paired difference of each.
    first_best, second_best : float
        Accuracy of the best prompt, mean over replicates.
    tests : dict
        By what the signs are flipped of.
    """

    def __init__(self, replicates: Sequence[PairedAnswers], seed: int = 0) -> None:
        self._replicates = replicates
        self.t = len(replicates[0].evaluated)
        self.n = round(_mean([each.evaluated.sum() / len(each.evaluated) for each in replicates]))
        self.first_accuracy = _mean([_accuracy(each, each.first) for each in replicates])
        self.second_accuracy = _mean([_accuracy(each, each.second) for each in replicates])
        self.by_replicate = tuple(
            float(_signed(each).sum() / each.evaluated.sum()) for each in replicates
        )
        first = [_best(each, each.first) for each in replicates]
        second = [_best(each, each.second) for each in replicates]
        self.first_best, self.second_best = _mean(first), _mean(second)
        self._best_differences = [a - b for a, b in zip(first, second, strict=True)]
        values = _by_example(replicates)
        self.tests: dict[Units, SignFlip] = {"examples": sign_flip(values, draws=DRAWS, seed=seed)}
        self._unseen_losses = TiltedTest(values, seed=seed)
        self._unseen_gains = TiltedTest([-value for value in values], seed=seed)
        self._of_best: SignFlip | None = None
        if len(replicates) >= FEWEST_REPLICATES:
            self.tests["replicates"] = sign_flip(self.by_replicate, draws=DRAWS, seed=seed)
            self._of_best = sign_flip(self._best_differences, draws=DRAWS, seed=seed)

    @property
    def mean(self) -> float:
        """Mean over replicates of the mean paired difference."""
        return _mean(self.by_replicate)

    @property
    def best_difference(self) -> float:
        """Mean over replicates of the best of t prompts' accuracy less that of the other arm's."""
        return _mean(self._best_differences)

    @property
    def units(self) -> Units:
        """What the signs are flipped of in the test that tells less: its p-value is larger."""
        return max(self.tests, key=lambda units: self.tests[units].p_value())

    def p_value(self, margin: float = 0.0) -> float:
        """P-value of "the difference is not the margin"; the largest of all tests."""
        return max(test.p_value(margin) for test in self.tests.values())

    def p_greater(self, margin: float = 0.0) -> float:
        """P-value of "the difference is above the margin" (one-sided); the largest of all tests."""
        p = max(test.p_greater(margin) for test in self.tests.values())
        if margin >= 0 or self.mean <= margin:
            return p
        return max(p, min(self._unseen_losses.p_greater(margin), self.p_greater()))

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return all margins that some test does not exclude; within -1 to 1."""
        low, high = _hull([test.interval(confidence) for test in self.tests.values()])
        level = (1 - confidence) / 2
        if low <= 0:
            low = min(low, self._unseen_losses.lowest(level))
        if high >= 0:
            high = max(high, -self._unseen_gains.lowest(level))
        return low, high

    def best_interval(self, confidence: float) -> tuple[float, float] | None:
        """Return the interval of `best_difference` over replicates; None if they are too few."""
        return _hull([self._of_best.interval(confidence)]) if self._of_best else None

    @cached_property
    def prompts(self) -> tuple[PromptDifference, ...]:
        """McNemar's test of each prompt of the first replicate."""
        answers = self._replicates[0]
        only_first = (answers.first & ~answers.second & answers.evaluated).sum(axis=1).tolist()
        only_second = (answers.second & ~answers.first & answers.evaluated).sum(axis=1).tolist()
        ps = [mcnemar(one, other) for one, other in zip(only_first, only_second, strict=True)]
        return tuple(
            PromptDifference(*each)
            for each in zip(only_first, only_second, ps, holm(ps), strict=True)
        )


def difference(replicates: Sequence[PairedAnswers], *, seed: int = 0) -> Difference:
    """Compare two arms; neither the order of the examples nor that of the replicates matters.

    Parameters
    ----------
    replicates
        One for each replicate. Of the first one, prompts are compared one by one.
    seed
        Of the signs, where they are too many to count.

    Raises
    ------
    ValueError
        If there is no replicate.
    """
    if not replicates:
        raise ValueError("there must be at least one replicate")
    return Difference(replicates, seed)


def smallest_p(examples: int, replicates: int) -> float:
    """Smallest one-sided p-value that so many examples and replicates can give."""
    units = [examples, *([replicates] if replicates >= FEWEST_REPLICATES else [])]
    return max(0.5**each if each <= MOST_EXACT else 1 / (1 + DRAWS) for each in units)


def _signed(answers: PairedAnswers) -> NDArray[np.int64]:
    """Return 1 where only the first arm is right, -1 where only the second is, shape (t, n)."""
    return (answers.first.astype(np.int64) - answers.second) * answers.evaluated


def _by_example(replicates: Sequence[PairedAnswers]) -> list[float]:
    """Return a value for each distinct example; their mean is that of the replicates' means."""
    parts: defaultdict[str, list[float]] = defaultdict(list)
    for answers in replicates:
        share = int(answers.evaluated.sum()) * len(replicates)
        met = answers.evaluated.any(axis=0)
        sums = _signed(answers).sum(axis=0)
        for place in np.flatnonzero(met):
            parts[answers.examples[place]].append(int(sums[place]) / share)
    return [len(parts) * math.fsum(values) for values in parts.values()]


def _accuracy(answers: PairedAnswers, correct: NDArray[np.bool_]) -> float:
    return float((correct & answers.evaluated).sum() / answers.evaluated.sum())


def _best(answers: PairedAnswers, correct: NDArray[np.bool_]) -> float:
    return float(((correct & answers.evaluated).sum(axis=1) / answers.evaluated.sum(axis=1)).max())


def _hull(intervals: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return max(-1.0, min(low for low, _ in intervals)), min(1.0, max(high for _, high in intervals))


def _mean(values: Sequence[float]) -> float:
    """Mean that no order of the values changes."""
    return math.fsum(values) / len(values)
