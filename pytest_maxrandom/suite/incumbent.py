"""What a suite may say of its incumbent, which runs today and is to be surpassed.

An incumbent is one prompt to one model. What a suite does not say of it is as in the claim: the
model that is asked, and of the prompt the task's own words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from pytest_maxrandom.suite.base import Distinct, FormatSpec, OneOrMore, Prose, Spec, Text
from pytest_maxrandom.suite.models import AnyModel  # noqa: TC001 - read by pydantic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.suite.base import Contradiction


class IncumbentSettings(Spec):
    """How candidates are compared with the incumbent, whatever it is."""

    test: Literal["exact", "resampled"] | None = None
    """exact: t times an exact paired test of the best prompt, whatever prompts have in common.
    resampled: White's reality check, which costs little where prompts answer alike, and whose level
    holds for many examples only. If not given, exact below 200 independent examples, for graded
    scores, and where t, or the level, asks for more than resamples can show; else resampled."""
    matters: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """The smallest difference that matters; the report says about how many examples would show
    it."""


class IncumbentSpec(IncumbentSettings):
    """What runs today: a prompt, a model, or what either was seen to answer."""

    instruction: Prose | None = None
    """Its instruction; the task's own prefix if not given."""
    demonstrations: Annotated[list[Text], Distinct, OneOrMore()] = Field(default=[])
    """Ids of its solved examples, in the order of its text; of the task, or of its pool. It is not
    scored on those of them that are validation examples."""
    format: FormatSpec | None = None
    """What it writes differently from the task."""
    model: AnyModel | None = None
    """Its model; the model of the claim if not given. Beside `answers` it is not asked, but tells
    whether they are still its own."""
    answers: Text | None = None
    """Instead of the above, its answers: a file (relative to the suite file) that
    --maxrandom-predictions wrote. It must hold the same task."""
    prompt: Text | None = None
    """Which prompt of `answers` it is: the first letters of its digest; not needed where the file
    holds one prompt of the task."""

    @property
    def of_prompt(self) -> bool:
        """Whether anything is said of its prompt."""
        return bool(self.model_fields_set & {"instruction", "demonstrations", "format"})

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield answers of something that is to be asked, and a prompt of no answers."""
        if self.answers is not None and self.of_prompt:
            yield (
                ("answers",),
                "these are recorded, but `instruction`, `demonstrations` and `format` are what is "
                "asked; remove one of the two",
            )
        if self.prompt is not None and self.answers is None:
            yield ("prompt",), "this names a prompt of `answers`, which is not given; add it"
        if self.answers is None and self.model is None and not self.of_prompt:
            yield (
                (),
                "says nothing of what runs today; give `instruction`, `demonstrations`, `format`, "
                "`model` or `answers`",
            )


class ControlSpec(IncumbentSettings):
    """An answer that needs no model."""

    answer: Annotated[list[Prose], Field(min_length=1), Distinct, OneOrMore()] = Field(default=[""])
    """What it says to every question, as if that had been read in what a model wrote. Where prompts
    give several samples, as many answers at most: it gives them in turn."""


def unclaimable(
    suite: dict[str, Any], tasks: list[dict[str, Any]], *, recorded: bool
) -> Iterator[Contradiction]:
    """Yield what a suite, as it stands in its file, cannot claim of an incumbent."""
    named = suite.get("incumbent") is not None
    metric = suite.get("metric", "accuracy")
    parts: list[tuple[tuple[str | int, ...], dict[str, Any]]] = [((), suite)]
    parts += [(("tasks", index), task) for index, task in enumerate(tasks)]
    for place, part in parts:
        claim = part.get("assert")
        if not isinstance(claim, dict):
            continue
        if not named and claim.get("better_than") is not None:
            yield (
                (*place, "assert", "better_than"),
                "the suite does not say what the incumbent is; add the key `incumbent` to it, such "
                f"as `incumbent: {{{'prompt: NAME' if recorded else 'instruction: TEXT'}}}`",
            )
        if suite.get("control") is None and claim.get("control_p") is not None:
            yield (
                (*place, "assert", "control_p"),
                "the suite names no control; add the key `control`, such as `control: {answer: "
                "UNKNOWN}`, in a suite of recorded results `control: {prompt: blank}`, or remove "
                "this",
            )
        if metric != "accuracy" and isinstance(claim.get("beats"), int | float):
            yield (
                (*place, "assert", "beats"),
                f"a stated baseline is one of accuracy, but the metric is {metric}; remove one of "
                "the two",
            )
    for key in ("incumbent", "control"):
        if metric != "accuracy" and suite.get(key) is not None:
            yield (
                (key,),
                f"the difference to it is one of accuracy, but the metric is {metric}; remove one "
                "of the two",
            )
    if not named:
        return
    for key, what in (
        ("replicates", "draw new examples and demonstrations"),
        ("classify", "trains a head that has no prompts"),
    ):
        if suite.get(key) is not None:
            yield (
                ("incumbent",),
                f"one prompt is compared on one set of examples, but `{key}` {what}; remove one of "
                "the two",
            )
