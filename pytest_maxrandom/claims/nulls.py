"""What all models of a suite are asked, and the random guessers who are asked the same."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from pytest_maxrandom.claims.learnt import LearntGuessers
from pytest_maxrandom.errors import ExtensionError
from pytest_maxrandom.ledger.lines import example_digest
from pytest_maxrandom.ledger.questions import question_digest
from pytest_maxrandom.record.metrics import METRICS
from pytest_maxrandom.stats.chances import chance_groups, mean_of
from pytest_maxrandom.stats.maximum import BestOfPrompts, ScoreBaseline
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.sweeps.executor import jobs_of
from pytest_maxrandom.sweeps.labels import label, shuffled
from pytest_maxrandom.sweeps.open_answers import counted, labels_of_references
from pytest_maxrandom.sweeps.open_roles import roles_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_maxrandom.stats.chances import Chance
    from pytest_maxrandom.stats.sampled import BestOfSamples
    from pytest_maxrandom.stats.samples import Aggregate
    from pytest_maxrandom.suite.base import Scoring
    from pytest_maxrandom.suite.claims import Metric
    from pytest_maxrandom.suite.training import ClassifySpec
    from pytest_maxrandom.sweeps.executor import Job
    from pytest_maxrandom.sweeps.labels import Labels
    from pytest_maxrandom.sweeps.prompts.sampling import PromptSet
    from pytest_maxrandom.tasks.references import Matching
    from pytest_maxrandom.tasks.task import Example, Task


_ROUNDING = Fraction(1, 10**12)


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

    def against(self, baseline: str, result: float) -> int:
        """Compare; a baseline that equals an accuracy but for rounding equals it.

        The best of one guesser at chance 1/3 expects 1/3, which no float equals, and a chance that
        was given as one is not above it.
        """
        expected = {"max_random": Fraction(self.max_random_baseline), "standard": self.chance}
        difference = Fraction(int(result), self.n) - expected[baseline]
        if abs(difference) <= _ROUNDING:
            return 0
        return (difference > 0) - (difference < 0)


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

    def against(self, baseline: str, result: float) -> int:
        """Compare with a baseline; scores closer than 1e-12 are equal."""
        expected = {"max_random": self.max_random_baseline, "standard": self.standard_baseline}
        difference = result - expected[baseline]
        return 0 if abs(difference) <= _ROUNDING else (difference > 0) - (difference < 0)


@dataclass(frozen=True)
class SampleGuessers:
    """Guessers who gave the same samples as the prompts, and whose score is their mean."""

    best: BestOfSamples

    only_permuted: ClassVar = False
    expected_error: ClassVar = 0.0
    """Nothing is simulated."""

    @property
    def t(self) -> int:
        """Number of guessers."""
        return self.best.t

    @property
    def n(self) -> int:
        """Examples per prompt."""
        return self.best.n

    @property
    def standard_baseline(self) -> float:
        """Expected score of one guesser, mean over the prompts."""
        return self.best.standard_baseline

    @property
    def max_random_baseline(self) -> float:
        """Expected score of the best guesser."""
        return self.best.expected

    @property
    def results(self) -> Sequence[float]:
        """All scores that are told apart."""
        values: list[float] = self.best.values.tolist()
        return values

    @staticmethod
    def score(result: float) -> float:
        """Return the score, which the result is."""
        return result

    def p_max(self, result: float) -> float:
        """P(best of t guessers has at least this score)."""
        return self.best.p_value(result)

    def log_p_max(self, result: float) -> float:
        """Natural logarithm of `p_max`."""
        return math.log(self.p_max(result))

    def p_standard(self, result: float, prompt: int) -> float:
        """P(this prompt's guesser has at least this score)."""
        return self.best.p_standard(result, prompt)

    def union_p(self, result: float) -> float:
        """Bound of p_max that holds whatever the dependence between prompts."""
        return self.best.union_p(result)

    @staticmethod
    def p_value_error(_: float) -> float:
        """Nothing is simulated."""
        return 0.0

    def against(self, baseline: str, result: float) -> int:
        """Compare with a baseline; scores closer than 1e-12 are equal."""
        expected = {"max_random": self.max_random_baseline, "standard": self.standard_baseline}
        difference = result - expected[baseline]
        return 0 if abs(difference) <= _ROUNDING else (difference > 0) - (difference < 0)


Null: TypeAlias = Guessers | ScoreGuessers | LearntGuessers | SampleGuessers
"""The best of t guessers in some score; a *result* is the best prompt's value of that score."""


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
) -> ScoreGuessers | None:
    """Return the guessers of a prompt set, or t of them, in a metric; None where it is accuracy.

    Raises
    ------
    NoMetric
        In one sentence, where the examples do not share their labels, or prompts their examples,
        or the metric is that of a package, which fails.
    """
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
    return guessers_in(metric, classes, labels.choices, max(t or 0, len(prompt_set.prompts)))


def guessers_in(
    metric: Metric, classes: Sequence[int], choices: Sequence[int], t: int
) -> ScoreGuessers:
    """Return t guessers in a metric that is not accuracy.

    Parameters
    ----------
    classes, choices : sequence of int
        Per example the right choice, from 0, and how many choices there are.

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


@dataclass(frozen=True)
class Apart:
    """The examples of a task that are set apart for training, for all arms of a suite."""

    extra: tuple[Example, ...] = ()
    """In the order in which they were drawn: an arm takes as many as it asks for."""
    labelled: Mapping[ClassifySpec, tuple[Example, ...]] = field(default_factory=dict)
    """By how the head is trained."""
    copies: int = 0
    """Examples that were passed over because their text stands on another side."""


@dataclass(frozen=True, eq=False)
class Condition:
    """One task with one number of shots; shared by all models of a suite."""

    task: Task
    shots: int
    prompt_set: PromptSet
    null: Guessers
    score_null: ScoreGuessers | LearntGuessers | None
    test: tuple[Example, ...]
    apart: Apart | None = None
    """The examples that arms are trained on."""
    _jobs: dict[tuple[Scoring, Aggregate | None], tuple[Job, ...]] = field(
        default_factory=dict, init=False, repr=False
    )

    def jobs(self, scoring: Scoring, aggregate: Aggregate | None = None) -> tuple[Job, ...]:
        """Return what is asked of each model, which is the same."""
        asked = scoring, aggregate
        if asked not in self._jobs:
            self._jobs[asked] = tuple(jobs_of(self.prompt_set.pairs, scoring, aggregate))
        return self._jobs[asked]

    @cached_property
    def labels(self) -> Labels:
        """The labels of the reports; of open examples nothing is asked of them."""
        return label(self.prompt_set.validation)

    @cached_property
    def shuffled(self) -> tuple[Labels, ...]:
        """All labels whose right answers are shuffled, first those of the reports."""
        if self.task.is_open:
            return (labels_of_references(self.prompt_set.validation, self.matching),)
        return tuple(shuffled(self.prompt_set))

    @property
    def matching(self) -> Matching:
        """How open answers are compared."""
        found = self.prompt_set.prompts[0].format.matching
        assert found is not None
        return found

    @cached_property
    def roles(self) -> dict[str, int]:
        """How many references can take each other's places, by their roles; none with choices."""
        if not self.task.is_open:
            return {}
        roles = roles_of(self.prompt_set.validation, self.matching)
        return counted([role.name for role in roles])

    @cached_property
    def example_digests(self) -> tuple[str, ...]:
        """What the ledger knows the validation set by; each claim of a run is asked for it."""
        return tuple(map(example_digest, self.prompt_set.validation))

    @cached_property
    def question_digests(self) -> tuple[str, ...]:
        """What it knows the questions by, however they are written."""
        return tuple(map(question_digest, self.prompt_set.validation))

    @property
    def named_questions(self) -> dict[str, str]:
        """The latter by the former."""
        return dict(zip(self.example_digests, self.question_digests, strict=True))

    @cached_property
    def questions(self) -> str:
        """SHA-256 (hex) of its prompts, whatever their order, and of its examples in theirs."""
        return digest(*self.example_digests, *sorted(self.prompt_set.digests))

    def with_t(self, t: int, metric: Metric) -> Condition:
        """Return the condition with t guessers instead."""
        return self if t == self.null.t else _with_t(self, t, metric)


@lru_cache(maxsize=16)  # claims that differ in their model alone ask for the same
def _with_t(condition: Condition, t: int, metric: Metric) -> Condition:
    prompt_set = condition.prompt_set
    null = guessers(prompt_set, t)
    score_null: ScoreGuessers | LearntGuessers | None
    if isinstance(condition.score_null, LearntGuessers):
        score_null = dataclasses.replace(condition.score_null, t=t)
    else:
        score_null = score_guessers(metric, prompt_set, t)
    return dataclasses.replace(condition, null=null, score_null=score_null)
