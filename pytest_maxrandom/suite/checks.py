"""What the types of a suite cannot say: parts that contradict each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from pytest_maxrandom.suite.arms import (
    contradictions_of_arms,
    contradictions_of_comparisons,
    model_names,
)
from pytest_maxrandom.suite.base import Spec, listed
from pytest_maxrandom.suite.designs import CompareSpec, ContaminationSpec
from pytest_maxrandom.suite.label_bias import LabelBiasSpec, contradictions_of_label_bias
from pytest_maxrandom.suite.models import ModelSpec, arm_of, spec_of
from pytest_maxrandom.suite.recorded import (
    RecordedModelSpec,
    RecordedPromptsSpec,
    ResultColumns,
    ResultsSpec,
)
from pytest_maxrandom.suite.replicates import contradictions_of_replicates
from pytest_maxrandom.suite.spec import PromptsSpec, TestSpec

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

Finding = tuple[tuple["str | int", ...], str]
S = TypeVar("S", bound=Spec)


_ONLY_OF: dict[str, tuple[str, ...]] = {
    "shots": ("table", "summary", "inspect"),
    "ragged": ("table", "npz", "predictions"),
    "columns": ("table", "summary", "lm_eval", "inspect"),
    "metric": ("lm_eval",),
    "scorer": ("inspect",),
}
_OF_LOGS = tuple(key for key in ResultColumns.model_fields if key != "cluster")
_NO_COLUMNS: dict[str, tuple[str, ...]] = {
    "table": ("n", "t", "best_correct", "accuracy", "chance"),
    "summary": ("prompt", "example", "correct", "prediction", "gold", "cluster"),
    "lm_eval": _OF_LOGS,
    "inspect": _OF_LOGS,
}


def is_recorded(data: Any) -> bool:
    """Tell whether a suite is about recorded results."""
    return any(_backends(data))


def mixed(data: Any) -> Finding | None:
    """Return what is wrong with a suite some of whose models are run, and others are not."""
    backends = _backends(data)
    if len(set(backends)) < 2:
        return None
    index = backends.index(not backends[0])
    kinds = {True: "has recorded results", False: "is run"}
    return (
        ("models", index, "backend"),
        f"models[{index}] {kinds[backends[index]]}, but models[0] {kinds[backends[0]]}; a suite "
        "has models of one kind only: write two suites",
    )


def _backends(data: Any) -> list[bool]:
    """Tell of each model whether its results are recorded."""
    models = _entries(data.get("models")) if isinstance(data, dict) else []
    return [isinstance(each, dict) and each.get("backend") == "recorded" for each in models]


def contradictions_of_recorded(data: Any) -> Iterator[Finding]:
    """Yield where a suite of recorded results contradicts itself; see `contradictions`."""
    suite = data if isinstance(data, dict) else {}
    models = [_sound(RecordedModelSpec, model) for model in _entries(suite.get("models"))]
    yield from _same_ids(models)
    for index, model in enumerate(_entries(suite.get("models"))):
        results = _sound(ResultsSpec, model.get("results")) if isinstance(model, dict) else None
        for key, message in _without_use(results) if results is not None else ():
            yield ("models", index, "results", *key), f"models[{index}].results{message}"
    yield from _contradictions_of_tasks(suite)
    yield from _contradictions_of_names(suite)
    yield from contradictions_of_replicates(suite, recorded=True)
    yield from _label_bias(suite, recorded=True)
    yield from _comparisons(suite, models)
    prompts = _sound(RecordedPromptsSpec, suite.get("prompts"))
    if prompts is not None:
        yield from _repeated_values("shots", prompts.shots or ())
    if suite.get("judge") == "published":
        for index, task in enumerate(_entries(suite.get("tasks"))):
            if isinstance(task, dict) and "published" not in task:
                yield (
                    ("tasks", index),
                    f"tasks[{index}]: `judge: published` needs the key `published` of every task; "
                    "give n, t and chance as they were published",
                )


def _without_use(results: ResultsSpec) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield keys that say nothing of results in this format."""
    for key, formats in _ONLY_OF.items():
        if getattr(results, key) not in (None, False) and results.format not in formats:
            yield (
                (key,),
                f".{key} is for the format {' or '.join(formats)}, found {results.format}; "
                "remove it",
            )
    columns = results.columns or ResultColumns()
    for key in _NO_COLUMNS.get(results.format, ()):
        if getattr(columns, key):
            what = f"a {results.format}" if results.format in ("table", "summary") else "a log"
            yield (
                ("columns", key),
                f".columns.{key} is no column of {what}; remove it",
            )


def contradictions(data: Any) -> Iterator[Finding]:
    """Yield where a suite contradicts itself, and the way out in one sentence.

    Parameters
    ----------
    data : object
        What the file says. Parts that are mistakes by themselves are passed over, so that a suite
        may be asked for both kinds of mistake at once.
    """
    suite = data if isinstance(data, dict) else {}
    models = [_model(model) for model in _entries(suite.get("models"))]
    yield from _same_ids(models)
    for index, model in enumerate(models):
        if model is not None and model.contradiction is not None:
            key, message = model.contradiction
            yield ("models", index, key), f"models[{index}]: {message}"
    tasks = [task if isinstance(task, dict) else {} for task in _entries(suite.get("tasks"))]
    yield from _contradictions_of_tasks(suite)
    yield from _contradictions_of_names(suite)
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
    yield from contradictions_of_replicates(suite, recorded=False)
    yield from _label_bias(suite, recorded=False)
    yield from _unused_counterfactual(suite)
    yield from _repeated_shortcuts(suite)
    arms = suite.get("arms")
    if isinstance(arms, dict):
        kind = arm_of(suite.get("models"))
        sound = {name: _sound(kind, arm) for name, arm in arms.items() if isinstance(name, str)}
        yield from contradictions_of_arms(sound, len(models), prompts)
        yield from _comparisons(suite, models, {name: place for place, name in enumerate(sound)})
    else:
        yield from _comparisons(suite, models)


def _contradictions_of_tasks(suite: dict[str, Any]) -> Iterator[Finding]:
    tasks = [task if isinstance(task, dict) else {} for task in _entries(suite.get("tasks"))]
    names = [task.get("name") for task in tasks]
    for index, first in _repeats(name if isinstance(name, str) else None for name in names):
        yield (
            ("tasks", index, "name"),
            f"tasks[{index}] has the name of tasks[{first}]; a task's name must be its own",
        )
    for index, task in enumerate(tasks):
        if (task.get("assert") or suite.get("assert")) != "report":
            continue
        for key in ("xfail", "test"):
            if task.get(key) or suite.get(key):
                what = {"xfail": "expects that to fail", "test": "is opened if that holds"}[key]
                yield (
                    ("tasks", index, key) if task.get(key) else (key,),
                    f"tasks[{index}]: `assert: report` claims nothing, and `{key}` {what}; remove "
                    "one of the two",
                )


def _contradictions_of_names(suite: dict[str, Any]) -> Iterator[Finding]:
    """Yield where a key stands beside its old name."""
    tasks = enumerate(_entries(suite.get("tasks")))
    parts: list[tuple[tuple[str | int, ...], Any]] = [((), suite)]
    parts += [(("tasks", index), task) for index, task in tasks]
    for place, part in parts:
        claimed = part.get("assert") if isinstance(part, dict) else None
        if isinstance(claimed, dict) and {"union_p", "guaranteed_p"} <= claimed.keys():
            yield (
                (*place, "assert", "guaranteed_p"),
                "`guaranteed_p` is the old name of `union_p`, which stands beside it; remove it",
            )


def _label_bias(suite: dict[str, Any], *, recorded: bool) -> Iterator[Finding]:
    tasks = _entries(suite.get("tasks"))
    names = [task.get("name") for task in tasks if isinstance(task, dict)]
    spec = _sound(LabelBiasSpec, suite.get("label_bias"))
    yield from contradictions_of_label_bias(spec, names, recorded=recorded)


def _unused_counterfactual(suite: dict[str, Any]) -> Iterator[Finding]:
    bias = suite.get("label_bias")
    interactions = listed(bias.get("interactions")) if isinstance(bias, dict) else []
    if "counterfactual" in suite and "counterfactual" not in (suite.get("scoring"), *interactions):
        yield (
            ("counterfactual",),
            "`counterfactual` says how choices are stated, and nothing is scored so; remove it, or "
            "use `scoring: counterfactual` or `label_bias: {interactions: counterfactual}`",
        )


def _repeated_shortcuts(suite: dict[str, Any]) -> Iterator[Finding]:
    controls = _entries(suite.get("shortcuts"))
    for index, first in _repeats(each if isinstance(each, str) else None for each in controls):
        yield (
            ("shortcuts", index),
            f"shortcuts[{index}] repeats shortcuts[{first}]; remove one of the two",
        )


def _comparisons(
    suite: dict[str, Any],
    models: Sequence[ModelSpec | RecordedModelSpec | None],
    arms: Mapping[str, int] | None = None,
) -> Iterator[Finding]:
    known = [model for model in models if model is not None]
    names = model_names(known) if arms is None else arms
    if not names or (arms is None and len(known) < len(models)):
        return
    entries = [{"arms": each} if isinstance(each, str) else each
               for each in _entries(suite.get("compare"))]  # fmt: skip
    compare = [_sound(CompareSpec, each) for each in entries]
    contamination = _sound(ContaminationSpec, suite.get("contamination"))
    yield from contradictions_of_comparisons(names, compare, contamination)


def _same_ids(models: Iterable[ModelSpec | RecordedModelSpec | None]) -> Iterator[Finding]:
    names = (None if model is None else model.test_id for model in models)
    for index, first in _repeats(names):
        yield (
            ("models", index),
            f"models[{index}] would have the same test ids as models[{first}]; give one a `label`",
        )


def _repeated_values(key: str, values: Iterable[Hashable]) -> Iterator[Finding]:
    for index, first in _repeats(values):
        yield (
            ("prompts", key, index),
            f"prompts.{key}[{index}] repeats prompts.{key}[{first}]; remove one of the two",
        )


def _contradictions_of_prompts(prompts: PromptsSpec) -> Iterator[Finding]:
    yield from _repeated_values("shots", prompts.shots)
    yield from _repeated_values("instructions", prompts.instructions or ())
    formats = [form.model_dump_json() for form in prompts.formats or ()]
    yield from _repeated_values("formats", formats)
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


def _model(value: Any) -> ModelSpec | None:
    """Return a model as far as it is sound, if its backend is known."""
    try:
        return _sound(spec_of(value), value) if isinstance(value, dict) else None
    except ValidationError:
        return None


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
