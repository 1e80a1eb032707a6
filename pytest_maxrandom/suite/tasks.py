"""What a suite may say of its tasks: for each format keys of its own."""

from __future__ import annotations

import math
from pathlib import PurePath
from string import Formatter
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PrivateAttr

from pytest_maxrandom.host.packages import SOURCES
from pytest_maxrandom.suite.base import Distinct, Name, OneOrMore, Prose, Seed, Spec, Text
from pytest_maxrandom.suite.claims import CountedSettings
from pytest_maxrandom.suite.extensions import SpecUnion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.suite.base import Contradiction


class ValidationSpec(Spec):
    """The validation examples of a task: a fixed, seeded subsample."""

    max_examples: Annotated[int, Field(gt=0)] = 200
    """Largest n; a larger task is subsampled, and demonstrations come from the rest."""
    seed: Seed = 0
    """Another seed draws another subsample."""


class TestSpec(Spec):
    """The held-out test set: set aside first, and opened only for a claim that passed."""

    fraction: Annotated[float, Field(gt=0, lt=1)] | None = None
    """Share of the task's examples to set aside; or give `path`."""
    path: Text | None = None
    """A separate file, in the task's format (relative to the suite file)."""
    seed: Seed = 0
    """Another seed sets other examples aside."""

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield that the test set is given twice, or not at all."""
        if (self.fraction is None) == (self.path is None):
            how = "neither" if self.path is None else "both"
            yield (), f"found {how} of `fraction` and `path`, expected exactly one"


class PoolSpec(Spec):
    """Where the demonstrations of a task come from, if not from its own examples."""

    path: Text | None = None
    """A separate file, in the task's format (relative to the suite file); the task's `path` if not
    given."""
    split: Text | None = None
    """A separate split, if the format has splits; the task's `split` if not given."""

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield that nothing says where the pool is."""
        if self.path is None and self.split is None:
            yield (), "found neither `path` nor `split`, expected at least one of them"


class TaskSpec(CountedSettings):
    """A task: examples with choices, or with open answers."""

    name: Name
    """The task's name in test ids and reports."""
    format: Name
    """How the examples are stored."""
    validation: ValidationSpec = ValidationSpec()
    """The examples that the prompts are scored on."""
    test: TestSpec | None = None
    """Examples that neither prompts nor demonstrations ever show."""
    pool: PoolSpec | None = None
    """Where demonstrations come from, so that all examples of the task can be validation examples.
    Without it they come from the task's examples, or from a pool that its format provides."""
    if_missing: Text | None = None
    """Where to get the data. If a file or folder of the task is missing, its claims are skipped
    with this text as the reason; without this key, that is a mistake. Data on the hub, also those
    of a task of lm-eval, are missing if they are not in the hub's cache, and nothing is downloaded;
    without this key, they are downloaded."""
    task_prefix: Prose | None = None
    """Text on top of every prompt."""
    input_prefix: Prose | None = None
    """Text before each input; `"\\nQ: "` if neither the suite nor the file gives it."""
    output_prefix: Prose | None = None
    """Text before each answer; `"\\nA: "` if neither the suite nor the file gives it."""
    choice_prefix: Prose | None = None
    """Text before each listed choice; `"\\n  choice: "` if neither the suite nor the file gives
    it."""
    separator: Prose | None = None
    """Text between demonstrations; `"\\n"` if neither the suite nor the file gives it."""
    append_choices: bool | None = None
    """Whether the choices are listed after the input; true if neither the suite nor the file gives
    it."""


def _template(text: str) -> str:
    """Refuse what is no text with columns in braces."""
    try:
        parts = [*Formatter().parse(text)]
    except ValueError as error:
        raise ValueError(f"text with columns in braces, such as {{question}} ({error})") from None
    fields = [part[1:] for part in parts if part[1] is not None]
    if any(not column or form or conversion for column, form, conversion in fields):
        raise ValueError("only names of columns in braces, such as {question}")
    if not fields and "{{" in text:
        raise ValueError("columns in single braces, such as {question}")
    return text


def _share(value: object) -> str:
    """Refuse what is no share in per cent."""
    text = value.strip() if isinstance(value, str) else ""
    try:
        if not text.endswith("%") or not 0 <= float(text.removesuffix("%")) < math.inf:
            raise ValueError
    except ValueError:
        raise ValueError('a share such as "1%"') from None
    return text


class BigBenchColumns(Spec):
    """Fields of a BIG-bench example for information that BIG-bench itself has no key for."""

    cluster: Text | None = None
    """A value that related examples share, such as the id of their passage. Clusters stay whole:
    they are shuffled, drawn and set aside as one."""


class ColumnsSpec(BigBenchColumns):
    """Columns (CSV) or fields (JSONL, hub) of an example's parts; `choices.text` is nested."""

    input: Text = "input"
    """The text of the example."""
    choices: Text | Annotated[list[Text], Field(min_length=2)] = "choices"
    """One column that holds the list of choices, or one column per choice (empty cell: none)."""
    labels: Text | None = None
    """A column with the list of labels that answers use for the choices, such as
    `choices.label`."""
    answer: Text = "answer"
    """The right choice, or a list of all right ones."""
    id: Text | None = None
    """A column of unique ids; if not given, `id` in CSV and JSONL if a row has it, else an id made
    from the row's number."""
    kind: Text | None = None
    """Of open answers: a column with the kind of the reference, such as person or year; if not
    given, it is told by rule (number, date, yes/no, letter, name, other). Answers are compared with
    guessers who know it."""


class BigBenchSpec(TaskSpec):
    """A task in the JSON of BIG-bench."""

    format: Literal["bigbench"]
    """How the examples are stored."""
    path: Text
    """The file (relative to the suite file)."""
    columns: BigBenchColumns = BigBenchColumns()
    """The field that names an example's cluster."""


class RowsSpec(TaskSpec):
    """A task whose examples are rows with named columns."""

    path: Text
    """The file (relative to the suite file)."""
    columns: ColumnsSpec = ColumnsSpec()
    """The columns of each part of an example."""
    input: Annotated[Prose, AfterValidator(_template)] | None = None
    """The text of every example, with columns in braces: `"{passage}\\nQuestion: {question}"`."""
    choices: Annotated[list[Text], Field(min_length=2)] | None = None
    """The choices of every example, if the data does not have them."""
    answer_is: Literal["text", "index", "number", "letter", "multi_hot", "open"] | None = None
    """Whether an answer is a choice's text, its index from 0, its number from 1, its letter, or a
    list with 1 for each right choice and 0 for the others. If not given, a whole number in JSONL
    and hub data is an index, and anything else is text. open: there are no choices, and the answer
    is the reference, or a list of all its spellings, for `scoring: exact_match`."""
    tolerance: (
        Annotated[float, Field(ge=0, allow_inf_nan=False)]
        | Annotated[str, BeforeValidator(_share)]
        | None
    ) = None
    """By how much an open answer that is a number may be off: 0.01, or a share of the reference,
    "1%"."""

    @property
    def is_open(self) -> bool:
        """Whether the examples have no choices."""
        return self.answer_is == "open"

    @property
    def allowed(self) -> tuple[float, bool]:
        """By how much a number may be off, and whether that is a share of the reference."""
        if isinstance(self.tolerance, str):
            return float(self.tolerance.rstrip("% ")) / 100, True
        return self.tolerance or 0.0, False

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
                "this builds the text of every example, but `columns: input:` names a column that "
                "holds it; remove one of the two",
            )
        open_only = ("tolerance", self.tolerance), ("columns", self.columns.kind)
        for key, given in open_only if not self.is_open else ():
            if given is not None:
                place = (key,) if key == "tolerance" else (key, "kind")
                yield place, "this is about open answers; add `answer_is: open`, or remove it"
        if self.is_open and (
            self.choices is not None or "choices" in self.columns.model_fields_set
        ):
            yield (
                ("answer_is",),
                "`open` means that there are no choices, but the task names some; remove one of "
                "the two",
            )
        if self.answer_is is not None and self.columns.labels is not None:
            yield (
                ("answer_is",),
                "`columns: labels:` already says that answers are labels; remove one of the two",
            )
        if self.choices is not None and "choices" in self.columns.model_fields_set:
            yield (
                ("choices",),
                "these are the choices of every example, but `columns: choices:` names a column "
                "that holds them; remove one of the two",
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
    """A task of lm-evaluation-harness (EleutherAI), multiple-choice or judged by exact match."""

    REPLACED: ClassVar[tuple[str, ...]] = (
        "dataset_path", "dataset_name", "dataset_kwargs", "doc_to_choice", "doc_to_target",
    )  # fmt: skip

    format: Literal["lm_eval"]
    """How the examples are stored."""
    path: Text
    """The name of a task, a group or a tag in the installed lm-eval, or a YAML file or a folder of
    them (relative to the suite file). A name or path with several tasks adds each of them."""
    task: Annotated[list[Text], Field(min_length=1), Distinct, OneOrMore()] | None = None
    """The tasks of the folder or the group to use; all if not given."""
    split: Text | None = None
    """The split to use; if not given, the task's test split, or else its validation split."""
    dataset_path: Text | None = None
    """The data, instead of the data in the task's file: json, csv, parquet, text or a dataset of
    the hub."""
    dataset_name: Text | None = None
    """The dataset's configuration, instead of the one in the task's file."""
    dataset_kwargs: dict[str, Any] | None = None
    """Further settings of the data such as `data_files`, instead of those in the task's file."""
    doc_to_choice: Text | Annotated[list[Text], Field(min_length=2)] | None = None
    """The choices, instead of those in the task's file: a list, a column or a template. A task with
    generated answers has choices then, for `scoring: generate`; without, it is one for `scoring:
    exact_match`."""
    filter: Text | None = None
    """Of generated answers: the name of the task's filter, such as flexible-extract; its first one
    if not given."""
    doc_to_target: Text | Annotated[int, Field(ge=0)] | None = None
    """The right choice, instead of the one in the task's file: a column, a template or a number. A
    task that judges answers by its own function (`process_results`) needs it."""
    trust_remote_code: bool = False
    """Whether lm-evaluation-harness may run the task's Python functions. The runner's environment
    must allow that too."""
    _member: tuple[str, Any, Any] | None = PrivateAttr(default=None)
    """The path of which this is one of several tasks, what was read of it, and who builds them."""


FORMATS = {
    ".json": "bigbench",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".yaml": "lm_eval",
    ".yml": "lm_eval",
}
"""The format that a file usually has, by its suffix."""


def usual_format(keys: Any) -> str | None:
    """Return the format that the suffix of a task's file tells, as it stands in a suite."""
    path = keys.get("path") if isinstance(keys, dict) else None
    return FORMATS.get(PurePath(path).suffix.lower()) if isinstance(path, str) else None


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
