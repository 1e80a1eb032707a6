"""Which of several models is the best, each at the best of its own prompts, on the same examples?

A model's worth is the true score of its best prompt: M_a, the largest of theta_aj over its k_a
prompts. Both sides of "a is better than b" are chosen by their scores here, and a leaderboard's
first place is chosen once more, among the models.

One pair
--------
Let T_a be the prompts of a that were ever tried, of which the k_a at hand may be a choice, and h
the number of those of all models that are not at hand. The test asks that a's best prompt j beats
*every* prompt of b:

    p(a > b) = min(1, T_a (1 + h) max over k of p(j > k)),

where p(j > k) is an exact paired test of two prompts (`pytest_maxrandom.stats.score_pairs`). It
keeps its level whatever prompts and models have in common. Proof, all prompts being at hand: if
M_a <= M_b, b has a truly best prompt k0, which no answer chooses, and theta_j <= theta_k0 for every
j. If p(a > b) <= c, then p(j > k0) <= c / T_a for some j of T_a; the sum over j of these
probabilities is at most c. So the choice of j costs T_a, and that of b costs nothing: b's luck is
in the way of a, as an incumbent's is. (Intersection-union: Berger, "Multiparameter Hypothesis
Testing and Acceptance Sampling", 1982. Bonferroni over j.) Where tries are not at hand, which of
b's is the truly best at hand may have been chosen too. Of T prompts with k at hand it is one of the
first T - k + 1 by true score, and over all models the truly best one is one of the first 1 + h; the
union over these is the factor 1 + h.

Where examples are many, answers right or wrong and all tries at hand, White's reality check pays
for the choice of j (`pytest_maxrandom.stats.model_rises`): p(a > b) is then the largest over k of
the probability that the best rise of a's prompts beside k, with examples drawn anew, reaches what
was seen. Beside k0 that is the test of an incumbent, so that b's luck costs nothing there either.

All pairs
---------
"a is no better than b" is one hypothesis for each ordered pair, M (M - 1) of them; Holm's method
(1979) over all of these bounds the probability that any order that is told is wrong, also in its
direction, whatever the dependence.

The confidence set of the best
------------------------------
Model b is left out where some a has (M - 1) p(a > b) <= alpha. The truly best model b* is better
than, or as good as, each other, so that it is left out with a probability of at most the sum over
the M - 1 others of alpha / (M - 1). It is the construction of Gupta ("On some multiple decision
(selection and ranking) rules", 1965) and of Hsu's comparisons with the best ("Simultaneous
confidence intervals for all distances from the 'best'", 1981) by Bonferroni, for tests that need no
normal distribution, no equal variances and no known dependence. It holds of one truly best model;
of several that are equally good, of each by itself. Where examples are drawn anew, the prompts of
all others are the candidates of one reality check beside each prompt of b, and M - 1 is no factor.
The set is never empty: the model with the highest score is left out by none, because p(a > b) is
below 1 only where a's best prompt has the higher score on the examples of both.

Intervals
---------
M_a - M_b is above its lower end, which is the largest margin that every p(j > k) excludes at
alpha / (M (M - 1) T_a (1 + h)), and below minus the lower end of b - a; with probability 1 - alpha
for all pairs at once, by the same proof with the margin added to theta_k0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.chances import proportion, whole_number
from pytest_maxrandom.stats.clusters import units_of
from pytest_maxrandom.stats.incumbents import RESAMPLES, IncumbentTest
from pytest_maxrandom.stats.model_rises import ModelRises, resamples_of
from pytest_maxrandom.stats.multiplicity import above, holm
from pytest_maxrandom.stats.score_pairs import ScorePair

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]

_TIE = 1e-9
_ENOUGH = 2e-4
"""Ends of intervals are known to within this, and lie never too close."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is found of one ordered pair of models."""

    first: int
    second: int
    """Their places."""
    difference: float
    """Score of the first one's best prompt less that of the second one's, on the examples that both
    were scored on."""
    p: float
    """P-value of "the first is better, each at its best", by itself."""
    holm: float
    """The same adjusted for all ordered pairs: at most alpha where it is told."""
    low: float
    high: float
    """The true difference lies between, with probability 1 - alpha for all pairs at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BestModels:
    """What is found of several models; made by `best_models`."""

    best: tuple[int, ...]
    """Per model the row of its best prompt: the first with the highest mean."""
    means: tuple[float, ...]
    """Per model the mean score of that prompt."""
    not_best: tuple[float, ...]
    """Per model the p-value of "it is not the best"."""
    among_best: tuple[int, ...]
    """Places of the models that cannot be told from the best: with probability 1 - alpha at least
    the truly best one is one of them."""
    orders: tuple[Order, ...]
    """Of all ordered pairs, by their places."""
    test: IncumbentTest
    """How the choice of the best prompt was paid for."""


def best_models(
    scores: Sequence[ArrayLike],
    *,
    tried: Sequence[int] | None = None,
    alpha: float = 0.05,
    clusters: Sequence[Hashable] | None = None,
    intervals: bool = True,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> BestModels:
    """Compare models, each at the best of its own prompts, on the same examples.

    Parameters
    ----------
    scores
        Per model the scores of its prompts from 0 to 1, shape (k, n); k may differ. NaN where a
        prompt was not scored on an example. One row is a prompt that was fixed beforehand.
    tried
        Per model how many prompts were ever tried; k if not given.
    alpha
        With which probability the set may lack the truly best model, and any order that is told
        may be wrong.
    clusters
        Per example what it has in common with others; None: each stands by itself.
    intervals
        Whether intervals are computed; else they are from -1 to 1.
    resamples, seed
        How often examples are drawn anew at most, where they are: see `resamples_of`.

    Raises
    ------
    TypeError, ValueError
        If there are fewer than two models, shapes disagree, or a score or number is none.

    Examples
    --------
    >>> large, small = [[1] * 9 + [0], [1] * 8 + [0, 0]], [[0] * 10, [0] * 9 + [1]]
    >>> found = best_models([large, small])
    >>> found.among_best, [round(p, 4) for p in found.not_best]
    ((0,), [1.0, 0.0215])
    """
    rows = [np.asarray(each, dtype=np.float64) for each in scores]
    _check(rows)
    many = len(rows)
    counts = [len(each) for each in rows] if tried is None else list(tried)
    if len(counts) != many:
        raise ValueError(f"tried has {len(counts)} numbers, but there are {many} models")
    for matrix, count in zip(rows, counts, strict=True):
        whole_number("tried", count, len(matrix))
    level = proportion("alpha", alpha)
    n = rows[0].shape[1]
    groups = units_of(clusters, n)
    hidden = sum(counts) - sum(map(len, rows))
    means = [np.nanmean(each, axis=1) for each in rows]
    best = [int(np.flatnonzero(each >= each.max() - _TIE)[0]) for each in means]
    chosen = [each[row] for each, row in zip(rows, best, strict=True)]
    pairs = [(a, b) for a in range(many) for b in range(many) if a != b]
    ways = [count * (1 + hidden) for count in counts]
    share = level / len(pairs)
    lows = dict.fromkeys(pairs, -1.0)
    if drawn := resamples_of(rows, groups, counts, share, resamples):
        rises = ModelRises(rows, groups, drawn, seed)
        ps = {(a, b): rises.p_beaten(b, [a]) for a, b in pairs}
        not_best = [rises.p_beaten(b, [a for a in range(many) if a != b]) for b in range(many)]
        if intervals:
            lows = {(a, b): rises.lowest(a, b, share) for a, b in pairs}
    else:
        ps = {
            (a, b): min(1.0, ways[a] * _beats_all(chosen[a], rows[b], groups, share / ways[a]))
            for a, b in pairs
        }
        not_best = [
            min(1.0, (many - 1) * min(ps[a, b] for a in range(many) if a != b)) for b in range(many)
        ]
        if intervals:
            lows = {(a, b): _lowest(chosen[a], rows[b], groups, share / ways[a]) for a, b in pairs}
    adjusted = dict(zip(pairs, holm([ps[pair] for pair in pairs]), strict=True))
    return BestModels(
        best=tuple(best),
        means=tuple(float(each[row]) for each, row in zip(means, best, strict=True)),
        not_best=tuple(not_best),
        among_best=tuple(b for b, p in enumerate(not_best) if above(p, level)),
        orders=tuple(
            Order(
                first=a,
                second=b,
                difference=_difference(chosen[a], chosen[b]),
                p=ps[a, b],
                holm=adjusted[a, b],
                low=lows[a, b],
                high=-lows[b, a],
            )
            for a, b in pairs
        ),
        test="resampled" if drawn else "exact",
    )


def _check(rows: Sequence[Floats]) -> None:
    if len(rows) < 2:
        raise ValueError(f"found {len(rows)} models, expected at least two")
    shapes = [each.shape for each in rows]
    if any(each.ndim != 2 or 0 in each.shape for each in rows) or len({s[1] for s in shapes}) > 1:
        raise ValueError(f"each model's scores must have the shape (k, n), found {shapes}")
    for each in rows:
        there = ~np.isnan(each)
        if not there.any(axis=1).all():
            raise ValueError("a prompt was scored on no example")
        if (each[there] < 0).any() or (each[there] > 1).any():
            raise ValueError("scores must be numbers from 0 to 1")


def _difference(one: Floats, other: Floats) -> float:
    both = one - other
    known = ~np.isnan(both)
    return float(both[known].mean()) if known.any() else 0.0


def _beats_all(own: Floats, others: Floats, groups: NDArray[np.int64], level: float) -> float:
    """Return the largest p-value of one prompt against each of another model's."""
    largest = 0.0
    for pair in _hardest(own, others, groups):
        if pair is None or pair.differences.mean() <= 0:
            return 1.0
        if largest < 1:
            largest = max(largest, pair.p_greater(0.0, level))
    return largest


def _lowest(own: Floats, others: Floats, groups: NDArray[np.int64], level: float) -> float:
    """Return the largest margin by which one prompt is above each of another model's."""
    low = 1.0
    for pair in _pairs(own, others, groups):
        if pair is None:
            return -1.0
        if float(pair.differences.mean()) <= low or not pair.excludes(low, level):
            low = min(low, pair.lowest(level, _ENOUGH))
    return max(-1.0, low)


def _pairs(own: Floats, others: Floats, groups: NDArray[np.int64]) -> Iterator[ScorePair | None]:
    """Yield the differences to each other prompt, the best of them first; None where none is."""
    differences = own - others
    known = ~np.isnan(differences)
    means = np.where(known, differences, 0.0).sum(axis=1) / np.maximum(1, known.sum(axis=1))
    order = np.argsort(means, kind="stable")
    if _counts_alone(differences, groups):
        order = order[np.sort(np.unique(_counts(differences)[order], axis=0, return_index=True)[1])]
    for row in order:
        there = known[row]
        yield ScorePair(differences[row][there], groups[there]) if there.any() else None


def _hardest(own: Floats, others: Floats, groups: NDArray[np.int64]) -> Iterator[ScorePair | None]:
    """Yield pairs of which one has the largest p-value at a margin of 0.

    McNemar's p-value falls with the wins and grows with the losses, so that it is largest where no
    other prompt leaves as few wins and as many losses.
    """
    differences = own - others
    if not _counts_alone(differences, groups):
        yield from _pairs(own, others, groups)
        return
    wins, losses = _counts(differences).T
    most = -1
    for row in np.lexsort((-losses, wins)):
        if losses[row] > most:
            most = int(losses[row])
            yield ScorePair(differences[row], groups)


def _counts_alone(differences: Floats, groups: NDArray[np.int64]) -> bool:
    """Tell whether nothing counts but how many examples are won and lost."""
    alone = len(np.unique(groups)) == len(groups)
    return alone and bool(np.isin(differences, (-1.0, 0.0, 1.0)).all())


def _counts(differences: Floats) -> NDArray[np.int64]:
    """Return the wins and losses against each other prompt, shape (k, 2)."""
    return np.stack([(differences > 0).sum(axis=1), (differences < 0).sum(axis=1)], axis=1)
