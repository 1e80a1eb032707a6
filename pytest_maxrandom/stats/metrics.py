"""Scores of prompts by label, and the best of t random guessers in others than accuracy.

Balanced accuracy is a weighted sum of independent counts, so its distribution is exact on the
lattice of its values. Macro-F1 has no closed form: N single guessers are simulated once, and

    E[max of t] = sum_i x_(i) [(i/N)^t - ((i-1)/N)^t]

over the ascending scores x_(i), with the standard error of that L-statistic from its influence
function (Serfling, "Approximation Theorems of Mathematical Statistics", 1980, section 8.1).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from pytest_maxrandom.stats.chances import chance_groups, whole_number
from pytest_maxrandom.stats.counts import GuesserCount

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from numpy.typing import NDArray

    from pytest_maxrandom.stats.chances import Chance

    Floats: TypeAlias = NDArray[np.float64]

_MOST_VALUES = 4_000_000  # support points of an exact distribution
_FLOOR = 1e-50  # masses below 1e-60 are not in the windows that the sums start from
_NEAR = 1e-12  # two scores closer than this are the same score, computed differently


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

    Attributes
    ----------
    hits
        Right answers with the label.
    seen
        Scored examples for which the label is right.
    said
        Answers with the label, shape (t, m) or (..., t, m).
    scored
        Scored examples of the label's stratum, or all of them, shape as `said`.
    """

    hits: Floats
    seen: Floats
    said: Floats
    scored: Floats


@dataclass(frozen=True, eq=False)
class Statistic:
    """What a max-T test takes the best of.

    Attributes
    ----------
    of
        The scores of a tally, shape (..., t); NaN where a prompt has none.
    by_stratum
        Whether the labels of different strata are different labels.
    """

    of: Callable[[Tally], Floats]
    by_stratum: bool = False


def _accuracy(tally: Tally) -> Floats:
    scores: Floats = tally.hits.sum(axis=-1) / tally.said.sum(axis=-1)
    return scores


def _lift(tally: Tally) -> Floats:
    expected = tally.said * tally.seen / np.maximum(tally.scored, 1)
    scores: Floats = (tally.hits - expected).sum(axis=-1) / tally.said.sum(axis=-1)
    return scores


def _balanced_accuracy(tally: Tally) -> Floats:
    return _mean_of_classes(tally.hits / np.maximum(tally.seen, 1), tally.seen)


def _macro_f1(tally: Tally) -> Floats:
    return _mean_of_classes(2 * tally.hits / np.maximum(tally.seen + tally.said, 1), tally.seen)


def _mean_of_classes(values: Floats, seen: Floats) -> Floats:
    classes = seen > 0
    scores: Floats = np.where(classes, values, 0.0).sum(axis=-1) / classes.sum(axis=-1)
    return scores


ACCURACY = Statistic(_accuracy)
LIFT = Statistic(_lift, by_stratum=True)
"""Accuracy above what the same answers are expected to reach, dealt at random to the examples that
the prompt was scored on. For prompts that leave out their own demonstrations: which right answers
are missing is known to the model, and whoever answers against them would seem to know."""


@dataclass(frozen=True)
class ScoreBaseline:
    """Best of ``t`` independent random guessers in some score.

    Attributes
    ----------
    t
        Number of guessers.
    values
        Possible (or simulated) scores of one guesser, ascending and distinct.
    masses
        Their probabilities.
    draws
        Number of simulated guessers, or None where the distribution is exact.
    """

    t: int
    values: NDArray[np.float64]
    masses: NDArray[np.float64]
    draws: int | None

    @cached_property
    def _below(self) -> NDArray[np.float64]:
        return np.minimum(1.0, np.cumsum(self.masses))

    @cached_property
    def expected(self) -> float:
        """Expected best score: the maximum random baseline."""
        above = np.minimum(np.cumsum(self.masses[::-1])[::-1][1:], np.nextafter(1, 0))
        reached = -np.expm1(self.t * np.log1p(-above))
        return math.fsum((self.values[0], *(np.diff(self.values) * reached)))

    @cached_property
    def expected_error(self) -> float:
        """Monte Carlo standard error of `expected`; 0 where it is exact."""
        if self.draws is None:
            return 0.0
        slopes = self.t * self._below[:-1] ** (self.t - 1)
        influence = np.append(np.cumsum((np.diff(self.values) * slopes)[::-1])[::-1], 0.0)
        mean = np.sum(self.masses * influence)
        variance = np.sum(self.masses * (influence - mean) ** 2)
        return math.sqrt(float(variance) / self.draws)

    @cached_property
    def standard_baseline(self) -> float:
        """Expected score of one guesser."""
        return math.fsum(self.values * self.masses)

    def p_standard(self, score: float) -> float:
        """P(score of one guesser >= score).

        Exact distributions give at least 1e-50. Simulated ones give (1 + #) / (N + 1), which is
        never zero and makes a test at any level valid (Besag and Clifford, 1989).
        """
        if not math.isfinite(score):
            raise ValueError(f"score must be a finite number, found {score!r}")
        tail = self.masses[np.searchsorted(self.values, score - _NEAR) :]
        if self.draws is None:
            return min(1.0, max(_FLOOR, math.fsum(tail)))
        return (1 + round(math.fsum(tail) * self.draws)) / (self.draws + 1)

    def p_value(self, score: float) -> float:
        """P(best score of t guessers >= score)."""
        single = self.p_standard(score)
        return 1.0 if single == 1 else -math.expm1(self.t * math.log1p(-single))

    def p_value_error(self, score: float) -> float:
        """Monte Carlo standard error of `p_value`; 0 where it is exact."""
        if self.draws is None:
            return 0.0
        single = self.p_standard(score)
        slope = self.t * (1 - single) ** (self.t - 1)
        return slope * math.sqrt(single * (1 - single) / self.draws)

    def union_p(self, score: float) -> float:
        """min(1, t * p_standard): holds for every dependence between prompts."""
        return min(1.0, self.t * self.p_standard(score))


def _merged(
    values: NDArray[np.int64], masses: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Add up the masses of equal values; ascending."""
    distinct, places = np.unique(values, return_inverse=True)
    return distinct, np.bincount(places, weights=masses).astype(np.float64)


def listed(
    counts: Sequence[GuesserCount], *, without_best: bool = False
) -> tuple[Floats, Floats] | None:
    """List the mean over classes of the shares of right answers that one guesser may have.

    Parameters
    ----------
    counts
        The number of right answers of each class; they are independent.
    without_best
        Whether the class with the largest share is left out of the mean, as in the Nvr-X score.

    Returns
    -------
    values, masses
        Ascending, and their probabilities; None where they are too many to list.
    """
    common = math.lcm(*(count.n for count in counts))
    # The sum of the shares so far and the largest, in units of 1 / common, are kept in one number.
    base = common + 1 if without_best else 1
    if base * (common + 1) * len(counts) >= 2**62:
        return None
    states, masses = np.zeros(1, dtype=np.int64), np.ones(1)
    for count in counts:
        window = count.window
        if len(states) * len(window.masses) > _MOST_VALUES:
            return None
        steps = (window.low + np.arange(len(window.masses))) * (common // count.n)
        sums = np.add.outer(states // base, steps) * base
        if without_best:
            sums += np.maximum.outer(states % base, steps)
        states, masses = _merged(sums.ravel(), np.multiply.outer(masses, window.masses).ravel())
    if without_best:
        states, masses = _merged(states // base - states % base, masses)
    return states / (common * (len(counts) - without_best)), masses


def minimum_accuracy_baseline(
    n: int | None, chance: Chance, t: int, variants: int
) -> ScoreBaseline:
    """Exact best of t prompts, each of which counts with its least accuracy over some variants.

    So a prompt that is scored under v ways to map labels is worth its minimum over them. For
    independent variants P(max min <= k) = (1 - (1 - F(k))^v)^t. Variants of one prompt are usually
    positively dependent, and then that formula promises too much; t * P(X >= k) holds always, which
    is `MaxRandomBaseline.union_p`.

    Parameters
    ----------
    n, chance, t
        As in `pytest_maxrandom.stats.maximum.MaxRandomBaseline`.
    variants
        Number v of variants of each prompt; 1 gives the maximum random baseline.

    Examples
    --------
    >>> round(minimum_accuracy_baseline(100, 0.5, t=200, variants=2).expected, 4)
    0.5798
    """
    count = GuesserCount(chance_groups(chance, n))
    right = range(count.window.low, count.window.high + 1)
    reached = np.array([count.p_at_least(k) for k in right])
    reached = reached ** whole_number("variants", variants, 1)
    masses = -np.diff(reached, append=0.0)
    return ScoreBaseline(whole_number("t", t, 1), np.array(right) / count.n, masses, None)


def balanced_accuracy_baseline(
    gold: Sequence[Hashable],
    chances: Sequence[float | Fraction],
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
    chances
        Chance of a correct guess for each example.
    t
        Number of guessers.
    draws
        Number of simulated guessers; by default enough for p-values near .05.
    seed
        Seed of the simulation.

    Raises
    ------
    ValueError
        If the lengths differ, or ``draws`` is too few for ``t``.
    """
    _same_length(gold, chances, "chances")
    members: dict[Hashable, list[float | Fraction]] = {}
    for label, chance in zip(gold, chances, strict=True):
        members.setdefault(label, []).append(chance)
    counts = [GuesserCount(chance_groups(own)) for own in members.values()]
    counts.sort(key=lambda count: count.n)
    guessers = whole_number("t", t, 1)
    if (exact := listed(counts)) is not None:
        return ScoreBaseline(guessers, *exact, None)
    guessers, number = number_of_draws(t, draws)
    generator = np.random.default_rng(seed)
    score = np.zeros(number)
    for count in counts:
        right = sum(generator.binomial(size, float(p), number) for p, size in count.groups)
        score += right / (count.n * len(counts))
    return simulated(guessers, score)


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
        If the lengths differ, a label is no choice, or ``draws`` is too few for ``t``.
    """
    _same_length(gold, choices, "choices")
    cells: Counter[tuple[int, int]] = Counter()
    for label, count in zip(gold, choices, strict=True):
        most = whole_number("choices", count, 1) - 1
        cells[whole_number("gold", label, 0, most), most + 1] += 1
    guessers, number = number_of_draws(t, draws)
    generator = np.random.default_rng(seed)
    labels = sorted({label for label, _ in cells})
    said = np.zeros((number, max(count for _, count in cells)), dtype=np.int64)
    right = {label: np.zeros(number, dtype=np.int64) for label in labels}
    for (label, count), size in sorted(cells.items()):
        guesses = generator.multinomial(size, np.full(count, 1 / count), number)
        said[:, :count] += guesses
        right[label] += guesses[:, label]
    sizes = Counter(gold)
    scores = sum(2 * right[label] / (sizes[label] + said[:, label]) for label in labels)
    return simulated(guessers, np.asarray(scores) / len(labels))


@dataclass(frozen=True, eq=False)
class MetricDefinition:
    """All that a claim needs of what its best prompt is best in.

    Attributes
    ----------
    score
        One prompt's score, from its answers and the right ones, n of each.
    statistic
        The same of many prompts at once: for shuffled right answers, and for resampled examples.
    guessers
        The best of t guessers, from the right choice of each of n examples, how many choices each
        has, and t; None where right answers are counted (`pytest_maxrandom.stats.maximum`).
    guessers_judge
        Whether p_max tells knowledge. It does not where who prefers a label, and knows nothing,
        scores higher than who guesses all choices alike; then shuffled right answers judge alone.
    """

    score: Callable[[Sequence[Hashable], Sequence[Hashable]], float]
    statistic: Statistic
    guessers: Callable[[Sequence[int], Sequence[int], int], ScoreBaseline] | None
    guessers_judge: bool = True


def _balanced_guessers(gold: Sequence[int], choices: Sequence[int], t: int) -> ScoreBaseline:
    return balanced_accuracy_baseline(gold, [Fraction(1, count) for count in choices], t)


METRICS: Mapping[str, MetricDefinition] = {
    "accuracy": MetricDefinition(_share, ACCURACY, guessers=None),
    "balanced_accuracy": MetricDefinition(
        balanced_accuracy, Statistic(_balanced_accuracy), _balanced_guessers
    ),
    # One label for all scores .47 at labels of 90/10, guessers .41.
    "macro_f1": MetricDefinition(
        macro_f1, Statistic(_macro_f1), macro_f1_baseline, guessers_judge=False
    ),
}
"""By their names in a suite; how they are written stands in `pytest_maxrandom.notation`."""


def number_of_draws(t: int, draws: int | None) -> tuple[int, int]:
    """Check t and the number of draws: p-values are multiples of about t / draws."""
    guessers = whole_number("t", t, 1)
    number = min(2_000_000, max(200_000, 1000 * guessers)) if draws is None else draws
    number = whole_number("draws", number, 1)
    if number < 20 * guessers:
        raise ValueError(f"draws must be at least 20 t = {20 * guessers}, found {number}")
    return guessers, number


def simulated(t: int, scores: NDArray[np.float64]) -> ScoreBaseline:
    """Best of t guessers, given the scores of simulated single ones."""
    values, counts = np.unique(np.round(scores, 13), return_counts=True)
    return ScoreBaseline(t, values, counts / len(scores), len(scores))
