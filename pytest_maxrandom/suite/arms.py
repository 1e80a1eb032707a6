"""What a suite may say of arms, ways to change one thing, and of the difference between two."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from pytest_maxrandom.errors import did_you_mean
from pytest_maxrandom.suite.base import Spec, Text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from pytest_maxrandom.suite.base import Contradiction, FormatSpec, NamedModel
    from pytest_maxrandom.suite.models import ArmSpec

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

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield that two margins are given, or none."""
        if (self.not_worse_than is None) == (self.better is None):
            how = "neither" if self.better is None else "both"
            yield (), f"found {how} of `not_worse_than` and `better`, expected one of the two"


class CompareSpec(Spec):
    """Two arms on every task with every number of shots."""

    arms: Text
    """The two arms, first minus second: `nf4 - none`."""
    assertion: DifferenceSpec | None = Field(default=None, alias="assert")
    """What must hold; if not given, the numbers are reported."""
    xfail: Text | None = None
    """Why this is expected to fail (strict: it fails if it passes)."""

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield a failure that is expected where nothing is claimed."""
        if self.assertion is None and self.xfail:
            yield (
                ("xfail",),
                "`xfail` expects to fail what is asserted, and nothing is; give `assert`, or "
                "remove it",
            )


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


def contradictions_of_arms(
    arms: Mapping[str, ArmSpec | None],
    models: int,
    instructions: int,
    formats: Sequence[FormatSpec],
) -> Iterator[Contradiction]:
    """Yield arms that do not change exactly one thing of the suite, or cannot.

    Parameters
    ----------
    arms
        None stands for an arm that is a mistake by itself.
    models, instructions : int
        How many the suite names.
    formats
        Those of the suite's prompts.
    """
    if models > 1:
        yield (
            ("models", 1),
            f"found {models} models, expected one, because `arms` are changes of one model; give "
            "the others as arms, such as `other: {model: NAME}`",
        )
    variants = {"instruction": instructions, "format": len(formats)}
    for name, arm in arms.items():
        changes = things_changed(arm) if arm else []
        if len(changes) > 1:
            yield (
                ("arms", name),
                f"this changes {' and '.join(changes)}; an arm changes one thing, so that a "
                "difference has one cause: make two arms of it",
            )
        for key in changes:
            if variants.get(key, 0) > 1:
                yield (
                    ("arms", name, key),
                    f"the suite varies this already, with {variants[key]} `"
                    f"prompts.{key}s`; leave one there, or remove this arm",
                )
        if arm and arm.format and _labels_nothing(arm.format, formats):
            yield (
                ("arms", name, "format"),
                "labels that are not the choices' text need the choices listed; remove "
                "`append_choices: false` or use `labels: text`",
            )


def _labels_nothing(changed: FormatSpec, formats: Sequence[FormatSpec]) -> bool:
    """Tell whether a format, with what it leaves as the suite has it, labels unlisted choices."""
    base = formats[0] if len(formats) == 1 else changed
    given = base.model_dump() | changed.model_dump(exclude_unset=True)
    return given["labels"] != "text" and given["append_choices"] is False


def things_changed(arm: ArmSpec) -> list[str]:
    """Return what an arm changes, as its keys; a model comes with its revision."""
    keys = [key for key, value in arm if value is not None]
    return [key for key in keys if key != "revision" or "model" not in keys]


def contradictions_of_comparisons(
    names: Mapping[str, int],
    compare: Sequence[CompareSpec | None],
    contamination: ContaminationSpec | None,
) -> Iterator[Contradiction]:
    """Yield comparisons of what does not exist.

    Parameters
    ----------
    names
        What arms may be called, with what tells them apart.
    compare
        None stands for an entry that is a mistake by itself.
    """
    first: dict[str, int] = {}
    for index, spec in enumerate(compare):
        if spec is None:
            continue
        place = ("compare", index, "arms")
        try:
            one, other = split_comparison(spec.arms, names)
        except ValueError as error:
            yield place, str(error)
            continue
        if names[one] == names[other]:
            yield place, f"{one!r} and {other!r} are one model"
        if (earlier := first.setdefault(f"{one}-{other}", index)) != index:
            yield (
                place,
                f"this has the test ids of compare[{earlier}]; remove one of the two, or rename "
                "an arm",
            )
    arms = {key: getattr(contamination, key) for key in ("base", "extra", "test")
            if contamination is not None}  # fmt: skip
    for key, name in arms.items():
        if name not in names:
            yield ("contamination", key), unknown_arm(name, names)
    known = [names[name] for name in arms.values() if name in names]
    if len(set(known)) < len(known):
        yield ("contamination",), "base, extra and test must be three different arms"
