"""The best score of t prompts with their right answers, and with others that might have been.

What the tests by other arrangements of the right answers share: `permutation` exchanges right
answers among examples, `clustered` among clusters of unequal size, and `orders` gives the things
that are compared another order.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.chances import whole_number
from pytest_maxrandom.stats.gold import NOT_EVALUATED
from pytest_maxrandom.stats.metrics import Tally

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from pytest_maxrandom.stats.maximum import Floats
    from pytest_maxrandom.stats.metrics import Statistic

_CELLS = 2**21  # entries of one batch of arranged right answers: 8 MiB
_MOST_AT_ONCE = 1024  # arrangements of one batch
_NEAR = 1e-12  # two scores closer than this are the same score, computed differently


def exceedances(
    reach: Callable[[int], NDArray[np.bool_]], limit: int, stop_after: int | None, cells: int
) -> tuple[float, int, int]:
    """Draw arrangements of the right answers until enough have been seen.

    Parameters
    ----------
    reach
        Draws so many arrangements, and tells of each whether its best score is at least the
        observed one.
    limit
        Arrangements at most.
    stop_after
        As of `max_t_test`.
    cells
        Numbers that one arrangement takes in memory.

    Returns
    -------
    p_value, drawn, exceeded
        The observed arrangement counts as one, but after an early stop.
    """
    enough = limit + 1 if stop_after is None else whole_number("stop_after", stop_after, 1)
    batch = max(1, min(_MOST_AT_ONCE, _CELLS // cells))
    drawn = exceeded = 0
    while drawn < limit and exceeded < enough:
        reached = np.cumsum(reach(min(batch, limit - drawn)))
        stop = int(np.searchsorted(reached, enough - exceeded))
        drawn += min(stop + 1, len(reached))
        exceeded += int(reached[min(stop, len(reached) - 1)])
    p_value = exceeded / drawn if exceeded >= enough else (1 + exceeded) / (drawn + 1)
    return p_value, drawn, exceeded


def scores_of_accuracy(
    chosen: NDArray[np.int64], right: NDArray[np.bool_]
) -> tuple[Floats, Callable[[NDArray[np.int64]], NDArray[np.bool_]]]:
    """Return the accuracies, and what tells which arrangements reach the best; all exact.

    Arguments and what is returned are as of `scores_by_labels`.
    """
    answered = (chosen[:, :, None] == np.arange(right.shape[1])).reshape(len(chosen), -1)
    answers, gold = answered.astype(np.float32), right.astype(np.float32)
    sizes = (chosen != NOT_EVALUATED).sum(axis=1)
    correct = np.rint(answers @ gold.ravel()).astype(np.int64)
    # Correctly rounded quotients of counts below 2**26 are ordered as the fractions are.
    scores = correct / sizes
    place = int(np.argmax(scores))
    best = Fraction(int(correct[place]), int(sizes[place]))
    needed = -(-sizes * best.numerator // best.denominator)

    def reaches(order: NDArray[np.int64]) -> NDArray[np.bool_]:
        counted = gold[order].reshape(len(order), -1) @ answers.T
        return np.asarray((counted >= needed - 0.5).any(axis=1))

    return scores, reaches


def scores_by_labels(
    statistic: Statistic,
    chosen: NDArray[np.int64],
    right: NDArray[np.bool_],
    strata: NDArray[np.int64],
) -> tuple[Floats, Callable[[NDArray[np.int64]], NDArray[np.bool_]]]:
    """Return the scores, and what tells which arrangements reach the best.

    Parameters
    ----------
    chosen, strata
        As of `max_t_test`.
    right
        Which labels are right, a row for each example; more rows may follow, for arrangements in
        which a right answer is none of the observed ones. Shape (n or more, labels).

    Returns
    -------
    scores
        Of each prompt, shape (t,).
    reaches
        Takes arrangements: for each and each example the row of its right labels, shape
        (arrangements, n).
    """
    n = chosen.shape[1]
    everywhere = np.arange(n)
    parts = [everywhere]
    if statistic.by_stratum:
        parts = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    # Of a permuted label, only the examples matter that may have it.
    cells = [
        (members, label)
        for members in parts
        for label in range(right.shape[1])
        if right[members, label].any() or (chosen[:, members] == label).any()
    ]
    member = right.astype(np.float32)
    said = [(chosen[:, part] == label).astype(np.float32).T for part, label in cells]
    # Most often all prompts were scored on the same examples, or a few sets of them.
    there = chosen != NOT_EVALUATED
    if there.all():
        masks, place = there[:1], np.zeros(len(chosen), dtype=np.intp)
    else:
        masks, place = np.unique(there, axis=0, return_inverse=True)
    evaluated = masks.astype(np.float32).T
    answered = np.stack([answers.sum(axis=0) for answers in said], axis=-1).astype(np.float64)
    sizes = [evaluated[part].sum(axis=0)[place.ravel()] for part, _ in cells]
    scored = np.stack(sizes, axis=-1).astype(np.float64)

    def scores(order: NDArray[np.int64]) -> Floats:
        rights = [member[order[:, part], label] for part, label in cells]
        hits = [right @ answers for right, answers in zip(rights, said, strict=True)]
        seen = [
            (right @ evaluated[part])[:, place.ravel()]
            for right, (part, _) in zip(rights, cells, strict=True)
        ]
        # Counts are exact as single floats, their quotients would not be.
        hit, right_there = (np.stack(parts, axis=-1).astype(np.float64) for parts in (hits, seen))
        return np.nan_to_num(statistic.of(Tally(hit, right_there, answered, scored)), nan=-np.inf)

    observed = scores(everywhere[None])[0]
    if not np.isfinite(observed).any():
        raise ValueError("no prompt has a score, because too few labels are right somewhere")
    best = observed.max() - _NEAR
    return observed, lambda order: scores(order).max(axis=1) >= best
