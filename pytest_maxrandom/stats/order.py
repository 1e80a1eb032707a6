"""Examples whose right answers follow the order in which they stand, and answers that do as well.

Questions of a file often come in sections. Who answers each section alike, and knows nothing, is
right on many examples or on few: the examples say less than as many independent ones, and a
permutation of single right answers does not tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from numpy.typing import ArrayLike, NDArray

_BLOCK = 1 << 21
"""Numbers that are permuted at a time."""
_TURNS = range(2, 11)
"""Periods in which choices may be right in turn."""
_SLOW = 16
"""Examples of a period from which on a change is slow."""
_MOST = 1_000
"""Rotations at most, evenly spaced."""
_ROUNDING = 1e-9
"""Differences that are no differences."""


def follows_order(
    series: ArrayLike,
    classes: Sequence[Hashable],
    permutations: int = 399,
    seed: int = 0,
    *,
    beside: ArrayLike | None = None,
) -> float:
    """Return the permutation p-value of series that follow the order of their examples.

    Examples are permuted within classes, so nothing that depends on the class alone counts.

    Parameters
    ----------
    series : array of float
        Shape (k, n).
    classes : sequence of hashable
        Per example its class.
    beside : array of float, optional
        Shape (k, n). Only the order that the series share with these counts: the sum of the
        products of their periodograms, to which the variance of their agreement is proportional
        where one of them is rotated; its slow part, as of sections, where neighbouring frequencies
        are taken for the same; and its slowest, as of a drift. None: how alike neighbours are; the
        highest value of the periodogram at periods of two to ten examples, as of choices that are
        right in turn; its slow part; and a linear trend. Either way these are summed over the
        series and standardized, and the largest counts.

    Returns
    -------
    At least 1 / (permutations + 1); 1 where no permutation changes what is compared.

    Examples
    --------
    >>> follows_order([[0, 1] * 20], [0] * 40), follows_order([[0, 1] * 20], [0, 1] * 20)
    (0.0025, 1.0)
    """
    values = np.asarray(series, dtype=np.float64)
    n = values.shape[1]
    members: dict[Hashable, list[int]] = {}
    for place, own in enumerate(classes):
        members.setdefault(own, []).append(place)
    groups = [np.array(each) for each in members.values()]
    centred = values.copy()
    for group in groups:
        centred[:, group] -= centred[:, group].mean(axis=1, keepdims=True)
    if n < 2 * _TURNS[-1] or not np.abs(centred).max(initial=0) > _ROUNDING:
        return 1.0
    rng = np.random.default_rng(seed)
    shared = None if beside is None else _power(np.asarray(beside, dtype=np.float64))
    statistics = [_statistics(centred[np.newaxis], shared)]
    at_once, left = max(1, _BLOCK // values.size), permutations
    while left:
        many = min(at_once, left)
        orders = np.empty((many, n), dtype=np.int64)
        for group in groups:
            orders[:, group] = rng.permuted(np.tile(group, (many, 1)), axis=1)
        statistics.append(_statistics(centred[:, orders].swapaxes(0, 1), shared))
        left -= many
    each = np.concatenate(statistics)
    # What no permutation changes differs by rounding alone, and says nothing.
    spread = each.std(axis=0)
    size = n * np.square(centred).sum() * (1 if shared is None else shared.max(initial=0))
    changes = spread > _ROUNDING * size
    standard = (each - each.mean(axis=0)) / np.where(changes, spread, np.inf)
    largest = standard.max(axis=1)
    return float((largest >= largest[0] - _ROUNDING).mean())


def _power(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return periodograms, without their mean."""
    return np.asarray(np.square(np.abs(np.fft.rfft(values, axis=-1)))[..., 1:])


def _around(power: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean between half and twice each frequency, up to twice the highest.

    Two series in sections are slow together, whose sections begin elsewhere and are of other sizes:
    they have hardly a frequency in common, and neighbouring ones.
    """
    few = power.shape[-1]
    sums = np.cumsum(np.pad(power, [(0, 0)] * (power.ndim - 1) + [(1, 3 * few)]), axis=-1)
    each = np.arange(1, 2 * few + 1)
    below, above = np.maximum(each // 2, 1) - 1, 2 * each
    return np.asarray((sums[..., above] - sums[..., below]) / (above - below))


def _statistics(
    values: NDArray[np.float64], shared: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """Return what `follows_order` compares, a row each, of series of shape (many, k, n)."""
    n = values.shape[-1]
    few = max(1, n // _SLOW)
    if shared is not None:
        power = _power(values)
        both = (power * shared).sum(axis=1)
        slow = (power[..., : 2 * few] * _around(shared[..., :few])).sum(axis=(1, 2))
        return np.stack([both.sum(axis=1), slow, both[:, 0]], axis=1)
    power = _power(values).sum(axis=1)
    periods = np.arange(1, power.shape[1] + 1)
    neighbours = power @ np.cos(2 * np.pi * periods / n)
    slow = power[:, :few].sum(axis=1)
    trend = np.square(values @ (np.arange(n) - (n - 1) / 2)).sum(axis=1)
    # An odd number of examples has no frequency of period two; the highest is the nearest.
    nearest = [min(round(n / period), len(periods)) - 1 for period in _TURNS]
    turns = power[:, nearest].max(axis=1)
    return np.stack([neighbours, turns, slow, trend], axis=1)


def rotated(
    answers: NDArray[np.int64],
    right: NDArray[np.bool_],
    strata: NDArray[np.int64],
) -> float:
    """Return the p-value of the best prompt where right answers are rotated.

    All move on by as many places among those of their stratum, the last ones to the front, so that
    neighbours stay neighbours: the share of such orders, their own included, in which some prompt
    is as accurate as the best one is.

    Parameters
    ----------
    answers : ndarray of int
        Shape (t, n), -1 where a prompt was not scored.
    right : ndarray of bool
        Shape (n, m): which labels are right.
    strata : ndarray of int
        Per example a number: right answers are exchanged where it is the same.
    """
    n, m = right.shape
    shifts = np.unique(np.linspace(0, n, min(n, _MOST), endpoint=False).astype(np.int64))
    orders = np.empty((len(shifts), n), dtype=np.int64)
    for stratum in np.unique(strata):
        group = np.flatnonzero(strata == stratum)
        orders[:, group] = group[(np.arange(len(group)) + shifts[:, np.newaxis]) % len(group)]
    answered = (answers[:, :, np.newaxis] == np.arange(m)).reshape(len(answers), -1)
    said, marked = answered.astype(np.float32).T, right.astype(np.float32)
    sizes = (answers >= 0).sum(axis=1)
    at_once = max(1, _BLOCK // right.size)
    best = np.concatenate(
        [
            (marked[part].reshape(len(part), -1) @ said / sizes).max(axis=1)
            for part in np.split(orders, range(at_once, len(orders), at_once))
        ]
    )
    return float((best >= best[0] - 1e-9).mean())
