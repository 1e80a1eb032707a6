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
import threading
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np

from pytest_maxrandom.stats.arranged import (
    NEAR,
    ArrangementTest,
    Marks,
    batch_of,
    checked,
    compared_with,
    marks_of,
    pairs_of,
    scores_by_labels,
    scores_of_accuracy,
    scores_of_credits,
    scores_of_pairs,
)
from pytest_maxrandom.stats.chances import integers, whole_number
from pytest_maxrandom.stats.gold import right_labels
from pytest_maxrandom.stats.metrics import ACCURACY, Statistic

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from pytest_maxrandom.stats.arranged import Order
    from pytest_maxrandom.stats.gold import Gold


STOP_AFTER = 1_000
"""Exceedances after which a permutation test is decided: p is then known to 3 %."""

_KEPT = 2**22  # entries of permutations that are kept for the next test: 8 MiB
_KEPT_MARKS = 2**20  # right answers in them that are kept: 4 MiB
_WIDTH = np.dtype(np.int64).itemsize
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
class PermutationTest(ArrangementTest):
    """Result of `max_t_test`."""

    fixed: int
    """Examples whose right answers never move, because no other example, or group, is like them."""


def arrangements(gold: Gold, strata: ArrayLike, groups: Sequence[Hashable] | None = None) -> int:
    """Return in how many different ways the right answers can be permuted.

    No permutation p-value is below one over this number. Arguments as of `max_t_test`.
    """
    rights = right_labels(gold)
    ways = 1
    for members in exchanged_blocks(integers("strata", strata, 1), groups):
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
    chosen, _, right, apart = checked(predictions, gold, choices, strata, groups=groups)
    n = chosen.shape[1]
    limit = whole_number("permutations", permutations, 1)
    exact = statistic is ACCURACY
    kinds = _kinds(apart.tobytes(), None if groups is None else tuple(groups))
    pairs = pairs_of(chosen, right) if exact else None
    cells = max(n, len(chosen)) * right.shape[1] if pairs is None else max(n, len(pairs.examples))
    drawn = _Draws(kinds, n, batch_of(cells), limit, seed)
    orders: Iterator[NDArray[Any]]
    if pairs is not None:
        orders, scores = drawn.orders(), scores_of_pairs(chosen, right, pairs)
    elif exact:
        marks = marks_of(right)
        orders, scores = drawn.marked(marks), scores_of_accuracy(chosen, marks)
    else:
        orders, scores = drawn.orders(), scores_by_labels(statistic, chosen, right, apart)
    return PermutationTest(
        **compared_with(orders, scores, limit, stop_after, 0.0 if exact else NEAR),
        fixed=sum(size for size, rows in kinds if len(rows) == size * _WIDTH),
    )


def max_t_of_credits(
    earned: NDArray[np.integer[Any]],
    kinds: ArrayLike,
    *,
    unit: int = 1,
    strata: ArrayLike | None = None,
    groups: Sequence[Hashable] | None = None,
    permutations: int = _FEWEST,
    stop_after: int | None = None,
    seed: int = 0,
) -> PermutationTest:
    """Test the best mean credit of t prompts by permuting the right answers.

    What a prompt says to an example may be several samples, or a text with several references: all
    that counts is what it scores with each right answer that the example may be given.

    Parameters
    ----------
    earned
        What each prompt scores on each example where the right answer is of each kind: whole
        numbers from 0 to `unit`, shape (t, n, kinds).
    kinds
        The kind of each example's right answer, shape (n,).
    unit
        The credit of an example that is right.
    strata, groups, permutations, stop_after, seed
        As of `max_t_test`; without strata all examples exchange their right answers.

    Raises
    ------
    TypeError, ValueError
        If an array has the wrong kind or shape, or a value lies outside its range.
    """
    values, kind = np.asarray(earned), integers("kinds", kinds, 1)
    if values.dtype.kind not in "iu" or values.ndim != 3 or 0 in values.shape:
        raise TypeError(
            "earned must hold integers in 3 dimensions, none empty, found the shape "
            f"{values.shape} of {values.dtype}"
        )
    t, n, many = values.shape
    apart = np.zeros(n, dtype=np.int64) if strata is None else integers("strata", strata, 1)
    for name, each in (("kinds", kind), ("strata", apart), ("groups", groups)):
        if each is not None and len(each) != n:
            raise ValueError(f"{name} names {len(each)} examples, earned has {n}")
    if kind.min() < 0 or kind.max() >= many:
        raise ValueError(f"kinds must be from 0 to {many - 1}, found {kind.min()} to {kind.max()}")
    if values.min() < 0 or values.max() > unit:
        raise ValueError(f"earned must be from 0 to {unit}, found {values.min()} to {values.max()}")
    limit = whole_number("permutations", permutations, 1)
    alike = _kinds(apart.tobytes(), None if groups is None else tuple(groups))
    drawn = _Draws(alike, n, batch_of(max(n, t) * many), limit, seed)
    marks = marks_of(kind[:, None] == np.arange(many))
    scores = scores_of_credits(values, marks, unit)
    return PermutationTest(
        **compared_with(drawn.marked(marks), scores, limit, stop_after, 0.0),
        fixed=sum(size for size, rows in alike if len(rows) == size * _WIDTH),
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
) -> tuple[float, PermutationTest, float | None]:
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
        What the best score must exceed for a p-value of at most ``level``; infinity where none can,
        and None where the draws that decided the test are too few to tell.
    """
    tested = partial(
        max_t_test,
        gold=gold,
        choices=choices,
        statistic=statistic,
        strata=strata,
        groups=groups,
        seed=seed,
    )
    return of_all(tested, np.asarray(predictions), t, level)


Test = TypeVar("Test", bound=ArrangementTest)
Scalar = TypeVar("Scalar", bound=np.generic)


def of_all(
    tested: Callable[..., Test], answers: NDArray[np.integer[Any]], t: int, level: float
) -> tuple[float, Test, float | None]:
    """Test the best of t prompts, of which some are at hand, by any test: see `max_t_of_all`.

    Parameters
    ----------
    tested
        The test of some prompts' answers, shape (t, n), with so many `permutations` and
        `stop_after`.
    """
    test = tested(answers, permutations=permutations_for(level), stop_after=STOP_AFTER)
    others = t - len(answers)
    if others <= 0:
        return test.p_value, test, _as_far_as_known(test.bound(level), test)
    enough = min(MOST, permutations_for(level / others))
    alone = tested(answers[[test.best_prompt]], permutations=enough, stop_after=STOP_AFTER)
    p_value = min(1.0, test.p_value + others * alone.p_value)
    bound = _bound_of_all(test, alone, others, level)
    return p_value, test, _as_far_as_known(bound, test, alone)


def _as_far_as_known(bound: float, *tests: ArrangementTest) -> float | None:
    """Return a bound; None where more draws, of a test that stopped early, might have found one."""
    stopped = any(each.exceedances >= STOP_AFTER for each in tests)
    return None if stopped and math.isinf(bound) else bound


def _bound_of_all(
    test: ArrangementTest, alone: ArrangementTest, others: int, level: float
) -> float:
    """Return what the best score must exceed where the others count as often as one alone."""
    maxima = np.sort(test.maxima), np.sort(alone.maxima)
    scores = np.unique(np.concatenate(maxima))

    def p_above(score: float) -> float:
        hand, one = (
            (1 + len(each) - int(np.searchsorted(each, score, side="right"))) / (len(each) + 1)
            for each in maxima
        )
        return hand + others * one

    place = bisect_left(scores, True, key=lambda score: p_above(score) <= level * (1 + NEAR))
    return float(scores[place]) if place < len(scores) else math.inf


_Kind: TypeAlias = tuple[int, bytes]
"""Of rows of examples that are exchanged with each other: how many a row has, and the rows."""


@lru_cache(maxsize=16)  # a task's claims exchange the same
def _kinds(strata: bytes, groups: tuple[Hashable, ...] | None) -> tuple[_Kind, ...]:
    blocks = exchanged_blocks(np.frombuffer(strata, dtype=np.int64), groups)
    return tuple((each.shape[1], each.tobytes()) for each in blocks)


class _Draws(NamedTuple):
    """Permutations of n examples.

    They depend on nothing that was answered, so the claims of a task, and tasks of one shape, share
    them: to draw them takes longer than to look who reaches what.
    """

    kinds: tuple[_Kind, ...]
    n: int
    batch: int
    """How many are drawn at a time."""
    limit: int
    seed: int

    def orders(self) -> Iterator[Order]:
        """Yield them in batches, shape (batch, n) each."""
        return iter(_kept(self) if self.n * self.limit <= _KEPT else self.draw())

    def marked(self, marks: Marks) -> Iterator[NDArray[np.float32]]:
        """Yield what `Marks.under` makes of each batch: the claims of a task share that as well."""
        if marks.rows.size * self.limit <= _KEPT_MARKS:
            return iter(_kept_marks(self, marks.rows.shape[1], marks.rows.tobytes()))
        return map(marks.under, self.orders())

    def draw(self) -> Iterator[Order]:
        """Draw them."""
        generator = np.random.default_rng(self.seed)
        blocks = [
            np.frombuffer(each, dtype=np.int64).reshape(-1, size)
            for size, each in self.kinds
            if len(each) > size * _WIDTH  # one row stays where it is
        ]
        for start in range(0, self.limit, self.batch):
            many = min(self.batch, self.limit - start)
            order = np.tile(np.arange(self.n), (many, 1))
            for members in blocks:  # whose rows are exchanged
                rows = np.tile(np.arange(len(members)), (many, 1))
                moved = members[generator.permuted(rows, axis=1)]
                order[:, members.ravel()] = moved.reshape(many, -1)
            yield order


class _Kept(Generic[Scalar]):
    """Batches that are made as far as a test needs them, and kept for the next one."""

    def __init__(self, batches: Iterator[NDArray[Scalar]]) -> None:
        self._batches = batches
        self._known: list[NDArray[Scalar]] = []
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[NDArray[Scalar]]:
        for place in count():
            with self._lock:
                if place == len(self._known):
                    batch = next(self._batches, None)
                    if batch is None:
                        return
                    self._known.append(batch)
            yield self._known[place]


@lru_cache(maxsize=2)
def _kept(draws: _Draws) -> _Kept[np.integer[Any]]:
    smallest = np.min_scalar_type(draws.n)
    return _Kept(order.astype(smallest) for order in draws.draw())


@lru_cache(maxsize=4)
def _kept_marks(draws: _Draws, columns: int, rows: bytes) -> _Kept[np.float32]:
    marks = np.frombuffer(rows, np.float32).reshape(draws.n, columns)
    return _Kept(map(Marks(marks, np.arange(columns), None).under, draws.orders()))


def exchanged_blocks(
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
