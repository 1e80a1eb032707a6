"""One task with one number of shots, as all models of a suite are asked it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.nulls import Guessers, guessers, score_guessers
from pytest_maxrandom.ledger.lines import example_digest
from pytest_maxrandom.stats.seeding import digest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pytest_maxrandom.claims.nulls import ScoreGuessers
    from pytest_maxrandom.suite.claims import Metric
    from pytest_maxrandom.suite.training import ClassifySpec
    from pytest_maxrandom.sweeps.prompts.sampling import PromptSet
    from pytest_maxrandom.tasks.task import Example, Task


@dataclass(frozen=True)
class Apart:
    """The examples of a task that are set apart for training, for all arms of a suite.

    Attributes
    ----------
    extra : tuple of Example
        In the order in which they were drawn: an arm takes as many as it asks for.
    labelled : mapping
        By how the head is trained.
    copies : int
        Examples that were passed over because their text stands on another side.
    """

    extra: tuple[Example, ...] = ()
    labelled: Mapping[ClassifySpec, tuple[Example, ...]] = field(default_factory=dict)
    copies: int = 0


@dataclass(frozen=True, eq=False)
class Condition:
    """One task with one number of shots; shared by all models of a suite.

    Attributes
    ----------
    apart : Apart or None
        The examples that arms are trained on.
    """

    task: Task
    shots: int
    prompt_set: PromptSet
    null: Guessers
    score_null: ScoreGuessers | None
    test: tuple[Example, ...]
    apart: Apart | None = None

    @cached_property
    def example_digests(self) -> tuple[str, ...]:
        """What the ledger knows the validation set by; each claim of a run is asked for it."""
        return tuple(map(example_digest, self.prompt_set.validation))

    @cached_property
    def questions(self) -> str:
        """SHA-256 (hex) of its prompts, whatever their order, and of its examples in theirs."""
        return digest(*self.example_digests, *sorted(self.prompt_set.digests))

    def with_t(self, t: int, metric: Metric) -> Condition:
        """Return the condition with t guessers instead."""
        if t == self.null.t:
            return self
        null = guessers(self.prompt_set, t)
        return dataclasses.replace(
            self, null=null, score_null=score_guessers(metric, self.prompt_set, t)
        )
