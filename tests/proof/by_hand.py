"""McNemar's exact test of many pairs of answers at once, by SciPy alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from numpy.typing import NDArray


def mcnemar(new: NDArray[np.float64], old: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the one-sided p-values that new answers are better, of arrays (..., n) of 0 and 1."""
    wins, losses = (new > old).sum(axis=-1), (new < old).sum(axis=-1)
    return np.asarray(stats.binom.sf(wins - 1, wins + losses, 0.5))
