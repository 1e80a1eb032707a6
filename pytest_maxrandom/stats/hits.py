"""Which answers are right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_NO_LABEL = -2
"""Neither a label nor what stands for no answer."""


def hits(
    answers: NDArray[np.int64], gold: Sequence[frozenset[int]], examples: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Tell whether each answer is a right one.

    Parameters
    ----------
    answers : ndarray of int
        Labels, of any shape.
    gold : sequence of frozenset of int
        Per example the labels of its right choices.
    examples : ndarray of int
        Of which example each answer is; its shape broadcasts with that of `answers`.
    """
    most = max(map(len, gold))
    padded = np.array([[*right, *[_NO_LABEL] * (most - len(right))] for right in gold])
    right: NDArray[np.bool_] = (padded[examples] == answers[..., np.newaxis]).any(axis=-1)
    return right
