"""What the types of a suite cannot say: parts that contradict each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from pytest_maxrandom.suite.arms import (
    CompareSpec,
    ContaminationSpec,
    contradictions_of_arms,
    contradictions_of_comparisons,
    model_names,
)
from pytest_maxrandom.suite.base import Spec, as_list, repeats
from pytest_maxrandom.suite.claims import LabelBiasSpec, contradictions_of_label_bias
from pytest_maxrandom.suite.models import MODELS, ModelSpec, arm_of
from pytest_maxrandom.suite.recorded import RecordedModelSpec
from pytest_maxrandom.suite.spec import PromptsSpec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.suite.base import Contradiction, Location, NamedModel

S = TypeVar("S", bound=Spec)


def is_recorded(data: Any) -> bool:
    """Tell whether a suite is about recorded results."""
    return any(_backends(data))


def mixed(data: Any) -> Contradiction | None:
    """Return what is wrong with a suite some of whose models are run, and others are not."""
    backends = _backends(data)
    if len(set(backends)) < 2:
        return None
    index = backends.index(not backends[0])
    kinds = {True: "has recorded results", False: "is run"}
    return (
        ("models", index, "backend"),
        f"this {kinds[backends[index]]}, but models[0] {kinds[backends[0]]}; a suite has models of "
        "one kind only: write two suites",
    )


def _backends(data: Any) -> list[bool]:
    """Tell of each model whether its results are recorded."""
    models = _entries(data, "models")
    return [isinstance(each, dict) and each.get("backend") == "recorded" for each in models]


def contradictions(data: Any, *, recorded: bool) -> Iterator[Contradiction]:
    """Yield where parts of a suite contradict each other, and the way out in one sentence.

    Parameters
    ----------
    data : object
        What the file says. Parts that are mistakes by themselves are passed over, so that a suite
        may be asked for both kinds of mistake at once.
    recorded : bool
        Whether its results are recorded.
    """
    suite = data if isinstance(data, dict) else {}
    tasks = [task if isinstance(task, dict) else {} for task in _entries(suite, "tasks")]
    models = [_model(model, recorded=recorded) for model in _entries(suite, "models")]
    for index, first in repeats(None if model is None else model.test_id for model in models):
        yield ("models", index), f"this has the test ids of models[{first}]; give one a `label`"
    yield from _of_tasks(suite, tasks)
    yield from _of_replicates(suite, tasks, recorded=recorded)
    bias = _sound(LabelBiasSpec, suite.get("label_bias"))
    if bias is not None:
        task_names = [task.get("name") for task in tasks]
        for place, told in contradictions_of_label_bias(bias, task_names, recorded=recorded):
            yield ("label_bias", *place), told
    if recorded and suite.get("judge") == "published":
        for index, task in enumerate(tasks):
            if task and "published" not in task:
                yield (
                    ("tasks", index),
                    "`judge: published` needs the key `published` of every task; give n, t and "
                    "chance as they were published",
                )
    if "counterfactual" in suite and not recorded:
        bias = suite.get("label_bias")
        asked = as_list(bias.get("interactions")) if isinstance(bias, dict) else []
        if "counterfactual" not in (suite.get("scoring"), *asked):
            yield (
                ("counterfactual",),
                "this says how choices are stated, and nothing is scored so; remove it, or use "
                "`scoring: counterfactual` or `label_bias: {interactions: counterfactual}`",
            )
    yield from _of_arms(suite, models, recorded=recorded)


def _of_tasks(suite: dict[str, Any], tasks: list[dict[str, Any]]) -> Iterator[Contradiction]:
    names = [task.get("name") for task in tasks]
    for index, first in repeats(name if isinstance(name, str) else None for name in names):
        yield (
            ("tasks", index, "name"),
            f"this is the name of tasks[{first}]; a task's name must be its own",
        )
    for index, task in enumerate(tasks):
        if (task.get("assert") or suite.get("assert")) != "report":
            continue
        for key, what in (("xfail", "expects that to fail"), ("test", "is opened if that holds")):
            if task.get(key) or suite.get(key):
                yield (
                    ("tasks", index, key) if task.get(key) else (key,),
                    f"`assert: report` claims nothing, and `{key}` {what}; remove one of the two",
                )


def _of_replicates(
    suite: dict[str, Any], tasks: list[dict[str, Any]], *, recorded: bool
) -> Iterator[Contradiction]:
    parts: list[tuple[Location, dict[str, Any]]] = [((), suite)]
    parts += [(("tasks", index), task) for index, task in enumerate(tasks)]
    asking: list[Location] = [
        (*place, "assert", "in_replicates")
        for place, part in parts
        if isinstance(claim := part.get("assert"), dict) and claim.get("in_replicates") is not None
    ]
    if recorded:
        for place in [("replicates",), *asking] if "replicates" in suite else asking:
            yield (
                place,
                "this is about examples and demonstrations that are drawn anew, and these results "
                "are recorded; remove it, and see `maxrandom replication` for results that hold "
                "replicates",
            )
    elif suite.get("replicates") is None:
        for place in asking:
            yield (
                place,
                "this is a share of the suite's replicates, and it has none; add `replicates: 20` "
                "to the suite, or remove this",
            )


def _of_arms(
    suite: dict[str, Any], models: list[NamedModel | None], *, recorded: bool
) -> Iterator[Contradiction]:
    known = [model for model in models if model is not None]
    names = model_names(known) if len(known) == len(models) else {}
    arms = suite.get("arms")
    if isinstance(arms, dict) and not recorded:
        kind = arm_of(suite.get("models"))
        sound = {name: _sound(kind, arm) for name, arm in arms.items() if isinstance(name, str)}
        names = {name: place for place, name in enumerate(sound)}
        prompts = _sound(PromptsSpec, suite.get("prompts")) or PromptsSpec()
        yield from contradictions_of_arms(
            sound, len(models), len(prompts.instructions or ()), prompts.formats or ()
        )
    if names:
        entries = _entries(suite, "compare")
        entries = [{"arms": each} if isinstance(each, str) else each for each in entries]
        compare = [_sound(CompareSpec, each) for each in entries]
        contamination = _sound(ContaminationSpec, suite.get("contamination"))
        yield from contradictions_of_comparisons(names, compare, contamination)


def _model(value: Any, *, recorded: bool) -> NamedModel | None:
    """Return a model as far as it is sound, if its backend is known."""
    if recorded:
        return _sound(RecordedModelSpec, value)
    found = _sound(MODELS.known(value), value)
    return found if isinstance(found, ModelSpec) else None


def _entries(data: Any, key: str) -> list[Any]:
    found = data.get(key) if isinstance(data, dict) else None
    return found if isinstance(found, list) else []


def _sound(kind: type[S], value: Any) -> S | None:
    """Return the part without those of its keys that are mistakes, or None if it needs them."""
    if not isinstance(value, dict):
        return None
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        wrong = {mistake["loc"][0] for mistake in error.errors() if mistake["loc"]}
    try:
        return kind.model_validate({key: value[key] for key in value if key not in wrong})
    except ValidationError:
        return None
