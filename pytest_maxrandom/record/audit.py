"""What is known of tasks before anybody is asked: chance, and what is as good without knowledge."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_maxrandom.record.base import Amount, Count, Remark, Share
from pytest_maxrandom.record.claim import HeuristicName

AUDIT_VERSION = 1

FindingKind = Literal[
    "majority",
    "place",
    "heuristic",
    "repeated_examples",
    "contradictory_examples",
    "clustered_answers",
    "shared_text",
    "cut_text",
    "empty_inputs",
    "unanswerable",
    "unpassable",
    "few_examples",
]


@dataclass(slots=True)
class Finding:
    """One thing that is wrong with a task."""

    kind: FindingKind
    parameters: dict[str, Any]
    """What was found: numbers and names."""
    text: str = ""
    """One sentence, made of kind and parameters."""


@dataclass(frozen=True, slots=True)
class BestGuess:
    """The best of t random guessers on the examples of a task."""

    t: Count
    expected_maximum: Share
    """E[max] / n: the maximum random baseline; at t = 1 it is chance."""
    critical_count: Count | None
    """Fewest right answers with p_max at or below the level; null where even n are too few."""
    critical_accuracy: Share | None
    """The same as a share of n."""
    smallest_p: Share
    """p_max of n right answers."""


@dataclass(frozen=True, slots=True)
class ConstantAnswer:
    """The answer that is most often right if it is given to every example."""

    answer: str | None
    """Its text, where all examples with as many choices offer the same texts; else null."""
    place: Count | None
    """Else its place among the choices in the file's order, from 1."""
    correct: Count
    rate: Share
    p: Share
    """Probability at most that some constant answer is right so often by luck."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A heuristic that needs no knowledge."""

    name: HeuristicName
    rate: Share
    p: Share
    """Probability at most that the best of them is right so often by luck."""


@dataclass(slots=True, kw_only=True)
class AuditedTask:
    """One task; of one that cannot be read there are problems, and numbers are null."""

    name: str
    path: str
    """The suite, file or folder that it was found in, or the name that was given."""
    line: Count | None = None
    """Its line in a suite, from 1."""
    format: str | None = None
    problems: list[str] = field(default_factory=list)
    """Why it cannot be read, with file and line; empty where it can."""
    n: Count | None = None
    """Examples that are scored: of a suite its validation examples, else all."""
    examples: Count | None = None
    """All that the task has, with its test set."""
    pool: Count | None = None
    """Examples that are there for demonstrations alone; null where it has no pool."""
    choices: dict[str, Count] = field(default_factory=dict)
    """How many examples have how many choices."""
    several_right: Count | None = None
    """Examples with more than one right choice."""
    chance: Share | None = None
    """Mean of right choices / choices: the standard baseline."""
    chances: dict[str, Count] = field(default_factory=dict)
    """How many examples have which chance, as exact fractions."""
    majority: ConstantAnswer | None = None
    heuristic: Rule | None = None
    """The best of `heuristics`, but for the most frequent label."""
    heuristics: dict[str, Share] = field(default_factory=dict)
    """What each reaches; places are those in the file."""
    duplicates: Count | None = None
    """Examples that repeat an earlier one: the same input and choices."""
    contradictory: Count | None = None
    """Those of them with other right answers."""
    clusters: Count | None = None
    """Groups of examples that belong together: stated, else those that share a long text."""
    clusters_stated: bool | None = None
    effective_n: Amount | None = None
    """What n is worth where clusters and copies are answered alike (Kish)."""
    baselines: list[BestGuess] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    """What is wrong with it."""
    notes: list[Remark] = field(default_factory=list)
    """What else a reader must know of the data."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file of a folder that is no task."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class TaskAudit:
    """All that `maxrandom tasks` says."""

    alpha: Share
    """Level of the critical counts."""
    prompts: list[Count]
    """The numbers of prompts t."""
    tasks: list[AuditedTask]
    left_out: list[LeftOut] = field(default_factory=list)
    audit_version: int = AUDIT_VERSION
