"""From the answers of two arms to their difference: first minus second throughout.

Answers that share an example, a prompt or a replicate depend on each other. The signs are flipped
of examples (or of their clusters), each with its difference averaged over all prompts that met it;
and, where there are enough of them, of prompts and of replicates. A test that takes the one for its
units takes the others for fixed: it answers for new examples and the same prompts, or for new
prompts and the same examples. The larger of two such p-values is not enough either: where each part
varies by half, so does each test's mean, and neither counts the sum. The variance of the mean over
several crossed groupings is the alternating sum over their intersections (Cameron, Gelbach and
Miller, "Robust inference with multiway clustering", 2011), unbiased in balanced designs; the
grouping that varies most is stretched about its mean until it has that variance. What is claimed
must hold by each test, and an interval holds all of theirs.

Flipped signs take differences for symmetric about the margin. Means over several prompts are not:
few whole losses may weigh as much as many small gains, and not be among the examples. So every
margin must be excluded by `TiltedTest` too. Where each unit is a gain, a loss or neither, a margin
of 0 needs no symmetry beyond what it says itself: the sign-flip is McNemar's exact test then.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from pytest_maxrandom.record import PromptPair
from pytest_maxrandom.stats.differences import MOST_EXACT, SignFlip, TiltedTest, sign_flip
from pytest_maxrandom.stats.multiplicity import holm
from pytest_maxrandom.stats.paired import mcnemar

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.studies.arms.answers import PairedAnswers

Units = Literal["examples", "clusters", "prompts", "replicates"]

FEWEST = 6
"""Fewer prompts or replicates have no interval at .95: 2 / 2**5 is above .05."""
_DIGITS = 9
"""Of a variance: sums whose terms come in another order agree that far."""
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
        by_units = groupings(replicates)
        factors = stretched(by_units, signed_answers(replicates))
        self.tests: dict[Units, SignFlip] = {}
        for units, each in by_units.items():
            values = self.mean + factors[units] * (each.values - self.mean)
            self.tests[units] = sign_flip(values, weights=each.weights, draws=DRAWS)
        of_examples = by_units[next(iter(by_units))]
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


@dataclass(frozen=True, eq=False, slots=True)
class Grouping:
    """The answers by one kind of unit."""

    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    """Shape (units,): each one's mean difference, and its share of the answers."""
    codes: NDArray[np.int64]
    """Which unit each answer belongs to, in the order of `signed_answers`."""

    def __len__(self) -> int:
        return len(self.values)

    @property
    def whole(self) -> bool:
        """Whether each unit is a gain, a loss or neither, so that a mean of 0 is symmetric."""
        return bool(np.isin(self.values, (-1.0, 0.0, 1.0)).all())


def groupings(replicates: Sequence[PairedAnswers]) -> dict[Units, Grouping]:
    """Return what the signs are flipped of.

    That is always the examples, or their clusters where these are known; and, from `FEWEST` on,
    the prompts, and the replicates.
    """
    clustered = any(each.clusters is not None for each in replicates)
    columns = [_example_names(each) for each in replicates]
    by_units: dict[Units, Grouping] = {
        "clusters" if clustered else "examples": _grouping(replicates, columns, axis=1)
    }
    prompts = _grouping(replicates, [_prompt_names(each) for each in replicates], axis=0)
    if len(prompts) >= FEWEST:
        by_units["prompts"] = prompts
    if len(replicates) >= FEWEST:
        places = [[place] * len(each.examples) for place, each in enumerate(replicates)]
        by_units["replicates"] = _grouping(replicates, places, axis=1)
    return by_units


def stretched(
    by_units: Mapping[Units, Grouping], signed: NDArray[np.float64]
) -> dict[Units, float]:
    """Return by how much each grouping's values must be stretched; 1 for all but one of them."""
    factors: dict[Units, float] = dict.fromkeys(by_units, 1.0)
    if len(by_units) == 1:
        return factors
    own = {
        units: _rounded(_variance([each.codes], signed) * len(each) / max(1, len(each) - 1))
        for units, each in by_units.items()
    }
    whole = math.fsum(own.values())
    for size in range(2, len(by_units) + 1):
        for several in itertools.combinations(by_units.values(), size):
            whole += (-1) ** (size + 1) * _variance([each.codes for each in several], signed)
    most = max(own, key=lambda units: own[units])
    if own[most] > 0:
        factors[most] = _rounded(max(1.0, whole / own[most]) ** 0.5)
    return factors


def signed_answers(replicates: Sequence[PairedAnswers]) -> NDArray[np.float64]:
    """Return what each answer adds to the mean difference, less what an average one does."""
    parts = [
        (each.signed[each.evaluated] / (int(each.evaluated.sum()) * len(replicates)))
        for each in replicates
    ]
    shares = [np.full(len(part), 1 / (len(part) * len(replicates))) for part in parts]
    mean = math.fsum(float(part.sum()) for part in parts)
    return np.asarray(np.concatenate(parts) - mean * np.concatenate(shares))


def _grouping(
    replicates: Sequence[PairedAnswers], names: Sequence[Sequence[Hashable]], axis: int
) -> Grouping:
    """Group answers by the names of their prompts (axis 0) or of their examples (axis 1)."""
    gains: defaultdict[Hashable, list[float]] = defaultdict(list)
    shares: defaultdict[Hashable, list[float]] = defaultdict(list)
    numbers: dict[Hashable, int] = {}
    codes = []
    for answers, own in zip(replicates, names, strict=True):
        every = int(answers.evaluated.sum()) * len(replicates)
        sums, met = answers.signed.sum(axis=1 - axis), answers.evaluated.sum(axis=1 - axis)
        for name, gain, many in zip(own, sums.tolist(), met.tolist(), strict=True):
            if many:
                gains[name].append(gain / every)
                shares[name].append(many / every)
        own_codes = np.array([numbers.setdefault(name, len(numbers)) for name in own])
        codes.append(own_codes[np.nonzero(answers.evaluated)[axis]])
    weights = [math.fsum(parts) for parts in shares.values()]
    values = [math.fsum(parts) for parts in gains.values()]
    return Grouping(np.divide(values, weights), np.array(weights), np.concatenate(codes))


def _variance(codes: Sequence[NDArray[np.int64]], signed: NDArray[np.float64]) -> float:
    """Sum over the groups that all codes tell apart of the squared sum of their answers."""
    together = codes[0]
    for each in codes[1:]:
        together = np.unique(together * (int(each.max()) + 1) + each, return_inverse=True)[1]
    return float((np.bincount(together, signed) ** 2).sum())


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}e}")


def _example_names(answers: PairedAnswers) -> Sequence[Hashable]:
    if answers.clusters is None:
        return answers.examples
    named = zip(answers.clusters, answers.examples, strict=True)
    return [("example", name) if own is None else ("cluster", own) for own, name in named]


def _prompt_names(answers: PairedAnswers) -> Sequence[Hashable]:
    return answers.prompts or range(len(answers.evaluated))
