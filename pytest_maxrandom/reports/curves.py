"""What a claim's baseline is at other t: its guessers, made again from what its record tells."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.reports.origins import chances
from pytest_maxrandom.reports.wording import metric_name
from pytest_maxrandom.stats.chances import chance_groups
from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from pytest_maxrandom.stats.selection import expected_maximum
from pytest_maxrandom.stats.sizes import mix_for

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord
    from pytest_maxrandom.stats.chances import Groups

_CLOSE = 0.002
"""Difference of two baselines that nobody sees."""
_POINTS = 60
"""Of a curve, at most."""


def guessers(
    claim: ClaimRecord, n: int, t: int, standard: float, maximum: float
) -> tuple[MaxRandomBaseline | None, str]:
    """Return the guessers of a claim, if theirs is its baseline; else why they are unknown.

    Parameters
    ----------
    n, t : int
        As the claim has them.
    standard, maximum : float
        The claim's standard and maximum random baseline.
    """
    if claim.metric != "accuracy":
        return None, f"whose metric is {metric_name(claim)}"
    groups = _groups(claim, n, standard)
    found = None if groups is None else MaxRandomBaseline.of_groups(groups, t)
    if found is not None and abs(found.expected_accuracy - maximum) <= _CLOSE:
        return found, ""
    if found is not None and chances(claim):
        return None, "whose prompts were scored on different numbers of examples"
    return None, "without every example's chance"


def curve(claim: ClaimRecord) -> dict[str, Any] | None:
    """Return the best of 1 ... t prompts, and of as many guessers; None where that is unknown.

    Returns
    -------
    dict
        `t`: numbers of prompts. `maximum`: the maximum random baseline of each. `expected`: the
        expected best accuracy of so many of this run's prompts (U-statistic, Dodge et al. 2021),
        None beyond these. `first`: the best of the first so many, in the order of the sweep.
        `standard`, `best`: of the claim.
    """
    n, t, standard, maximum = claim.n, claim.t, claim.standard_baseline, claim.max_random_baseline
    if claim.metric != "accuracy" or n is None or t is None or standard is None or maximum is None:
        return None
    baseline, _ = guessers(claim, n, t, standard, maximum)
    counts = claim.correct_counts
    if baseline is None or not counts or max(counts) > n:
        return None
    points = _spread(max(t, len(counts)))
    return {
        "t": points,
        "maximum": [round(baseline.with_t(each).expected_accuracy, 5) for each in points],
        "expected": [
            round(expected_maximum(counts, each) / n, 5) if each <= len(counts) else None
            for each in points
        ],
        "first": [round(max(counts[:each]) / n, 5) for each in points],
        "of": len(counts),
        "standard": standard,
        "best": claim.best_accuracy,
        "at": t,
    }


def _spread(most: int) -> list[int]:
    """Return whole numbers from 1 to `most`, each about as many times the one before."""
    steps = max(1, min(most, _POINTS) - 1)
    return sorted({round(math.exp(math.log(most) * step / steps)) for step in range(steps + 1)})


def _groups(claim: ClaimRecord, n: int, standard: float) -> Groups | None:
    sizes = {Fraction(text): size for text, size in chances(claim).items()}
    if not sizes:
        return chance_groups(standard, n)
    if len(sizes) == 1:
        return chance_groups(next(iter(sizes)), n)
    if sum(sizes.values()) == n:
        return chance_groups([chance for chance, size in sizes.items() for _ in range(size)])
    # Prompts that leave out their own demonstrations have nearly the mix of the whole set.
    if any(chance.numerator != 1 for chance in sizes):
        return None
    return mix_for({chance.denominator: size for chance, size in sizes.items()}, n)
