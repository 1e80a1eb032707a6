"""What an unreplicated design would have concluded: one replicate of each task, again and again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from pytest_maxrandom.stats.chances import whole_number
from pytest_maxrandom.stats.differences import sign_flip
from pytest_maxrandom.stats.noncentral import conditional_likelihood

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from pytest_maxrandom.stats.paired import Pairs

Conclusion: TypeAlias = Literal["better", "worse", "not shown"]
"""Arm a compared with arm b."""
CONCLUSIONS: tuple[Conclusion, ...] = ("better", "worse", "not shown")


@dataclass(frozen=True, slots=True)
class Unreplicated:
    """Result of `unreplicated`: what single draws say."""

    slices: int
    """Single draws: one replicate of every task."""
    all_replicates: Conclusion
    """What the sign-flip over tasks concludes from all replicates."""
    difference_low: float
    difference_high: float
    """The middle 90 % of the single draws' mean differences."""
    outside: float
    """Share whose effect (log odds, conditional model) is further from 0 than the limit."""
    model: dict[Conclusion, float]
    sign_flip: dict[Conclusion, float]
    """Share of single draws with each conclusion: by the interval of the conditional model
    (Laplace), and by the sign-flip over tasks."""

    @property
    def model_contradicts(self) -> float:
        """Share of single draws in which the model concludes otherwise than all replicates."""
        return 1 - self.model[self.all_replicates]

    @property
    def sign_flip_contradicts(self) -> float:
        """Share in which the sign-flip concludes otherwise than it does with all replicates."""
        return 1 - self.sign_flip[self.all_replicates]


def unreplicated(
    pairs: Pairs,
    *,
    slices: int = 500,
    confidence: float = 0.89,
    outside: float = 0.04,
    seed: int = 0,
) -> Unreplicated:
    """Draw one replicate of every task repeatedly and see what each draw concludes.

    Parameters
    ----------
    slices
        Number of draws.
    confidence
        Of the model's interval; the level of the sign-flip is what is left of 1.
    outside
        Limit of `Unreplicated.outside`.
    seed
        Starts the draws, and the signs where tasks are too many to count them.

    Raises
    ------
    TypeError, ValueError
        If an argument is outside its domain.
    """
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be between 0 and 1, found {confidence!r}")
    count = whole_number("slices", slices, 1)
    likelihood = conditional_likelihood(pairs)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    level = 1 - confidence
    means, effects = np.empty(count), np.empty(count)
    by_model: Counter[Conclusion] = Counter()
    by_sign_flip: Counter[Conclusion] = Counter()
    replicates = [len(rows) for rows in pairs.rows]
    draws = np.random.default_rng(seed).integers(0, replicates, (count, len(replicates)))
    for place, chosen in enumerate(draws):
        by_task = [values[k] for values, k in zip(pairs.by_replicate, chosen, strict=True)]
        rows = [rows[k] for rows, k in zip(pairs.rows, chosen, strict=True)]
        effect, spread = likelihood.take(np.concatenate(rows)).mode()
        test = sign_flip(by_task, seed=seed)
        means[place], effects[place] = test.mean, effect
        by_model[_conclusion(effect, shown=abs(effect) > z * spread)] += 1
        by_sign_flip[_conclusion(test.mean, shown=test.p_value() <= level)] += 1
    everything = sign_flip(pairs.by_task, seed=seed)
    low, high = np.quantile(means, (0.05, 0.95))
    return Unreplicated(
        slices=count,
        all_replicates=_conclusion(everything.mean, shown=everything.p_value() <= level),
        difference_low=float(low),
        difference_high=float(high),
        outside=float((np.abs(effects) > outside).mean()),
        model={conclusion: by_model[conclusion] / count for conclusion in CONCLUSIONS},
        sign_flip={conclusion: by_sign_flip[conclusion] / count for conclusion in CONCLUSIONS},
    )


def contradicting_share(verdicts: Iterable[Hashable]) -> float:
    """Share of single draws whose verdict is not the one most of them have.

    Raises
    ------
    ValueError
        If there is none.

    Examples
    --------
    >>> contradicting_share([True, True, False, True])
    0.25
    """
    counts = Counter(verdicts)
    if not counts:
        raise ValueError("there must be at least one verdict")
    return 1 - max(counts.values()) / counts.total()


def _conclusion(difference: float, *, shown: bool) -> Conclusion:
    if not shown:
        return "not shown"
    return "better" if difference > 0 else "worse"
