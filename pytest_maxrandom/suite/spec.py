"""What a suite may say: the typed form of a suite file.

These classes are the only place where keys, types and defaults are written down; the JSON Schema
for editors and the messages for mistakes are made from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SerializeAsAny

from pytest_maxrandom.record import ShortcutControl  # noqa: TC001 - read by pydantic
from pytest_maxrandom.suite.arms import ComparingSettings
from pytest_maxrandom.suite.base import (
    Distinct,
    FormatSpec,
    Name,
    OneOrMore,
    Prose,
    Seed,
    Shots,
    Spec,
    Text,
)
from pytest_maxrandom.suite.claims import (
    AssertSpec,
    BoundsSpec,
    ClaimSettings,
    CountedSettings,
    LabelBiasSettings,
    Metric,
    claimed,
)
from pytest_maxrandom.suite.models import AnyModel, ArmSpec  # noqa: TC001 - read by pydantic
from pytest_maxrandom.suite.tasks import AnyTask, TaskSpec, TestSpec, ValidationSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.suite.base import Contradiction

__all__ = [
    "AssertSpec", "BoundsSpec", "ClaimSettings", "CounterfactualSpec", "Metric",
    "PromptsSpec", "Scoring", "SuiteSpec", "TaskSpec", "TestSpec", "ValidationSpec", "claimed",
]  # fmt: skip

Scoring = Literal["mean_logprob", "sum_logprob", "char_logprob", "paper", "counterfactual"]


class PromptsSpec(Spec):
    """The prompts of a sweep: demonstrations x instructions x formats."""

    shots: Annotated[list[Shots], Field(min_length=1), Distinct, OneOrMore()] = Field(default=[4])
    """Demonstrations per prompt; a claim for each number."""
    count: Annotated[int, Field(gt=0, le=1_000_000)] = 200
    """Distinct prompts asked for. A smaller pool gives fewer, and the report says so."""
    budget: Annotated[int, Field(gt=0, le=1_000_000)] | None = None
    """t, declared in advance: each look is tested as the best of so many, and no more prompts than
    that are ever evaluated."""
    seed: Seed = 0
    """Another seed draws other prompts."""
    demonstrations: Literal["auto", "outside", "leave_out"] = "auto"
    """outside: from examples that are not in the validation set. leave_out: from the validation
    set itself, each prompt then scored without its own. auto: outside where enough are left."""
    instructions: Annotated[list[Prose], Field(min_length=1), Distinct] | None = None
    """Instruction variants, each in place of the task's prefix."""
    formats: Annotated[list[FormatSpec], Field(min_length=1), Distinct] | None = None
    """Format variants."""
    combine: Literal["sample", "cross"] = "sample"
    """sample: each prompt draws an instruction and a format. cross: each draw of demonstrations is
    written in every instruction and format."""

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield a count that the budget or the variants do not allow."""
        if self.budget is not None and self.budget < self.count:
            yield (
                ("budget",),
                f"found {self.budget}, expected at least prompts.count, which is {self.count}; "
                "raise the budget or ask for fewer prompts",
            )
        variants = len(self.instructions or [""]) * len(self.formats or [""])
        if self.combine == "cross" and self.count < variants:
            yield (
                ("count",),
                f"found {self.count}, expected at least {variants}, as `combine: cross` writes "
                f"each draw in {variants} ways; raise it or use `combine: sample`",
            )


class CounterfactualSpec(Spec):
    """Counterfactual scoring: `{question}{answer}{statement}`, and then what is scored."""

    output_prefix: Prose | None = None
    """Text before each answer, in place of the task's or the format's."""
    statement: Prose = " is the"
    """Text between the answer and the continuation."""
    continuation: Text = " best"
    """Text that is scored after each choice's statement."""


Count = Annotated[int, Field(ge=2, le=1000)]


class ReplicatesSpec(Spec):
    """The same claims with other validation examples and other demonstrations."""

    count: Count
    """How many; the claim itself is the first of them."""
    seed: Seed = 0
    """Another seed draws other replicates."""


def _counted(value: Any) -> Any:
    """Let a number stand for so many replicates."""
    return value if isinstance(value, dict) else {"count": value}


class SuiteSpec(ComparingSettings, LabelBiasSettings, CountedSettings):
    """A suite: every model is swept over every task with every number of shots."""

    models: Annotated[list[AnyModel], Field(min_length=1)]
    arms: Annotated[dict[Name, SerializeAsAny[ArmSpec]], Field(min_length=1)] | None = None
    """Ways to change one thing of the suite, by name; claims are then made of each arm."""
    tasks: Annotated[list[AnyTask], Field(min_length=1)]
    replicates: (
        Annotated[
            ReplicatesSpec, BeforeValidator(_counted, json_schema_input_type=Count | ReplicatesSpec)
        ]
        | None
    ) = None
    """How often each claim is repeated with examples and demonstrations that are drawn anew."""
    prompts: PromptsSpec = PromptsSpec()
    scoring: Scoring = "mean_logprob"
    """A choice's score: its log-likelihood per token, in total, or per character; paper: per token
    of the span that the code of arXiv 2404.13020 scores, as many last tokens as the choice has when
    it is encoded alone; counterfactual: the log-likelihood of one continuation, the same for all
    choices, after a text that states the choice (arXiv 2406.11634)."""
    counterfactual: CounterfactualSpec = CounterfactualSpec()
    """How counterfactual scoring states a choice."""
    metric: Metric = "accuracy"
    """What the best prompt is best in. The other two need examples that share their choices."""
    shortcuts: Annotated[list[ShortcutControl], Distinct, OneOrMore()] = Field(default=[])
    """Controls beside each claim, no tries. choices_only: the best prompt once more, with blank
    inputs; whatever is right then is right by the choices alone."""
    allow_unpassable: bool = False
    """Whether claims may stand here that no result can pass, with so few examples and so many
    prompts."""
