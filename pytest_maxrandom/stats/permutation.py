"""Permutation max-T test of a sweep: is the best prompt better than its answers make likely?

Westfall and Young, "Resampling-Based Multiple Testing" (1993): the gold labels are permuted
among the examples, the predictions of all prompts stay as they are, and T is the best accuracy.
Whatever the prompts share (copied answers, a constant answer, a preferred label) they also
share under every permutation, so the test needs no assumption of independence between prompts
and is not fooled by unbalanced labels. It is exact if no prediction depends on the gold labels;
demonstrations drawn from the evaluated examples make it approximate.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pytest_maxrandom.stats.chances import whole_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Gold: TypeAlias = Sequence[int | Iterable[int]] | NDArray[np.integer]

NOT_EVALUATED = -1
"""The prediction of a prompt for an example that it was not scored on."""

_CELLS = 2**21  # entries of one batch of permuted gold labels: 8 MiB


@dataclass(frozen=True)
class PermutationTest:
    """Result of `max_t_test`.

    Attributes
    ----------
    p_value
        (1 + exceedances) / (permutations + 1), or exceedances / permutations after an early stop.
    best_accuracy
        Best observed accuracy T.
    best_prompt
        Row of the first prompt that reaches it.
    permutations
        Number of permutations drawn.
    exceedances
        Permutations whose best accuracy is at least the observed one.
    stopped_early
        Whether the requested number of exceedances was reached before the last permutation.
    """

    p_value: float
    best_accuracy: Fraction
    best_prompt: int
    permutations: int
    exceedances: int
    stopped_early: bool


def _integers(name: str, values: ArrayLike, dimensions: int) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, found an array of {array.dtype}")
    if array.ndim != dimensions or 0 in array.shape:
        raise ValueError(
            f"{name} must have {dimensions} dimension(s), none empty, found shape {array.shape}"
        )
    return array.astype(np.int64)


def _answer_sets(gold: Gold, n: int) -> list[list[int]]:
    """Bring gold labels into one list of right choices per example."""
    rows = [list(row) if isinstance(row, Iterable) else [row] for row in gold]
    if len(rows) != n:
        raise ValueError(f"gold names {len(rows)} examples, the predictions {n}")
    for place, answers in enumerate(rows):
        if not answers:
            raise ValueError(f"gold of example {place} names no right choice")
    return [
        [whole_number(f"gold of example {place}", answer, 0) for answer in answers]
        for place, answers in enumerate(rows)
    ]


def _choice_counts(
    choices: ArrayLike | None, chosen: NDArray[np.int64], rows: Sequence[Sequence[int]]
) -> NDArray[np.int64]:
    n = len(rows)
    if choices is None:
        return np.full(n, 1 + max(int(chosen.max()), *map(max, rows)))
    counts = _integers("choices", choices, 1)
    if len(counts) != n:
        raise ValueError(f"choices names {len(counts)} examples, the predictions {n}")
    if counts.min() < 1:
        raise ValueError(f"choices must be at least 1, found {counts.min()}")
    return counts


def _right_answers(rows: Sequence[Sequence[int]], counts: NDArray[np.int64]) -> NDArray[np.float32]:
    """Mark the right choices, shape (n, largest number of choices)."""
    right = np.zeros((len(rows), int(counts.max())), dtype=np.float32)
    for place, answers in enumerate(rows):
        if max(answers) >= counts[place]:
            raise ValueError(
                f"gold of example {place} must be a choice from 0 to {counts[place] - 1}, "
                f"found {max(answers)}"
            )
        right[place, answers] = 1
    return right


def _check_predictions(predictions: NDArray[np.int64], choices: NDArray[np.int64]) -> None:
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


def permuted(
    generator: np.random.Generator, strata: Sequence[NDArray[np.int64]], n: int, count: int
) -> NDArray[np.int64]:
    """``count`` permutations of n examples that keep every stratum, shape (count, n)."""
    order = np.empty((count, n), dtype=np.int64)
    for members in strata:
        order[:, members] = generator.permuted(np.tile(members, (count, 1)), axis=1)
    return order


def max_t_test(
    predictions: ArrayLike,
    gold: Gold,
    choices: ArrayLike | None = None,
    *,
    strata: ArrayLike | None = None,
    permutations: int = 9999,
    stop_after: int | None = None,
    seed: int = 0,
) -> PermutationTest:
    """Test the best accuracy of t prompts by permuting the gold labels.

    Parameters
    ----------
    predictions
        Index of the chosen choice, shape (t, n); -1 where a prompt was not scored on an example
        (its own demonstrations). Accuracies are then fractions of different n.
    gold
        Index of the right choice for each example, shape (n,), or a set of indices for each.
    choices
        Number of choices of each example, shape (n,). None: all examples have the same.
    strata
        Which examples labels are permuted among, a number for each, shape (n,). None: the numbers
        of choices.
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
        If an array has the wrong kind or shape, or a value lies outside the choices.
    """
    chosen = _integers("predictions", predictions, 2)
    rows = _answer_sets(gold, chosen.shape[1])
    counts = _choice_counts(choices, chosen, rows)
    _check_predictions(chosen, counts)
    right = _right_answers(rows, counts)
    groups = counts if strata is None else _integers("strata", strata, 1)
    if len(groups) != len(rows):
        raise ValueError(f"strata names {len(groups)} examples, the predictions {len(rows)}")
    limit = whole_number("permutations", permutations, 1)
    enough = limit + 1 if stop_after is None else whole_number("stop_after", stop_after, 1)
    prompts, n = chosen.shape
    answered = (chosen[:, :, None] == np.arange(right.shape[1])).reshape(prompts, -1)
    answers = answered.astype(np.float32)

    sizes = (chosen != NOT_EVALUATED).sum(axis=1)
    correct = np.rint(answers @ right.ravel()).astype(np.int64)
    # Correctly rounded quotients of counts below 2**26 are ordered as the fractions are.
    best_prompt = int(np.argmax(correct / sizes))
    best = Fraction(int(correct[best_prompt]), int(sizes[best_prompt]))
    needed = -(-sizes * best.numerator // best.denominator)

    generator = np.random.default_rng(seed)
    together = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    batch = max(1, min(1024, _CELLS // right.size))
    drawn = exceedances = 0
    while drawn < limit and exceedances < enough:
        order = permuted(generator, together, n, min(batch, limit - drawn))
        counted = right[order].reshape(len(order), -1) @ answers.T
        reached = np.cumsum((counted >= needed - 0.5).any(axis=1))
        stop = int(np.searchsorted(reached, enough - exceedances))
        drawn += min(stop + 1, len(order))
        exceedances += int(reached[min(stop, len(order) - 1)])
    stopped = exceedances >= enough
    p_value = exceedances / drawn if stopped else (1 + exceedances) / (drawn + 1)
    return PermutationTest(p_value, best, best_prompt, drawn, exceedances, stopped)
