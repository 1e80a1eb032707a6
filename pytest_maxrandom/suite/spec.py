"""What a suite may say: the typed form of a suite file.

These classes are the only place where keys, types and defaults are written down; the JSON Schema
for editors and the messages for mistakes are made from them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SerializeAsAny

from pytest_maxrandom.record import ShortcutControl  # noqa: TC001 - read by pydantic
from pytest_maxrandom.record.metrics import METRICS
from pytest_maxrandom.suite.arms import ArmSpec, ComparingSettings
from pytest_maxrandom.suite.base import (
    OPEN_SCORINGS,
    Contradiction,
    Distinct,
    Name,
    OneOrMore,
    Scoring,
    Seed,
    Spec,
)
from pytest_maxrandom.suite.claims import (
    CountedSettings,
    LabelBiasSettings,
    MetricSettings,
    SharedSettings,
)
from pytest_maxrandom.suite.incumbent import (  # noqa: TC001 - read by pydantic
    ControlSpec,
    IncumbentSpec,
)
from pytest_maxrandom.suite.models import AnyModel  # noqa: TC001 - read by pydantic
from pytest_maxrandom.suite.prompts import (
    CounterfactualSpec,
    ExactMatchSpec,
    GenerationSpec,
    PromptsSpec,
)
from pytest_maxrandom.suite.tasks import AnyTask  # noqa: TC001 - read by pydantic
from pytest_maxrandom.suite.training import ClassifySpec  # noqa: TC001 - read by pydantic

if TYPE_CHECKING:
    from collections.abc import Iterator


Count = Annotated[int, Field(ge=2, le=1000)]


class ReplicatesSpec(Spec):
    """The same claims with other validation examples and other demonstrations."""

    count: Count
    """Number of replicates; the claim itself is the first."""
    seed: Seed = 0
    """Another seed draws other replicates."""


def _counted(value: Any) -> Any:
    """Let a number stand for so many replicates."""
    return value if isinstance(value, dict) else {"count": value}


class SuiteSpec(
    ComparingSettings, LabelBiasSettings, SharedSettings, MetricSettings, CountedSettings
):
    """A suite: every model is swept over every task with every number of shots."""

    models: Annotated[list[AnyModel], Field(min_length=1)]
    """The models: each is asked every prompt of every task."""
    arms: Annotated[dict[Name, SerializeAsAny[ArmSpec]], Field(min_length=1)] | None = None
    """Arms by name, each of which changes one thing in the suite; each arm then has its own
    claims."""
    tasks: Annotated[list[AnyTask], Field(min_length=1)]
    """The tasks: where their examples are, and what is claimed of each."""
    incumbent: IncumbentSpec | None = None
    """What runs today, a prompt or a model: reports say by how much the best prompt is better on
    the same examples, and `assert: {better_than: incumbent}` claims it."""
    control: ControlSpec | None = None
    """Of tasks without choices: a blank or constant answer, which is scored as those of prompts
    are. `assert: {control_p: 0.05}` claims that the best prompt scores higher."""
    replicates: (
        Annotated[
            ReplicatesSpec, BeforeValidator(_counted, json_schema_input_type=Count | ReplicatesSpec)
        ]
        | None
    ) = None
    """How often each claim is repeated with newly drawn examples and demonstrations."""
    prompts: PromptsSpec = PromptsSpec()
    """How many prompts are tried, with how many demonstrations, and in which wordings."""
    scoring: Scoring = "mean_logprob"
    """A choice's score: its log-likelihood per token, in total, or per character; paper: per token
    of the span that the code of arXiv 2404.13020 scores, which is as many last tokens as the choice
    has when encoded alone; counterfactual: the log-likelihood of one continuation, the same for all
    choices, after a text that states the choice (arXiv 2406.11634). generate: the model writes an
    answer, which is read as a label or as the text of a choice; nothing is scored. exact_match: the
    same for tasks without choices, whose answers are compared with references. f1: how many tokens
    such an answer shares with a reference, from 0 to 1. classify: the probability of a class by the
    head that `classify` trains, which says this already."""
    counterfactual: CounterfactualSpec = CounterfactualSpec()
    """How counterfactual scoring states a choice."""
    generation: GenerationSpec = GenerationSpec()
    """How `scoring: generate`, `exact_match` and `f1` ask for answers and read them."""
    exact_match: ExactMatchSpec = ExactMatchSpec()
    """When `scoring: exact_match` takes an answer for a reference, and `f1` a word for another."""
    classify: ClassifySpec | None = None
    """A classification head on the model, trained on labelled examples of each task: it reads the
    text alone. There are no prompts, so each arm is one try. The choices of a task are its
    classes."""
    shortcuts: Annotated[list[ShortcutControl], Distinct, OneOrMore()] = Field(default=[])
    """Controls for each claim, which are not tries. choices_only: the best prompt again, with blank
    inputs; answers that are still right follow from the choices alone."""
    until: Literal["all", "decided"] = "all"
    """decided: with a budget, a prompt stops when it can no longer reach the critical count. A
    failure is then known early. A pass needs all answers, unless nothing is claimed about labels
    and no red flag can fail the claim (`assert: {p_max: 0.05, red_flags: warn}`); then the first
    prompt that reaches the count is enough. The verdict is the same as with all answers."""


def undecidable(suite: dict[str, Any]) -> Iterator[Contradiction]:
    """Yield why a suite, as it stands in its file, cannot have a sweep that stops early."""
    if suite.get("until") != "decided" or suite.get("scoring") in OPEN_SCORINGS:
        return  # without choices there is no way at all, which the checks of scorings say
    prompts = suite.get("prompts", {})
    if isinstance(prompts, dict) and prompts.get("budget") is None:
        yield (
            ("until",),
            "`decided` needs to know t before the first answer; declare it with `prompts: "
            "{budget: N}`, or remove `until`",
        )
    metric = suite.get("metric")
    if metric != "accuracy" and isinstance(metric, str) and metric in METRICS:
        yield (
            ("until",),
            f"`decided` counts right answers, but the metric is {metric}; use `metric: "
            "accuracy`, or remove `until`",
        )
    for key in ("replicates", "compare", "contamination", "label_bias", "incumbent"):
        if suite.get(key) not in (None, []):
            yield (
                ("until",),
                f"`decided` skips answers, but `{key}` needs them all; remove one of the two",
            )
