"""What a suite may say of arms, ways to change one thing, and of the difference between two."""

from __future__ import annotations

import functools
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    create_model,
    model_validator,
)

from pytest_maxrandom.errors import ExtensionError, did_you_mean
from pytest_maxrandom.suite.base import FormatSpec, Name, OneOrMore, Prose, Scoring, Spec, Text
from pytest_maxrandom.suite.documented import description
from pytest_maxrandom.suite.models import MODELS, ModelSpec, TransformersSpec
from pytest_maxrandom.suite.training import ClassifySpec, TrainSpec  # noqa: TC001 - pydantic

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from pytest_maxrandom.suite.base import Contradiction, NamedModel


class ArmSpec(Spec):
    """An arm: the suite with one thing changed, or, with no key, the suite unchanged.

    It may also change another key of the suite's model; the backend decides which.
    """

    model: Name | None = None
    """Another model, as `name` of a model."""
    instruction: Prose | None = None
    """An instruction, in place of the task's prefix or of the suite's one instruction."""
    format: FormatSpec | None = None
    """What is written differently; everything else is as in the task, or in the suite's one
    format."""
    scoring: Scoring | None = None
    """Another way to read an answer from the model."""
    train: TrainSpec | None = None
    """Texts that the model is trained on before it is asked: further pretraining, which the other
    arms lack or have on other texts."""
    classify: ClassifySpec | None = None
    """Another training of the classification head than the suite's."""

    @property
    def of_model(self) -> dict[str, Any]:
        """What it changes in the model besides its name."""
        return {
            key: value
            for key, value in self
            if key not in ArmSpec.model_fields and value is not None
        }

    @model_validator(mode="wrap")
    @classmethod
    def _of_backend(
        cls, value: Any, handler: ValidatorFunctionWrapHandler, info: ValidationInfo
    ) -> Any:
        if cls is not ArmSpec or isinstance(value, ArmSpec):
            return handler(value)
        suite = info.context if isinstance(info.context, dict) else {}
        return arm_of(suite.get("models")).model_validate(value)


@functools.cache
def arm_spec(kind: type[ModelSpec]) -> type[ArmSpec]:
    """Return what may be said of an arm of a suite whose model is of a kind."""
    own: dict[str, Any] = {}
    for key in kind.keys_in_arms():
        field = kind.model_fields[key]
        told = field.description or description(kind, key)
        own[key] = (field.rebuild_annotation() | None, Field(None, description=told))
    return create_model(f"ArmOf{kind.__name__}", __base__=ArmSpec, **own)


class _ArmOfAny(ArmSpec):
    """An arm of a model whose keys are not known."""

    model_config = ConfigDict(extra="allow")


def arm_of(models: Any) -> type[ArmSpec]:
    """Return what may be said of the arms of a suite that says this of its models."""
    try:
        kind = MODELS.kind(models[0] if isinstance(models, list) and models else {})
    except ExtensionError:  # which is said of the model
        return _ArmOfAny
    return arm_spec(kind or TransformersSpec)


Level = Annotated[float, Field(gt=0, lt=0.5)]
ALL = "all"
"""What stands in a comparison for all models, or arms, of a suite."""
USUAL_LEVEL = 0.05


class DifferenceSpec(Spec):
    """What is claimed of the mean difference of accuracy, first arm minus second (one-sided)."""

    not_worse_than: Annotated[float, Field(gt=-1, le=0)] | None = None
    """The difference is above this: -0.02 lets the first arm lose up to two points."""
    better: Annotated[float, Field(ge=0, lt=1)] | None = None
    """The difference is above this: with 0.0 the first arm is better, by however little."""
    best: Text | None = None
    """Of `arms: all`: this one alone is among the best, so that it is better than each other."""
    level: Level = USUAL_LEVEL
    """The largest allowed p-value of that."""

    @property
    def margin(self) -> float | None:
        """What the difference must be above; None where nothing is claimed."""
        return self.better if self.not_worse_than is None else self.not_worse_than

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield that several things are claimed, or none."""
        given = [each for each in (self.not_worse_than, self.better, self.best) if each is not None]
        if len(given) != 1:
            how = "several" if given else "none"
            yield (
                (),
                f"found {how} of `not_worse_than` and `better`, or of all models `best`, expected "
                "exactly one",
            )


class CompareSpec(Spec):
    """Two arms, or all of them, on every task with every number of shots."""

    arms: Text
    """The two arms, first minus second: `nf4 - none`; or `all` of them, each at the best of its
    prompts."""
    prompt: Annotated[int, Field(ge=1)] | None = None
    """Of `arms: all`: the number of the one prompt by which all are compared, from 1; it must have
    been fixed before anybody saw an answer. If not given, each has its best."""
    assertion: DifferenceSpec | None = Field(default=None, alias="assert")
    """What must hold; if not given, the numbers are only reported."""
    xfail: Text | None = None
    """Why this is expected to fail (strict: the test fails if it passes)."""

    @property
    def of_all(self) -> bool:
        """Whether all models, or arms, are compared."""
        return self.arms.strip() == ALL

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield what belongs to two arms, or to all, and a failure without a claim."""
        best = self.assertion is not None and self.assertion.best is not None
        if self.of_all and self.assertion is not None and not best:
            yield (
                ("assert",),
                "all models are compared, which have no one difference; claim `best: NAME`, or "
                "name two of them in `arms`",
            )
        for place, given in ((("assert", "best"), best), (("prompt",), self.prompt is not None)):
            if given and not self.of_all:
                yield place, "this belongs to `arms: all`; remove it, or compare all"
        if self.assertion is None and self.xfail:
            yield (
                ("xfail",),
                "`xfail` expects an assertion to fail, but there is none; give `assert`, or remove "
                "`xfail`",
            )


def _entry(value: Any) -> Any:
    """Let the two arms alone stand for a comparison that claims nothing."""
    return {"arms": value} if isinstance(value, str) else value


Comparison = Annotated[
    CompareSpec, BeforeValidator(_entry, json_schema_input_type=Text | CompareSpec)
]


class ContaminationSpec(Spec):
    """A check with three arms: was a model tuned on the benchmark's own text?"""

    base: Text
    """The arm that was not tuned."""
    extra: Text
    """The arm that was tuned on other text of the same kind."""
    test: Text
    """The arm in question, or one that was tuned on the benchmark's text."""
    level: Level = 0.05
    """The level for the p-values of "extra is better than base" and "test is better than extra"."""
    allow_inconclusive: bool = False
    """Whether pytest lets the check be if it cannot tell, because neither extra is better than base
    nor test than extra. Test better than extra is a finding, which this never passes."""
    xfail: Text | None = None
    """Why this is expected to fail (strict: the test fails if it passes)."""


class ComparingSettings(Spec):
    """What a suite of any kind may say of its arms."""

    compare: Annotated[list[Comparison], OneOrMore()] = Field(default=[])
    """Pairs of arms, or of models: `nf4 - none` reports the difference, first minus second;
    {arms: nf4 - none, assert: {not_worse_than: -0.02}} claims something about it. `all` tells which
    of all of them may be the best, each at the best of its own prompts."""
    contamination: ContaminationSpec | None = None
    """Whether an arm was tuned on the benchmark's own text."""


def model_names(models: Sequence[NamedModel]) -> dict[str, int]:
    """Return what models may be called in comparisons, each with its place.

    That is what test ids say of them, and the short name where it is the only one.
    """
    short = [model.short_name for model in models]
    names = {name: place for place, name in enumerate(short) if Counter(short)[name] == 1}
    return {model.test_id: place for place, model in enumerate(models)} | names


def split_comparison(text: str, arms: Collection[str]) -> tuple[str, str]:
    """Read "a-b" or "a - b", the difference of two arms, whose names may have hyphens.

    Raises
    ------
    ValueError
        If it names no two different arms, or can be read in two ways.

    Examples
    --------
    >>> split_comparison("llama-nf4 - llama", ["llama", "llama-nf4"])
    ('llama-nf4', 'llama')
    """
    places = [place for place, letter in enumerate(text) if letter == "-"]
    splits = [(text[:place].strip(), text[place + 1 :].strip()) for place in places]
    found = [(a, b) for a, b in splits if a in arms and b in arms and a != b]
    if len(found) == 1:
        return found[0]
    if found:
        ways = " or as ".join(f"{a!r} - {b!r}" for a, b in found)
        raise ValueError(f"{text!r} can be read as {ways}; rename an arm")
    unknown = [part.strip() for part in text.split(" - ") if part.strip() not in arms]
    if text.count(" - ") == 1 and unknown:
        raise ValueError(unknown_arm(unknown[0], arms))
    known = ", ".join(map(repr, arms)) or "none"
    raise ValueError(
        f"found {text!r}, expected two different arms with a hyphen between them, of: {known}"
    )


def unknown_arm(name: str, names: Collection[str]) -> str:
    """Say that there is no arm of this name, and which was perhaps meant."""
    hint = did_you_mean(name, names, "`{}`".format, cutoff=0.5)
    return f"there is no arm {name!r}{hint} (arms here: {', '.join(names)})"


def things_changed(arm: ArmSpec) -> list[str]:
    """Return what an arm changes, as its keys.

    A model comes with its revision, and with how its files are quantized already; that, with the
    permission to load them.
    """
    stated = {key: value for key, value in arm if value is not None}
    comes = set()
    if "model" in stated:
        comes.add("revision")
    if stated.get("quantization") == "stored":
        comes |= {"unverified"} | ({"quantization"} if "model" in stated else set())
    return [key for key in stated if key not in comes]
