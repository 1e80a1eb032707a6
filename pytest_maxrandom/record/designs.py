"""Records of replicates and of arms, besides the claims; in plain builtin types."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_maxrandom.record.base import Count, Difference, ItemRecord, Remark, Share
from pytest_maxrandom.record.cost import Arithmetic, SweepCost, TrainingRecord
from pytest_maxrandom.record.words import Standing

Indication = Literal["tuned on the text", "no sign of it", "cannot tell"]


@dataclass(slots=True, kw_only=True)
class DesignRecord(ItemRecord):
    """What is recorded of every item that is no claim."""

    arithmetics: list[Arithmetic] = field(default_factory=list)
    """What computed the numbers of all its sweeps, each once."""

    def add_arithmetic(self, engine: SweepCost | None) -> None:
        """Note what computed a sweep, if that is known and new."""
        if engine and engine.arithmetic and engine.arithmetic not in self.arithmetics:
            self.arithmetics.append(engine.arithmetic)


@dataclass(slots=True)
class Replicate:
    """One replicate of a claim: other examples and other demonstrations."""

    n: Count
    t: Count
    best_correct: Count
    best_accuracy: Share
    max_random_baseline: Share
    p_max: Share
    verdict: Standing
    passed: bool | None
    """Whether all parts of the claim hold for this replicate alone; None where that cannot be
    told."""
    best_prompt: str
    """Digest of the best prompt."""
    demonstration_ids: list[str]
    """Of the best prompt."""
    training: TrainingRecord | None = None
    """None where the model is run as it is."""
    cannot_tell: Remark | None = None
    """Why it can neither be told that they hold nor that they do not."""


@dataclass(slots=True, kw_only=True)
class ReplicatesRecord(DesignRecord):
    """One claim, replicated."""

    claim: str
    """Id of the claim; it is the first replicate."""
    task: str
    model: str
    quantization: str
    shots: Count
    asserted: dict[str, Any]
    """`assert` of the suite: {"p_max": 0.05, "in_replicates": 0.9}."""
    count: Count
    """Replicates asked for."""
    seed: int
    runs: list[Replicate] = field(default_factory=list)
    share_passed: Share | None = None
    """Share of the replicates in which the claim holds; None where nothing is claimed."""
    contradicting: Share | None = None
    """Share whose verdict contradicts that of the majority."""


@dataclass(slots=True)
class PromptPair:
    """One prompt in both arms, McNemar's test."""

    only_first: Count
    """Examples on which only the first arm is right."""
    only_second: Count
    p_value: Share
    adjusted_p: Share
    """By Holm's method over the prompts of the comparison."""


@dataclass(slots=True, kw_only=True)
class ComparisonRecord(DesignRecord):
    """Two arms on one task with one number of shots; first minus second throughout."""

    task: str
    shots: Count
    first: str
    second: str
    changed: str
    """What differs between the arms: `quantization: nf4, not none`."""
    asserted: dict[str, Any]
    """`assert` of the comparison: {"not_worse_than": -0.02}."""
    replicates: Count
    t: Count | None = None
    """Prompts, the same in both arms and in each replicate."""
    n: Count | None = None
    """Examples of each prompt, mean over the replicates if they differ."""
    first_accuracy: Share | None = None
    """Mean over prompts, examples and replicates."""
    second_accuracy: Share | None = None
    difference: Difference | None = None
    """Mean paired difference of accuracy."""
    low: Difference | None = None
    high: Difference | None = None
    """Interval of the difference: the sign-flip test, inverted."""
    confidence: Share = 0.95
    p_value: Share | None = None
    """Two-sided, sign-flip."""
    assertion_p: Share | None = None
    """One-sided, of what is asserted; None if nothing is."""
    units: Literal["examples", "clusters", "prompts", "replicates"] | None = None
    """The units whose signs are flipped, of the kind with the largest p-value."""
    sampled: dict[str, int] = field(default_factory=dict)
    """Units of each kind of which signs are flipped: what the result generalizes to."""
    first_best: Share | None = None
    """Accuracy of the best of the t prompts, mean over replicates."""
    second_best: Share | None = None
    best_difference: Difference | None = None
    best_low: Difference | None = None
    best_high: Difference | None = None
    """Its interval over replicates; None where there are too few."""
    prompts: list[PromptPair] = field(default_factory=list)
    """Each prompt of the first replicate."""
    by_replicate: list[float] = field(default_factory=list)
    """The difference in each replicate."""
    adjusted_bh: Share | None = None
    """`p_value` adjusted over the tasks of the same comparison in the run, after Benjamini and
    Hochberg."""
    adjusted_holm: Share | None = None


@dataclass(slots=True)
class ModelStanding:
    """One model among several, at its best prompt or at one that was fixed."""

    name: str
    """What comparisons call it."""
    prompts: Count
    """Prompts whose answers are at hand."""
    tried: Count
    """As the best of how many its prompt is judged."""
    prompt: str
    """Digest of the prompt, or what its results call it."""
    accuracy: Share
    """Mean score of that prompt."""
    not_best_p: Share
    """P-value of "it is not the best model"; it is among the best where this is above the level."""
    among_best: bool
    """Whether it cannot be told from the best."""
    behind: Share
    """It is behind the best of the others by no more than this, as the intervals of all pairs say
    at once."""


@dataclass(slots=True)
class ModelPair:
    """Two of several models, each at its prompt; first minus second throughout."""

    first: str
    second: str
    difference: Difference
    low: Difference
    high: Difference
    """The intervals of all pairs hold at once, whichever prompts were the best."""
    p_value: Share
    """Of "the first one, which has the higher score, is better", for the best of each."""
    adjusted_p: Share
    """By Holm's method over all pairs in both directions."""


@dataclass(slots=True, kw_only=True)
class BestModelsRecord(DesignRecord):
    """All models, or arms, of a suite on one task: which of them may be the best."""

    task: str
    shots: Count
    asserted: dict[str, Any]
    """`assert` of the comparison: {"best": "large"}."""
    level: Share
    """With at most this probability the set lacks the truly best model, and so often is any of the
    pairs told in a wrong order."""
    prompt: str
    """The prompt of each model, where that is fixed; empty where each has its best."""
    models: list[ModelStanding] = field(default_factory=list)
    """In the order of the suite; none without a result."""
    pairs: list[ModelPair] = field(default_factory=list)
    n: Count | None = None
    """Examples; of the prompt that was scored on most, where some leave some out."""
    units: Count | None = None
    """Independent ones of them: examples or clusters."""
    test: Literal["exact", "resampled"] = "exact"
    """What pays for the choice of each best prompt: its number of prompts times an exact paired
    test, or White's reality check."""
    max_random_baseline: Share | None = None
    """Expected accuracy of the best of the guessers of one model, the one with most tries; None
    where the chance of a guess is not known."""
    max_random_of_all: Share | None = None
    """The same of the guessers of all models."""


@dataclass(slots=True, kw_only=True)
class ContaminationRecord(DesignRecord):
    """Was a model tuned on the benchmark's text? Arms base, extra (other text) and test."""

    task: str
    shots: Count
    base: str
    extra: str
    test: str
    boost: Difference | None = None
    """Mean paired difference extra - base: what tuning on other text brings."""
    boost_p: Share | None = None
    """One-sided: the boost is above 0."""
    bias: Difference | None = None
    """Mean paired difference test - extra: what the benchmark's own text brings beyond that."""
    bias_p: Share | None = None
    """One-sided."""
    level: Share = 0.05
    sampled: dict[str, int] = field(default_factory=dict)
    """Units of each kind of which signs are flipped: what the finding generalizes to."""
    finding: Indication | None = None


@dataclass(slots=True)
class ContaminationOverTasks:
    """One check for contamination over the tasks of a suite, each with the same weight."""

    base: str
    extra: str
    test: str
    shots: Count
    tasks: Count
    boost: Difference
    boost_p: Share
    """One-sided sign-flip over tasks."""
    bias: Difference
    bias_low: Difference
    bias_high: Difference
    confidence: Share
    bias_p: Share
    """One-sided sign-flip over tasks."""
    level: Share
    finding: Indication
    suite: str = ""


@dataclass(slots=True)
class OverTasks:
    """One comparison over the tasks of a run."""

    first: str
    second: str
    shots: Count
    tasks: Count
    difference: Difference
    """Mean over tasks, each with the same weight."""
    low: Difference
    high: Difference
    confidence: Share
    p_value: Share
    """Two-sided sign-flip over tasks."""
