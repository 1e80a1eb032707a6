"""What a suite of recorded results may say: claims about sweeps that were run elsewhere."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import BeforeValidator, Field, PlainValidator, WithJsonSchema

from pytest_maxrandom.suite.base import Name, Shots, Spec, Text, listed
from pytest_maxrandom.suite.designs import ComparingSettings
from pytest_maxrandom.suite.label_bias import LabelBiasSettings
from pytest_maxrandom.suite.spec import ClaimSettings

Value = TypeVar("Value")

NUMBERED = frozenset(
    [("tasks", *part, key) for part in ((), ("published",)) for key in ("n", "t", "chance")]
)
"""Where the keys of a suite may be numbers, without the places in lists."""

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


class ResultColumns(Spec):
    """Columns of a table or summary that are not called like these keys."""

    prompt: Text | None = None
    """table: what tells prompts apart; `prompt_id` if not given."""
    example: Text | None = None
    """table: what tells examples apart; `example_id` if not given."""
    correct: Text | None = None
    """table: whether the answer is right."""
    prediction: Text | None = None
    """table: what was answered."""
    gold: Text | None = None
    """table: what is right."""
    cluster: Text | None = None
    """table: what examples share that belong together, such as their passage; lm_eval and inspect:
    the field of the document, or of the sample's metadata, that holds it."""
    n: Text | None = None
    """summary: number of examples."""
    t: Text | None = None
    """summary: number of prompts."""
    best_correct: Text | None = None
    """summary: right answers of the best prompt."""
    accuracy: Text | None = None
    """summary: accuracy of the best prompt, in place of its right answers."""
    chance: Text | None = None
    """summary: chance of one guess."""
    choices: Text | None = None
    """Number of choices."""
    model: Text | None = None
    """Which model a row is about."""
    task: Text | None = None
    """Which task a row is about."""
    shots: Text | None = None
    """Number of demonstrations."""


class ResultsSpec(Spec):
    """Where the results of a model are."""

    path: Text
    """File or folder (relative to the suite file); ${NAME} is an environment variable, and
    ${NAME:-folder} says what stands in for one that is not set."""
    format: Literal["npz", "table", "summary", "predictions", "lm_eval", "inspect"]
    """How they are stored: NumPy arrays; one row for each answer; one row for each published
    maximum; what --maxrandom-predictions wrote; logs of lm-evaluation-harness or of Inspect."""
    model: Text | None = None
    """What the model is called there, if not `name` or `label`."""
    columns: ResultColumns | None = None
    """table, summary: what the columns are called; lm_eval, inspect: `cluster` only."""
    shots: Shots | None = None
    """table, summary, inspect: number of demonstrations, where the results do not tell it."""
    ragged: bool = False
    """table, npz, predictions: whether prompts may have been scored on fewer examples than others,
    beyond their own demonstrations; the report then flags it."""
    metric: Literal["acc", "acc_norm"] | None = None
    """lm_eval: which of its accuracies is meant; acc if not given."""
    scorer: Text | None = None
    """inspect: whose scores are meant; must be given where there are several."""


class RecordedModelSpec(Spec):
    """A model whose results exist already."""

    name: Name
    """What the reports call it."""
    backend: Literal["recorded"]
    """Nothing is run: results are read."""
    results: ResultsSpec
    """Where the results are."""
    label: Name | None = None
    """Short name in test ids; the last part of `name` if not given."""
    quantization: Name | None = None
    """How the model was quantized when the results were made; not known if not given."""
    if_missing: Text | None = None
    """What to do where the results are not there: claims are then skipped for this reason; without
    it, a missing file is a mistake."""

    @property
    def short_name(self) -> str:
        """The model's name in test ids."""
        return self.label or self.name.rstrip("/").rsplit("/", 1)[-1]

    @classmethod
    def keys_in_arms(cls) -> tuple[str, ...]:
        """Return the keys by which two models of one name may differ."""
        return ("quantization",)

    @property
    def test_id(self) -> str:
        """What test ids say of the model, between the task and the shots."""
        return "-".join(filter(None, (self.short_name, self.quantization)))


class PublishedSpec(Spec):
    """What a publication says of the task."""

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
    """What the task is called in the results, if not `name`."""
    n: Number | None = None
    """How many examples each prompt should have been scored on. The results tell how many it was;
    if not so many, that is a mistake."""
    t: Number | None = None
    """How many prompts were tried, where the results are of a part of them or do not tell."""
    chance: StatedChance | None = None
    """Chance of one guess, where the results do not tell."""
    published: PublishedSpec | None = None
    """What a publication says, which the report then compares."""


class RecordedPromptsSpec(Spec):
    """Which of the results are meant."""

    shots: (
        Annotated[
            list[Shots],
            BeforeValidator(listed, json_schema_input_type=Shots | list[Shots]),
            Field(min_length=1),
        ]
        | None
    ) = None
    """Demonstrations per prompt; all that the results hold if not given."""


class RecordedSuiteSpec(ComparingSettings, LabelBiasSettings, ClaimSettings):
    """A suite of recorded results: every model, every task, every number of shots."""

    models: Annotated[list[RecordedModelSpec], Field(min_length=1)]
    tasks: Annotated[list[RecordedTaskSpec], Field(min_length=1)]
    prompts: RecordedPromptsSpec = RecordedPromptsSpec()
    judge: Literal["counted", "published"] = "counted"
    """Which n, t and chance claims are about: those that were counted in the results, or those of
    the publication."""
