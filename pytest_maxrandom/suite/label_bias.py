"""What a suite may say of label bias, and where it contradicts itself in that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from pytest_maxrandom.errors import did_you_mean
from pytest_maxrandom.record.label_bias import BaseRate, Calibration, Interaction, LabelCheck
from pytest_maxrandom.suite.base import Name, Probability, Seed, Spec, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Place = tuple[str | int, ...]


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
        Annotated[
            list[Interaction],
            BeforeValidator(listed, json_schema_input_type=Interaction | list[Interaction]),
            Field(min_length=1),
        ]
        | None
    ) = None
    """How labels are asked for; as the claim itself asks if not given. counterfactual: each answer
    is moved into the context, and one continuation that all share is scored."""
    base_rate: Annotated[
        BaseRate, BeforeValidator(_off, json_schema_input_type=BaseRate | Literal[False])
    ] = "control"
    """Where the labels' probabilities without a question come from. control: texts that list the
    labels in all orders (rotations above 4 labels). content_free: each prompt with inputs that say
    nothing. Of recorded results there are none."""
    calibration: Annotated[
        list[Calibration],
        BeforeValidator(listed, json_schema_input_type=Calibration | list[Calibration]),
    ] = Field(default=[])
    """Scores from which the labels' prior is removed: contextual (content-free inputs, Zhao et al.
    2021), pride (rotated choices of 5 % of the examples, held back; Zheng et al. 2023)."""
    tasks: (
        Annotated[
            list[Name],
            BeforeValidator(listed, json_schema_input_type=Name | list[Name]),
            Field(min_length=1),
        ]
        | None
    ) = None
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


class LabelBiasSettings(Spec):
    """What a suite of any kind may say of its labels."""

    label_bias: LabelBiasSpec | None = None
    """Whether a claim's best prompt knows answers or prefers a label; one more item per claim."""


_RECORDED = {
    "base_rate": "of recorded results there is none, because the model is not asked again",
    "calibration": "scores of recorded results are not calibrated",
}


def contradictions_of_label_bias(
    spec: LabelBiasSpec | None, tasks: Sequence[object], *, recorded: bool
) -> Iterator[tuple[Place, str]]:
    """Yield where a suite contradicts itself in what it says of label bias.

    Parameters
    ----------
    spec
        What it says; None where that is nothing, or no sound part of a suite.
    tasks
        Names of the suite's tasks, as they stand in the file.
    recorded
        Whether its results are recorded.
    """
    if spec is None:
        return
    for key in ("interactions", "calibration", "tasks"):
        values = getattr(spec, key) or []
        for index, value in enumerate(values):
            if (first := values.index(value)) < index:
                yield (
                    ("label_bias", key, index),
                    f"label_bias.{key}[{index}] repeats label_bias.{key}[{first}]; remove one of "
                    "the two",
                )
    known = [name for name in tasks if isinstance(name, str)]
    for index, name in enumerate(spec.tasks or []):
        if name not in known:
            hint = did_you_mean(name, known) or "; correct the name, or remove it"
            yield (
                ("label_bias", "tasks", index),
                f"label_bias.tasks[{index}]: {name!r} is no task of the suite{hint}",
            )
    if spec.assertion == "report" and "level" in spec.model_fields_set:
        yield (
            ("label_bias", "level"),
            "label_bias: `assert: report` asserts nothing, and `level` is what a p-value is "
            "compared with; remove one of the two",
        )
    if recorded:
        yield from _of_recorded(spec)


def _of_recorded(spec: LabelBiasSpec) -> Iterator[tuple[Place, str]]:
    if spec.check != "recall":
        yield (
            ("label_bias", "check"),
            f"label_bias.check: {spec.check} asks the model again with other texts, and these "
            "results are recorded; use `check: recall`",
        )
    if spec.interactions not in (None, ["cloze"]):
        yield (
            ("label_bias", "interactions"),
            "label_bias.interactions: these results are recorded as they are, and cannot be asked "
            "for in other ways; remove it",
        )
    asked: dict[str, Any] = {"base_rate": spec.base_rate != "off", "calibration": spec.calibration}
    for key, reason in _RECORDED.items():
        if key in spec.model_fields_set and asked[key]:
            yield ("label_bias", key), f"label_bias.{key}: {reason}; remove it"
