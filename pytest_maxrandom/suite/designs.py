"""What a suite may say of arms: ways to change one thing, and what is claimed of two of them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from pytest_maxrandom.suite.base import (
    Dtype,
    FormatSpec,
    Name,
    Prose,
    Quantization,
    Spec,
    Text,
)

Level = Annotated[float, Field(gt=0, lt=0.5)]


class ArmSpec(Spec):
    """An arm: the suite with one thing changed, or, with no key, as it stands."""

    model: Name | None = None
    """Another model: hub id, or local folder (relative to the suite file)."""
    revision: Text | None = None
    """Branch, tag or commit on the hub, of `model` if that is given, else of the suite's."""
    adapter: Text | None = None
    """The suite's model with this LoRA adapter: hub id, or local folder (relative to the suite
    file)."""
    quantization: Quantization | None = None
    """How the suite's model is quantized instead."""
    dtype: Dtype | None = None
    """The suite's model in other arithmetic."""
    instruction: Prose | None = None
    """An instruction, in place of the task's prefix or of the suite's one instruction."""
    format: FormatSpec | None = None
    """What is written differently; all else stays as the task, or the suite's one format, has
    it."""


class DifferenceSpec(Spec):
    """What is claimed of the mean difference of accuracy, first arm minus second (one-sided)."""

    not_worse_than: Annotated[float, Field(gt=-1, le=0)] | None = None
    """The difference is above this: -0.02 lets the first arm lose up to two points."""
    better: Annotated[float, Field(ge=0, lt=1)] | None = None
    """The difference is above this: with 0.0 the first arm is better, by however little."""
    level: Level = 0.05
    """The p-value of that is at most this."""

    @property
    def margin(self) -> float | None:
        """What the difference must be above; None where nothing is claimed."""
        return self.better if self.not_worse_than is None else self.not_worse_than


class CompareSpec(Spec):
    """Two arms on every task with every number of shots."""

    arms: Text
    """The two arms, first minus second: `nf4 - none`."""
    assertion: DifferenceSpec | None = Field(default=None, alias="assert")
    """What must hold; if not given, the numbers are reported."""
    xfail: Text | None = None
    """Why this is expected to fail (strict: it fails if it passes)."""


def _entry(value: Any) -> Any:
    """Let the two arms alone stand for a comparison that claims nothing."""
    return {"arms": value} if isinstance(value, str) else value


Comparison = Annotated[
    CompareSpec, BeforeValidator(_entry, json_schema_input_type=Text | CompareSpec)
]


class ContaminationSpec(Spec):
    """Was a model tuned on the benchmark's own text? Three arms that tell."""

    base: Text
    """The arm that was not tuned."""
    extra: Text
    """The arm that was tuned on other text of the kind."""
    test: Text
    """The arm that is asked about, or was tuned on the benchmark's text."""
    level: Level = 0.05
    """The p-values of "extra is better than base" and "test is better than extra" are compared with
    this."""
    allow_inconclusive: bool = False
    """Whether this passes where extra is not better than base, so that nothing can be said."""
    xfail: Text | None = None
    """Why this is expected to fail (strict: it fails if it passes)."""


class ComparingSettings(Spec):
    """What a suite of any kind may say of its arms."""

    compare: list[Comparison] = Field(default=[])
    """Pairs of arms, or of models: `nf4 - none` reports the difference, first minus second;
    {arms: nf4 - none, assert: {not_worse_than: -0.02}} claims something of it."""
    contamination: ContaminationSpec | None = None
    """Whether an arm was tuned on the benchmark's own text."""
