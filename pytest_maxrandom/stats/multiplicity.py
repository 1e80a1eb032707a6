"""P-values beside their levels, and adjusted for many claims at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.stats.chances import proportion

if TYPE_CHECKING:
    from collections.abc import Sequence


_ROUNDING = 1e-12


def above(p: float, level: float) -> bool:
    """Tell whether a p-value is above its level, by more than rounding.

    Examples
    --------
    >>> above(1 / 3 + 1e-17, 1 / 3), above(0.0501, 0.05), above(1.0, 1.0)
    (False, True, False)
    """
    return p > min(1.0, level * (1 + _ROUNDING))


def _ranked(p_values: Sequence[float]) -> tuple[list[float], list[int]]:
    ps = [proportion(f"p-value {place}", p) for place, p in enumerate(p_values)]
    return ps, sorted(range(len(ps)), key=ps.__getitem__)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values so that p <= alpha holds the family-wise error, whatever the dependence.

    Holm, "A Simple Sequentially Rejective Multiple Test Procedure" (1979).

    Raises
    ------
    TypeError, ValueError
        If a p-value is no number from 0 to 1.
    """
    ps, order = _ranked(p_values)
    adjusted, largest = [0.0] * len(ps), 0.0
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[place]))
        adjusted[place] = largest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values so that p <= alpha holds the false discovery rate.

    Benjamini and Hochberg (1995); needs independent claims or positive regression dependence.

    Raises
    ------
    TypeError, ValueError
        If a p-value is no number from 0 to 1.
    """
    ps, order = _ranked(p_values)
    adjusted, smallest = [0.0] * len(ps), 1.0
    for rank in range(len(ps) - 1, -1, -1):
        smallest = min(smallest, len(ps) * ps[order[rank]] / (rank + 1))
        adjusted[order[rank]] = smallest
    return adjusted
