"""Permutation max-T test of a sweep: is the best prompt better than its answers make likely?

Westfall and Young, "Resampling-Based Multiple Testing" (1993): the gold labels are permuted
among the examples, the predictions of all prompts stay as they are, and T is the best accuracy.
Whatever the prompts share (copied answers, a constant answer, a preferred label) they also
share under every permutation, so the test needs no assumption of independence between prompts
and is not fooled by unbalanced labels. It is exact if no prediction depends on the gold labels;
demonstrations drawn from the evaluated examples make it approximate.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.chances import whole_number
from pytest_maxrandom.stats.gold import membership, right_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from pytest_maxrandom.stats.gold import Gold

NOT_EVALUATED = -1
"""The prediction of a prompt for an example that it was not scored on."""

STOP_AFTER = 1_000
"""Exceedances after which a permutation test is decided: p is then known to 3 %."""

_CELLS = 2**21  # entries of one batch of permuted gold labels: 8 MiB
_MOST_AT_ONCE = 1024  # permutations of one batch


@dataclass(frozen=True, kw_only=True)
class Exceedances:
    """How often right answers that are permuted give as high a statistic.

    Attributes
    ----------
    p_value
        (1 + exceedances) / (permutations + 1), or exceedances / permutations after an early stop.
    permutations
        Number of permutations drawn.
    exceedances
        Permutations whose statistic is at least the observed one.
    stopped_early
        Whether the requested number of exceedances was reached before the last permutation.
    """

    p_value: float
    permutations: int
    exceedances: int
    stopped_early: bool


@dataclass(frozen=True, kw_only=True)
class PermutationTest(Exceedances):
    """Result of `max_t_test`; the statistic is the best accuracy.

    Attributes
    ----------
    best_accuracy
        Best observed accuracy T.
    best_prompt
        Row of the first prompt that reaches it.
    """

    best_accuracy: Fraction
    best_prompt: int


def _integers(name: str, values: ArrayLike, dimensions: int) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must hold integers, found an array of {array.dtype}")
    if array.ndim != dimensions or 0 in array.shape:
        raise ValueError(
            f"{name} must have {dimensions} dimension(s), none empty, found shape {array.shape}"
        )
    return array.astype(np.int64)


def _choice_counts(
    choices: ArrayLike | None, chosen: NDArray[np.int64], rights: Sequence[frozenset[int]]
) -> NDArray[np.int64]:
    n = len(rights)
    if choices is None:
        return np.full(n, 1 + max(int(chosen.max()), *map(max, rights)))
    counts = _integers("choices", choices, 1)
    if len(counts) != n:
        raise ValueError(f"choices names {len(counts)} examples, the predictions {n}")
    if counts.min() < 1:
        raise ValueError(f"choices must be at least 1, found {counts.min()}")
    for place, (right, count) in enumerate(zip(rights, counts.tolist(), strict=True)):
        if max(right) >= count:
            raise ValueError(
                f"gold of example {place} must be a choice from 0 to {count - 1}, "
                f"found {max(right)}"
            )
    return counts


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


def _permuted(
    generator: np.random.Generator, strata: Sequence[NDArray[np.int64]], n: int, count: int
) -> NDArray[np.int64]:
    """``count`` permutations of n examples that keep every stratum, shape (count, n)."""
    order = np.empty((count, n), dtype=np.int64)
    for members in strata:
        order[:, members] = generator.permuted(np.tile(members, (count, 1)), axis=1)
    return order


def count_exceedances(
    reaches: Callable[[NDArray[np.int64]], NDArray[np.bool_]],
    strata: NDArray[np.integer],
    *,
    cells: int,
    permutations: int,
    stop_after: int | None,
    seed: int,
) -> Exceedances:
    """Permute examples until a test is decided.

    Parameters
    ----------
    reaches
        Tells of permutations, shape (count, n), which give at least the observed statistic.
    strata
        As of `max_t_test`.
    cells
        Entries that ``reaches`` needs for one permutation; not too many are drawn at once.
    permutations, stop_after, seed
        As of `max_t_test`.
    """
    limit = whole_number("permutations", permutations, 1)
    enough = limit + 1 if stop_after is None else whole_number("stop_after", stop_after, 1)
    generator = np.random.default_rng(seed)
    together = [np.flatnonzero(strata == stratum) for stratum in np.unique(strata)]
    batch = max(1, min(_MOST_AT_ONCE, _CELLS // cells))
    drawn = exceeded = 0
    while drawn < limit and exceeded < enough:
        order = _permuted(generator, together, len(strata), min(batch, limit - drawn))
        reached = np.cumsum(reaches(order))
        stop = int(np.searchsorted(reached, enough - exceeded))
        drawn += min(stop + 1, len(order))
        exceeded += int(reached[min(stop, len(order) - 1)])
    stopped = exceeded >= enough
    return Exceedances(
        p_value=exceeded / drawn if stopped else (1 + exceeded) / (drawn + 1),
        permutations=drawn,
        exceedances=exceeded,
        stopped_early=stopped,
    )


def p_of_all(p_value: float, held: int, t: int) -> float:
    """Return the p-value of t prompts where ``held`` of them were tested, by Bonferroni.

    The others are taken to reach as much with permuted right answers as those that are at hand.
    """
    return min(1.0, p_value * t / held) if t > held else p_value


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
    prompts, n = chosen.shape
    if len(gold) != n:
        raise ValueError(f"gold names {len(gold)} examples, the predictions {n}")
    rights = right_labels(gold)
    counts = _choice_counts(choices, chosen, rights)
    _check_predictions(chosen, counts)
    right = membership(rights, int(counts.max())).astype(np.float32)
    groups = counts if strata is None else _integers("strata", strata, 1)
    if len(groups) != n:
        raise ValueError(f"strata names {len(groups)} examples, the predictions {n}")
    answered = (chosen[:, :, None] == np.arange(right.shape[1])).reshape(prompts, -1)
    answers = answered.astype(np.float32)

    sizes = (chosen != NOT_EVALUATED).sum(axis=1)
    correct = np.rint(answers @ right.ravel()).astype(np.int64)
    # Correctly rounded quotients of counts below 2**26 are ordered as the fractions are.
    best_prompt = int(np.argmax(correct / sizes))
    best = Fraction(int(correct[best_prompt]), int(sizes[best_prompt]))
    needed = -(-sizes * best.numerator // best.denominator)

    def reaches(order: NDArray[np.int64]) -> NDArray[np.bool_]:
        counted = right[order].reshape(len(order), -1) @ answers.T
        reached: NDArray[np.bool_] = (counted >= needed - 0.5).any(axis=1)
        return reached

    found = count_exceedances(
        reaches,
        groups,
        cells=right.size,
        permutations=permutations,
        stop_after=stop_after,
        seed=seed,
    )
    return PermutationTest(**vars(found), best_accuracy=best, best_prompt=best_prompt)
