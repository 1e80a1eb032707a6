"""What an accuracy is worth on new questions: that of one prompt, and of the best of t.

`wilson` is the interval of a prompt that was not selected by these answers. The best of t is biased
upward: it was picked for what it got right here. Two numbers say what is left of it elsewhere.
`out_of_bag` selects again and again on resampled examples and scores the winner on those that were
not drawn (Efron and Tibshirani, "Improvements on cross-validation: the .632+ bootstrap method",
1997, section 2, with the selection inside). `lower_bound` is the least accuracy that the best of t
does not reject: Clopper and Pearson's bound ("The use of confidence or fiducial limits", 1934) at a
t-th of the level. `interval` has it and an upper bound, which selection leaves as it is.
"""

from __future__ import annotations

import functools
import math
from statistics import NormalDist
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pytest_maxrandom.stats.best_of import narrowed
from pytest_maxrandom.stats.chances import proportion, whole_number
from pytest_maxrandom.stats.clusters import effective_n, units_of
from pytest_maxrandom.stats.counts import binomial_tail
from pytest_maxrandom.stats.score_pairs import ScorePair
from pytest_maxrandom.stats.seeding import digest

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from numpy.typing import ArrayLike, NDArray

    Weights: TypeAlias = NDArray[np.float32]
    Select: TypeAlias = Callable[[Weights], NDArray[np.float64]]

RESAMPLES = 500
"""They leave a Monte Carlo error of about .004 at n = 100."""

_DIGITS = 9
"""Sums of scores that differ less are the same sum, computed differently."""
_CELLS = 2**22  # entries of one batch of scores: 32 MiB
_KEPT = 2**20  # entries of draws that are kept for the next claim: 4 MiB


def out_of_bag(
    scores: ArrayLike,
    evaluated: NDArray[np.bool_] | None = None,
    *,
    clusters: Sequence[Hashable] | None = None,
    select: Select | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> float | None:
    """Estimate the accuracy, or mean score, of the best prompt on new questions.

    The best is selected on as many examples as there are, drawn with replacement, and scored on
    those that were not drawn; prompts that are equally good count equally. The mean over the
    resamples is no longer biased by the selection. It is of a prompt that was picked on the .632 n
    different examples of a resample, so where one prompt is clearly the best it is a little low.

    Parameters
    ----------
    scores
        Of each prompt on each example, from 0 to 1: whether it answered rightly, or how well. Shape
        (t, n), NaN where a prompt was not scored on an example.
    evaluated
        Of truth values, which have no NaN: where a prompt was scored, shape (t, n).
    clusters
        Per example what it has in common with others, such as its passage; whole clusters are
        drawn. None: each example stands by itself.
    select
        Returns the scores of all prompts, shape (r, t), the best of which is selected, from how
        often each example was drawn, shape (r, n). None: accuracy.
    resamples
        How many times examples are drawn.
    seed
        Starts the draws, which are the same under every version of NumPy.

    Returns
    -------
    float or None
        None where no resample leaves the best prompt an example, as with one example or cluster.

    Raises
    ------
    ValueError
        If the shapes disagree.
    """
    values, scored = _grid(scores, evaluated)
    n = values.shape[1]
    groups = units_of(clusters, n)
    drawn = draws(int(groups.max()) + 1, whole_number("resamples", resamples, 1), seed)
    choose = select or (lambda weights: _rates(weights, values, scored))
    batch = max(1, _CELLS // len(values))
    found = [
        _of_winners(choose(weights), _rates((weights == 0).astype(np.float32), values, scored))
        for start in range(0, len(drawn), batch)
        for part in [drawn[start : start + batch]]
        for weights in [part if clusters is None else part[:, groups]]
    ]
    estimates = np.concatenate(found)
    known = estimates[~np.isnan(estimates)]
    return float(known.mean()) if len(known) else None


def lower_bound(
    correct: int,
    n: int,
    t: int = 1,
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> float:
    """Return the least accuracy on new questions that the best of t prompts leaves possible.

    It is below the true accuracy of the best prompt with probability `confidence` at least,
    however prompts depend on each other and whatever they are selected by, because the t bounds
    hold all at once. The examples must be independent draws, and no prompt may have been made
    with a look at their answers.

    With clusters, these must be independent draws. An accuracy that varies from cluster to cluster
    is then a mean of values between 0 and 1, whose tail is at most e times that of the binomial
    (Bentkus, "On Hoeffding's inequalities", 2004), n being the number of clusters; where their
    sizes differ, n is Kish's effective number, which is an approximation.

    Parameters
    ----------
    correct, n
        Right answers of the best prompt, of n >= 1.
    t
        Prompts of which it is the best.
    clusters
        Per example of the n what it has in common with others. None: each stands by itself.
    confidence
        Between 0 and 1.

    Raises
    ------
    TypeError, ValueError
        If a number is none, or lies outside its range.

    Examples
    --------
    >>> round(lower_bound(71, 100, 200), 2), round(lower_bound(71, 100), 2)
    (0.53, 0.63)
    """
    worth = None
    if clusters is not None and len(set(clusters)) < n:
        if len(clusters) != n:
            raise ValueError(f"clusters names {len(clusters)} examples, n is {n}")
        worth = effective_n(clusters)
    correct, n, t, level = _checked(correct, n, t, confidence)
    return _least(correct, n, level / t, worth)


def lower_bound_of_scores(
    scores: ArrayLike,
    t: int = 1,
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> float:
    """Return the same of the mean of scores from 0 to 1; see `lower_bound`.

    Parameters
    ----------
    scores
        Of the best prompt, shape (n,).

    Raises
    ------
    TypeError, ValueError
        If a number is none, or lies outside its range.

    Examples
    --------
    >>> round(lower_bound_of_scores([1] * 71 + [0] * 29), 2)
    0.63
    >>> round(lower_bound_of_scores([0.71] * 100), 2)
    0.69
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or not values.size or not ((values >= 0) & (values <= 1)).all():
        raise ValueError("scores must be a row of numbers from 0 to 1")
    level = (1 - proportion("confidence", confidence)) / whole_number("t", t, 1)
    return ScorePair(values, units_of(clusters, len(values)), (0.0, 1.0)).lowest(level)


def interval(
    correct: int, n: int, t: int = 1, *, worth: float | None = None, confidence: float = 0.95
) -> tuple[float, float]:
    """Return between which accuracies on new questions that of the best of t prompts lies.

    The lower end is above the true accuracy with probability 1 - `confidence` at most, and so is
    the upper end below it; both hold at once with probability 2 `confidence` - 1 at least.

    The lower end is `lower_bound`; above the standard baseline it says that `union_p` is at most
    1 - `confidence`. The upper end is Clopper and Pearson's, as if nothing had been selected. The
    prompt that is truly the best has no more right answers here than the one that is reported. So
    if the latter's accuracy is above the end, that of the former is above its own end, and the
    former does not depend on the answers.

    Parameters
    ----------
    correct, n, t, confidence
        As in `lower_bound`; all prompts were scored on n examples.
    worth
        How many independent examples the n are worth, if they stand in clusters
        (`pytest_maxrandom.stats.clusters.effective_n`).

    Raises
    ------
    TypeError, ValueError
        If a number is none, or lies outside its range.

    Examples
    --------
    >>> [round(end, 3) for end in interval(71, 100, 200)], [round(end, 3) for end in interval(0, 9)]
    ([0.534, 0.784], [0.0, 0.283])
    """
    correct, n, t, level = _checked(correct, n, t, confidence)
    return _least(correct, n, level / t, worth), 1 - _least(n - correct, n, level, worth)


def _checked(correct: int, n: int, t: int, confidence: float) -> tuple[int, int, int, float]:
    """Return right answers, n, t, and the level of one end."""
    n = whole_number("n", n, 1)
    correct = whole_number("correct", correct, 0, n)
    level = 1 - proportion("confidence", confidence)
    return correct, n, whole_number("t", t, 1), level


@functools.lru_cache(maxsize=4096)  # claims and reports ask for the same few again and again
def _least(correct: int, n: int, level: float, worth: float | None) -> float:
    """Return the least accuracy with which so many are right with a probability above `level`."""
    if worth is not None and worth < n:
        correct, n, level = correct * int(worth) // n, int(worth), level / math.e
    if not correct or level <= 0:
        return 0.0
    return narrowed(0.0, correct / n, lambda at: binomial_tail(correct, n, at) <= level)[0]


def _grid(
    scores: ArrayLike, evaluated: NDArray[np.bool_] | None
) -> tuple[NDArray[np.floating], NDArray[np.float32] | None]:
    """Return scores, 0 where there is none, and where there are any; None: everywhere."""
    given = np.asarray(scores)
    if given.ndim != 2 or 0 in given.shape:
        raise ValueError(f"scores must have a shape (t, n), found {given.shape}")
    if given.dtype == np.bool_:
        if evaluated is None or evaluated.all():
            return given.astype(np.float32), None
        return (given & evaluated).astype(np.float32), evaluated.astype(np.float32)
    values = given.astype(np.float64, copy=False)
    missing = np.isnan(values)
    known = np.where(missing, 0.0, values)
    # Counts of right answers are exact in half the memory.
    if np.isin(known, (0.0, 1.0)).all():
        known = known.astype(np.float32)
    return known, (~missing).astype(np.float32) if missing.any() else None


def draws(units: int, resamples: int, seed: int) -> Weights:
    """Return how often each unit is drawn in each resample, shape (resamples, units).

    This depends on nothing that was answered, so the claims of a task share it.
    """
    return (_kept if units * resamples <= _KEPT else _drawn)(units, resamples, seed)


@functools.lru_cache(maxsize=4)
def _kept(units: int, resamples: int, seed: int) -> Weights:
    drawn = _drawn(units, resamples, seed)
    drawn.setflags(write=False)
    return drawn


def _drawn(units: int, resamples: int, seed: int) -> Weights:
    # Hashed, so that answers simulated from the same seed have nothing in common with the draws.
    hashed = int(digest("winner", whole_number("seed", seed, 0)), 16)
    raw = np.random.PCG64(hashed).random_raw(resamples * units).reshape(resamples, units)
    # The upper bits: a remainder of so large a number is as good as uniform.
    places = (raw >> np.uint64(11)) % np.uint64(units)
    places += np.arange(resamples, dtype=np.uint64)[:, None] * np.uint64(units)
    counts = np.bincount(places.ravel().astype(np.int64), minlength=resamples * units)
    return counts.reshape(resamples, units).astype(np.float32)


def _rates(
    weights: Weights, scores: NDArray[np.floating], scored: NDArray[np.float32] | None
) -> NDArray[np.float64]:
    """Return each prompt's mean on weighted examples, shape (r, t); NaN where it has none."""
    # Counts below 2**24 are exact, and their quotients are equal where the fractions are.
    hits = (weights @ scores.T).astype(np.float64)
    if scores.dtype != np.float32:
        hits = np.round(hits, _DIGITS)
    seen = weights.sum(axis=1, keepdims=True) if scored is None else weights @ scored.T
    with np.errstate(invalid="ignore"):
        return np.asarray(hits / seen)


def _of_winners(scores: NDArray[np.float64], elsewhere: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what the best of each row reach elsewhere, on average, shape (r,)."""
    known = np.nan_to_num(scores, nan=-1.0)
    best = (scores == known.max(axis=1, keepdims=True)) & ~np.isnan(elsewhere)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(best, elsewhere, 0).sum(axis=1) / best.sum(axis=1))


def wilson(
    correct: int, n: int, confidence: float = 0.95, *, effective_n: float | None = None
) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion.

    Wilson (1927), "Probable inference, the law of succession, and statistical inference". With
    clustered examples it is that of the same proportion of the effective n in place of n
    (Kish 1965, "Survey Sampling": a proportion of n examples in clusters varies as one of
    n / design effect independent ones).

    Parameters
    ----------
    correct, n : int
        Right answers, of n >= 1.
    confidence : float
        Share of intervals that hold the true accuracy, between 0 and 1.
    effective_n : float, optional
        How many independent examples the n are worth (`pytest_maxrandom.stats.clusters`), above 0
        and at most n; n if not given.

    Examples
    --------
    >>> [round(bound, 4) for bound in wilson(15, 20)]
    [0.5313, 0.8881]
    >>> wilson(30, 40, effective_n=20) == wilson(15, 20)
    True
    """
    if not 0 <= correct <= n or n < 1:
        raise ValueError(f"expected 0 <= correct <= n and n >= 1, found {correct} and {n}")
    worth = float(n) if effective_n is None else effective_n
    if not 0 < worth <= n:
        raise ValueError(f"expected 0 < effective_n <= n = {n}, found {effective_n}")
    right = correct / n * worth
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    centre = right + z * z / 2
    spread = z * math.sqrt(right * (worth - right) / worth + z * z / 4)
    low, high = (centre - spread) / (worth + z * z), (centre + spread) / (worth + z * z)
    return (0.0 if correct == 0 else low), (1.0 if correct == n else high)
