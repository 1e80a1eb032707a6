"""Scores of prompts by label, and the best of t random guessers in others than accuracy.

Balanced accuracy is a weighted sum of independent counts, so its distribution is exact on the
lattice of its values. Macro-F1 has no closed form, so single guessers are simulated.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.stats.chances import chance_groups, whole_number
from pytest_maxrandom.stats.counts import GuesserCount
from pytest_maxrandom.stats.maximum import ScoreBaseline, listed, simulated

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from pytest_maxrandom.stats.maximum import Floats


def _same_length(gold: Sequence[object], other: Sequence[object], name: str) -> None:
    if not len(gold):
        raise ValueError("gold must name at least 1 example")
    if len(gold) != len(other):
        raise ValueError(f"{name} names {len(other)} examples, gold {len(gold)}")


def balanced_accuracy(predictions: Sequence[Hashable], gold: Sequence[Hashable]) -> float:
    """Mean over the classes of ``gold`` of the share of their examples that are correct."""
    _same_length(gold, predictions, "predictions")
    sizes = Counter(gold)
    right = Counter(g for g, p in zip(gold, predictions, strict=True) if g == p)
    return math.fsum(right[label] / size for label, size in sizes.items()) / len(sizes)


def macro_f1(predictions: Sequence[Hashable], gold: Sequence[Hashable]) -> float:
    """Mean over the classes of ``gold`` of F1 = 2 TP / (examples of the class + predictions)."""
    _same_length(gold, predictions, "predictions")
    sizes, said = Counter(gold), Counter(predictions)
    right = Counter(g for g, p in zip(gold, predictions, strict=True) if g == p)
    scores = (2 * right[label] / (size + said[label]) for label, size in sizes.items())
    return math.fsum(scores) / len(sizes)


def _share(predictions: Sequence[Hashable], gold: Sequence[Hashable]) -> float:
    _same_length(gold, predictions, "predictions")
    return sum(g == p for g, p in zip(gold, predictions, strict=True)) / len(gold)


@dataclass(frozen=True, eq=False)
class Tally:
    """What the scores of t prompts are made of, by label; counts as floats, shape (..., t, m).

    Where all prompts were scored on the same examples, `seen` and `scored` are of one for all.
    """

    hits: Floats
    """Right answers with the label."""
    seen: Floats
    """Scored examples for which the label is right."""
    said: Floats
    """Answers with the label, shape (t, m) or (..., t, m)."""
    scored: Floats
    """Scored examples of the label's stratum, or all of them, shape as `said`."""


@dataclass(frozen=True, eq=False)
class Statistic:
    """What a max-T test takes the best of."""

    of: Callable[[Tally], Floats]
    """The scores of a tally, shape (..., t); NaN where a prompt has none."""
    by_stratum: bool = False
    """Whether the labels of different strata are different labels."""


def _accuracy(tally: Tally) -> Floats:
    return np.asarray(tally.hits.sum(axis=-1) / tally.said.sum(axis=-1))


def _lift(tally: Tally) -> Floats:
    expected = tally.said * tally.seen / np.maximum(tally.scored, 1)
    return np.asarray((tally.hits - expected).sum(axis=-1) / tally.said.sum(axis=-1))


def _balanced_accuracy(tally: Tally) -> Floats:
    return _mean_of_classes(tally.hits / np.maximum(tally.seen, 1), tally.seen)


def _macro_f1(tally: Tally) -> Floats:
    return _mean_of_classes(2 * tally.hits / np.maximum(tally.seen + tally.said, 1), tally.seen)


def _mean_of_classes(values: Floats, seen: Floats) -> Floats:
    classes = seen > 0
    return np.asarray(np.where(classes, values, 0.0).sum(axis=-1) / classes.sum(axis=-1))


ACCURACY = Statistic(_accuracy)
LIFT = Statistic(_lift, by_stratum=True)
"""Accuracy above what the same answers are expected to reach, dealt at random to the examples that
the prompt was scored on. For prompts that leave out their own demonstrations: which right answers
are missing is known to the model, and whoever answers against them would seem to know."""


def balanced_accuracy_baseline(
    gold: Sequence[Hashable],
    choices: Sequence[int],
    t: int,
    *,
    draws: int | None = None,
    seed: int = 0,
) -> ScoreBaseline:
    """Best of t guessers in balanced accuracy.

    Exact, but simulated where the score has too many possible values to be listed: with many large
    classes of unrelated sizes.

    Parameters
    ----------
    gold
        Class of each example.
    choices
        Number of choices of each example, all guessed with equal chance.
    t
        Number of guessers.
    draws
        Number of simulated guessers; by default enough for p-values near .05.
    seed
        Seed of the simulation.

    Raises
    ------
    TypeError, ValueError
        If the lengths differ, or ``draws`` is too few for ``t``.
    """
    _same_length(gold, choices, "choices")
    members: dict[Hashable, Counter[int]] = {}
    for label, count in zip(gold, choices, strict=True):
        members.setdefault(label, Counter())[count] += 1
    counts = [GuesserCount(chance_groups(own)) for own in members.values()]
    counts.sort(key=lambda count: count.n)
    guessers = whole_number("t", t, 1)
    if (exact := listed(counts)) is not None:
        return ScoreBaseline(guessers, *exact, None)

    def scores(generator: np.random.Generator, number: int) -> Floats:
        score = np.zeros(number)
        for count in counts:
            right = sum(generator.binomial(size, float(p), number) for p, size in count.groups)
            score += right / (count.n * len(counts))
        return score

    return simulated(guessers, draws, seed, scores)


def macro_f1_baseline(
    gold: Sequence[int],
    choices: Sequence[int],
    t: int,
    *,
    draws: int | None = None,
    seed: int = 0,
) -> ScoreBaseline:
    """Simulate the best of t guessers in macro-F1.

    Parameters
    ----------
    gold
        Right choice of each example, counted from 0; choice j is the same class everywhere.
    choices, t, draws, seed
        As of `balanced_accuracy_baseline`.

    Raises
    ------
    TypeError, ValueError
        If the lengths differ, a label is no choice, or ``draws`` is too few for ``t``.
    """
    _same_length(gold, choices, "choices")
    cells: Counter[tuple[int, int]] = Counter()
    for label, count in zip(gold, choices, strict=True):
        most = whole_number("choices", count, 1) - 1
        cells[whole_number("gold", label, 0, most), most + 1] += 1
    sizes = Counter(gold)
    labels = sorted(sizes)

    def scores(generator: np.random.Generator, number: int) -> Floats:
        said = np.zeros((number, max(count for _, count in cells)), dtype=np.int64)
        right = {label: np.zeros(number, dtype=np.int64) for label in labels}
        for (label, count), size in sorted(cells.items()):
            guesses = generator.multinomial(size, np.full(count, 1 / count), number)
            said[:, :count] += guesses
            right[label] += guesses[:, label]
        scores = sum(2 * right[label] / (sizes[label] + said[:, label]) for label in labels)
        return np.asarray(scores) / len(labels)

    return simulated(t, draws, seed, scores)


@dataclass(frozen=True, eq=False)
class MetricDefinition:
    """All that a claim needs of what its best prompt is best in.

    A package adds one by an entry point of the group ``pytest_maxrandom.metrics``, whose name is
    what a suite says (``metric: NAME``). Where its functions raise, the claims that use it fail
    with one sentence that names the package.
    """

    words: str
    """Its name in reports."""
    description: str
    """What it is, for the schema of suites."""
    score: Callable[[Sequence[Hashable], Sequence[Hashable]], float]
    """One prompt's score, from its answers and the right ones, n labels of each: a number, higher
    is better, 1 where all are right."""
    statistic: Statistic
    """The same of many prompts at once: for shuffled right answers, and for resampled examples. Of
    the same answers it must be what `score` is."""
    guessers: Callable[[Sequence[int], Sequence[int], int], ScoreBaseline] | None
    """The best of t guessers, from the right choice of each of n examples (from 0), how many
    choices each has, and t: a `pytest_maxrandom.stats.maximum.ScoreBaseline`, exact or from
    `pytest_maxrandom.stats.maximum.simulated`. None where right answers are counted, which no
    metric of a package is."""
    guessers_judge: bool = True
    """Whether p_max tells knowledge. It does not where who prefers a label, and knows nothing,
    scores higher than who guesses all choices alike; then shuffled right answers judge alone."""
    also: tuple[str, ...] = ()
    """What people write for its name in a suite."""


BUILT_IN: Mapping[str, MetricDefinition] = {
    "accuracy": MetricDefinition(
        "accuracy", "the share of right answers", _share, ACCURACY, guessers=None
    ),
    "balanced_accuracy": MetricDefinition(
        "balanced accuracy",
        "the mean over classes of recall",
        balanced_accuracy,
        Statistic(_balanced_accuracy),
        balanced_accuracy_baseline,
        also=("balanced", "acc_balanced"),
    ),
    # One label for all scores .47 at labels of 90/10, guessers .41.
    "macro_f1": MetricDefinition(
        "macro-F1",
        "the mean over classes of F1, which `permutation_p` alone judges",
        macro_f1,
        Statistic(_macro_f1),
        macro_f1_baseline,
        guessers_judge=False,
        also=("f1",),
    ),
}
"""By their names in a suite; all that is said of a metric anywhere stands here. Packages may add
others (`pytest_maxrandom.record.metrics`)."""
