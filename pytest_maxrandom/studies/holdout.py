"""Does a validation accuracy above a baseline foretell a test accuracy above chance?

Yauney and Mimno, "Stronger Random Baselines for In-Context Learning" (2024), section 5.2: the
examples of a sweep are split again and again into a validation and a test part. The prompt that
is best on the validation part is above the standard, or the maximum random, baseline of that
part or not; this predicts whether the same prompt is above chance on the test part. All
comparisons are strict.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from pytest_maxrandom.stats.best_of import BestOf
from pytest_maxrandom.stats.chances import Groups, mean_of, proportion, whole_number
from pytest_maxrandom.stats.counts import GuesserCount
from pytest_maxrandom.stats.seeding import digest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    Flags: TypeAlias = NDArray[np.bool_]

Conventions = Literal["exact", "paper"]
"""exact: each prompt guesses on the examples that it was scored on; paper: all prompts on as many
examples as the validation part has, whether they were scored on them or not."""

Guessers: TypeAlias = tuple[tuple[Groups, int], ...]
"""Pairs (chances of one guesser, number of guessers with them), without order."""


@dataclass(frozen=True, slots=True)
class Trials:
    """One entry per split; all arrays have the shape (splits,)."""

    above_standard: Flags
    above_maximum: Flags
    """Whether the best validation accuracy is above the baseline."""
    standard_score: NDArray[np.float64]
    maximum_score: NDArray[np.float64]
    """-log(1 - F) of that accuracy, where F is the distribution function of one guesser, or of the
    best of all: ordered as F, but not rounded to 1."""
    test_above_chance: Flags
    """Whether the same prompt is above chance on the test part."""

    def __len__(self) -> int:
        return len(self.test_above_chance)


def split_trials(
    correct: ArrayLike,
    evaluated: ArrayLike,
    chances: Sequence[Fraction],
    *,
    splits: int = 100,
    validation: float = 0.75,
    seed: int = 0,
    conventions: Conventions = "exact",
) -> Trials:
    """Split the examples of one sweep repeatedly and follow its best prompt.

    Of equally good prompts the first is taken. A split on which the best prompt has no test
    example is left out.

    Parameters
    ----------
    correct, evaluated
        Whether each prompt answered each example rightly, and was scored on it at all: booleans,
        shape (t, n). The prompts are taken for distinct.
    chances
        Chance of one guess for each of the n examples.
    splits
        Number of splits.
    validation
        Share of the examples in the validation part, rounded down to whole examples.
    seed
        Starts the random splits, which are the same under every version of NumPy.
    conventions
        How n of the baselines is counted.

    Raises
    ------
    ValueError
        If the shapes disagree, a part would be empty, no split is of use, or the conventions are
        the paper's and the chances differ.
    """
    if conventions not in ("exact", "paper"):
        raise ValueError(f"conventions must be 'exact' or 'paper', found {conventions!r}")
    scored, right = _grid(correct, evaluated, len(chances))
    kinds = sorted(set(chances))
    if conventions == "paper" and len(kinds) > 1:
        raise ValueError(
            f"the paper's conventions need one chance for all examples, found {len(kinds)}; use "
            "the exact ones"
        )
    size = _validation_size(validation, len(chances))
    drawn = _splits(len(chances), size, whole_number("splits", splits, 1), seed)
    of_kind = np.array([[chance == kind for chance in chances] for kind in kinds])
    scored_counts = np.stack([_counts(scored & kind, drawn) for kind in of_kind], axis=-1)
    hits = _counts(right, drawn)
    with np.errstate(invalid="ignore"):
        # Quotients of counts below 2**26 are equal, or differ, as the fractions do.
        accuracies = hits / scored_counts.sum(axis=-1)
    best = np.nan_to_num(accuracies, nan=-1.0).argmax(axis=0)

    outcomes = []
    for split, prompt in enumerate(best.tolist()):
        own = _groups(kinds, scored_counts[prompt, split])
        tested = scored[prompt] & ~drawn[split]
        if not own or not tested.any():
            continue
        if conventions == "exact":
            one, every = ((own, 1),), _guessers(kinds, scored_counts[:, split])
        else:
            whole = ((kinds[0], size),)
            one, every = ((whole, 1),), ((whole, len(right)),)
        correct_here = int(hits[prompt, split])
        accuracy = Fraction(correct_here, sum(count for _, count in own))
        above_standard = accuracy > mean_of(own)
        test_accuracy = Fraction(int((right[prompt] & tested).sum()), int(tested.sum()))
        # The expected maximum of one guesser is its chance, but for rounding.
        above_maximum = (
            above_standard if every == one else accuracy > _best_of(every).expected_accuracy
        )
        outcomes.append(
            (
                above_standard,
                above_maximum,
                _score(one, accuracy),
                _score(every, accuracy),
                test_accuracy > mean_of(_groups(kinds, (of_kind & tested).sum(axis=1))),
            )
        )
    if not outcomes:
        raise ValueError("no split gives the best prompt an example in both parts")
    return Trials(*map(np.array, zip(*outcomes, strict=True)))


def pooled(trials: Iterable[Trials]) -> Trials:
    """Put the trials of several sweeps together; at least one."""
    parts = list(trials)
    return Trials(
        *(np.concatenate([getattr(part, of.name) for part in parts]) for of in fields(Trials))
    )


@dataclass(frozen=True, slots=True)
class Study:
    """The trials of one model, or of all."""

    name: str
    """The model, or what stands for all of them."""
    trials: Trials
    """Of all its sweeps."""
    sizes: tuple[int, ...]
    tries: tuple[int, ...]
    """Examples and prompts of each sweep."""

    @classmethod
    def together(cls, name: str, studies: Sequence[Study]) -> Study:
        """Put the trials of several sweeps or models together; at least one."""
        return cls(
            name,
            pooled(study.trials for study in studies),
            tuple(size for study in studies for size in study.sizes),
            tuple(tries for study in studies for tries in study.tries),
        )


@dataclass(frozen=True, slots=True)
class PredictiveValue:
    """How well "above the baseline" predicts "above chance on the test part".

    A quotient whose denominator is zero is None, and so are areas where all trials end alike.
    """

    tp: int
    fp: int
    tn: int
    fn: int
    """Trials by prediction and outcome."""
    accuracy: float
    precision: float | None
    recall: float | None
    auroc: float | None
    aupr: float | None
    """Area under the ROC curve, and average precision, of the prediction."""
    auroc_F: float | None  # noqa: N815 - F is the field's name of a distribution function
    aupr_F: float | None  # noqa: N815
    """The same of the distribution function F at the validation accuracy."""


def predictive_values(trials: Trials) -> dict[str, PredictiveValue]:
    """Return the predictive values of both baselines: {"standard": ..., "maximum": ...}.

    Raises
    ------
    ModuleNotFoundError
        If scikit-learn is not installed.
    """
    return {
        "standard": _value(trials.above_standard, trials.standard_score, trials.test_above_chance),
        "maximum": _value(trials.above_maximum, trials.maximum_score, trials.test_above_chance),
    }


def _value(predicted: Flags, score: NDArray[np.float64], outcome: Flags) -> PredictiveValue:
    tp, fp = int((predicted & outcome).sum()), int((predicted & ~outcome).sum())
    tn, fn = int((~predicted & ~outcome).sum()), int((~predicted & outcome).sum())
    areas = *_areas(outcome, predicted), *_areas(outcome, score)
    accuracy = (tp + tn) / len(outcome)
    precision, recall = (tp / part if part else None for part in (tp + fp, tp + fn))
    return PredictiveValue(tp, fp, tn, fn, accuracy, precision, recall, *areas)


def _areas(outcome: Flags, score: NDArray[np.generic]) -> tuple[float | None, float | None]:
    from sklearn.metrics import average_precision_score, roc_auc_score

    if outcome.all() or not outcome.any():
        return None, None
    # Only the order counts, and ranks are finite where a score is not.
    ranks = np.unique(score, return_inverse=True)[1]
    return float(roc_auc_score(outcome, ranks)), float(average_precision_score(outcome, ranks))


def _grid(correct: ArrayLike, evaluated: ArrayLike, n: int) -> tuple[Flags, Flags]:
    scored, right = np.asarray(evaluated, dtype=np.bool_), np.asarray(correct, dtype=np.bool_)
    if scored.shape != right.shape or scored.ndim != 2 or scored.shape[1] != n or not len(scored):
        raise ValueError(
            f"correct and evaluated must have the shape (prompts, {n} examples), found "
            f"{right.shape} and {scored.shape}"
        )
    return scored, right & scored


def _validation_size(validation: float, n: int) -> int:
    # As a decimal: 0.7 of 10 examples is 7, but the double 0.7 lies below that.
    size = math.floor(Fraction(str(proportion("validation", validation))) * n)
    if not 0 < size < n:
        raise ValueError(
            f"validation {validation} of {n} examples leaves {size} for validation and {n - size} "
            "for the test; both need at least one"
        )
    return size


def _splits(n: int, size: int, splits: int, seed: int) -> Flags:
    """Mark ``size`` random ones of n examples in every row, shape (splits, n)."""
    # Hashed, so that answers simulated from the same seed have nothing in common with the splits.
    hashed = int(digest("holdout", whole_number("seed", seed, 0)), 16)
    keys = np.random.PCG64(hashed).random_raw(splits * n).reshape(splits, n)
    chosen = np.zeros((splits, n), dtype=np.bool_)
    np.put_along_axis(chosen, keys.argsort(axis=1, kind="stable")[:, :size], True, axis=1)
    return chosen


def _counts(cells: Flags, drawn: Flags) -> NDArray[np.int64]:
    """Count each prompt's marked cells in each validation part, shape (t, splits)."""
    return (cells.astype(np.float32) @ drawn.T.astype(np.float32)).astype(np.int64)


def _groups(kinds: Sequence[Fraction], sizes: NDArray[np.int64]) -> Groups:
    return tuple((kind, size) for kind, size in zip(kinds, sizes.tolist(), strict=True) if size)


def _guessers(kinds: Sequence[Fraction], seen: NDArray[np.int64]) -> Guessers:
    """Return a guesser for each prompt with an example; seen has the shape (t, kinds)."""
    copies = Counter(map(tuple, seen[seen.any(axis=1)].tolist()))
    return tuple(
        (_groups(kinds, np.array(sizes)), count) for sizes, count in sorted(copies.items())
    )


_guesser_count = lru_cache(maxsize=10_000)(GuesserCount)


@lru_cache(maxsize=10_000)
def _best_of(guessers: Guessers) -> BestOf:
    return BestOf([(_guesser_count(groups), copies) for groups, copies in guessers])


@lru_cache(maxsize=100_000)
def _score(guessers: Guessers, accuracy: Fraction) -> float:
    """-log P(best of the guessers > accuracy)."""
    sizes = [sum(size for _, size in groups) for groups, _ in guessers]
    above = min(Fraction(math.floor(accuracy * n) + 1, n) for n in sizes)
    if above > 1:
        return math.inf
    return -_best_of(guessers).log_p_value(above.numerator, above.denominator)
