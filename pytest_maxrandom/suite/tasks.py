"""What a suite may say of its tasks: for each format keys of its own."""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, PrivateAttr

from pytest_maxrandom.suite.base import Distinct, Name, OneOrMore, Prose, Seed, Spec, Text
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


class PoolSpec(Spec):
    """Where the demonstrations of a task come from, if not from its own examples."""

    path: Text | None = None
    """A file of its own, in the format of the task's (relative to the suite file); `path` of the
    task if not given."""
    split: Text | None = None
    """A split of its own, where the format has splits; `split` of the task if not given."""

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield that nothing says where the pool is."""
        if self.path is None and self.split is None:
            yield (), "found neither of `path` and `split`, expected one of them, or both"


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
    pool: PoolSpec | None = None
    """Where demonstrations come from, so that all examples of the task can be validation examples;
    without it, from the task's examples, or from a pool that its format gives."""
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


def _template(text: str) -> str:
    """Refuse what is no text with columns in braces."""
    try:
        parts = [*Formatter().parse(text)]
    except ValueError as error:
        raise ValueError(f"text with columns in braces, such as {{question}} ({error})") from None
    fields = [part[1:] for part in parts if part[1] is not None]
    if any(not column or form or conversion for column, form, conversion in fields):
        raise ValueError("nothing but the names of columns in braces, such as {question}")
    if not fields and "{{" in text:
        raise ValueError("columns in single braces, such as {question}")
    return text


class BigBenchColumns(Spec):
    """Which fields of a BIG-bench example hold what BIG-bench itself has no key for."""

    cluster: Text | None = None
    """What examples share that belong together, such as the id of their passage. Clusters stay
    whole: shuffled, drawn and set aside as one."""


class ColumnsSpec(BigBenchColumns):
    """Which columns (CSV) or fields (JSONL, hub) hold what; `choices.text` is nested."""

    input: Text = "input"
    """The text of the example."""
    choices: Text | Annotated[list[Text], Field(min_length=2)] = "choices"
    """One column that holds the list of choices, or one column per choice (empty cell: none)."""
    labels: Text | None = None
    """A column that holds the list of what answers call the choices, such as `choices.label`."""
    answer: Text = "answer"
    """The right choice, or a list of all right ones."""
    id: Text | None = None
    """A column of unique ids; in CSV and JSONL `id` where a row has it, else made from the row's
    number."""


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
    input: Annotated[Prose, AfterValidator(_template)] | None = None
    """The text of every example, with columns in braces: `"{passage}\\nQuestion: {question}"`."""
    choices: Annotated[list[Text], Field(min_length=2)] | None = None
    """The choices of every example, where the data does not hold them."""
    answer_is: Literal["text", "index", "number", "letter", "multi_hot"] | None = None
    """Whether answers are a choice's text, its index from 0, its number from 1, its letter, or a
    list of 1 and 0, for each choice whether it is right; index for a whole number in JSONL and hub
    data, else text, if not given."""

    @property
    def input_parts(self) -> list[tuple[str, str | None]]:
        """The text of every example: literal texts, each with the column after it, if any."""
        if self.input is None:
            return [("", self.columns.input)]
        return [(text, column) for text, column, _, _ in Formatter().parse(self.input)]

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield what is given twice."""
        if self.input is not None and "input" in self.columns.model_fields_set:
            yield (
                ("input",),
                "this is the text of every example, and `columns: input:` says which column holds "
                "it; remove one of the two",
            )
        if self.answer_is is not None and self.columns.labels is not None:
            yield (
                ("answer_is",),
                "answers are labels where `columns: labels:` says which; remove one of the two",
            )
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


class LmEvalSpec(TaskSpec):
    """A multiple-choice task of lm-evaluation-harness (EleutherAI)."""

    REPLACED: ClassVar[tuple[str, ...]] = (
        "dataset_path", "dataset_name", "dataset_kwargs", "doc_to_choice", "doc_to_target",
    )  # fmt: skip

    format: Literal["lm_eval"]
    """How the examples are stored."""
    path: Text
    """The name of a task, a group or a tag in the installed lm-eval, or a YAML file or a folder of
    them (relative to the suite file). What stands for several tasks gives one each."""
    task: Annotated[list[Text], Field(min_length=1), Distinct, OneOrMore()] | None = None
    """Which tasks of the folder or the group; all if not given."""
    split: Text | None = None
    """The split that is asked; the task's test split if not given, or else its validation split."""
    dataset_path: Text | None = None
    """The data, in place of what the task's file names: json, csv, parquet, text or a dataset of
    the hub."""
    dataset_name: Text | None = None
    """The dataset's configuration, in place of what the task's file names."""
    dataset_kwargs: dict[str, Any] | None = None
    """Further settings of the data such as `data_files`, in place of what the task's file names."""
    doc_to_choice: Text | Annotated[list[Text], Field(min_length=2)] | None = None
    """The choices, in place of what the task's file says: a list, a column or a template. A task
    whose answers are generated needs them where its file has none."""
    doc_to_target: Text | Annotated[int, Field(ge=0)] | None = None
    """The right choice, in place of what the task's file says: a column, a template or a number. A
    task that judges answers by a function of its own (`process_results`) needs it."""
    trust_remote_code: bool = False
    """Whether lm-evaluation-harness may run the task's functions of Python. The environment of the
    runner must allow that too."""
    _member: tuple[str, Any] | None = PrivateAttr(default=None)
    """The path of which this is one of several tasks, and what was read of it."""


TASKS = SpecUnion[TaskSpec](
    "format",
    {
        "bigbench": BigBenchSpec,
        "jsonl": JsonlSpec,
        "csv": CsvSpec,
        "hub": HubSpec,
        "lm_eval": LmEvalSpec,
    },
    TaskSpec,
    group=SOURCES,
)
AnyTask = Annotated[TaskSpec, TASKS.validator]
