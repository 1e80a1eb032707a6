"""How n and t of a claim came about, what searches learned of its examples, and its samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pytest_maxrandom.record.base import Count, Share


@dataclass(slots=True)
class PromptCount:
    """How t came about."""

    asked: int
    """`count` of the suite."""
    possible: int
    """Distinct draws (of demonstrations, instruction and format) that the pool offers."""
    regime: Literal["pool", "outside", "leave_out", "none"]
    """Where demonstrations come from: the task's own pool; examples outside the validation set; the
    validation set itself (each prompt is scored without its own); nowhere (0 shots)."""
    pool: int
    """Examples that demonstrations are drawn from."""
    instructions: int
    formats: int
    combine: Literal["sample", "cross"]
    seed: int
    source: str | None = None
    """The file or the split that the task's own pool was read from."""
    proposed_by: str | None = None
    """Who proposed the prompts, if a search did and none was drawn."""


@dataclass(slots=True)
class ValidationSet:
    """How n came about."""

    examples: int
    """Examples in the validation set (n is smaller where prompts leave out their own)."""
    available: int
    """Examples in the task, without those of the test set."""
    duplicates: int
    """Examples of the task that repeat another example exactly."""
    seed: int
    chances: dict[str, int]
    """Number of validation examples by the chance of one guess, as fractions: {"1/2": 50}."""
    test: int = 0
    """Examples set aside as the test set."""
    digest: str | None = None
    """By which the ledger knows these examples, whatever their order and ids."""


@dataclass(slots=True)
class Tries:
    """How t was counted, in the ledger and this run together."""

    run: int
    """Distinct prompts of this run."""
    claim: int
    """Distinct (model, prompt) pairs ever evaluated for this claim on these examples."""
    task: int
    """The same for any claim on these examples."""
    counted: Literal["claim", "task", "budget", "doubling"]
    """Which of them is t; budget: the number declared in advance; doubling: the number at the
    end of its doubling (1, 3, 7, ...), because the claim's levels are spent per doubling."""
    look: int
    """Which look at this claim this is, from 1; the same prompts again are the same look."""
    level: float
    """The largest p-value allowed for the number of prompts at the end of the doubling, so that all
    looks together keep the claim's level: see `pytest_maxrandom.stats.looks`."""
    holds: bool
    """Whether the claim holds at that level."""
    distinct_prompts: Count = 1
    """Distinct prompts ever evaluated for this claim on these examples, whatever the model; those
    of other claims of the run that count for it, too."""
    variants: Count = 1
    """Revisions and quantizations of the model, and ways of scoring, with which that was."""


Unpassable = Literal["answers", "too_many", "metric", "permutations", "no_formula"]
"""Why no result on a validation set can pass: answers of examples were told; a search could have
tried too many prompts; the metric is no accuracy; right answers cannot be shuffled often enough; no
formula of their p is known, because examples belong together or have several right answers."""


@dataclass(slots=True)
class SearchOfExamples:
    """A search that has tried prompts on the examples that a claim is tested on."""

    by: str
    """Who proposed its prompts: dspy, optuna, mcp, or as the search was called."""
    feedback: Literal["none", "accept", "improved", "score", "answers"]
    """What it was told of each prompt."""
    steps: Count
    """Distinct prompts that it was told of."""
    budget: Count | None
    """Steps that it declared before it began."""


@dataclass(slots=True)
class Searched:
    """As the best of how many prompts the best one is judged, because searches learned of others.

    See `pytest_maxrandom.stats.search`.
    """

    searches: list[SearchOfExamples]
    possible: float | None
    """As the best of how many prompts the best one is judged; None where no number is known, so
    that no p-value is either."""
    decided_by: Literal["validation", "test", "nothing"]
    """Where no result on the validation set could pass, the test set decides; without one nothing
    does."""
    why: Unpassable | None = None
    """Why no result on the validation set can pass; None where one can."""
    looks: Count = 0
    """Looks before this one: each told which prompt was best, and how good it was."""
    in_sight: Count = 0
    """Results of other prompts, such as those of a suite, that the ledger showed to searches: each
    counts as a prompt of which they were told how many answers are right."""

    @property
    def learned(self) -> bool:
        """Whether any search was told anything, be it by a verdict or by the ledger."""
        return self.looks + self.in_sight > 0 or any(
            each.feedback != "none" for each in self.searches
        )


@dataclass(slots=True, kw_only=True)
class Sampled:
    """The samples of the answers of the best prompt, and what a guesser with such ones reaches."""

    samples: Count
    """Of each answer."""
    aggregate: Literal["mean", "vote", "pass", "all"]
    """What they come to: the share that is right, the commonest answer, whether any is right,
    whether all are. Of grades: their mean, the commonest answer, the best, the worst."""
    asked: Count | None = None
    """Of pass@j the number j of samples that are asked; None where all count."""
    right: Share
    """Share of its samples that are right, or their mean grade."""
    any_right: Share
    """Share of its examples with a right sample: pass@k. Of grades the mean of the best."""
    any_by_chance: Share | None = None
    """pass@k of a guesser who gives as many different answers to each example; of answers without
    choices what they reach with the references of other examples. None where it is not known what
    was answered, or of how many choices."""
    all_right: Share
    """Share of its examples of which all samples are right. Of grades the mean of the worst."""
    all_by_chance: Share | None = None
    """The same of a guesser whose samples are all alike where its are."""
    different: float | None = None
    """Different answers to an example, on average."""
    alike: Share | None = None
    """Share of its examples to which all samples are the same."""
    noise_of_data: float | None = None
    """Standard error of `right` that other examples would make, however often they are asked."""
    noise_of_prediction: float | None = None
    """Standard error of `right` that other samples of the same examples would make."""
    between: float | None = None
    """Variance of the examples' own rates, without bias; below 0 by luck."""
    within: float | None = None
    """Mean variance of a sample about its example's rate, without bias."""
