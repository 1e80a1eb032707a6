"""What a suite may say of two arms: what is claimed of their difference."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from pytest_maxrandom.suite.base import Spec, Text

Level = Annotated[float, Field(gt=0, lt=0.5)]


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
