"""What a suite may say of a task; `format` tells which other keys it may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from pytest_maxrandom.suite.base import Name, Prose, Seed, Spec, Text
from pytest_maxrandom.suite.claims import CountedSettings
from pytest_maxrandom.suite.extensions import SOURCES, SpecUnion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.suite.base import Contradiction


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

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield that the test set is given twice, or not at all."""
        if (self.fraction is None) == (self.path is None):
            how = "neither" if self.path is None else "both"
            yield (), f"found {how} of `fraction` and `path`, expected one of the two"


class TaskSpec(CountedSettings):
    """A task: multiple-choice examples."""

    name: Name
    """The task's name in test ids and reports."""
    format: Name
    """How the examples are stored."""
    validation: ValidationSpec = ValidationSpec()
    """Which of the examples the prompts are scored on."""
    test: TestSpec | None = None
    """Examples that neither prompts nor demonstrations ever show."""
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


class BigBenchColumns(Spec):
    """Which fields of a BIG-bench example hold what BIG-bench itself has no key for."""

    cluster: Text | None = None
    """What examples share that belong together, such as the id of their passage. Clusters stay
    whole: shuffled, drawn and set aside as one."""


class ColumnsSpec(BigBenchColumns):
    """Which columns (CSV) or fields (JSONL, hub) hold what."""

    input: Text = "input"
    """The text of the example."""
    choices: Text | Annotated[list[Text], Field(min_length=2)] = "choices"
    """One column that holds the list of choices, or one column per choice (empty cell: none)."""
    answer: Text = "answer"
    """The right choice (JSONL, hub: or a list of them)."""
    id: Text | None = None
    """A column of unique ids; `id` where a row has it, else made from the row's number."""


class BigBenchSpec(TaskSpec):
    """A task in the JSON of BIG-bench."""

    format: Literal["bigbench"]
    """How the examples are stored."""
    path: Text
    """The file (relative to the suite file)."""
    columns: BigBenchColumns = BigBenchColumns()
    """Where examples say which cluster they belong to."""


class RowsSpec(TaskSpec):
    """A task whose examples are rows with named columns."""

    path: Text
    """The file (relative to the suite file)."""
    columns: ColumnsSpec = ColumnsSpec()
    """Where each part of an example is."""
    choices: Annotated[list[Text], Field(min_length=2)] | None = None
    """The choices of every example, where the data does not hold them."""
    answer_is: Literal["text", "index", "letter"] | None = None
    """Whether answers are a choice's text, its index from 0, or its letter; index for a
    whole number in JSONL and hub data, else text, if not given."""

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield that choices are given twice."""
        if self.choices is not None and "choices" in self.columns.model_fields_set:
            yield (
                ("choices",),
                "these are the choices of every example, and `columns: choices:` says which "
                "column holds them; remove one of the two",
            )


class CsvSpec(RowsSpec):
    """A task in CSV: a header with column names, then one example per row."""

    format: Literal["csv"]
    """How the examples are stored."""


class JsonlSpec(RowsSpec):
    """A task in JSONL: one JSON object per line."""

    format: Literal["jsonl"]
    """How the examples are stored."""


class HubSpec(RowsSpec):
    """A task of the Hugging Face hub, or in a local folder that the package `datasets` reads."""

    format: Literal["hub"]
    """How the examples are stored."""
    path: Text
    """The dataset's id on the hub, or a folder (relative to the suite file)."""
    split: Text
    """The split, for example validation."""
    subset: Text | None = None
    """The dataset's configuration."""
    revision: Text | None = None
    """Branch, tag or commit."""


class _AnyTaskSpec(RowsSpec):
    """A task that does not say which format it has."""

    format: Literal["bigbench", "jsonl", "csv", "hub"]
    split: Text | None = None
    subset: Text | None = None
    revision: Text | None = None


TASKS = SpecUnion[TaskSpec](
    "format",
    {"bigbench": BigBenchSpec, "jsonl": JsonlSpec, "csv": CsvSpec, "hub": HubSpec},
    _AnyTaskSpec,
    group=SOURCES,
    base=TaskSpec,
)
AnyTask = Annotated[TaskSpec, TASKS.validator]
