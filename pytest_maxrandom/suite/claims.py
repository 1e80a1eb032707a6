"""What a suite may say of its claims: of the best prompt, of red flags, and of label bias."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, create_model

from pytest_maxrandom.errors import ExtensionError
from pytest_maxrandom.flags import KINDS
from pytest_maxrandom.host.limits import Limits, in_force
from pytest_maxrandom.record.base import Severity
from pytest_maxrandom.record.label_bias import BaseRate, Calibration, Interaction, LabelCheck
from pytest_maxrandom.record.metrics import METRICS
from pytest_maxrandom.record.result import DEFAULT_LEVEL
from pytest_maxrandom.suite.base import (
    Contradiction,
    Distinct,
    Mark,
    Name,
    OneOrMore,
    PartName,
    Probability,
    Seed,
    Spec,
    Text,
    told_of_package,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager


class _Kinds:
    """Lets kinds of red flags be keys, also those that were added later."""

    def __get_pydantic_json_schema__(self, *_: Any) -> dict[str, Any]:
        return {
            "type": "object",
            "description": "What each red flag does to a claim: fail it, warn in the report, or "
            "ignore.",
            "additionalProperties": False,
            "properties": {
                each.kind: {
                    "description": each.description,
                    "default": each.default,
                    "enum": ["fail", "warn", "ignore"],
                    "type": "string",
                }
                for each in KINDS.values()
            },
        }


def _known(kind: str) -> str:
    if kind in KINDS:
        return kind
    try:
        KINDS.parts[kind]
    except ExtensionError as error:
        if kind in KINDS.parts:
            raise told_of_package(error) from error
    raise ValueError(f"no kind of red flag: {kind}")


RedFlags: TypeAlias = (
    Severity | Annotated[dict[Annotated[str, AfterValidator(_known)], Severity], _Kinds()]
)
"""One word for all kinds, or a word for each that is named."""


def severities(said: RedFlags | None) -> dict[str, Severity]:
    """Return what each kind does to a claim."""
    return {**KINDS.defaults(), **_by_kind(said)}


def _by_kind(said: RedFlags | None) -> Mapping[str, Severity]:
    return dict.fromkeys(KINDS, said) if isinstance(said, str) else said or {}


class BoundsSpec(Spec):
    """What is claimed of the best of the t prompts."""

    p_max: Probability | None = None
    """The largest allowed probability that the best of t random guessers does as well."""
    union_p: Probability | None = None
    """The same for guessers whose answers depend on each other in any way: t times the p-value of
    one guesser. Each is assumed to be right with chance 1/m, so a preference for a label may
    pass."""
    permutation_p: Annotated[float, Field(ge=1e-6, lt=1)] | None = None
    """The largest allowed probability that the best of these t prompts scores as high in the
    suite's metric on shuffled right answers (max-T)."""
    beats: Literal["max_random", "standard"] | Annotated[float, Field(gt=0, lt=1)] | None = None
    """Best accuracy must be above this baseline: max_random, the maximum random baseline of t
    random guessers, or standard, that of one. A number such as 0.62 is a baseline that you state:
    the best prompt's score is tested to be above it, as the best of t."""
    baseline_p: Annotated[float, Field(ge=1e-6, lt=0.5)] | None = None
    """The largest allowed p-value of `beats: NUMBER`; 0.05 if not given."""
    control_p: Annotated[float, Field(ge=1e-6, lt=0.5)] | None = None
    """The largest allowed p-value of "the best prompt scores higher than the suite's `control`",
    which is tested on the same examples as the best of t."""
    better_than: Literal["incumbent"] | None = None
    """incumbent: the best prompt's accuracy is above that of the suite's `incumbent`, which is
    tested on the same examples as the best of t."""
    by: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """By how much more than this it is better: with 0.0 by however little."""
    incumbent_p: Annotated[float, Field(ge=1e-6, lt=0.5)] | None = None
    """The largest allowed p-value of `better_than`; 0.05 if not given."""
    family: Literal["suite"] | None = None
    """suite: all claims of the suite with this key share their levels equally, so that the level
    bounds the probability that any of them passes by guessing."""
    red_flags: RedFlags | None = None
    """What red flags do to the claim: fail, warn or ignore, for each kind, or in one word for all.
    If it is the only key of `assert`, the rest of the claim is unchanged: a task's claim is its
    suite's, and a suite's claim is the default."""

    def bounds(self) -> dict[str, Any]:
        """Return what is claimed of the numbers."""
        keys = ("p_max", "permutation_p", "beats", "union_p", "control_p")
        bounds = {key: value for key in keys if (value := getattr(self, key)) is not None}
        if isinstance(self.beats, float):
            p = DEFAULT_LEVEL if self.baseline_p is None else self.baseline_p
            bounds |= {"baseline": bounds.pop("beats"), "baseline_p": p}
        if self.better_than is not None:
            p = DEFAULT_LEVEL if self.incumbent_p is None else self.incumbent_p
            bounds |= {"incumbent_p": p, "by": self.by}
        return bounds

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield what belongs to a comparison that is not claimed."""
        if self.baseline_p is not None and not isinstance(self.beats, float):
            yield (
                ("baseline_p",),
                "this belongs to a baseline that you state, such as `beats: 0.62`; add that, or "
                "remove this",
            )
        if self.better_than is None:
            for key in ("by", "incumbent_p"):
                if key in self.model_fields_set:
                    yield (
                        (key,),
                        "this belongs to `better_than: incumbent`, which is not claimed; add that, "
                        "or remove this",
                    )


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
    flags = of_task.red_flags or of_suite.red_flags
    if of_suite.red_flags and isinstance(of_task.red_flags, dict):
        flags = {**_by_kind(of_suite.red_flags), **of_task.red_flags}
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
    """What t counts, in the ledger and this run together: claim, the prompts ever evaluated on
    these examples for this model with this number of shots; or task, the prompts ever evaluated on
    them for any claim."""
    looks: Literal["spend"] | None = None
    """spend: each doubling of t spends a part of the level, so that the claim may be tested any
    number of times while t grows."""
    test_p: Annotated[float, Field(ge=0.0001, lt=1)] | None = None
    """On the task's test set (`test`): the largest allowed p-value of the best prompt, times the
    number of openings. The p-value is the larger of two: that one guesser does as well, and that
    its own answers do on shuffled right answers. It is tested only if the rest of the claim passes;
    if it is the only key of `assert`, the rest is the default claim."""
    in_replicates: Annotated[float, Field(gt=0, le=1)] | None = None
    """Share of the suite's `replicates` that must pass the rest of the claim."""


def _metrics() -> str:
    described = "; ".join(
        f"{name}: {metric.description}" for name, metric in METRICS.usable().items()
    )
    return (
        f"The measure that the best prompt maximizes. {described}. All but accuracy need examples "
        "that share their choices and have one right choice each."
    )


if TYPE_CHECKING:
    Metric: TypeAlias = str
else:
    Metric = Annotated[
        str, PartName(METRICS.group, METRICS.built_in, METRICS.__getitem__, _metrics)
    ]


class MetricSettings(Spec):
    """What a suite of any kind may say of what prompts are best in."""

    metric: Metric = "accuracy"


class ClaimSettings(Spec):
    """What a suite says for all of its claims, and a task may say for its own."""

    assertion: BoundsSpec | Literal["report"] | None = Field(default=None, alias="assert")
    """What must hold; if not given, `permutation_p: 0.05` and `beats: max_random`, which need the
    answers and the right answers: without them the claim cannot tell, and a claim such as `p_max:
    0.05` must be named. report: nothing is claimed, but the numbers are reported."""
    xfail: Text | None = None
    """Why this claim is expected to fail (strict: the test fails if the claim passes)."""
    marks: list[Mark] = Field(default=[])
    """pytest marks for the task's tests."""


class CountedSettings(ClaimSettings):
    """The same, of claims whose t is counted in the ledger."""

    assertion: AssertSpec | Literal["report"] | None = Field(default=None, alias="assert")
    """What must hold; if not given, `permutation_p: 0.05` and `beats: max_random`; `permutation_p`
    and `p_max: 0.05` where prompts leave out their own demonstrations; `permutation_p` alone with a
    `metric` that it alone judges. report: nothing is claimed, but the numbers are reported."""


def _off(value: Any) -> Any:
    """Read `off` as it is meant; YAML reads it as false."""
    return "off" if value is False else value


class LabelBiasSpec(Spec):
    """Does the best prompt know answers, or prefer a label?"""

    check: LabelCheck = "recall"
    """recall: accuracy by gold label on the examples as they are (no further forward passes). move:
    every right answer at every label, paired, so that the expectation over placements is exact.
    redraw: for each label, right answers redrawn among the other labels (arXiv 2406.11634)."""
    interactions: (
        Annotated[list[Interaction], Field(min_length=1), Distinct, OneOrMore()] | None
    ) = None
    """How the model is asked for labels; as in the claim itself if not given. counterfactual: each
    answer is moved into the context, and one shared continuation is scored."""
    base_rate: Annotated[
        BaseRate, BeforeValidator(_off, json_schema_input_type=BaseRate | Literal[False])
    ] = "control"
    """Source of the labels' probabilities without a question. control: texts that list the labels
    in all orders (rotations above 4 labels). content_free: each prompt with meaningless inputs.
    Recorded results have none."""
    calibration: Annotated[list[Calibration], Distinct, OneOrMore()] = Field(default=[])
    """Scores from which the labels' prior is removed: contextual (content-free inputs, Zhao et al.
    2021), pride (rotated choices of 5 % of the examples, held back; Zheng et al. 2023)."""
    tasks: Annotated[list[Name], Field(min_length=1), Distinct, OneOrMore()] | None = None
    """Names of the tasks to check; all tasks of the suite if not given."""
    seed: Seed = 0
    """Seed of redraw, and of the examples that pride holds back."""
    level: Probability = 0.05
    """The largest allowed p-value of above_random."""
    assertion: Literal["report", "above_random"] = Field(default="above_random", alias="assert")
    """above_random: the best of the t prompts scores higher than the best of t random guessers
    under the same check; report: nothing is asserted."""

    def is_about(self, task: str) -> bool:
        """Tell whether a task is checked."""
        return self.tasks is None or task in self.tasks

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield a level of what is not asserted."""
        if self.assertion == "report" and "level" in self.model_fields_set:
            yield (
                ("level",),
                "`assert: report` asserts nothing, but `level` is a threshold for a p-value; "
                "remove one of the two",
            )


class SaidLimits(Spec):
    """How much what comes from outside may take; what is not given is as `MAXRANDOM_LIMITS` says.

    Under `maxrandom gate` these may not be above what `MAXRANDOM_LIMITS` says, or the defaults.
    """

    @property
    def given(self) -> dict[str, int]:
        """Those that the suite gives."""
        return self.model_dump(exclude_unset=True)

    def in_force(self) -> AbstractContextManager[None]:
        """Let them hold until a block ends, and what is usual on this machine besides."""
        return in_force(self.given)


if TYPE_CHECKING:
    LimitsSpec = SaidLimits
else:  # a key for each limit, which the limit itself describes
    LimitsSpec = create_model(
        "LimitsSpec",
        __base__=SaidLimits,
        __doc__=SaidLimits.__doc__,
        **{
            each.name: (
                int,
                Field(
                    each.default,
                    gt=0,
                    le=each.metadata["most"],
                    description=each.metadata["told"],
                ),
            )
            for each in fields(Limits)
        },
    )


class SharedSettings(Spec):
    """What a suite of any kind may say of this machine, and of what leaves it."""

    limits: LimitsSpec = LimitsSpec()
    """How much data, servers, patterns and functions of others may take of this machine."""

    share: Literal["nothing", "texts"] = "nothing"
    """texts: the page and the reports made in CI include the texts of questions. Anyone who can
    read CI artifacts can then read the benchmark, and it may end up in training data. What is made
    on your own machine always has the texts."""

    allow_unpassable: bool = False
    """Whether the suite may have claims that no result can pass, with so few examples and so many
    prompts. Of recorded results, what guessers rule out is a red flag, and no mistake."""


class LabelBiasSettings(Spec):
    """What a suite of any kind may say of its labels."""

    label_bias: LabelBiasSpec | None = None
    """Whether a claim's best prompt knows answers or prefers a label; adds one test per claim."""
