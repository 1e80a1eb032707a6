"""Right answers: labels of examples (one of each, or several), and which answers are right."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from pytest_maxrandom.stats.chances import whole_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Gold: TypeAlias = Sequence[int | Iterable[int]] | NDArray[np.integer]

NOT_EVALUATED = -1
"""The prediction of a prompt for an example that it was not scored on."""

_AT_ONCE = 2**18
"""Answers that are looked at at a time."""


def right_labels(gold: Gold) -> list[frozenset[int]]:
    """Return the right labels of each example, given one label or several of them.

    Raises
    ------
    TypeError, ValueError
        If one is no integer from 0, or an example has none.
    """
    if (
        isinstance(gold, np.ndarray)
        and gold.dtype.kind in "iu"
        and gold.ndim == 1
        and (gold >= 0).all()
    ):
        return [frozenset((label,)) for label in gold.tolist()]
    rights = []
    for place, given in enumerate(gold):
        if type(given) is frozenset and given and all(_is_label(each) for each in given):
            rights.append(given)  # as most are
            continue
        right = given if isinstance(given, Iterable) else [given]
        name = f"gold of example {place}"
        rights.append(frozenset(whole_number(name, label, 0) for label in right))
        if not rights[-1]:
            raise ValueError(f"{name} names no right choice")
    return rights


def _is_label(label: object) -> bool:
    return type(label) is int and label >= 0


def membership(rights: Sequence[frozenset[int]], labels: int) -> NDArray[np.bool_]:
    """Mark which of the labels 0, ..., m - 1 are right, shape (n, m)."""
    return np.array(
        [[label in right for label in range(labels)] for right in rights], dtype=np.bool_
    )


def hits(
    answers: NDArray[np.integer[Any]],
    gold: Sequence[frozenset[int]],
    examples: Any,
) -> NDArray[np.bool_]:
    """Tell whether each answer is a right one.

    Parameters
    ----------
    answers : ndarray of int
        Labels, shape (rows,) or (t, n).
    gold : sequence of frozenset of int
        Per example the labels of its right choices.
    examples : ndarray of int, or what has slices of one
        Of which example each answer is, for each row, or for each of the n.
    """
    rights = padded(gold, NOT_EVALUATED - 1)
    found = np.empty(answers.shape, dtype=np.bool_)
    step = max(1, _AT_ONCE // max(1, math.prod(answers.shape[1:])))
    for start in range(0, len(answers), step):
        part = slice(start, start + step)
        own = rights[examples[part] if answers.ndim == 1 else examples]
        found[part] = (own == answers[part][..., np.newaxis]).any(axis=-1)
    return found


def times_given(codes: NDArray[np.integer[Any]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the labels in a row of answers, in their order, and how often each is given.

    It is what `np.unique` counts. Where labels are few, to count takes a tenth of sorting.
    """
    low, high = int(codes.min(initial=0)), int(codes.max(initial=0))
    if high - low > codes.size:
        labels, times = np.unique(codes, return_counts=True)
        return labels.astype(np.int64), times
    times = np.zeros(high - low + 1, dtype=np.int64)
    for start in range(0, codes.size, _AT_ONCE):  # which are as many whole numbers
        part = codes[start : start + _AT_ONCE].astype(np.intp) - low
        times += np.bincount(part, minlength=len(times))
    labels = np.flatnonzero(times)
    return labels + low, times[labels]


def padded(rows: Sequence[Collection[int]], value: int) -> NDArray[np.int64]:
    """Return rows of numbers as a table, with a value beyond the end of each."""
    most = max(map(len, rows))
    return np.array([[*row, *[value] * (most - len(row))] for row in rows], dtype=np.int64)


def places_of(
    rights: Sequence[Collection[Hashable]], offered: Sequence[Sequence[Hashable]]
) -> NDArray[np.bool_]:
    """Mark at which places the right choices are, shape (n, most choices)."""
    marks = [
        [choice in right for choice in choices]
        for right, choices in zip(rights, offered, strict=True)
    ]
    return padded(marks, 0).astype(np.bool_)


def check_predictions(
    predictions: NDArray[np.signedinteger[Any]],
    rights: Sequence[frozenset[int]],
    choices: NDArray[np.int64],
) -> None:
    """Refuse predictions and right answers that are no choices, and prompts without any.

    Parameters
    ----------
    predictions : ndarray of int
        Shape (t, n).
    rights : sequence of frozenset of int
        Per example its right choices.
    choices : ndarray of int
        Number of choices of each example, shape (n,).

    Raises
    ------
    ValueError
        Naming the first that is wrong.
    """
    if choices.min() < 1:
        raise ValueError(f"choices must be at least 1, found {choices.min()}")
    for place, (right, count) in enumerate(zip(rights, choices.tolist(), strict=True)):
        if max(right) >= count:
            raise ValueError(
                f"gold of example {place} must be a choice from 0 to {count - 1}, "
                f"found {max(right)}"
            )
    wrong = np.argwhere((predictions < NOT_EVALUATED) | (predictions >= choices))
    if len(wrong):
        prompt, example = wrong[0]
        raise ValueError(
            f"prediction of prompt {prompt} for example {example} must be a choice from 0 to "
            f"{choices[example] - 1}, or -1 if not evaluated, found {predictions[prompt, example]}"
        )
    empty = np.flatnonzero((predictions == NOT_EVALUATED).all(axis=1))
    if len(empty):
        raise ValueError(f"prompt {empty[0]} was evaluated on no example")
