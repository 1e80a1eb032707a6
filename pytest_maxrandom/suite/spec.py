"""What a suite may say: the typed form of a suite file.

These classes are the only place where keys, types and defaults are written down; the JSON Schema
for editors and the messages for mistakes are made from them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from pydantic import BeforeValidator, Field, SerializeAsAny

from pytest_maxrandom.record import ShortcutControl
from pytest_maxrandom.suite.base import (
    FormatSpec,
    Mark,
    Name,
    Probability,
    Prose,
    Seed,
    Shots,
    Spec,
    Text,
    listed,
)
from pytest_maxrandom.suite.designs import ComparingSettings
from pytest_maxrandom.suite.label_bias import LabelBiasSettings
from pytest_maxrandom.suite.models import ArmSpec, ModelSpec  # noqa: TC001 - read by pydantic
from pytest_maxrandom.suite.red_flags import RedFlags  # noqa: TC001 - read by pydantic
from pytest_maxrandom.suite.replicates import ReplicatedSettings


class ColumnsSpec(Spec):
    """Which columns (CSV) or fields (JSONL, hub, BIG-bench) hold what."""

    input: Text = "input"
    """The text of the example."""
    choices: Text | Annotated[list[Text], Field(min_length=2)] = "choices"
    """One column that holds the list of choices, or one column per choice (empty cell: none)."""
    answer: Text = "answer"
    """The right choice (JSONL, hub: or a list of them)."""
    id: Text | None = None
    """A column of unique ids; `id` where a row has it, else made from the row's number."""
    cluster: Text | None = None
    """What examples share that belong together, such as the id of their passage. Clusters stay
    whole: shuffled, drawn and set aside as one."""


class ValidationSpec(Spec):
    """The validation examples of a task: a fixed, seeded subsample."""

    max_examples: Annotated[int, Field(gt=0)] = 200
    """n at most; a larger task is subsampled, and demonstrations come from the rest."""
    seed: Seed = 0
    """Another seed draws another subsample."""


class TestSpec(Spec):
    """The held-out test set: set aside first, opened only for a claim that passed."""

    fraction: Annotated[float, Field(gt=0, lt=1)] | None = None
    """Share of the task's examples; or give `path`."""
    path: Text | None = None
    """A file of its own, in the format of the task's (relative to the suite file)."""
    seed: Seed = 0
    """Another seed sets other examples aside."""


class BoundsSpec(Spec):
    """What is claimed of the best of the t prompts."""

    p_max: Probability | None = None
    """The probability that the best of t random guessers does as well is at most this."""
    union_p: Probability | None = None
    """The same, however the answers of the guessers depend on each other: t times the p-value of
    one. Each is assumed to be right with chance 1/m, so that preferred labels may pass."""
    guaranteed_p: Annotated[Probability | None, Field(deprecated=True)] = None
    """Old name of `union_p`."""
    permutation_p: Annotated[float, Field(ge=1e-6, lt=1)] | None = None
    """The probability that the best of these t prompts scores as high in the suite's metric on
    shuffled right answers (max-T) is at most this."""
    beats: Literal["max_random", "standard"] | None = None
    """Best accuracy is above the expected maximum of t random guessers, or above chance."""
    family: Literal["suite"] | None = None
    """suite: all claims of the suite that say so share their levels equally, so that with the
    probability that is claimed no guesser among them passes."""
    red_flags: RedFlags | None = None
    """What red flags do to the claim: fail, warn or ignore, for each kind or in one word for all.
    Alone it leaves the claim as it is: a task's as its suite has it, a suite's the default."""

    def bounds(self) -> dict[str, Any]:
        """Return what is claimed of the numbers."""
        found = {key: getattr(self, key) for key in ("p_max", "permutation_p", "beats")}
        # Read from the instance's dictionary, the old name warns nobody.
        found["union_p"] = self.union_p or self.__dict__["guaranteed_p"]
        return {key: value for key, value in found.items() if value is not None}


Bounds = TypeVar("Bounds", bound=BoundsSpec)


def claimed(
    of_task: Bounds | Literal["report"] | None, of_suite: Bounds | Literal["report"] | None
) -> Bounds | Literal["report"] | None:
    """Return what is claimed of a task, by itself and by its suite.

    What a suite says of red flags holds for the kinds that a task does not name, and how it lets
    levels be shared or spent holds for tasks that do not say; a task that says nothing else claims
    what its suite does.
    """
    if of_task is None or of_suite is None or isinstance(of_task, str) or isinstance(of_suite, str):
        return of_task or of_suite
    flags, whole = of_task.red_flags, of_suite.red_flags
    if whole is not None and not isinstance(flags, str):
        flags = whole if flags is None else flags.over(whole)
    said: dict[str, Any] = {key: getattr(of_task, key) for key in of_task.model_fields_set}
    if said.keys() <= {"red_flags", "family", "looks"}:
        return of_suite.model_copy(update={**said, "red_flags": flags})
    shared: dict[str, Any] = {
        key: getattr(of_suite, key)
        for key in ("family", "looks")
        if key in of_suite.model_fields_set - of_task.model_fields_set
    }
    return of_task.model_copy(update={**shared, "red_flags": flags})


class AssertSpec(BoundsSpec):
    """What is claimed of the best of the t prompts, in how many replicates, and what t counts."""

    count: Literal["claim", "task"] = "claim"
    """What t counts, in the ledger and this run together: the prompts ever evaluated on these
    examples for this model with this number of shots; or all that were for any claim."""
    looks: Literal["spend"] | None = None
    """spend: the levels are spent per doubling of t, so that the claim may be tested any number of
    times while t grows."""
    test_p: Annotated[float, Field(ge=0.0001, lt=1)] | None = None
    """On the task's test set (`test`): the probability that one guesser does as well as the best
    prompt, or its own answers on shuffled right answers (the larger counts), times the number of
    openings, is at most this. It is tested where the rest of the claim holds, and alone it stands
    beside the default claim."""
    in_replicates: Annotated[float, Field(gt=0, le=1)] | None = None
    """Share of the suite's `replicates` of which all the rest must hold."""


Scoring = Literal["mean_logprob", "sum_logprob", "char_logprob", "paper", "counterfactual"]

Metric = Literal["accuracy", "balanced_accuracy", "macro_f1"]


class ClaimSettings(Spec):
    """What a suite says for all of its claims, and a task may say for its own."""

    assertion: BoundsSpec | Literal["report"] | None = Field(default=None, alias="assert")
    """What must hold; if not given, `p_max: 0.05` and `permutation_p: 0.05`, of which the latter
    needs answers and right answers. report: nothing is claimed, and the numbers are reported."""
    xfail: Text | None = None
    """Why this claim is expected to be no better than chance (strict: it fails if it passes)."""
    marks: list[Mark] = Field(default=[])
    """pytest marks of the items."""


class CountedSettings(ClaimSettings):
    """The same, of claims whose t is counted in the ledger."""

    assertion: AssertSpec | Literal["report"] | None = Field(default=None, alias="assert")
    """What must hold; `p_max: 0.05` and `permutation_p: 0.05` if not given (`metric: macro_f1`: the
    latter alone). report: nothing is claimed, and the numbers are reported."""


class TaskSpec(CountedSettings):
    """A task: a file of multiple-choice examples."""

    name: Name
    """The task's name in test ids and reports."""
    format: Literal["bigbench", "jsonl", "csv", "hub"]
    """How the examples are stored."""
    path: Text
    """The file (relative to the suite file), or the dataset's id on the hub."""
    validation: ValidationSpec = ValidationSpec()
    """Which of the examples the prompts are scored on."""
    test: TestSpec | None = None
    """Examples that neither prompts nor demonstrations ever show."""
    columns: ColumnsSpec = ColumnsSpec()
    """jsonl, csv, hub: where each part of an example is; bigbench: `cluster` only."""
    choices: Annotated[list[Text], Field(min_length=2)] | None = None
    """jsonl, csv, hub: the choices of every example, where the data does not hold them."""
    answer_is: Literal["text", "index", "letter"] | None = None
    """Whether answers are a choice's text, its index from 0, or its letter; index for a
    whole number in JSONL and hub data, else text, if not given."""
    subset: Text | None = None
    """hub: the dataset's configuration."""
    split: Text | None = None
    """hub: the split, for example validation."""
    revision: Text | None = None
    """hub: branch, tag or commit."""
    task_prefix: Prose | None = None
    """Text on top of every prompt."""
    input_prefix: Prose | None = None
    """Text before each input; `"\\nQ: "` if neither suite nor file says."""
    output_prefix: Prose | None = None
    """Text before each answer; `"\\nA: "` if neither suite nor file says."""
    choice_prefix: Prose | None = None
    """Text before each listed choice; `"\\n  choice: "` if neither suite nor file says."""
    separator: Prose | None = None
    """Text between demonstrations; `"\\n"` if neither suite nor file says."""
    append_choices: bool | None = None
    """Whether the choices are listed after the input; true if neither suite nor file says."""


class PromptsSpec(Spec):
    """The prompts of a sweep: demonstrations x instructions x formats."""

    shots: Annotated[
        list[Shots],
        BeforeValidator(listed, json_schema_input_type=Shots | list[Shots]),
        Field(min_length=1),
    ] = Field(default=[4])
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
    instructions: Annotated[list[Prose], Field(min_length=1)] | None = None
    """Instruction variants, each in place of the task's prefix."""
    formats: Annotated[list[FormatSpec], Field(min_length=1)] | None = None
    """Format variants."""
    combine: Literal["sample", "cross"] = "sample"
    """sample: each prompt draws an instruction and a format. cross: each draw of demonstrations is
    written in every instruction and format."""


class CounterfactualSpec(Spec):
    """Counterfactual scoring: `{question}{answer}{statement}`, and then what is scored."""

    output_prefix: Prose | None = None
    """Text before each answer, in place of the task's or the format's."""
    statement: Prose = " is the"
    """Text between the answer and the continuation."""
    continuation: Text = " best"
    """Text that is scored after each choice's statement."""


class SuiteSpec(ComparingSettings, ReplicatedSettings, LabelBiasSettings, CountedSettings):
    """A suite: every model is swept over every task with every number of shots."""

    models: Annotated[list[SerializeAsAny[ModelSpec]], Field(min_length=1)]
    arms: Annotated[dict[Name, SerializeAsAny[ArmSpec]], Field(min_length=1)] | None = None
    """Ways to change one thing of the suite, by name; claims are then made of each arm."""
    tasks: Annotated[list[TaskSpec], Field(min_length=1)]
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
    shortcuts: Annotated[
        list[ShortcutControl],
        BeforeValidator(listed, json_schema_input_type=ShortcutControl | list[ShortcutControl]),
    ] = Field(default=[])
    """Controls beside each claim, no tries. choices_only: the best prompt once more, with blank
    inputs; whatever is right then is right by the choices alone."""
    allow_unpassable: bool = False
    """Whether claims may stand here that no result can pass, with so few examples and so many
    prompts."""
