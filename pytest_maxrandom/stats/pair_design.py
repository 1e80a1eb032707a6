"""The rows of the hierarchical model: two for each pair of results."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from pytest_maxrandom.stats.paired import Pairs

    Numbers = NDArray[np.float64]

_INFORMED = 5.0
"""Variance between pairs, in units of the variance of what their answers tell of each."""


class Design(NamedTuple):
    """Two rows for each pair, of arm a and then of arm b; codes are zero-padded texts."""

    correct: NDArray[np.int64]
    n: NDArray[np.int64]
    method: Numbers
    task: NDArray[np.str_]
    pair: NDArray[np.str_]
    lm: Numbers
    """Centred indicator of each model but the first, shape (rows, models - 1)."""


def design_of(models: Mapping[str, Pairs]) -> Design:
    """Return the rows of the pairs measured with each language model."""
    measured = [*models.values()]
    code = {
        name: f"{k:06}" for k, name in enumerate(sorted({n for p in measured for n in p.names}))
    }
    of_model = np.repeat(np.arange(len(measured)), [len(pairs) for pairs in measured])
    task = np.array([code[pairs.names[k]] for pairs in measured for k in pairs.task])
    # Counted within the task: the model has a level for each combination of the two.
    earlier: Counter[str] = Counter()
    pair = np.array([f"{_counted(earlier, name):09}" for name in task.tolist()])
    lm = (of_model[:, None] == np.arange(1, len(measured))).astype(np.float64)
    arms = [(p.correct_a, p.n_a, p.correct_b, p.n_b) for p in measured]
    correct_a, n_a, correct_b, n_b = (np.concatenate(each) for each in zip(*arms, strict=True))
    return Design(
        correct=np.concatenate((correct_a, correct_b)),
        n=np.concatenate((n_a, n_b)),
        method=np.repeat([0.5, -0.5], len(task)),
        task=np.tile(task, 2),
        pair=np.tile(pair, 2),
        lm=np.tile(lm - lm.mean(axis=0), (2, 1)),
    )


def _counted(earlier: Counter[str], name: str) -> int:
    earlier[name] += 1
    return earlier[name] - 1


def pairs_are_informed(design: Design) -> bool:
    """Whether pairs are known by their own answers rather than by the scale of all pairs.

    Then chains move well among the levels themselves ("centred"), else among levels in units of
    the scale (Betancourt and Girolami 2015, "Hamiltonian Monte Carlo for hierarchical models").
    On 1,000 pairs of 500 examples R-hat was 1.5 the wrong way, on 40 pairs of 60 it was 1.3.
    """
    pairs = len(design.pair) // 2
    right = design.correct[:pairs] + design.correct[pairs:]
    wrong = design.n[:pairs] + design.n[pairs:] - right
    known = 1 / (1 / (right + 0.5) + 1 / (wrong + 0.5))
    log_odds = np.log((right + 0.5) / (wrong + 0.5))
    groups = np.unique(
        np.column_stack((design.task[:pairs].astype(np.float64), design.lm[:pairs])),
        axis=0,
        return_inverse=True,
    )[1].ravel()
    counts = np.bincount(groups)
    within = log_odds - (np.bincount(groups, log_odds) / counts)[groups]
    freedom = pairs - len(counts)
    if freedom < 1:
        return False
    between = (within**2).sum() / freedom - (1 / known).mean()
    return bool(between * known.mean() > _INFORMED)
