"""What the types of a suite cannot say: parts that contradict each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from pytest_maxrandom.errors import did_you_mean
from pytest_maxrandom.suite import trained
from pytest_maxrandom.suite.arms import (
    CompareSpec,
    ContaminationSpec,
    arm_of,
    model_names,
    split_comparison,
    things_changed,
    unknown_arm,
)
from pytest_maxrandom.suite.base import OPEN_SCORINGS, SCORINGS, UNLISTED, Spec, as_list, repeats
from pytest_maxrandom.suite.claims import LabelBiasSpec
from pytest_maxrandom.suite.incumbent import unclaimable
from pytest_maxrandom.suite.models import ModelSpec, OpenAISpec, kind_of
from pytest_maxrandom.suite.prompts import PromptsSpec
from pytest_maxrandom.suite.recorded import RecordedModelSpec
from pytest_maxrandom.suite.spec import undecidable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.suite.arms import ArmSpec
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
        "one kind only, so write two suites",
    )


def _backends(data: Any) -> list[bool]:
    """Tell of each model whether its results are recorded."""
    models = entries(data, "models")
    return [isinstance(each, dict) and each.get("backend") == "recorded" for each in models]


def contradictions(data: Any, *, recorded: bool) -> Iterator[Contradiction]:
    """Yield where parts of a suite contradict each other, and the way out in one sentence.

    Parts of the file's data that are mistakes by themselves are passed over, so that a suite may be
    asked for both kinds of mistake at once.
    """
    suite = data if isinstance(data, dict) else {}
    tasks = [task if isinstance(task, dict) else {} for task in entries(suite, "tasks")]
    models = [
        _sound(RecordedModelSpec if recorded else kind_of(model), model)
        for model in entries(suite, "models")
    ]
    ids = map(_test_id, entries(suite, "models"), models)
    for index, first in repeats(ids):
        yield (
            ("models", index),
            f"this has the same test ids as models[{first}]; give one of them a `label`",
        )
    yield from _of_tasks(suite, tasks)
    yield from _of_replicates(suite, tasks, recorded=recorded)
    yield from unclaimable(suite, tasks, recorded=recorded)
    yield from _of_label_bias(suite, tasks, recorded=recorded)
    arms = suite.get("arms")
    if recorded:
        for index, task in enumerate(tasks if suite.get("judge") == "published" else ()):
            if task and "published" not in task:
                yield (
                    ("tasks", index),
                    "`judge: published` needs the key `published` in every task; give n, t and "
                    "chance as they were published",
                )
    else:
        yield from undecidable(suite)
        yield from _of_scoring(suite)
        yield from _of_chats(suite, models)
        kind, given = arm_of(suite.get("models")), arms if isinstance(arms, dict) else {}
        sound = {name: _sound(kind, arm) for name, arm in given.items() if isinstance(name, str)}
        run = [model if isinstance(model, ModelSpec) else None for model in models]
        contamination = _sound(ContaminationSpec, suite.get("contamination"))
        yield from trained.contradictions(suite, run, sound, contamination)
        if isinstance(arms, dict):
            yield from _of_arms(suite, sound)
            yield from _of_comparisons(suite, {name: place for place, name in enumerate(sound)})
    if (recorded or not isinstance(arms, dict)) and None not in models:
        yield from _of_comparisons(suite, model_names([each for each in models if each]))


_WRITTEN = ("generate", *OPEN_SCORINGS)
"""The ways to ask in which a model writes its answer."""


def _of_scoring(suite: dict[str, Any]) -> Iterator[Contradiction]:
    """Yield what is said of a way to ask that nothing asks."""
    bias = suite.get("label_bias")
    asked = as_list(bias.get("interactions")) if isinstance(bias, dict) else []
    if any(each not in (None, *SCORINGS) for each in _scorings(suite)):
        return  # what scorers of packages use, they know themselves
    if "counterfactual" in suite and "counterfactual" not in (*_scorings(suite), *asked):
        yield (
            ("counterfactual",),
            "this says how choices are stated, but nothing uses it; remove it, or use "
            "`scoring: counterfactual` or `label_bias: {interactions: counterfactual}`",
        )
    if "generation" in suite and not any(each in _WRITTEN for each in _scorings(suite)):
        yield (
            ("generation",),
            "this says how answers are generated, but none are; remove it, or use `scoring: "
            "generate`, or `scoring: exact_match` or `f1` for tasks without choices",
        )
    if "exact_match" in suite and not any(each in OPEN_SCORINGS for each in _scorings(suite)):
        yield (
            ("exact_match",),
            "this says when an answer is a reference, but none are compared so; remove it, or use "
            "`scoring: exact_match`",
        )
    yield from _of_control(suite)
    if (scoring := suite.get("scoring")) not in OPEN_SCORINGS:
        return
    for key, value, why in (
        ("metric", suite.get("metric", "accuracy") != "accuracy", "there are no classes"),
        ("label_bias", suite.get("label_bias") is not None, "there are no labels"),
        ("shortcuts", bool(suite.get("shortcuts")), "there are no choices"),
        ("until", suite.get("until") == "decided", "what passes is told by all answers alone"),
    ):
        if value:
            told = f"`scoring: {scoring}` is for tasks without choices, and {why}; remove `{key}`"
            yield (key,), told


def _of_control(suite: dict[str, Any]) -> Iterator[Contradiction]:
    """Yield a control with more answers than prompts give."""
    control, how = suite.get("control"), suite.get("generation")
    answers = control.get("answer") if isinstance(control, dict) else None
    samples = how.get("samples", 1) if isinstance(how, dict) else 1
    if isinstance(answers, list) and isinstance(samples, int) and len(answers) > max(1, samples):
        yield (
            ("control", "answer"),
            f"found {len(answers)} answers, but each prompt gives {samples} (`generation: "
            "samples`); name as many at most",
        )


def _test_id(said: Any, model: NamedModel | None) -> str | None:
    """Return what test ids say of a model; None where what it says of that is a mistake."""
    if model is None:
        return None
    kept = getattr(model, "quantization", None)
    return model.test_id if said.get("quantization", kept) == kept else None


def _scorings(suite: dict[str, Any]) -> list[Any]:
    """Return how the suite scores, and its arms."""
    arms = suite.get("arms")
    parts = [suite, *(arms.values() if isinstance(arms, dict) else ())]
    return [part.get("scoring") for part in parts if isinstance(part, dict)]


def _of_chats(suite: dict[str, Any], models: list[Any]) -> Iterator[Contradiction]:
    """Yield what is scored by log-likelihoods that an endpoint of chats does not tell."""
    arms = suite.get("arms")
    own = [(("arms", name), arm) for name, arm in arms.items()] if isinstance(arms, dict) else []
    for index, model in enumerate(models):
        if not isinstance(model, OpenAISpec) or model.most_told:
            continue
        asked: list[tuple[Location, dict[str, Any]]] = [(("models", index), {})]
        asked = [(place, arm) for place, arm in own if isinstance(arm, dict)] or asked
        for place, arm in asked:
            chat, scoring = arm.get("chat", model.chat), arm.get("scoring", suite.get("scoring"))
            if chat is True and scoring in (None, *SCORINGS) and scoring not in _WRITTEN:
                at = place if place[0] == "arms" and "chat" not in arm else (*place, "chat")
                yield (
                    at,
                    "a chat endpoint gives no log-likelihoods of choices; use `scoring: generate`, "
                    "`top_logprobs: 20` for choices that are letters (`labels: letter`), or remove "
                    "`chat`",
                )


def _of_tasks(suite: dict[str, Any], tasks: list[dict[str, Any]]) -> Iterator[Contradiction]:
    names = [task.get("name") for task in tasks]
    for index, first in repeats(name if isinstance(name, str) else None for name in names):
        yield (
            ("tasks", index, "name"),
            f"tasks[{first}] has this name already; give each task a name of its own",
        )
    prompts = suite.get("prompts")
    leave_out = isinstance(prompts, dict) and prompts.get("demonstrations") == "leave_out"
    for index, task in enumerate(tasks):
        if leave_out and isinstance(task.get("pool"), dict):
            yield (
                ("tasks", index, "pool"),
                "demonstrations come from here, and `prompts: {demonstrations: leave_out}` takes "
                "them from the validation set; remove one of the two",
            )
        if (task.get("assert") or suite.get("assert")) != "report":
            continue
        for key, what in (
            ("xfail", "expects that to fail"),
            ("test", "is opened if a claim passes"),
        ):
            if task.get(key) or suite.get(key):
                yield (
                    ("tasks", index, key) if task.get(key) else (key,),
                    f"`assert: report` claims nothing, but `{key}` {what}; remove one of the two",
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
        asking += [("replicates",)] if "replicates" in suite else []
        mistake = (
            "this draws new examples and demonstrations, but these results are recorded; remove "
            "it, and use `maxrandom replication` for results that hold replicates"
        )
    else:
        asking = asking if suite.get("replicates") is None else []
        mistake = (
            "this is a share of the suite's replicates, but the suite has none; add `replicates: "
            "20` to the suite, or remove this"
        )
    yield from ((place, mistake) for place in asking)


def _of_label_bias(
    suite: dict[str, Any], tasks: list[dict[str, Any]], *, recorded: bool
) -> Iterator[Contradiction]:
    spec = _sound(LabelBiasSpec, suite.get("label_bias"))
    if spec is None:
        return
    known = [task["name"] for task in tasks if isinstance(task.get("name"), str)]
    for index, name in enumerate(spec.tasks or []):
        if name not in known:
            hint = did_you_mean(name, known) or "; correct the name, or remove it"
            yield ("label_bias", "tasks", index), f"the suite has no task {name!r}{hint}"
    if not recorded:
        return
    if spec.check != "recall":
        yield (
            ("label_bias", "check"),
            f"{spec.check} asks the model again with other texts, but these results are recorded; "
            "use `check: recall`",
        )
    if spec.interactions not in (None, ["cloze"]):
        yield (
            ("label_bias", "interactions"),
            "these results are recorded, so the model cannot be asked in other ways; remove it",
        )
    if "base_rate" in spec.model_fields_set and spec.base_rate != "off":
        yield (
            ("label_bias", "base_rate"),
            "recorded results have none, because the model is not asked again; remove it",
        )
    if spec.calibration:
        yield (
            ("label_bias", "calibration"),
            "the scores of recorded results cannot be calibrated; remove it",
        )


def _of_arms(suite: dict[str, Any], arms: dict[str, ArmSpec | None]) -> Iterator[Contradiction]:
    """Yield arms that do not change exactly one thing of the suite, or cannot."""
    if (models := len(entries(suite, "models"))) > 1:
        yield (
            ("models", 1),
            f"found {models} models, expected one, because `arms` are changes of one model; give "
            "the others as arms, such as `other: {model: NAME}`",
        )
    prompts = _sound(PromptsSpec, suite.get("prompts")) or PromptsSpec()
    formats = prompts.formats or []
    variants = {"instruction": len(prompts.instructions or []), "format": len(formats)}
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
        if arm and arm.format:
            # What it leaves as the suite has it may leave the choices unlisted.
            given = formats[0].model_dump() if len(formats) == 1 else arm.format.model_dump()
            given |= arm.format.model_dump(exclude_unset=True)
            if given["labels"] != "text" and given["append_choices"] is False:
                yield ("arms", name, "format"), UNLISTED


def _of_comparisons(suite: dict[str, Any], names: dict[str, int]) -> Iterator[Contradiction]:
    """Yield comparisons of what does not exist, given what arms may be called."""
    if not names:
        return
    first: dict[str, int] = {}
    said = suite.get("compare", [])
    for index, each in enumerate(as_list(said)):
        spec = _sound(CompareSpec, {"arms": each} if isinstance(each, str) else each)
        if spec is None:
            continue
        entry: Location = ("compare", index) if isinstance(said, list) else ("compare",)
        place = (*entry, "arms")
        if spec.of_all:
            yield from _of_all(suite, spec, entry, names)
            if (earlier := first.setdefault(f"all {spec.prompt}", index)) != index:
                yield (
                    place,
                    f"this has the same test ids as compare[{earlier}]; remove one of the two",
                )
            continue
        try:
            one, other = split_comparison(spec.arms, names)
        except ValueError as error:
            yield place, str(error)
            continue
        if names[one] == names[other]:
            yield place, f"{one!r} and {other!r} are the same model"
        if (earlier := first.setdefault(f"{one}-{other}", index)) != index:
            yield (
                place,
                f"this has the same test ids as compare[{earlier}]; remove one of the two, or "
                "rename an arm",
            )
    contamination = _sound(ContaminationSpec, suite.get("contamination"))
    if contamination is None:
        return
    arms = {key: getattr(contamination, key) for key in ("base", "extra", "test")}
    for key, name in arms.items():
        if name not in names:
            yield ("contamination", key), unknown_arm(name, names)
    known = [names[name] for name in arms.values() if name in names]
    if len(set(known)) < len(known):
        yield ("contamination",), "base, extra and test must be three different arms"


def _of_all(
    suite: dict[str, Any], spec: CompareSpec, entry: Location, names: dict[str, int]
) -> Iterator[Contradiction]:
    """Yield why all models, or arms, cannot be compared as a suite asks."""
    if len(set(names.values())) < 2:
        yield (
            (*entry, "arms"),
            f"`all` compares several, but there is one alone: {next(iter(names))}; add another, or "
            "remove this",
        )
    if suite.get("replicates") is not None:
        yield (
            (*entry, "arms"),
            "`all` are compared on one set of examples, but `replicates` draw new ones; remove one "
            "of the two, or compare two arms",
        )
    claimed = None if spec.assertion is None else spec.assertion.best
    if claimed is not None and claimed not in names:
        yield (*entry, "assert", "best"), unknown_arm(claimed, names)


def entries(data: Any, key: str) -> list[Any]:
    """Return what stands in a list below a key, as a suite has it; nothing where there is none."""
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
