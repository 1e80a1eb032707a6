"""The guessers behind a claim's baseline, made again from what its record tells."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from pytest_maxrandom.reports.origins import chances
from pytest_maxrandom.reports.phrases import metric_name
from pytest_maxrandom.stats.chances import chance_groups
from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from pytest_maxrandom.stats.sizes import mix_for

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord
    from pytest_maxrandom.stats.chances import Groups

_CLOSE = 0.002
"""Difference of two baselines that nobody sees."""


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
