"""What a suite may say of label bias, and where it contradicts itself in that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from pytest_maxrandom.errors import did_you_mean
from pytest_maxrandom.record.label_bias import BaseRate, Calibration, Interaction, LabelCheck
from pytest_maxrandom.suite.base import Distinct, Name, OneOrMore, Probability, Seed, Spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_maxrandom.suite.base import Contradiction


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


class LabelBiasSettings(Spec):
    """What a suite of any kind may say of its labels."""

    label_bias: LabelBiasSpec | None = None
    """Whether a claim's best prompt knows answers or prefers a label; one more item per claim."""


def contradictions_of_label_bias(
    spec: LabelBiasSpec, tasks: Sequence[object], *, recorded: bool
) -> Iterator[Contradiction]:
    """Yield where what is said of label bias contradicts the rest of the suite.

    Parameters
    ----------
    tasks
        Names of the suite's tasks, as they stand in the file.
    recorded
        Whether its results are recorded.
    """
    known = [name for name in tasks if isinstance(name, str)]
    for index, name in enumerate(spec.tasks or []):
        if name not in known:
            hint = did_you_mean(name, known) or "; correct the name, or remove it"
            yield ("tasks", index), f"{name!r} is no task of the suite{hint}"
    if not recorded:
        return
    if spec.check != "recall":
        yield (
            ("check",),
            f"{spec.check} asks the model again with other texts, and these results are recorded; "
            "use `check: recall`",
        )
    if spec.interactions not in (None, ["cloze"]):
        yield (
            ("interactions",),
            "these results are recorded as they are, and cannot be asked for in other ways; remove "
            "it",
        )
    if "base_rate" in spec.model_fields_set and spec.base_rate != "off":
        yield (
            ("base_rate",),
            "of recorded results there is none, because the model is not asked again; remove it",
        )
    if spec.calibration:
        yield ("calibration",), "scores of recorded results are not calibrated; remove it"
