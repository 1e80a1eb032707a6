"""What the types of a suite cannot say: parts that contradict each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from pytest_maxrandom.suite.spec import ModelSpec, PromptsSpec, Spec, TestSpec

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

Finding = tuple[tuple["str | int", ...], str]
S = TypeVar("S", bound=Spec)


def contradictions(data: Any) -> Iterator[Finding]:
    """Yield where a suite contradicts itself, and the way out in one sentence.

    Parameters
    ----------
    data : object
        What the file says. Parts that are mistakes by themselves are passed over, so that a suite
        may be asked for both kinds of mistake at once.
    """
    suite = data if isinstance(data, dict) else {}
    models = [_sound(ModelSpec, model) for model in _entries(suite.get("models"))]
    for index, first in _repeats(m and f"{m.short_name}-{m.quantization}" for m in models):
        yield (
            ("models", index),
            f"models[{index}] would have the same test ids as models[{first}]; give one a `label`",
        )
    for index, model in enumerate(models):
        if model is not None and model.device_map is not None and model.device != "auto":
            yield (
                ("models", index, "device_map"),
                f"models[{index}]: `device` names one device and `device_map` spreads the model "
                "over all GPUs; remove one of the two",
            )
    tasks = [task if isinstance(task, dict) else {} for task in _entries(suite.get("tasks"))]
    names = [task.get("name") for task in tasks]
    for index, first in _repeats(name if isinstance(name, str) else None for name in names):
        yield (
            ("tasks", index, "name"),
            f"tasks[{index}] has the name of tasks[{first}]; a task's name must be its own",
        )
    for index, task in enumerate(tasks):
        test = _sound(TestSpec, task.get("test"))
        if test is not None and (test.fraction is None) == (test.path is None):
            yield (
                ("tasks", index, "test"),
                f"tasks[{index}].test: found {'neither' if test.path is None else 'both'} of "
                "`fraction` and `path`, expected one of the two",
            )
    prompts = _sound(PromptsSpec, suite.get("prompts"))
    if prompts is not None:
        yield from _contradictions_of_prompts(prompts)


def _contradictions_of_prompts(prompts: PromptsSpec) -> Iterator[Finding]:
    for key, values in (
        ("shots", prompts.shots),
        ("instructions", prompts.instructions or ()),
        ("formats", [form.model_dump_json() for form in prompts.formats or ()]),
    ):
        for index, first in _repeats(values):
            yield (
                ("prompts", key, index),
                f"prompts.{key}[{index}] repeats prompts.{key}[{first}]; remove one of the two",
            )
    if prompts.budget is not None and prompts.budget < prompts.count:
        yield (
            ("prompts", "budget"),
            f"prompts.budget: found {prompts.budget}, expected at least prompts.count, which is "
            f"{prompts.count}; raise the budget or ask for fewer prompts",
        )
    variants = len(prompts.instructions or [""]) * len(prompts.formats or [""])
    if prompts.combine == "cross" and prompts.count < variants:
        yield (
            ("prompts", "count"),
            f"prompts.count: found {prompts.count}, expected at least {variants}, as `combine: "
            f"cross` writes each draw in {variants} ways; raise it or use `combine: sample`",
        )
    for index, form in enumerate(prompts.formats or ()):
        if form.labels != "text" and form.append_choices is False:
            yield (
                ("prompts", "formats", index, "append_choices"),
                f"prompts.formats[{index}]: labels that are not the choices' text need the "
                "choices listed; remove `append_choices: false` or use `labels: text`",
            )


def _entries(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _sound(kind: type[S], value: Any) -> S | None:
    """Return the part without those of its keys that are mistakes, or None if it needs them."""
    if not isinstance(value, dict):
        return None
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        wrong = {mistake["loc"][0] for mistake in error.errors()}
    try:
        return kind.model_validate({key: value[key] for key in value if key not in wrong})
    except ValidationError:
        return None


def _repeats(values: Iterable[Hashable]) -> Iterator[tuple[int, int]]:
    """Yield (index, first index) of each value but None that stands earlier already."""
    first: dict[Hashable, int] = {}
    for index, value in enumerate(values):
        if value is not None and first.setdefault(value, index) != index:
            yield index, first[value]
