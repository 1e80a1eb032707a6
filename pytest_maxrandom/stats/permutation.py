"""Permutation max-T test of a sweep: is the best prompt better than its answers make likely?

Westfall and Young, "Resampling-Based Multiple Testing" (1993): the right answers are permuted
among the examples, the answers of all prompts stay as they are, and T is the best score. Whatever
the prompts share (copied answers, a constant answer, a preferred label) they also share under every
permutation, so the test needs no assumption of independence between prompts and is not fooled by
unbalanced labels. It is exact if no answer depends on the right answers of the scored examples.

Examples are permuted within *strata*, whose examples can exchange their right answers, and whole
*groups* of them where they belong together, such as the questions on one passage.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import count
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_maxrandom.stats.chances import integers, whole_number
from pytest_maxrandom.stats.gold import (
    NOT_EVALUATED,
    check_predictions,
    membership,
    right_labels,
)
from pytest_maxrandom.stats.metrics import ACCURACY, Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from pytest_maxrandom.stats.gold import Gold
    from pytest_maxrandom.stats.maximum import Floats
    from pytest_maxrandom.stats.metrics import Statistic

    Order = NDArray[np.integer[Any]]

STOP_AFTER = 1_000
"""Exceedances after which a permutation test is decided: p is then known to 3 %."""

_CELLS = 2**21  # entries of one batch of permuted right answers: 8 MiB
_MOST_AT_ONCE = 1024  # permutations of one batch
_KEPT = 2**22  # entries of permutations that are kept for the next test: 8 MiB
_NEAR = 1e-12  # two scores closer than this are the same score, computed differently
_FEWEST = 9_999
MOST = 1_999_999
"""Permutations of one prompt at most."""
_AT_THE_LEVEL = 20  # exceedances of a p-value that is just at its level


def permutations_for(level: float) -> int:
    """Return how many permutations a p-value needs that is compared with a level.

    Examples
    --------
    >>> permutations_for(0.05), permutations_for(0.0001)
    (9999, 199999)
    """
    return max(_FEWEST, math.ceil(_AT_THE_LEVEL / level) - 1)


@dataclass(frozen=True, kw_only=True)
class PermutationTest:
    """Result of `max_t_test`.

    Attributes
    ----------
    p_value
        (1 + exceedances) / (permutations + 1), or exceedances / permutations after an early stop.
    permutations
        Number of permutations drawn.
    exceedances
        Permutations whose statistic is at least the observed one.
    best
        Best observed score T.
    best_prompt
        Row of the first prompt that reaches it.
    fixed
        Examples whose right answers never move, because no other example, or group, is like theirs.
    maxima
        The statistic of each permutation drawn, ascending, shape (permutations,).
    """

    p_value: float
    permutations: int
    exceedances: int
    best: float
    best_prompt: int
    fixed: int
    maxima: Floats = field(compare=False, repr=False)

    def bound(self, level: float) -> float:
        """Return what the best score must exceed for a p-value of at most ``level``.

        The other answers are taken as they are. Infinity where no score is enough, because too few
        permutations were drawn.
        """
        exceedances = math.floor(level * (self.permutations + 1) * (1 + _NEAR)) - 1
        if exceedances < 0:
            return math.inf
        return float(self.maxima[max(0, self.permutations - 1 - exceedances)])


def arrangements(gold: Gold, strata: ArrayLike, groups: Sequence[Hashable] | None = None) -> int:
    """Return in how many different ways the right answers can be permuted.

    No permutation p-value is below one over this number. Arguments as of `max_t_test`.
    """
    rights = right_labels(gold)
    ways = 1
    for members in _blocks(integers("strata", strata, 1), groups):
        alike = Counter(tuple(rights[place] for place in row) for row in members.tolist())
        ways *= math.factorial(alike.total())
        for times in alike.values():
            ways //= math.factorial(times)
    return ways


def max_t_test(
    predictions: ArrayLike,
    gold: Gold,
    choices: ArrayLike | None = None,
    *,
    statistic: Statistic = ACCURACY,
    strata: ArrayLike | None = None,
    groups: Sequence[Hashable] | None = None,
    permutations: int = _FEWEST,
    stop_after: int | None = None,
    seed: int = 0,
) -> PermutationTest:
    """Test the best score of t prompts by permuting the right answers.

    Parameters
    ----------
    predictions
        Index of the chosen choice, shape (t, n); -1 where a prompt was not scored on an example
        (its own demonstrations).
    gold
        Index of the right choice for each example, shape (n,), or a set of indices for each.
    choices
        Number of choices of each example, shape (n,). None: all examples have the same.
    statistic
        What T is the best of.
    strata
        Which examples right answers are permuted among, a number for each, shape (n,). None: the
        numbers of choices.
    groups
        What belongs together, one name for each example, shape (n,): whole groups are permuted
        among those with as many examples of the same strata. None: each example by itself.
    permutations
        Number B of permutations.
    stop_after
        Stop at the permutation that brings this many exceedances h, with p = h / permutations
        drawn (Besag and Clifford, "Sequential Monte Carlo p-values", 1991). None: draw all.
    seed
        Seed of the permutations.

    Raises
    ------
    TypeError, ValueError
        If an array has the wrong kind or shape, a value lies outside the choices, or no prompt has
        a score.
    """
    chosen = integers("predictions", predictions, 2)
    n, rights = chosen.shape[1], right_labels(gold)
    counts = None if choices is None else integers("choices", choices, 1)
    apart = None if strata is None else integers("strata", strata, 1)
    given = {"gold": rights, "choices": counts, "strata": apart, "groups": groups}
    for name, each in given.items():
        if each is not None and len(each) != n:
            raise ValueError(f"{name} names {len(each)} examples, the predictions {n}")
    if counts is None:
        counts = np.full(n, 1 + max(int(chosen.max()), *map(max, rights)))
    check_predictions(chosen, rights, counts)
    apart = counts if apart is None else apart
    limit = whole_number("permutations", permutations, 1)
    enough = limit + 1 if stop_after is None else whole_number("stop_after", stop_after, 1)
    blocks = _blocks(apart, groups)
    right = membership(rights, int(counts.max()))
    if statistic is ACCURACY:
        scores, permuted = _of_accuracy(chosen, right)
        near = 0.0  # counts are exact
    else:
        scores, permuted = _of_labels(statistic, chosen, right, apart)
        near = _NEAR
    best_prompt = int(np.argmax(scores))
    least = scores[best_prompt] - near

    batch = max(1, min(_MOST_AT_ONCE, _CELLS // (max(n, len(chosen)) * right.shape[1])))
    drawn = exceeded = 0
    maxima: list[Floats] = []
    for order in _orders(blocks, n, batch, limit, seed):
        found = permuted(order)
        reached = np.cumsum(found >= least)
        stop = int(np.searchsorted(reached, enough - exceeded))
        maxima.append(found[: stop + 1])
        drawn += min(stop + 1, len(order))
        exceeded += int(reached[min(stop, len(order) - 1)])
        if exceeded >= enough:
            break
    return PermutationTest(
        p_value=exceeded / drawn if exceeded >= enough else (1 + exceeded) / (drawn + 1),
        permutations=drawn,
        exceedances=exceeded,
        best=float(scores[best_prompt]),
        best_prompt=best_prompt,
        fixed=sum(members.size for members in blocks if len(members) == 1),
        maxima=np.sort(np.concatenate(maxima)),
    )


def max_t_of_all(
    predictions: ArrayLike,
    gold: Gold,
    choices: ArrayLike | None,
    t: int,
    *,
    level: float,
    statistic: Statistic = ACCURACY,
    strata: ArrayLike | None = None,
    groups: Sequence[Hashable] | None = None,
    seed: int = 0,
) -> tuple[float, PermutationTest, float]:
    """Test the best of t prompts, of which some are at hand.

    Each of the others is taken to reach the best score with permuted right answers as often as the
    best prompt by itself does (Bonferroni). To multiply the p-value of those at hand would take too
    few for many where these are much alike.

    Parameters
    ----------
    predictions, gold, choices, statistic, strata, groups, seed
        As of `max_t_test`; of the prompts at hand.
    t
        All prompts.
    level
        What the p-value is compared with: so many permutations are drawn as that needs.

    Returns
    -------
    p_value
        Of the best of all t.
    test
        Of the prompts at hand.
    bound
        What the best score must exceed for a p-value of at most ``level``; infinity where none can.
    """
    answers = np.asarray(predictions)
    tested = partial(
        max_t_test,
        gold=gold,
        choices=choices,
        statistic=statistic,
        strata=strata,
        groups=groups,
        stop_after=STOP_AFTER,
        seed=seed,
    )
    test = tested(answers, permutations=permutations_for(level))
    others = t - len(answers)
    if others <= 0:
        return test.p_value, test, test.bound(level)
    enough = min(MOST, permutations_for(level / others))
    alone = tested(answers[[test.best_prompt]], permutations=enough)
    p_value = min(1.0, test.p_value + others * alone.p_value)
    return p_value, test, _bound_of_all(test, alone, others, level)


def _bound_of_all(
    test: PermutationTest, alone: PermutationTest, others: int, level: float
) -> float:
    """Return what the best score must exceed where the others count as often as one alone."""
    scores = np.unique(np.concatenate([test.maxima, alone.maxima]))

    def p_above(score: float) -> float:
        hand, one = (
            (1 + len(each.maxima) - int(np.searchsorted(each.maxima, score, side="right")))
            / (each.permutations + 1)
            for each in (test, alone)
        )
        return hand + others * one

    place = bisect_left(scores, True, key=lambda score: p_above(score) <= level * (1 + _NEAR))
    return float(scores[place]) if place < len(scores) else math.inf


def _orders(
    blocks: Sequence[NDArray[np.int64]], n: int, batch: int, limit: int, seed: int
) -> Iterator[Order]:
    """Yield permutations of the examples in batches, shape (batch, n) each.

    They depend on nothing that was answered, so the claims of a task, and tasks of one shape, share
    them: to draw them takes longer than to look who reaches what.
    """
    kinds = tuple((each.shape[1], each.tobytes()) for each in blocks)
    draw = _kept if n * limit <= _KEPT else _drawn
    return iter(draw(kinds, n, batch, limit, seed))


def _drawn(
    kinds: tuple[tuple[int, bytes], ...], n: int, batch: int, limit: int, seed: int
) -> Iterator[Order]:
    generator = np.random.default_rng(seed)
    blocks = [np.frombuffer(each, dtype=np.int64).reshape(-1, size) for size, each in kinds]
    for start in range(0, limit, batch):
        many = min(batch, limit - start)
        order = np.empty((many, n), dtype=np.int64)
        for members in blocks:  # whose rows are exchanged
            rows = np.tile(np.arange(len(members)), (many, 1))
            order[:, members.ravel()] = members[generator.permuted(rows, axis=1)].reshape(many, -1)
        yield order


class _Kept:
    """Permutations that are drawn as far as a test needs them, and kept for the next one."""

    def __init__(self, draws: Iterator[Order], n: int) -> None:
        self._draws, self._type = draws, np.min_scalar_type(n)
        self._known: list[Order] = []
        self._lock = Lock()

    def __iter__(self) -> Iterator[Order]:
        for place in count():
            with self._lock:
                if place == len(self._known):
                    order = next(self._draws, None)
                    if order is None:
                        return
                    self._known.append(order.astype(self._type))
            yield self._known[place]


@lru_cache(maxsize=2)
def _kept(kinds: tuple[tuple[int, bytes], ...], n: int, batch: int, limit: int, seed: int) -> _Kept:
    return _Kept(_drawn(kinds, n, batch, limit, seed), n)


def _of_accuracy(
    chosen: NDArray[np.int64], right: NDArray[np.bool_]
) -> tuple[Floats, Callable[[Order], Floats]]:
    """Return the accuracies, and what tells the best accuracy of each permutation; all exact."""
    answered = (chosen[:, :, None] == np.arange(right.shape[1])).reshape(len(chosen), -1)
    answers, gold = answered.astype(np.float32), right.astype(np.float32)
    sizes = (chosen != NOT_EVALUATED).sum(axis=1)
    alike = bool((sizes == sizes[0]).all())

    def best(order: Order) -> Floats:
        # As gold[order], at a tenth of its time.
        counted = gold.take(order, axis=0).reshape(len(order), -1) @ answers.T
        # Correctly rounded quotients of counts below 2**26 are ordered as the fractions are.
        if alike:
            most: Floats = counted.max(axis=1).astype(np.float64) / sizes[0]
            return most
        scores: Floats = (counted.astype(np.float64) / sizes).max(axis=1)
        return scores

    correct = np.rint(answers @ gold.ravel()).astype(np.int64)
    return correct / sizes, best


def _of_labels(
    statistic: Statistic,
    chosen: NDArray[np.int64],
    right: NDArray[np.bool_],
    strata: NDArray[np.int64],
) -> tuple[Floats, Callable[[Order], Floats]]:
    """Return the scores, and what tells the best score of each permutation."""
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
    masks, place = np.unique(chosen != NOT_EVALUATED, axis=0, return_inverse=True)
    evaluated = masks.astype(np.float32).T
    answered = np.stack([answers.sum(axis=0) for answers in said], axis=-1).astype(np.float64)
    sizes = [evaluated[part].sum(axis=0)[place.ravel()] for part, _ in cells]
    scored = np.stack(sizes, axis=-1).astype(np.float64)

    def scores(order: Order) -> Floats:
        rights = [member[order[:, part], label] for part, label in cells]
        hits = [right @ answers for right, answers in zip(rights, said, strict=True)]
        seen = [
            (right @ evaluated[part])[:, place.ravel()]
            for right, (part, _) in zip(rights, cells, strict=True)
        ]
        # Counts are exact as single floats, their quotients would not be.
        hit, there = (np.stack(parts, axis=-1).astype(np.float64) for parts in (hits, seen))
        return np.nan_to_num(statistic.of(Tally(hit, there, answered, scored)), nan=-np.inf)

    observed = scores(everywhere[None])[0]
    if not np.isfinite(observed).any():
        raise ValueError("no prompt has a score, because too few labels are right somewhere")
    return observed, lambda order: scores(order).max(axis=1)


def _blocks(
    strata: NDArray[np.int64], groups: Sequence[Hashable] | None
) -> list[NDArray[np.int64]]:
    """Return the groups that can stand in for each other: one array a kind, a row a group.

    Examples of a group are ordered by their strata, so that column j of all rows is one stratum.
    """
    members: dict[Hashable, list[int]] = {}
    for place in np.argsort(strata, kind="stable").tolist():
        members.setdefault(place if groups is None else groups[place], []).append(place)
    kinds: dict[tuple[int, ...], list[list[int]]] = {}
    for places in members.values():
        kinds.setdefault(tuple(strata[places].tolist()), []).append(places)
    return [np.array(rows, dtype=np.int64) for rows in kinds.values()]
