"""The best of t random guessers who are asked the same as the prompts, in whatever is claimed."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from pytest_maxrandom.errors import ExtensionError
from pytest_maxrandom.record.metrics import METRICS
from pytest_maxrandom.stats.chances import chance_groups, mean_of
from pytest_maxrandom.stats.maximum import BestOfPrompts, ScoreBaseline
from pytest_maxrandom.stats.sample_chance import BestOfSamples
from pytest_maxrandom.sweeps.labels import label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.stats.chances import Chance
    from pytest_maxrandom.stats.learnt import LearntChance
    from pytest_maxrandom.suite.claims import Metric
    from pytest_maxrandom.sweeps.prompts.sampling import PromptSet

_ROUNDING = 1e-12
_SCORES = 100_000
"""Of scores with more parts, as many are told apart."""


@dataclass(frozen=True)
class Guessers:
    """Guessers whose score is the number of right answers."""

    best: BestOfPrompts
    """The distribution of the best of them."""
    kinds: tuple[int, ...]
    """For each prompt, the place of its guesser's distribution in `best`."""
    n: int
    """Examples per prompt; of the best prompt, where prompts were scored on different numbers of
    examples. Counts are of n, and compared with those of other n as accuracies."""
    chance: Fraction
    """Expected accuracy of one guesser, exact, mean over the prompts."""

    only_permuted: ClassVar = False
    """As of `ScoreGuessers`: a preferred label is found by other means."""

    @classmethod
    def alike(cls, n: int, chance: Chance, t: int) -> Guessers:
        """Return t guessers of the same examples."""
        groups = chance_groups(chance, n)
        listed = [value for value, size in groups for _ in range(size)]
        return cls(BestOfPrompts([(listed, t)]), (0,), n, mean_of(groups))

    @property
    def t(self) -> int:
        """Number of guessers."""
        return self.best.t

    @property
    def standard_baseline(self) -> float:
        """Expected accuracy of one guesser."""
        return float(self.chance)

    @property
    def max_random_baseline(self) -> float:
        """Expected accuracy of the best guesser."""
        return self.best.expected_accuracy

    @property
    def results(self) -> Sequence[int]:
        """All possible counts."""
        return range(self.n + 1)

    def score(self, result: float) -> float:
        """Return the accuracy of a count."""
        return result / self.n

    def p_max(self, result: float) -> float:
        """P(best of t guessers has at least this count)."""
        return self.best.p_value(int(result), self.n)

    def log_p_max(self, result: float) -> float:
        """Natural logarithm of `p_max`."""
        return self.best.log_p_value(int(result), self.n)

    def p_standard(self, result: float, prompt: int) -> float:
        """P(this prompt's guesser has at least this count)."""
        return self.best.p_standard(int(result), self.kinds[prompt])

    def union_p(self, result: float) -> float:
        """Bound of p_max that holds whatever the dependence between prompts."""
        return self.best.union_p(int(result), self.n)


@dataclass(frozen=True)
class ScoreGuessers(ScoreBaseline):
    """Guessers of the same examples whose score is no count of right answers."""

    n: int
    """Examples per prompt."""
    only_permuted: bool
    """Whether only shuffled right answers can judge this score, because who prefers a label, and
    knows nothing, scores higher in it than who guesses all choices alike."""

    p_max = ScoreBaseline.p_value

    @staticmethod
    def score(result: float) -> float:
        """Return the score, which the result is."""
        return result

    @property
    def max_random_baseline(self) -> float:
        """Expected score of the best guesser."""
        return self.expected

    @property
    def results(self) -> Sequence[float]:
        """All scores that guessers have, and the perfect one, ascending."""
        values: list[float] = self.values.tolist()
        return values if values[-1] >= 1 else [*values, 1.0]

    def log_p_max(self, result: float) -> float:
        """Natural logarithm of `p_max`."""
        return math.log(self.p_max(result))


@dataclass(frozen=True, eq=False)
class SampleGuessers(BestOfSamples):
    """Guessers who gave the same samples as the prompts, and whose score is their mean."""

    only_permuted: ClassVar = False
    expected_error: ClassVar = 0.0
    """Nothing is simulated."""

    p_max = BestOfSamples.p_value

    @property
    def max_random_baseline(self) -> float:
        """Expected score of the best guesser."""
        return self.expected

    @property
    def results(self) -> Sequence[float]:
        """All scores that are told apart."""
        values: list[float] = self.values.tolist()
        return values

    @staticmethod
    def score(result: float) -> float:
        """Return the score, which the result is."""
        return result

    def log_p_max(self, result: float) -> float:
        """Natural logarithm of `p_max`."""
        return math.log(self.p_max(result))

    @staticmethod
    def p_value_error(_: float) -> float:
        """Nothing is simulated."""
        return 0.0


@dataclass(frozen=True)
class LearntGuessers:
    """Guessers of open answers, whose chance is not known before the answers are.

    What they reach is what the same answers reach with the references of other examples: see
    :mod:`pytest_maxrandom.stats.learnt`.
    """

    n: int
    """Examples per prompt."""
    t: int
    """Number of guessers."""
    unit: int | None = None
    """Where the score is the mean of what several samples of each answer come to: into how many
    parts that of an example falls. None where right answers are counted."""
    standard_baseline: float | None = None
    """Mean accuracy of the prompts with the references of other examples; None until the answers
    are known."""
    max_random_baseline: float | None = None
    """Expected accuracy of the best of them so."""
    expected_error: float = 0.0
    """Monte Carlo standard error of that."""
    only_permuted: ClassVar = True

    def learnt(self, chance: LearntChance) -> LearntGuessers:
        """Return the guessers as the answers show them."""
        return LearntGuessers(
            self.n, self.t, self.unit, chance.standard, chance.expected, chance.error
        )

    @property
    def results(self) -> Sequence[float]:
        """All possible counts, or the scores that are told apart."""
        if self.unit is None:
            return range(self.n + 1)
        parts = min(self.n * self.unit, _SCORES)
        return [part / parts for part in range(parts + 1)]

    def score(self, result: float) -> float:
        """Return the accuracy of a count, or the score, which the result is."""
        return result if self.unit is not None else result / self.n


Null: TypeAlias = Guessers | ScoreGuessers | LearntGuessers | SampleGuessers
"""The best of t guessers in some score; a *result* is the best prompt's value of that score."""


def against(null: Null, baseline: str, result: float) -> int:
    """Return 1 where a result is above a baseline, -1 where it is below, and 0 where it equals it.

    They are equal but for rounding: the best of one guesser at chance 1/3 expects 1/3, which no
    float equals. A baseline that is learnt is nothing before it is known.
    """
    expected = null.max_random_baseline if baseline == "max_random" else null.standard_baseline
    difference = null.score(result) - (expected or 0.0)
    return 0 if abs(difference) <= _ROUNDING else (difference > 0) - (difference < 0)


def guessers(prompt_set: PromptSet, t: int | None = None) -> Guessers:
    """Return the guessers of a prompt set; few kinds of them, whatever t is.

    Parameters
    ----------
    t : int, optional
        Number of guessers, where more prompts count than those of the set. What the others left
        out is not known: their guessers are as good as the best of the set's.
    """
    left_out = [
        tuple(sorted(example.chance for example in prompt.demonstrations))
        if prompt_set.regime == "leave_out"
        else ()
        for prompt in prompt_set.prompts
    ]
    chances = Counter(example.chance for example in prompt_set.validation)
    sizes = Counter(left_out)
    places = {own: place for place, own in enumerate(sizes)}
    remaining = [sorted((chances - Counter(own)).elements()) for own in sizes]
    total = sum(sum(row) * size for row, size in zip(remaining, sizes.values(), strict=True))
    tried, n = len(left_out), prompt_set.n
    if t is not None and t > tried:
        sizes[max(sizes, key=lambda own: (-sum(own, Fraction()), own))] += t - tried
    best = BestOfPrompts(list(zip(remaining, sizes.values(), strict=True)))
    return Guessers(best, tuple(places[own] for own in left_out), n, Fraction(total) / (n * tried))


class NoMetric(ValueError):
    """A task has no such score."""


def score_guessers(
    metric: Metric, prompt_set: PromptSet, t: int | None = None
) -> ScoreGuessers | LearntGuessers | None:
    """Return the guessers of a prompt set, or t of them, in a metric; None where it is accuracy.

    Those of open answers are learnt.

    Raises
    ------
    NoMetric
        In one sentence, where the examples do not share their labels, or prompts their examples,
        or the metric is that of a package, which fails.
    """
    tried = max(t or 0, len(prompt_set.prompts))
    if prompt_set.validation[0].open is not None:
        return LearntGuessers(prompt_set.n, tried)
    if METRICS[metric].guessers is None:
        return None
    labels = label(prompt_set.validation)
    classes = labels.classes()
    if classes is None:
        raise NoMetric(
            f"metric: {metric} needs examples with the same choices and one right choice each; use "
            "`metric: accuracy`"
        )
    if prompt_set.regime == "leave_out":
        raise NoMetric(
            f"metric: {metric} needs prompts that are scored on the same examples, but here each "
            "prompt leaves out its own demonstrations; use a smaller validation.max_examples, so "
            "that demonstrations come from the other examples, or `metric: accuracy`"
        )
    return guessers_in(metric, classes, labels.choices, tried)


def guessers_in(
    metric: Metric, classes: Sequence[int], choices: Sequence[int], t: int
) -> ScoreGuessers:
    """Return t guessers in a metric that is not accuracy.

    `classes` are the right choices, from 0, and `choices` how many there are, per example.

    Raises
    ------
    NoMetric
        If the metric is that of a package, which fails.
    """
    definition = METRICS[metric]
    assert definition.guessers is not None
    try:
        best = definition.guessers(classes, choices, t)
    except ExtensionError as error:
        raise NoMetric(str(error)) from error
    only_permuted = not definition.guessers_judge
    return ScoreGuessers(
        t, best.values, best.masses, best.draws, len(classes), only_permuted=only_permuted
    )
