"""How long proofs are: a cut of each, whole, or with the cells that only enlarge a table."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, TypeVar

from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Cell = TypeVar("Cell")

_SCALE = os.environ.get("MAXRANDOM_PROOF")
TABLES = _SCALE == "tables"
WHOLE = TABLES or _SCALE == "whole"
LEVEL = 0.05


def scaled(whole: int, cut: int) -> int:
    """Return how many runs to simulate."""
    return whole if WHOLE else cut


def affordable(cells: Iterable[Cell], dear: Callable[[Any], bool]) -> list[Cell]:
    """Return the cells of a table, those that take longest in `make tables` alone."""
    return [cell for cell in cells if TABLES or not dear(cell)]


def most(runs: int, level: float = LEVEL) -> int:
    """Return how many of them may pass where at most 5 in 100 should, or another share.

    As many as three standard errors of the share above the level: of 2,000 at most 129, which is
    below .065.
    """
    return int(runs * level + 3 * math.sqrt(runs * level * (1 - level)))


def least(runs: int, power: float) -> int:
    """Return how many of them must pass where this share should: one of a thousand has fewer."""
    return int(stats.binom.ppf(1e-3, runs, power))
