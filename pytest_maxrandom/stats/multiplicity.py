"""P-values compared with their levels, and adjusted for many claims at once."""

from __future__ import annotations

from itertools import accumulate
from math import inf
from typing import TYPE_CHECKING

from pytest_maxrandom.stats.chances import proportion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_ROUNDING = 1e-12


def above(p: float, level: float) -> bool:
    """Tell whether a p-value is above its level, by more than rounding.

    Examples
    --------
    >>> above(1 / 3 + 1e-17, 1 / 3), above(0.0501, 0.05), above(1.0, 1.0)
    (False, True, False)
    """
    return p > min(1.0, level * (1 + _ROUNDING))


def decisive(p_values: Mapping[str, float | None], levels: Mapping[str, float]) -> str | None:
    """Name the p-value that is largest relative to its level, an unknown one first; None of none.

    Claims of several p-values hold where this one is at most its level.
    """

    def strain(name: str) -> float:
        p = p_values[name]
        return inf if p is None else p / levels[name]

    return max(levels, key=strain, default=None)


def joint_p_value(
    p_values: Mapping[str, float | None], levels: Mapping[str, float]
) -> float | None:
    """Return one p-value for a claim of several; None where one of them is not known.

    Each is scaled to the largest level, and the largest counts: it is at most that level exactly
    where each is at most its own. A claim is wrong where one part is, and no p-value is scaled
    down, so it is a p-value as well (Berger, "Multiparameter Hypothesis Testing and Acceptance
    Sampling", 1982). With equal levels it is the largest p-value.

    Parameters
    ----------
    levels : mapping of str to float
        Of each p-value that is claimed, above 0.

    Examples
    --------
    >>> joint_p_value({"a": 0.01, "b": 0.04}, {"a": 0.05, "b": 0.05})
    0.04
    >>> joint_p_value({"a": 0.02, "b": 0.04}, {"a": 0.01, "b": 0.05})
    0.1
    """
    name = decisive(p_values, levels)
    p = None if name is None else p_values[name]
    if name is None or p is None:
        return None
    most = max(levels.values())
    return p if levels[name] == most else min(1.0, p * (most / levels[name]))


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
    scaled = (min(1.0, (len(ps) - rank) * ps[place]) for rank, place in enumerate(order))
    return _in_places(order, accumulate(scaled, max))


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values so that p <= alpha holds the false discovery rate.

    Benjamini and Hochberg (1995); needs independent claims or positive regression dependence.

    Raises
    ------
    TypeError, ValueError
        If a p-value is no number from 0 to 1.
    """
    ps, order = _ranked(p_values)
    order.reverse()
    scaled = (len(ps) * ps[place] / (len(ps) - rank) for rank, place in enumerate(order))
    return _in_places(order, accumulate(scaled, min))


def _in_places(order: Iterable[int], values: Iterable[float]) -> list[float]:
    return [value for _, value in sorted(zip(order, values, strict=True))]
