"""What all models of a suite are asked."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.nulls import guessers, score_guessers
from pytest_maxrandom.ledger.lines import example_digest
from pytest_maxrandom.ledger.questions import question_digest
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.sweeps.executor import jobs_of
from pytest_maxrandom.sweeps.labels import label, shuffled
from pytest_maxrandom.sweeps.open_answers import counted, labels_of_references
from pytest_maxrandom.sweeps.open_roles import roles_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_maxrandom.claims.nulls import Guessers, LearntGuessers, ScoreGuessers
    from pytest_maxrandom.stats.samples import Aggregate
    from pytest_maxrandom.suite.base import Scoring
    from pytest_maxrandom.suite.claims import Metric
    from pytest_maxrandom.suite.training import ClassifySpec
    from pytest_maxrandom.sweeps.executor import Job
    from pytest_maxrandom.sweeps.labels import Labels
    from pytest_maxrandom.sweeps.prompts.sampling import PromptSet
    from pytest_maxrandom.tasks.references import Matching
    from pytest_maxrandom.tasks.task import Example, Task


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
    asked = condition.prompt_set
    score_null = score_guessers(metric, asked, t)
    return dataclasses.replace(condition, null=guessers(asked, t), score_null=score_null)
