"""What the answers of two arms are grouped by, and how far the mean of each grouping varies.

Answers that share an example, a prompt or a replicate depend on each other. A test that takes the
one for its units takes the others for fixed: it answers for new examples and the same prompts, or
for new prompts and the same examples. The larger of two such p-values is not enough either: where
each part varies by half, so does each test's mean, and neither counts the sum. The variance of the
mean over several crossed groupings is the alternating sum over their intersections (Cameron,
Gelbach and Miller, "Robust inference with multiway clustering", 2011), unbiased in balanced
designs; the grouping that varies most is stretched about its mean until it has that variance.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.studies.arms.answers import PairedAnswers

Units = Literal["examples", "clusters", "prompts", "replicates"]

FEWEST = 6
"""Fewer prompts or replicates have no interval at .95: 2 / 2**5 is above .05."""
_DIGITS = 9
"""Of a variance: sums whose terms come in another order agree that far."""


@dataclass(frozen=True, eq=False, slots=True)
class Grouping:
    """The answers by one kind of unit.

    Attributes
    ----------
    values, weights : ndarray of float
        Shape (units,): each one's mean difference, and its share of the answers.
    codes : ndarray of int
        Which unit each answer belongs to, in the order of `signed_answers`.
    """

    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    codes: NDArray[np.int64]

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
    found: dict[Units, Grouping] = {
        "clusters" if clustered else "examples": _grouping(replicates, columns, axis=1)
    }
    prompts = _grouping(replicates, [_prompt_names(each) for each in replicates], axis=0)
    if len(prompts) >= FEWEST:
        found["prompts"] = prompts
    if len(replicates) >= FEWEST:
        places = [[place] * len(each.examples) for place, each in enumerate(replicates)]
        found["replicates"] = _grouping(replicates, places, axis=1)
    return found


def stretched(found: Mapping[Units, Grouping], signed: NDArray[np.float64]) -> dict[Units, float]:
    """Return by how much each grouping's values must be stretched; 1 for all but one of them.

    Parameters
    ----------
    signed
        As of `signed_answers`.
    """
    factors: dict[Units, float] = dict.fromkeys(found, 1.0)
    if len(found) == 1:
        return factors
    own = {
        units: _rounded(_variance([each.codes], signed) * len(each) / max(1, len(each) - 1))
        for units, each in found.items()
    }
    whole = math.fsum(own.values())
    for size in range(2, len(found) + 1):
        for several in itertools.combinations(found.values(), size):
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
