"""From the answers of two arms to their difference: first minus second throughout.

Prompts share their examples, and replicates share the task, so none are independent. The signs are
flipped of examples (or of their clusters), each with its difference averaged over all prompts that
met it; and, where there are enough of them, of prompts and of replicates. Any test alone would take
part of what varies for fixed, and so would the larger p-value where both parts vary alike; the one
whose units vary most stands for them all (`units.py`). What is claimed must hold by each, and an
interval holds all of theirs.

Flipped signs take differences for symmetric about the margin. Means over several prompts are not:
few whole losses may weigh as much as many small gains, and not be among the examples. So every
margin must be excluded by `TiltedTest` too. Where each unit is a gain, a loss or neither, a margin
of 0 needs no symmetry beyond what it says itself: the sign-flip is McNemar's exact test then.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_maxrandom.record import PromptPair
from pytest_maxrandom.stats.differences import MOST_EXACT, TiltedTest, sign_flip
from pytest_maxrandom.stats.multiplicity import holm
from pytest_maxrandom.stats.paired import mcnemar
from pytest_maxrandom.studies.arms.units import FEWEST, groupings, signed_answers, stretched

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pytest_maxrandom.stats.differences import SignFlip
    from pytest_maxrandom.studies.arms.answers import PairedAnswers
    from pytest_maxrandom.studies.arms.units import Units

DRAWS = 9_999
"""Choices of signs, where they are too many to count."""


class Difference:
    """The difference of two arms; neither the order of examples nor that of replicates matters.

    Parameters
    ----------
    replicates
        One for each replicate; there must be one. Of the first, prompts are compared one by one.

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

    def __init__(self, replicates: Sequence[PairedAnswers]) -> None:
        self._replicates = replicates
        self.t = len(replicates[0].evaluated)
        self.n = round(_mean([each.evaluated.sum() / len(each.evaluated) for each in replicates]))
        self.first_accuracy = _mean([_accuracy(each, each.first) for each in replicates])
        self.second_accuracy = _mean([_accuracy(each, each.second) for each in replicates])
        self.by_replicate = tuple(
            float(each.signed.sum() / each.evaluated.sum()) for each in replicates
        )
        first = [_best(each, each.first) for each in replicates]
        second = [_best(each, each.second) for each in replicates]
        self.first_best, self.second_best = _mean(first), _mean(second)
        self._best_differences = [a - b for a, b in zip(first, second, strict=True)]
        found = groupings(replicates)
        factors = stretched(found, signed_answers(replicates))
        self.tests: dict[Units, SignFlip] = {}
        for units, each in found.items():
            values = self.mean + factors[units] * (each.values - self.mean)
            self.tests[units] = sign_flip(values, weights=each.weights, draws=DRAWS)
        of_examples = found[next(iter(found))]
        self._whole = of_examples.whole
        gains, weights = of_examples.values, of_examples.weights
        self._unseen_losses = TiltedTest(gains, weights=weights)
        self._unseen_gains = TiltedTest(-gains, weights=weights)
        self._of_best: SignFlip | None = None
        if len(replicates) >= FEWEST:
            self._of_best = sign_flip(self._best_differences, draws=DRAWS)

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

    @property
    def counted(self) -> dict[Units, int]:
        """How many units of each kind there are of which signs are flipped."""
        return {units: test.units for units, test in self.tests.items()}

    def p_value(self, margin: float = 0.0) -> float:
        """P-value of "the difference is not the margin": twice the smaller one-sided one."""
        one_sided = self.p_greater if self.mean > margin else self.p_less
        return min(1.0, 2 * one_sided(margin))

    def p_greater(self, margin: float = 0.0) -> float:
        """P-value of "the difference is above the margin" (one-sided); the largest of all tests."""
        p = max(test.p_greater(margin) for test in self.tests.values())
        if self.mean <= margin or (self._whole and margin == 0):
            return p
        unseen = self._unseen_losses.p_greater(margin)
        return max(p, min(unseen, self.p_greater()) if self._whole and margin < 0 else unseen)

    def p_less(self, margin: float = 0.0) -> float:
        """P-value of "the difference is below the margin" (one-sided); the largest of all tests."""
        p = max(test.p_less(margin) for test in self.tests.values())
        if self.mean >= margin or (self._whole and margin == 0):
            return p
        unseen = self._unseen_gains.p_greater(-margin)
        return max(p, min(unseen, self.p_less()) if self._whole and margin > 0 else unseen)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return all margins that some test does not exclude; within -1 to 1.

        An end at 0 is none of them where each unit is a gain, a loss or neither.
        """
        low, high = _hull([test.interval(confidence) for test in self.tests.values()])
        level = (1 - confidence) / 2
        unseen = self._unseen_losses.lowest(level)
        low = max(0.0, min(low, unseen)) if self._whole and low > 0 else min(low, unseen)
        unseen = -self._unseen_gains.lowest(level)
        high = min(0.0, max(high, unseen)) if self._whole and high < 0 else max(high, unseen)
        return low, high

    def best_interval(self, confidence: float) -> tuple[float, float] | None:
        """Return the interval of `best_difference` over replicates; None if they are too few."""
        return _hull([self._of_best.interval(confidence)]) if self._of_best else None

    @cached_property
    def prompts(self) -> list[PromptPair]:
        """McNemar's test of each prompt of the first replicate."""
        answers = self._replicates[0]
        only_first = (answers.first & ~answers.second & answers.evaluated).sum(axis=1).tolist()
        only_second = (answers.second & ~answers.first & answers.evaluated).sum(axis=1).tolist()
        ps = [mcnemar(one, other) for one, other in zip(only_first, only_second, strict=True)]
        return [
            PromptPair(*each) for each in zip(only_first, only_second, ps, holm(ps), strict=True)
        ]


def smallest_p(examples: int, prompts: int, replicates: int) -> float:
    """Smallest one-sided p-value that so many examples, or clusters, prompts and replicates give.

    Where examples share clusters, these are meant.
    """
    units = [examples, *(each for each in (prompts, replicates) if each >= FEWEST)]
    return max(0.5**each if each <= MOST_EXACT else 1 / (1 + DRAWS) for each in units)


def _accuracy(answers: PairedAnswers, correct: NDArray[np.bool_]) -> float:
    return float((correct & answers.evaluated).sum() / answers.evaluated.sum())


def _best(answers: PairedAnswers, correct: NDArray[np.bool_]) -> float:
    return float(((correct & answers.evaluated).sum(axis=1) / answers.evaluated.sum(axis=1)).max())


def _hull(intervals: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return max(-1.0, min(low for low, _ in intervals)), min(1.0, max(high for _, high in intervals))


def _mean(values: Sequence[float]) -> float:
    """Mean that no order of the values changes."""
    return math.fsum(values) / len(values)
