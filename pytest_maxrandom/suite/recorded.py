"""What a suite of recorded results may say: claims about sweeps that were run elsewhere."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import Field, PlainValidator, WithJsonSchema

from pytest_maxrandom.host.packages import READERS
from pytest_maxrandom.suite.arms import ComparingSettings
from pytest_maxrandom.suite.base import Distinct, Name, NamedModel, OneOrMore, Shots, Spec, Text
from pytest_maxrandom.suite.claims import (
    ClaimSettings,
    LabelBiasSettings,
    MetricSettings,
    SharedSettings,
)
from pytest_maxrandom.suite.extensions import SpecUnion
from pytest_maxrandom.suite.incumbent import IncumbentSettings
from pytest_maxrandom.suite.prompts import AggregateSettings, ExactMatchSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.suite.base import Contradiction

_MOST = 10**9
_FRACTION = re.compile(r"[0-9]{1,9}/[0-9]{1,9}")
_NUMBER = (
    "a whole number from 1 to 1000000000, or one for each number of shots such as {0: 100, 4: 96}"
)
_CHANCE = (
    "a fraction such as 1/4, a number of at least 1e-9 and below 1, or {number of choices: number "
    "of examples} such as {2: 60, 5: 40}"
)


def _positive(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MOST


def _number(value: Any) -> int | dict[int, int]:
    by_shots = isinstance(value, dict) and value and all(isinstance(key, int) for key in value)
    if not all(map(_positive, value.values() if by_shots else [value])):
        raise ValueError(_NUMBER)
    return value  # type: ignore[no-any-return]


def _chance(value: Any) -> Fraction | dict[int, int]:
    if isinstance(value, dict) and value:
        if all(_positive(part) for pair in value.items() for part in pair) and min(value) > 1:
            return value
    elif isinstance(value, str) and _FRACTION.fullmatch(value):
        right, choices = map(int, value.split("/"))
        if 0 < right < choices:
            return Fraction(right, choices)
    # As it is written: .2 means 1/5, and not the double next to it.
    elif isinstance(value, float) and 1 / _MOST <= value < 1:
        return Fraction(str(value))
    raise ValueError(_CHANCE)


_ONE_NUMBER: dict[str, Any] = {"type": "integer", "minimum": 1, "maximum": _MOST}
_BY_NUMBER: dict[str, Any] = {"type": "object", "additionalProperties": _ONE_NUMBER}

Number = Annotated[
    int | dict[int, int],
    PlainValidator(_number),
    WithJsonSchema({"anyOf": [_ONE_NUMBER, _BY_NUMBER]}),
]
ColumnName: TypeAlias = str
"""The name of a column; an empty one says that there is none."""
PromptColumns: TypeAlias = ColumnName | Annotated[list[Text], Distinct, Field(min_length=2)]
"""The name of a column; or those of several, one for each prompt."""

Chance: TypeAlias = Fraction | dict[int, int]
StatedChance = Annotated[
    Chance,
    PlainValidator(_chance),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": "^[0-9]+/[0-9]+$"},
                {"type": "number", "minimum": 1 / _MOST, "exclusiveMaximum": 1},
                _BY_NUMBER,
            ]
        }
    ),
]


def at_shots(number: int | dict[int, int], shots: int) -> int | None:
    """Return what is stated for a number of shots; None where others are."""
    return number.get(shots) if isinstance(number, dict) else number


class OwnColumns(Spec):
    """Columns of a table or summary that are not called like these keys."""

    model: ColumnName | None = None
    """The model of a row."""
    task: ColumnName | None = None
    """The task of a row."""
    shots: ColumnName | None = None
    """Number of demonstrations."""
    choices: ColumnName | None = None
    """Number of choices."""


class TableColumns(OwnColumns):
    """Names of a table's columns, if they differ from these keys."""

    prompt: ColumnName | None = None
    """The prompt's id, or its text."""
    example: ColumnName | None = None
    """The example's id, or its text."""
    correct: PromptColumns | None = None
    """Whether the answer is right; a list names a column for each prompt, as for `prediction`."""
    choices: ColumnName | None = None
    """Number of choices, or their list."""
    score: PromptColumns | None = None
    """Instead of that, how good the answer is, from 0 to 1; or such a list."""
    judge: ColumnName | None = None
    """Who, or what, gave the scores, with its version; one for all rows of a sweep."""
    prediction: PromptColumns | None = None
    """The answer that was given; or a list of columns, one for each prompt and called by its name,
    where a row is an example, which is called by its row if no column names it."""
    gold: ColumnName | None = None
    """The right answer."""
    reference: ColumnName | None = None
    """The right answer where there are no choices, or a list of its spellings, which the answers in
    `prediction` are compared with."""
    kind: ColumnName | None = None
    """Without choices: the kind of the reference; told by rule if not given."""
    input: ColumnName | None = None
    """Without choices: the question, so that answers which stand there are seen."""
    cluster: ColumnName | None = None
    """A value that related examples share, such as their passage."""
    sample: ColumnName | None = None
    """Which of several answers to the same example a row is."""

    @property
    def wide(self) -> tuple[str, list[str]] | None:
        """The role that has a column for each prompt, and these columns; None if no role has."""
        each = ((role, name) for role, name in self if isinstance(name, list))
        return next(each, None)

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield that prompts are told by columns and otherwise, too."""
        lists = [role for role, name in self if isinstance(name, list)]
        for other in (*lists[1:], *(("prompt",) if self.prompt and lists else ())):
            yield (other,), f"each prompt has a column of its own in `{lists[0]}`; leave this out"


class SummaryColumns(OwnColumns):
    """Names of a summary's columns, if they differ from these keys."""

    n: ColumnName | None = None
    """Number of examples."""
    t: ColumnName | None = None
    """Number of prompts."""
    best_correct: ColumnName | None = None
    """Right answers of the best prompt."""
    accuracy: ColumnName | None = None
    """Accuracy of the best prompt, instead of its number of right answers."""
    chance: ColumnName | None = None
    """Chance of one guess."""


class LogFields(Spec):
    """Fields of a log for information that the log format has no name for."""

    cluster: Text | None = None
    """The field of the document, or of the sample's metadata, with a value that related examples
    share."""


class ResultsSpec(Spec):
    """Where the results of a model are."""

    path: Text
    """File or folder (relative to the suite file); ${NAME} is an environment variable, and
    ${NAME:-folder} gives a default for one that is not set."""
    format: Name
    """How they are stored."""
    model: Text | None = None
    """The model's name in the results, if not `name` or `label`."""


class StatedShots(ResultsSpec):
    """Results that do not always tell the number of demonstrations."""

    shots: Shots | None = None
    """Number of demonstrations, if the results do not give it."""


class WholeSweeps(ResultsSpec):
    """Results of whole sweeps."""

    ragged: bool = False
    """Whether prompts may have been scored on fewer examples than others, beyond their own
    demonstrations; the report then shows a red flag."""


class NpzResults(WholeSweeps):
    """NumPy arrays."""

    format: Literal["npz"]
    """How they are stored."""


class PredictionsResults(WholeSweeps):
    """What --maxrandom-predictions wrote."""

    format: Literal["predictions"]
    """How they are stored."""


class TableResults(WholeSweeps, StatedShots):
    """One row for each answer."""

    format: Literal["table"]
    """How they are stored."""
    columns: TableColumns = TableColumns()
    """The names of the columns."""
    scoring: Literal["exact_match", "f1"] = "exact_match"
    """How answers without choices are compared with their references: right or wrong, or by the F1
    of their tokens; as in a suite that runs a model."""
    exact_match: ExactMatchSpec | None = None
    """When an answer without choices is one of its references; as in a suite that runs a model."""
    tolerance: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """By how much such an answer may be off where it is a number."""

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield what says when answers are right, where they are graded."""
        is_math = self.exact_match is not None and self.exact_match.math
        for key in ["tolerance"] * (self.tolerance is not None) + ["exact_match"] * is_math:
            if self.scoring == "f1":
                yield (key,), "this says when an answer is right, and `scoring: f1` how good it is"


class SummaryResults(StatedShots):
    """One row for each published maximum."""

    format: Literal["summary"]
    """How they are stored."""
    columns: SummaryColumns = SummaryColumns()
    """The names of the columns."""


class LmEvalResults(ResultsSpec):
    """Logs of lm-evaluation-harness."""

    format: Literal["lm_eval"]
    """How they are stored."""
    columns: LogFields = LogFields()
    """The field that names a document's cluster."""
    metric: Text | None = None
    """The metric of the samples that counts, each value from 0 to 1, such as acc_norm or f1; acc if
    not given, or exact_match where a task has no acc."""
    filter: Text | None = None
    """Which filter's answers count where a task has several, such as flexible-extract of GSM8K; the
    first if not given."""


class InspectResults(StatedShots):
    """Logs of Inspect."""

    format: Literal["inspect"]
    """How they are stored."""
    columns: LogFields = LogFields()
    """The field that names a sample's cluster."""
    scorer: Text | None = None
    """The scorer whose scores count, right and wrong or from 0 to 1; needed if there are
    several."""


RESULTS = SpecUnion[ResultsSpec](
    "format",
    {
        "npz": NpzResults,
        "table": TableResults,
        "summary": SummaryResults,
        "predictions": PredictionsResults,
        "lm_eval": LmEvalResults,
        "inspect": InspectResults,
    },
    ResultsSpec,
    group=READERS,
)


class RecordedModelSpec(NamedModel):
    """A model whose results exist already."""

    backend: Literal["recorded"]
    """Results are read, and no model is run."""
    results: Annotated[ResultsSpec, RESULTS.validator]
    """Where the results are."""
    quantization: Name | None = None
    """How the model was quantized for these results; unknown if not given."""
    if_missing: Text | None = None
    """Where to get the results. If results are missing, their claims are skipped with this text as
    the reason; without this key, missing results are a mistake."""

    @property
    def variant(self) -> str:
        """How the model was quantized."""
        return self.quantization or ""

    @classmethod
    def keys_in_arms(cls) -> tuple[str, ...]:
        """Return the keys by which two models of one name may differ."""
        return ("quantization",)


class PublishedSpec(Spec):
    """What a publication says about the task."""

    n: Number
    """Number of examples."""
    t: Number
    """Number of prompts."""
    chance: StatedChance
    """Chance of one guess."""


class RecordedTaskSpec(ClaimSettings):
    """A task of the results."""

    name: Name
    """The task's name in test ids and reports."""
    in_results: Text | None = None
    """The task's name in the results, if not `name`."""
    n: Number | None = None
    """How many examples each prompt should have been scored on. If the results show another number,
    that is a mistake."""
    t: Number | None = None
    """How many prompts were tried, if the results cover only a part of them or do not say."""
    chance: StatedChance | None = None
    """Chance of one guess, if the results do not give it."""
    published: PublishedSpec | None = None
    """What a publication says; the report compares it with the results."""


class RecordedPromptSpec(IncumbentSettings):
    """One prompt of which there are results."""

    results: Annotated[ResultsSpec, RESULTS.validator] | None = None
    """Where they are; among the results of each claim if not given."""
    prompt: Text | None = None
    """Which prompt it is, as the results call it; not needed where they hold one prompt of the
    task."""

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield that nothing tells which results are those of the prompt."""
        if self.results is None and self.prompt is None:
            yield (
                (),
                "says neither which prompt it is (`prompt`) nor where its results are "
                "(`results`); give one of the two",
            )


class RecordedPromptsSpec(Spec):
    """The results to use."""

    shots: Annotated[list[Shots], Field(min_length=1), Distinct, OneOrMore()] | None = None
    """Demonstrations per prompt; all numbers in the results if not given."""


class RecordedSuiteSpec(
    ComparingSettings,
    LabelBiasSettings,
    SharedSettings,
    MetricSettings,
    AggregateSettings,
    ClaimSettings,
):
    """A suite of recorded results: every model, every task, every number of shots."""

    models: Annotated[list[RecordedModelSpec], Field(min_length=1)]
    """The models, each with the location of its results."""
    tasks: Annotated[list[RecordedTaskSpec], Field(min_length=1)]
    """The tasks, by their names in the results, and what is claimed of each."""
    incumbent: RecordedPromptSpec | None = None
    """What runs today, of which there are results: reports say by how much the best prompt is
    better on the same examples, and `assert: {better_than: incumbent}` claims it."""
    control: RecordedPromptSpec | None = None
    """A prompt of the results whose answers are blank, or the same to every question, and whose
    scores are from the same judge; it is no candidate. `assert: {control_p: 0.05}`, the default
    for graded scores with a control, claims that the best prompt is better."""
    prompts: RecordedPromptsSpec = RecordedPromptsSpec()
    """The numbers of demonstrations to judge."""
    judge: Literal["counted", "published"] = "counted"
    """Whether claims use the n, t and chance of the results, or those of the publication."""
