"""Is the best of t candidates better than the incumbent, on the same examples?

The best of t candidates that are no better than what runs today nearly always has the higher score,
so a paired test of the best one must know t. Two tests do:

``exact``
    t times the p-value of a paired test of the best candidate (Bonferroni), whatever the
    candidates, and the incumbent, have in common (`pytest_maxrandom.stats.score_pairs`).
``resampled``
    White's reality check ("A reality check for data snooping", 2000): the best difference is
    compared with the largest rise of any candidate when examples, or whole clusters, are drawn with
    replacement. Candidates that answer alike cost little then. Its level holds for many examples
    only: `FEWEST_RESAMPLED`. Tries whose answers are not at hand take their share of the level.

Both ends of the interval come from the same test, at the level that the verdict is made at, so the
lower end is above the margin exactly where the claim holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import count
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

import numpy as np

from pytest_maxrandom.stats.chances import proportion, whole_number
from pytest_maxrandom.stats.clusters import units_of
from pytest_maxrandom.stats.score_pairs import ScorePair
from pytest_maxrandom.stats.winner import draws

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

IncumbentTest = Literal["exact", "resampled"]

FEWEST_RESAMPLED = 200
"""Examples, or clusters, from which on `resampled` is taken by default: with fewer its level is not
held (.060 at 60 examples and 200 independent candidates)."""
RESAMPLES = 9999
"""How often examples are drawn."""
POWER = 0.8
"""Probability with which so many examples as are said to be needed would show a difference."""

_TIE = 1e-9
_CELLS = 2**22  # draws, or means, of one batch of resamples: 32 MiB
_FEWEST = 1999
_TOLD = 5  # resamples, and what was seen, that a level must let be
_MOST_PRODUCTS = 2 * 10**10
_EXACT = 2**24  # below which whole numbers are exact as single floats


@dataclass(frozen=True, slots=True, kw_only=True)
class BestOverIncumbent:
    """What is found of the best candidate beside the incumbent; made by `best_over_incumbent`."""

    best: int
    """Row of the best candidate: the first with the highest difference."""
    difference: float
    low: float
    high: float
    """Its mean score minus the incumbent's, on the examples that both were scored on; each end of
    the interval is wrong with a probability of at most the level, however the best was chosen."""
    incumbent: float
    """Mean score of the incumbent there."""
    p: float
    """P-value of "the difference is above the margin", for the best of t."""
    test: IncumbentTest
    """What tested that."""
    t: int
    n: int
    units: int
    """Tries, examples that both were scored on, and independent ones of them: examples or
    clusters."""
    alike: tuple[int, ...]
    """Rows of the candidates that cannot be told from the best, itself included: with a probability
    of at least one minus the level, the truly best is one of them."""
    needed: int | None
    """About how many examples would show the smallest difference that matters with probability .8;
    None where that is no more than the margin."""


def usual_test(
    units: int, *, t: int = 1, at_hand: int = 1, level: float = 0.05, graded: bool = False
) -> IncumbentTest:
    """Return the test that is made where none is named.

    Parameters
    ----------
    units
        Independent examples: examples or clusters.
    t, at_hand
        Number of candidates that were ever tried, and of those whose answers are at hand.
    level
        What the p-value will be compared with.
    graded
        Whether scores are others than right and wrong.
    """
    # Near the level, or above it, resamples could show nothing.
    shows = level >= _TOLD * least_resampled(t, at_hand, units)
    return "resampled" if units >= FEWEST_RESAMPLED and not graded and shows else "exact"


def least_resampled(t: int, at_hand: int, units: int) -> float:
    """Return the least p-value that `resampled` can have; the arguments are of `usual_test`."""
    return t / at_hand / (1 + _affordable(RESAMPLES, at_hand * units))


def best_over_incumbent(
    candidates: ArrayLike,
    incumbent: ArrayLike,
    *,
    t: int | None = None,
    by: float = 0.0,
    level: float = 0.05,
    clusters: Sequence[Hashable] | None = None,
    test: IncumbentTest | None = None,
    matters: float = 0.05,
    best: int | None = None,
    stated: bool = False,
) -> BestOverIncumbent:
    """Test whether the best of t candidates is better than the incumbent by more than a margin.

    Parameters
    ----------
    candidates
        Scores from 0 to 1, shape (k, n); NaN where a candidate was not scored on an example.
    incumbent
        Scores of the incumbent, shape (n,), NaN likewise.
    t
        Number of candidates that were ever tried, of which the k at hand may be a part; k if not
        given.
    by
        The margin, from 0 to below 1.
    level
        What the p-value will be compared with; the ends of the interval are at the same.
    clusters
        Per example what it has in common with others; None: each stands by itself.
    test
        `usual_test` if not given, and `exact` for graded scores, of which a rare loss that no
        resample holds would be taken for none, and where the level is too small for resamples.
    matters
        The smallest difference that matters, to say how many examples would show it.
    best
        Row of the candidate that is claimed to be better, where that is chosen otherwise.
    stated
        Whether the incumbent is a stated baseline: the same number for each example, no score that
        was seen.

    Raises
    ------
    TypeError, ValueError
        If shapes disagree, a score is none, t is below k, or no example is shared.
    """
    scores, own = np.asarray(candidates, dtype=np.float64), np.asarray(incumbent, dtype=np.float64)
    if scores.ndim != 2 or 0 in scores.shape or own.shape != scores.shape[1:]:
        raise ValueError(
            f"candidates must have the shape (k, n) and incumbent (n,), found {scores.shape} and "
            f"{own.shape}"
        )
    differences = scores - own
    there = ~np.isnan(differences)
    for given in (scores, own):
        if (given[~np.isnan(given)] < 0).any() or (given[~np.isnan(given)] > 1).any():
            raise ValueError("scores must be numbers from 0 to 1")
    if not there.any(axis=1).all():
        raise ValueError("a candidate shares no example with the incumbent")
    tried = whole_number("t", len(scores) if t is None else t, len(scores))
    if not 0 <= by < 1:
        raise ValueError(f"by must be a difference of scores, from 0 to below 1, found {by!r}")
    margin = float(by)
    bound = proportion("level", level) / tried
    groups = units_of(clusters, len(own))
    means = np.nanmean(differences, axis=1)
    chosen = _first_best(means) if best is None else best
    known = there[chosen]
    units = len(np.unique(groups[known]))
    ends = (-float(own[known][0]), 1 - float(own[known][0])) if stated else (-1.0, 1.0)
    pair = ScorePair(differences[chosen][known], groups[known], ends)
    graded = stated or not np.isin(differences[there], (-1.0, 0.0, 1.0)).all()
    share = tried / len(scores)
    kind = test or usual_test(units, t=tried, at_hand=len(scores), level=level, graded=graded)
    if kind == "exact":
        p = min(1.0, tried * pair.p_greater(margin, bound))
        low, high = pair.lowest(bound), -pair.mirrored.lowest(bound)
        critical = -NormalDist().inv_cdf(bound)
    else:
        rises = Rises(differences, there, groups, RESAMPLES, 0)
        p = min(1.0, share * rises.p_greater(float(means[chosen]) - margin))
        low, high = rises.interval(float(means[chosen]), level / share)
        spread = rises.spread(chosen)
        width = float(means[chosen]) - low
        told = spread > 0 and low > -1
        critical = width / spread if told else -NormalDist().inv_cdf(bound)
    return BestOverIncumbent(
        best=chosen,
        difference=float(means[chosen]),
        low=max(-1.0, low),
        high=min(1.0, high),
        incumbent=float(own[known].mean()),
        p=p,
        test=kind,
        t=tried,
        n=int(known.sum()),
        units=units,
        alike=_alike(scores, means, chosen, groups, level),
        needed=_needed(pair, critical, matters, margin),
    )


class Rises:
    """How much the mean differences of candidates rise where examples are drawn anew.

    Parameters
    ----------
    differences, there
        Shape (k, n): what was seen, NaN where nothing was; and where something was.
    groups
        Number of each example's cluster; whole clusters are drawn.
    """

    def __init__(
        self,
        differences: Floats,
        there: NDArray[np.bool_],
        groups: NDArray[np.int64],
        resamples: int,
        seed: int,
    ) -> None:
        most: list[Floats] = []
        least: list[Floats] = []
        squares = np.zeros(len(differences))
        for moved in moved_means(differences, there, groups, resamples, seed):
            squares += (moved**2).sum(axis=0)
            most.append(moved.max(axis=1))
            least.append(moved.min(axis=1))
        self._up, self._down = np.sort(np.concatenate(most)), np.sort(-np.concatenate(least))
        self._spread = np.sqrt(squares / len(self._up))

    def p_greater(self, excess: float) -> float:
        """P-value of a best mean difference that is so much above the margin."""
        reached = len(self._up) - int(np.searchsorted(self._up, excess - _TIE, side="left"))
        return (1 + reached) / (1 + len(self._up))

    def interval(self, mean: float, level: float) -> tuple[float, float]:
        """Return between which true differences the best one lies; each end at the level."""
        place = math.floor(level * (1 + len(self._up)) + _TIE)
        if place < 1:
            return -1.0, 1.0
        # The largest excess that the test does not reject.
        return mean - float(self._up[-place]), mean + float(self._down[-place])

    def spread(self, row: int) -> float:
        """Return the standard error of a candidate's mean difference."""
        return float(self._spread[row])


def moved_means(
    values: Floats,
    there: NDArray[np.bool_],
    groups: NDArray[np.int64],
    resamples: int,
    seed: int,
) -> Iterator[Floats]:
    """Yield by how much the means of rows rise where examples are drawn anew, (resamples, rows).

    Parameters
    ----------
    values, there, groups
        As of `Rises`.
    """
    order = np.argsort(groups, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order], prepend=-1))
    sums = np.add.reduceat(np.where(there, values, 0.0).T[order], starts)
    sizes = np.add.reduceat(there.T[order], starts, dtype=np.float64)
    means = sums.sum(axis=0) / sizes.sum(axis=0)
    alike = bool((sizes == sizes[:, :1]).all())
    units = len(starts)
    # Whole numbers, which single precision holds exactly.
    whole = bool((np.rint(sums) == sums).all()) and units * np.abs(sums).max() < _EXACT
    exact = np.float32 if whole else np.float64
    sums, sizes = sums.astype(exact), (sizes[:, :1] if alike else sizes).astype(exact)
    left, batch = _affordable(resamples, sums.size), max(1, _CELLS // max(sums.shape))
    for place in count():
        if left <= 0:
            return
        drawn = draws(units, min(batch, left), seed + place).astype(exact, copy=False)
        left -= batch
        seen = (drawn @ sizes).astype(np.float64, copy=False)
        with np.errstate(invalid="ignore"):
            moved = np.matmul(drawn, sums).astype(np.float64, copy=False) / seen - means
        yield moved if alike else np.nan_to_num(moved)


def _affordable(resamples: int, cells: int) -> int:
    """Return so many resamples as take seconds, where there are many examples and candidates."""
    asked = whole_number("resamples", resamples, 1)
    return min(asked, max(_FEWEST, _MOST_PRODUCTS // cells))


def _first_best(means: Floats) -> int:
    return int(np.flatnonzero(means >= means.max() - _TIE)[0])


def _alike(
    scores: Floats, means: Floats, best: int, groups: NDArray[np.int64], level: float
) -> tuple[int, ...]:
    """Return the candidates that cannot be told from the best.

    Each is compared with the best at a share of the level. The truly best one is worse than any
    other in none of these tests, but with a probability of at most the level.
    """
    others = len(scores) - 1
    rows = []
    # Whoever is closer is not told from the best by any test worth its time.
    close = -NormalDist().inv_cdf(level / others) if others else 0.0
    for row, own in enumerate(scores):
        difference = scores[best] - own
        known = ~np.isnan(difference)
        if row == best or means[row] >= means[best] - _TIE or not known.any():
            rows.append(row)
            continue
        pair = ScorePair(difference[known], groups[known])
        is_close = float(pair.differences.mean()) < close * math.sqrt(pair.variance)
        if is_close or pair.p_greater(0.0, level / others) > level / others:
            rows.append(row)
    return tuple(rows)


def _needed(pair: ScorePair, critical: float, matters: float, margin: float) -> int | None:
    """Return about how many examples would show a difference with probability `POWER`.

    Examples are taken to differ as much as these do.
    """
    above = proportion("matters", matters) - margin
    if above <= 0:
        return None
    n = len(pair.differences)
    # No difference that matters is shown without examples on which the two differ.
    spread = math.sqrt(max(n * pair.variance, matters * (1 - matters)))
    return math.ceil(((critical + NormalDist().inv_cdf(POWER)) * spread / above) ** 2)
