"""What a suite may say of its claims: of the best prompt, of red flags, and of label bias."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar

from pydantic import BeforeValidator, Field, WithJsonSchema

from pytest_maxrandom.record.label_bias import BaseRate, Calibration, Interaction, LabelCheck
from pytest_maxrandom.record.red_flags import DEFAULTS, RedFlagKind, Severity
from pytest_maxrandom.suite.base import (
    Distinct,
    Mark,
    Name,
    OneOrMore,
    Probability,
    Seed,
    Spec,
    Text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pytest_maxrandom.suite.base import Contradiction

DESCRIPTIONS: Mapping[RedFlagKind, str] = {
    "choices": "Choices per example that contradict a declared number, or chance.",
    "complementary_prompts": "Two prompts that are right on exactly complementary examples, with "
    "more than two choices.",
    "colliding_ids": "Example ids that stand for several examples.",
    "repeated_examples": "Examples that are copies of others, so that n is less than it seems.",
    "clustered_answers": "Examples that share a long text and no stated cluster, whose right "
    "answers follow it.",
    "shared_text": "Examples that share a long text and no stated cluster.",
    "other_examples": "Prompts that were scored on other examples than most, or on fewer than "
    "they should be.",
    "cut_text": "Texts that were cut, or reach the model's context limit.",
    "constant_scores": "Scores that do not depend on the example.",
    "tied_scores": "Exactly tied or missing scores in more than a few examples.",
    "never_right": "Prompts that are right on no example.",
    "unread_answers": "Generated answers in which no choice can be read, above 5 %.",
    "unsteady_prompts": "Prompts that are the same and answer otherwise.",
    "identical_models": "Two models that give nearly the same answers.",
    "near_identical_prompts": "Prompts that are all right on the same examples, where no labels "
    "tell that from constant answers.",
    "label_mass": "Hardly any probability on the labels.",
    "constant_answers": "Prompts that give nearly every example the same label.",
    "majority": "A best prompt that is not above the best constant answer.",
    "max_t": "A p_max that the max-T permutation test does not confirm.",
    "heuristic": "A best prompt that is not above a heuristic, such as the longest choice.",
    "choices_only": "A best prompt that is not above itself with blank inputs (`shortcuts: "
    "[choices_only]`).",
    "near_heuristic": "A best prompt that is above the best heuristic by no more than chance "
    "allows.",
    "near_choices_only": "A best prompt that is above itself with blank inputs by no more than "
    "chance allows.",
    "repeated_prompts": "Fewer distinct prompts than asked.",
    "unpassable": "A claim that no result can pass.",
}
"""What each red flag is, for the schema."""
RedFlags: TypeAlias = (
    Severity
    | Annotated[
        dict[RedFlagKind, Severity],
        WithJsonSchema(
            {
                "type": "object",
                "description": "What each red flag does to a claim: fail, warn (it is told), or "
                "ignore.",
                "additionalProperties": False,
                "properties": {
                    kind: {
                        "description": what,
                        "default": DEFAULTS[kind],
                        "enum": ["fail", "warn", "ignore"],
                        "type": "string",
                    }
                    for kind, what in DESCRIPTIONS.items()
                },
            }
        ),
    ]
)
"""One word for all kinds, or a word for each that is named."""


def severities(said: RedFlags | None) -> dict[RedFlagKind, Severity]:
    """Return what each kind does to a claim."""
    return {**DEFAULTS, **_by_kind(said)}


def _by_kind(said: RedFlags | None) -> Mapping[RedFlagKind, Severity]:
    return dict.fromkeys(DEFAULTS, said) if isinstance(said, str) else said or {}


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
        # Read from the instance's dictionary, the old name warns nobody.
        bounds = self.__dict__
        bounds = {**bounds, "union_p": self.union_p or bounds["guaranteed_p"]}
        keys = ("p_max", "permutation_p", "beats", "union_p")
        return {key: bounds[key] for key in keys if bounds[key] is not None}

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield the old name of a key that stands beside it."""
        if {"union_p", "guaranteed_p"} <= self.model_fields_set:
            yield (
                ("guaranteed_p",),
                "this is the old name of `union_p`, which stands beside it; remove it",
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


def _off(value: Any) -> Any:
    """Read `off` as it is meant; YAML reads it as false."""
    return "off" if value is False else value


class LabelBiasSpec(Spec):
    """Does the best prompt know answers, or prefer a label?"""

    check: LabelCheck = "recall"
    """recall: accuracy by gold label as the examples are (no further forward). move: every right
    answer at every label, paired, so that the expectation over placements is exact. redraw: for
    each label, right answers drawn anew among the others (arXiv 2406.11634)."""
    interactions: (
        Annotated[list[Interaction], Field(min_length=1), Distinct, OneOrMore()] | None
    ) = None
    """How labels are asked for; as the claim itself asks if not given. counterfactual: each answer
    is moved into the context, and one continuation that all share is scored."""
    base_rate: Annotated[
        BaseRate, BeforeValidator(_off, json_schema_input_type=BaseRate | Literal[False])
    ] = "control"
    """Where the labels' probabilities without a question come from. control: texts that list the
    labels in all orders (rotations above 4 labels). content_free: each prompt with inputs that say
    nothing. Of recorded results there are none."""
    calibration: Annotated[list[Calibration], Distinct, OneOrMore()] = Field(default=[])
    """Scores from which the labels' prior is removed: contextual (content-free inputs, Zhao et al.
    2021), pride (rotated choices of 5 % of the examples, held back; Zheng et al. 2023)."""
    tasks: Annotated[list[Name], Field(min_length=1), Distinct, OneOrMore()] | None = None
    """Names of the tasks that are checked; all of the suite if not given."""
    seed: Seed = 0
    """Of redraw, and of which examples pride holds back."""
    level: Probability = 0.05
    """What the p-value of above_random is compared with."""
    assertion: Literal["report", "above_random"] = Field(default="above_random", alias="assert")
    """above_random: the best of the t prompts scores higher than the best of t random guessers who
    are put through the same; report: nothing is asserted."""

    def is_about(self, task: str) -> bool:
        """Tell whether a task is checked."""
        return self.tasks is None or task in self.tasks

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield a level of what is not asserted."""
        if self.assertion == "report" and "level" in self.model_fields_set:
            yield (
                ("level",),
                "`assert: report` asserts nothing, and `level` is what a p-value is compared "
                "with; remove one of the two",
            )


class SharedSettings(Spec):
    """What a suite of any kind may say of what leaves the machine."""

    share: Literal["nothing", "texts"] = "nothing"
    """texts: pages that are made in CI hold the texts of questions. Whoever may read its artifacts
    then reads the benchmark, and so may those who train models. A page that is made on your own
    machine has the texts anyway."""


class LabelBiasSettings(Spec):
    """What a suite of any kind may say of its labels."""

    label_bias: LabelBiasSpec | None = None
    """Whether a claim's best prompt knows answers or prefers a label; one more item per claim."""
