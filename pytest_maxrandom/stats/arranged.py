"""The best score of t prompts with their right answers, and with others that might have been.

What the tests by other arrangements of the right answers share: `permutation` exchanges right
answers among examples, `clustered` among clusters of unequal size, and `orders` gives the things
that are compared another order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pytest_maxrandom.stats.chances import integers, whole_number
from pytest_maxrandom.stats.gold import (
    NOT_EVALUATED,
    check_predictions,
    membership,
    right_labels,
)
from pytest_maxrandom.stats.metrics import Statistic, Tally

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from pytest_maxrandom.stats.gold import Gold
    from pytest_maxrandom.stats.maximum import Floats

    Order = NDArray[np.integer[Any]]
    Scores = tuple[Floats, Callable[[NDArray[Any]], Floats]]
    """The score of each prompt, shape (t,), and what takes arrangements and returns the best score
    of each: for each and each example the row of its right labels, shape (arrangements, n), or, of
    accuracies, what `Marks.under` makes of that."""

_CELLS = 2**21  # entries of one batch of arranged right answers: 8 MiB
_HELD = 2**28 + 2**26  # numbers that are held as they are multiplied: 1.25 GiB
_MOST_AT_ONCE = 1024  # arrangements of one batch
_WORTH_MULTIPLYING = 192  # arrangements that are multiplied at once, else the answers cost most
_MOST_TOGETHER = 4  # batches
_FEW_LABELS = 32  # which are looked at faster label by label
_WORTH_PACKING = 512  # cells from which on two prompts are multiplied as one
_FEWEST_AT_ONCE = 500  # examples
_EXACT = 2**24
"""Whole numbers below this are exact as single floats."""
NEAR = 1e-12
"""Two scores closer than this are the same score, computed differently."""


class Checked(NamedTuple):
    """The arguments of a test, checked."""

    chosen: NDArray[np.signedinteger[Any]]
    """Labels of the answers, shape (t, n); -1 where a prompt was not scored on an example."""
    rights: list[frozenset[int]]
    """Per example its right labels."""
    right: NDArray[np.bool_]
    """The same as marks, shape (n, labels)."""
    strata: NDArray[np.int64]
    """Among which examples right answers move, a number for each: those of choices if not given."""


def checked(
    predictions: ArrayLike,
    gold: Gold,
    choices: ArrayLike | None,
    strata: ArrayLike | None,
    **named: Sequence[Hashable] | None,
) -> Checked:
    """Check the arguments of a test, which are as of `max_t_test`.

    Parameters
    ----------
    named
        Further arguments with something for each example.

    Raises
    ------
    TypeError, ValueError
        If an array has the wrong kind or shape, or a value lies outside the choices.
    """
    chosen, rights = integers("predictions", predictions, 2, narrow=True), right_labels(gold)
    n = chosen.shape[1]
    counts = None if choices is None else integers("choices", choices, 1)
    apart = None if strata is None else integers("strata", strata, 1)
    given = {"gold": rights, "choices": counts, "strata": apart, **named}
    for name, each in given.items():
        if each is not None and len(each) != n:
            raise ValueError(f"{name} names {len(each)} examples, the predictions {n}")
    if counts is None:
        counts = np.full(n, 1 + max(int(chosen.max()), *map(max, rights)))
    check_predictions(chosen, rights, counts)
    right = membership(rights, int(counts.max()))
    return Checked(chosen, rights, right, counts if apart is None else apart)


@dataclass(frozen=True, kw_only=True)
class ArrangementTest:
    """What the best score of t prompts comes to under other arrangements of the right answers."""

    p_value: float
    """(1 + exceedances) / (permutations + 1), or exceedances / permutations after an early stop."""
    permutations: int
    """Number of arrangements drawn."""
    exceedances: int
    """Those whose statistic is at least the observed one."""
    best: float
    """Best observed score T."""
    best_prompt: int
    """Row of the first prompt that reaches it."""
    maxima: Floats = field(compare=False, repr=False)
    """The statistic of each arrangement drawn, shape (permutations,)."""

    def bound(self, level: float) -> float:
        """Return what the best score must exceed for a p-value of at most ``level``.

        The other answers are taken as they are. Infinity where no score is enough, because too few
        arrangements were drawn.
        """
        exceedances = math.floor(level * (self.permutations + 1) * (1 + NEAR)) - 1
        if exceedances < 0:
            return math.inf
        place = max(0, self.permutations - 1 - exceedances)
        return float(np.partition(self.maxima, place)[place])


def batch_of(cells: int) -> int:
    """Return how many arrangements are looked at at once, of so many numbers each."""
    return max(1, min(_MOST_AT_ONCE, _CELLS // cells))


def batches(draw: Callable[[int], Order], limit: int, cells: int) -> Iterator[Order]:
    """Yield arrangements in batches, of so many numbers each."""
    for start in range(0, limit, batch_of(cells)):
        yield draw(min(batch_of(cells), limit - start))


def compared_with(
    orders: Iterable[NDArray[Any]],
    scores: Scores,
    limit: int,
    stop_after: int | None,
    near: float = NEAR,
) -> dict[str, Any]:
    """Compare the best score with that under arrangements, until enough have been seen.

    Parameters
    ----------
    orders
        The arrangements, in batches, as the scores take them.
    limit
        How many they are at most.
    stop_after
        As of `max_t_test`.
    near
        By how much a score that is the same may be lower.

    Returns
    -------
    dict
        The fields of an `ArrangementTest`. The observed arrangement counts as one, but after an
        early stop.
    """
    observed, best_under = scores
    enough = limit + 1 if stop_after is None else whole_number("stop_after", stop_after, 1)
    best_prompt = int(np.argmax(observed))
    least = observed[best_prompt] - near
    drawn = exceeded = 0
    maxima: list[Floats] = []
    for order in _together(orders):
        found = best_under(order)
        reached = np.flatnonzero(found >= least)
        if exceeded + len(reached) >= enough:
            found = found[: 1 + int(reached[enough - exceeded - 1])]
        maxima.append(found)
        drawn += len(found)
        exceeded = min(enough, exceeded + len(reached))
        if exceeded == enough:
            break
    return {
        "p_value": exceeded / drawn if exceeded >= enough else (1 + exceeded) / (drawn + 1),
        "permutations": drawn,
        "exceedances": exceeded,
        "best": float(observed[best_prompt]),
        "best_prompt": best_prompt,
        "maxima": np.concatenate(maxima),
    }


def _together(orders: Iterable[NDArray[Any]]) -> Iterator[NDArray[Any]]:
    """Yield small batches as larger ones.

    How many are drawn at a time stays as it is, since it decides what is drawn.
    """
    batches = iter(orders)
    for first in batches:
        many = min(_MOST_TOGETHER, -(-_WORTH_MULTIPLYING // len(first)))
        yield first if many == 1 else np.concatenate([first, *islice(batches, many - 1)])


class Marks(NamedTuple):
    """What tells the right labels of examples."""

    rows: NDArray[np.float32]
    """1 where a label is right, else 0; shape (n, labels that tell it)."""
    labels: NDArray[np.intp]
    """Those labels."""
    rest: int | None
    """The label that is right where none of these is; None where there is no such one."""

    def under(self, order: Order) -> NDArray[np.float32]:
        """Return the marks of arrangements, shape (arrangements, all marks of one)."""
        # As rows[order], at a tenth of its time.
        return self.rows.take(order, axis=0).reshape(len(order), self.rows.size)


def marks_of(right: NDArray[np.bool_]) -> Marks:
    """Return the marks that tell which labels are right, a row for each example.

    A label that is right nowhere needs none; and where each example has one right label, the last
    of them is right where no other is.

    Parameters
    ----------
    right
        Which labels are right, shape (n, labels).
    """
    labels = np.flatnonzero(right.any(axis=0))
    single = bool((right.sum(axis=1) == 1).all())
    told = labels[:-1] if single else labels
    return Marks(right[:, told].astype(np.float32), told, int(labels[-1]) if single else None)


def scores_of_accuracy(chosen: NDArray[np.signedinteger[Any]], marks: Marks) -> Scores:
    """Return the accuracies, and what tells the best one of arrangements by their marks; all exact.

    Parameters
    ----------
    chosen
        As of `max_t_test`.
    """

    def earned_by(prompts: slice) -> tuple[NDArray[np.int8], NDArray[np.int8] | None]:
        own = chosen[prompts]
        told = (own[:, :, None] == marks.labels).view(np.int8)
        return told, None if marks.rest is None else (own == marks.rest).view(np.int8)

    sizes = (chosen != NOT_EVALUATED).sum(axis=1)
    return _scores_of_credits(marks, earned_by, sizes, 1)


def scores_of_credits(earned: NDArray[np.integer[Any]], marks: Marks, unit: int) -> Scores:
    """Return mean credits, and what tells the best one of arrangements by their marks; all exact.

    Parameters
    ----------
    earned
        What a prompt scores on an example where a label is right, shape (t, n, labels).
    unit
        The credit of an example that is right.
    """
    exact = _exact(earned.shape[1] * unit)

    def earned_by(prompts: slice) -> tuple[NDArray[Any], NDArray[Any] | None]:
        own = earned[prompts]
        told = own[:, :, marks.labels].astype(exact)
        return told, None if marks.rest is None else own[:, :, marks.rest].astype(exact)

    return _scores_of_credits(marks, earned_by, np.full(len(earned), earned.shape[1] * unit), unit)


def _exact(whole: int) -> np.dtype[Any]:
    """Return a type in which whole numbers up to one are exact."""
    return np.dtype(np.float32 if whole < _EXACT else np.float64)


def _scores_of_credits(
    marks: Marks,
    earned_by: Callable[[slice], tuple[NDArray[Any], NDArray[Any] | None]],
    sizes: NDArray[np.int64],
    unit: int,
) -> Scores:
    """Return both by the credits of labels that marks tell, and of the label that is else right.

    Parameters
    ----------
    earned_by
        Returns both of some prompts, shapes (prompts, n, labels) and (prompts, n).
    sizes
        What each prompt can earn, shape (t,).
    unit
        As of `scores_of_credits`.
    """
    t, cells, n = len(sizes), marks.rows.size, len(marks.rows)
    exact, (times, chunk) = _exact(n * unit), _packing(n, cells, unit)
    columns = t if times == 1 else -(-t // 2)
    step = max(1, 8 * _CELLS // max(1, cells))
    parts = [slice(start, min(start + step, columns)) for start in range(0, columns, step)]
    beside = np.zeros(t)

    def answered(prompts: slice) -> NDArray[Any]:
        told, rest = earned_by(prompts)
        if rest is not None:  # who answers so is right but where another label is
            beside[prompts] = rest.sum(axis=1, dtype=np.float64)
            told -= rest[:, :, None]
        return told.reshape(len(told), cells)

    def packed(part: slice) -> NDArray[Any]:
        """Return the answers of two prompts as one number, where that is exact."""
        found = answered(part).astype(exact)
        if times > 1:
            other = answered(slice(part.start + columns, min(part.stop + columns, t)))
            found[: len(other)] += np.multiply(other, times, dtype=exact)
        return found

    held = np.empty((cells, columns if cells * columns <= _HELD else 0), dtype=exact)
    for part in parts if held.size else ():
        held[:, part] = packed(part).T

    def products(rows: NDArray[np.float32]) -> Floats:
        """Return the products, shape (columns, arrangements)."""
        found = np.empty((columns, len(rows)))
        if not held.size:
            for part in parts:
                found[part] = _summed(packed(part), rows.T, chunk)
            return found
        # Maxima of short rows take longer than to turn them.
        found[:] = _summed(rows, held, chunk).T
        return found

    def counts(rows: NDArray[np.float32]) -> Floats:
        found = products(rows)
        if times > 1:
            other = np.rint(found / times)
            found = np.concatenate([found - times * other, other])[:t]
        found += beside[:, None]
        return found

    def best(rows: NDArray[np.float32]) -> Floats:
        # Correctly rounded quotients of counts below 2**26 are ordered as the fractions are.
        if (sizes == sizes[0]).all():
            most: Floats = counts(rows).max(axis=0) / sizes[0]
            return most
        accuracies: Floats = (counts(rows) / sizes[:, None]).max(axis=0)
        return accuracies

    return counts(marks.rows.reshape(1, -1))[:, 0] / sizes, best


def _packing(n: int, cells: int, unit: int) -> tuple[int, int]:
    """Return by what the answers of a second prompt are multiplied, to be added to those of one.

    All products are whole numbers below `_EXACT` if they are summed over few enough cells at a
    time. Where too few would be, or there is little to multiply, both are 1 and all cells.
    """
    times = 1 << (2 * n * unit).bit_length()
    chunk = (_EXACT - 1) // ((times + 1) * unit)
    if cells < _WORTH_PACKING or chunk < min(n, _FEWEST_AT_ONCE):
        return 1, cells
    return times, chunk * (cells // n)


def _summed(one: NDArray[Any], other: NDArray[Any], chunk: int) -> NDArray[Any]:
    """Multiply two matrices, some cells at a time."""
    cells = one.shape[1]
    if cells <= chunk:
        return np.asarray(one @ other)
    found = np.zeros((len(one), other.shape[1]))
    for start in range(0, cells, chunk):
        part = slice(start, start + chunk)
        found += one[:, part] @ other[part]
    return found


class Pairs(NamedTuple):
    """Which labels were said of which examples, of those that are right somewhere."""

    examples: NDArray[np.intp]
    labels: NDArray[np.intp]
    answers: NDArray[np.float32]
    """1 where a prompt said so, shape (pairs, t)."""


def pairs_of(chosen: NDArray[np.signedinteger[Any]], right: NDArray[np.bool_]) -> Pairs | None:
    """Return the pairs where these are few beside the labels, as of open answers; else None.

    Parameters
    ----------
    chosen, right
        As of `scores_of_accuracy` and `marks_of`.
    """
    labels = right.shape[1]
    if labels <= _FEW_LABELS:
        return None
    counts = np.append(right.any(axis=0), False)[chosen]
    prompts, examples = np.nonzero(counts)
    keys, places = np.unique(examples * labels + chosen[counts], return_inverse=True)
    if not len(keys) or len(keys) > right[:, right.any(axis=0)].size // 4:
        return None
    answers = np.zeros((len(keys), len(chosen)), dtype=np.float32)
    answers[places, prompts] = 1
    return Pairs(keys // labels, keys % labels, answers)


def scores_of_pairs(
    chosen: NDArray[np.signedinteger[Any]], right: NDArray[np.bool_], pairs: Pairs
) -> Scores:
    """Return the same as `scores_of_accuracy`, by pairs; arrangements are taken as they are."""
    sizes = (chosen != NOT_EVALUATED).sum(axis=1)
    member = right.astype(np.float32)

    def accuracies(order: Order) -> Floats:
        counts = member[order[:, pairs.examples], pairs.labels] @ pairs.answers
        return np.asarray(counts.astype(np.float64) / sizes)

    observed = accuracies(np.arange(chosen.shape[1])[None])[0]
    return observed, lambda order: accuracies(order).max(axis=1)


def scores_by_labels(
    statistic: Statistic,
    chosen: NDArray[np.signedinteger[Any]],
    right: NDArray[np.bool_],
    strata: NDArray[np.int64],
) -> Scores:
    """Return the scores, and what tells the best one of each arrangement.

    Parameters
    ----------
    chosen, strata
        As of `max_t_test`.
    right
        Which labels are right, a row for each example; more rows may follow, for arrangements in
        which a right answer is none of the observed ones. Shape (n or more, labels).
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
    chosen_labels = [(chosen[:, part] == label).astype(np.float32).T for part, label in cells]
    # Most often all prompts were scored on the same examples, or a few sets of them.
    there = chosen != NOT_EVALUATED
    masks, place = there[:1], np.zeros(1, dtype=np.intp)
    if not there.all():
        masks, place = np.unique(there, axis=0, return_inverse=True)
    evaluated = masks.astype(np.float32).T
    answered = _by_label([answers.sum(axis=0) for answers in chosen_labels])
    scored = _by_label([evaluated[part].sum(axis=0)[place.ravel()] for part, _ in cells])

    def scores(order: Order) -> Floats:
        rights = [member[order[:, part], label] for part, label in cells]
        hits = [right @ answers for right, answers in zip(rights, chosen_labels, strict=True)]
        seen = [
            (right @ evaluated[part])[:, place.ravel()]
            for right, (part, _) in zip(rights, cells, strict=True)
        ]
        found = statistic.of(Tally(_by_label(hits), _by_label(seen), answered, scored))
        return np.where(np.isnan(found), -np.inf, found)

    observed = scores(everywhere[None])[0]
    if not np.isfinite(observed).any():
        raise ValueError("no prompt has a score, because too few labels are right somewhere")
    return observed, lambda order: scores(order).max(axis=1)


def _by_label(counts: Sequence[NDArray[np.float32]]) -> Floats:
    """Return counts with labels last, of which those of one label are together in memory.

    Counts are exact as single floats, their quotients would not be.
    """
    return np.moveaxis(np.stack(counts, dtype=np.float64), 0, -1)
