"""Whether a run is worse than an earlier one: what is recorded of each claim, and of each task."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pytest_maxrandom.record.base import Count, Difference, Share

Loss = Literal["worse", "not worse", "the same", "cannot tell"]
"""What is known of a claim: its scores are below those of the base; they are not by more than the
margin; model, prompts and answers are the very same; or neither can be told."""
Untold = Literal[
    "too few", "chosen", "unpaired", "scored otherwise", "base without answers", "no answers",
    "by hand", "several", "not tested",
]  # fmt: skip
"""Why nothing can be told: too few examples; what is compared was chosen on them; the two have no
answered example in common; another judge or another rule scored them, or samples come to something
else; the earlier report keeps no answers, or this one; a test states its numbers by hand; the file
of the claim is gone, and several claims of other files may be it; or this run has no result of the
claim."""
Compared = Literal["prompts", "best"]
"""What is compared: the same prompts, all of them; or the best prompt of each, where no prompt is
in both."""


@dataclass(slots=True, kw_only=True)
class Regression:
    """One claim, or one task with several claims, against the same of an earlier run."""

    id: str
    """The claim's, or ``suite.yaml::task`` of a task."""
    of_task: bool = False
    """Whether it is about all claims of a task together."""
    loss: Loss
    why: Untold | None = None
    """Why it cannot be told; None where it can."""
    candidates: list[str] = field(default_factory=list)
    """Ids of the later run's claims of which each may be it, where several may."""
    moved_from: str | None = None
    """Its suite in the earlier run, where that has another name; None where it has not."""
    compared: Compared = "prompts"
    prompts: Count = 0
    """How many of each are compared."""
    examples: Count = 0
    """How many are in both."""
    left_out: Count = 0
    """Examples of the base that are not."""
    clusters: Count | None = None
    base_score: Share | None = None
    score: Share | None = None
    """Mean over those prompts and examples."""
    difference: Difference | None = None
    """Later minus earlier."""
    base_of: Count | None = None
    """Of how many prompts the base's may have been chosen on these examples, its variants of the
    model counted; None where there was nothing to choose from."""
    head_of: Count | None = None
    """The same of the later one's."""
    searched: bool = False
    """Whether a search chose prompts of either, so that their number says nothing."""
    look: Count = 1
    """Which comparison of this claim on these examples it is, by the ledger; the k-th has
    1/(k (k+1)) of the level."""
    looks_counted: bool = True
    """Whether a ledger counts its looks; where recorded results are compared without their suite,
    none does: each look is the first."""
    p_worse: Share | None = None
    """P-value of "worse", with what the choice of the base costs."""
    p_not_worse: Share | None = None
    """P-value of "not worse by more than the margin", with what the choice of the prompts costs."""
    adjusted_worse: Share | None = None
    """p_worse, adjusted for the look and, by Holm, for the number of claims: what the level
    decides."""
    adjusted_not_worse: Share | None = None
    """p_not_worse, adjusted for the look."""
    needed: Count | None = None
    """About how many examples such as these would show, with a probability of .8, that a claim is
    not worse which is as good as the base; None where that is shown, or no number would."""


@dataclass(slots=True, kw_only=True)
class Regressions:
    """A whole run against an earlier one."""

    since: str
    """How a person calls the earlier run."""
    margin: float
    """From -1 to 0: by how much the mean score may differ."""
    alpha: float
    allowed: bool = False
    """Whether what cannot be told meets what is asserted."""
    sampled: bool = False
    """Whether the prompts stand for others."""
    problem: str = ""
    """Why there is nothing to compare with, and the way out; empty where there is."""
    claims: list[Regression] = field(default_factory=list)
    tasks: list[Regression] = field(default_factory=list)
    """Tasks of several claims, each as one."""

    @property
    def worse(self) -> list[Regression]:
        """What is worse, tasks included."""
        return [each for each in (*self.claims, *self.tasks) if each.loss == "worse"]

    @property
    def untold(self) -> list[Regression]:
        """Claims of which nothing can be told."""
        return [each for each in self.claims if each.loss == "cannot tell"]

    @property
    def nothing(self) -> bool:
        """Whether there was nothing to compare."""
        return bool(self.problem) or not self.claims

    @property
    def met(self) -> bool:
        """Whether what is asserted is met: no claim is worse, and of none it cannot be told."""
        if self.worse:
            return False
        return self.allowed or not (self.nothing or self.untold)
