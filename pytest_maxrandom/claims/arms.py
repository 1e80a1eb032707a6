"""From a suite and an arm to what the arm runs, and what differs between two arms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.record import Remark
from pytest_maxrandom.suite.arms import ArmSpec, model_names
from pytest_maxrandom.suite.base import FormatSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.suite.base import Scoring
    from pytest_maxrandom.suite.models import ModelSpec
    from pytest_maxrandom.suite.prompts import PromptsSpec
    from pytest_maxrandom.suite.recorded import RecordedModelSpec
    from pytest_maxrandom.suite.spec import SuiteSpec
    from pytest_maxrandom.suite.training import ClassifySpec, TrainSpec

    Location = tuple[str | int, ...]

_ABSENT = {"revision": "the default", "adapter": "none", "unverified": "False"}


@dataclass(frozen=True)
class Arm:
    """What claims are made of: an arm of the suite, or, where it has none, one of its models."""

    name: str
    """In test ids."""
    key: str | None
    """Its key in `arms`."""
    model: ModelSpec
    prompts: PromptsSpec
    scoring: Scoring = "mean_logprob"
    """What it runs, what it asks, and how."""
    place: int = 0
    """Which of the suite's models it runs, perhaps with changes."""
    own: frozenset[str] = frozenset()
    """The keys of its model that the arm itself gives."""
    changed: tuple[str, ...] = ()
    """What differs from the suite as it stands."""
    train: TrainSpec | None = None
    classify: ClassifySpec | None = None
    """How its model is trained, if it is."""

    def of(self, suite: SuiteSpec) -> SuiteSpec:
        """Return the suite with what the arm changes."""
        if self.prompts is suite.prompts and self.scoring == suite.scoring:
            return suite
        return suite.model_copy(update={"prompts": self.prompts, "scoring": self.scoring})

    @property
    def asked(self) -> tuple[str, str]:
        """What arms have in common that ask the same prompts in the same way."""
        return self.prompts.model_dump_json(), self.scoring

    def prompts_place(self, key: str) -> Location:
        """Return where it is said what `prompts` has at this key, for this arm."""
        changed = self.key is not None and key == "formats" and self.changed
        return ("arms", str(self.key), "format") if changed else ("prompts", key)

    def model_place(self, key: str) -> Location:
        """Return where it is said what its model has at this key."""
        if key in self.own:
            return "arms", str(self.key), "model" if key == "name" else key
        return "models", self.place, key

    @property
    def notes(self) -> list[Remark]:
        """What a reader must know."""
        notes = self.model.notes
        if self.key is None:
            return notes
        if not self.changed:
            return [Remark("arm_of_suite", {"arm": self.key}), *notes]
        return [Remark("arm", {"arm": self.key, "changed": self.changed}), *notes]


def arms_of(suite: SuiteSpec) -> list[Arm]:
    """Return the arms of a suite, or else its models, in the order of the file."""
    standing = _standing(suite)
    if suite.arms is None:
        return [
            replace(standing, name=model.test_id, model=model, place=index)
            for index, model in enumerate(suite.models)
        ]
    arms = []
    for name, spec in suite.arms.items():
        arm = replace(
            standing,
            name=name,
            key=name,
            model=model_of(suite, spec),
            prompts=prompts_of(suite, spec) if suite.classify is None else standing.prompts,
            scoring=spec.scoring or standing.scoring,
            own=frozenset([*spec.of_model, *(["name"] if spec.model else [])]),
            train=spec.train,
            classify=spec.classify or suite.classify,
        )
        arms.append(replace(arm, changed=differences(arm, standing)))
    return arms


def _standing(suite: SuiteSpec) -> Arm:
    """Return what a suite asks of its first model as it stands.

    A classification head reads the text alone: there is one prompt, and it shows nothing.
    """
    prompts, scoring = suite.prompts, suite.scoring
    if suite.classify is not None:
        prompts, scoring = prompts.model_copy(update={"shots": [0], "count": 1}), "classify"
    return Arm("", None, suite.models[0], prompts, scoring, classify=suite.classify)


def arms_by_name(suite: SuiteSpec) -> dict[str, Arm]:
    """Return what may stand in comparisons."""
    arms = arms_of(suite)
    if suite.arms is not None:
        return {arm.name: arm for arm in arms}
    return {name: arms[place] for name, place in model_names(suite.models).items()}


def model_of(suite: SuiteSpec, arm: ArmSpec) -> ModelSpec:
    """Return the model that an arm runs: the suite's one with at most one thing changed."""
    (model,) = suite.models
    changes: dict[str, Any] = arm.of_model
    if arm.model is not None:
        # A revision belongs to the model that it was given for.
        of_other = {"revision": None} if "revision" in type(model).model_fields else {}
        changes = of_other | changes | {"name": arm.model, "label": None}
    return model.model_copy(update=changes)


def prompts_of(suite: SuiteSpec, arm: ArmSpec) -> PromptsSpec:
    """Return the prompts that an arm tries: the suite's, in other words or another format."""
    prompts = suite.prompts
    if arm.instruction is not None:
        return prompts.model_copy(update={"instructions": [arm.instruction]})
    if arm.format is None:
        return prompts
    (form,) = prompts.formats or [FormatSpec()]
    given = {key: getattr(arm.format, key) for key in arm.format.model_fields_set}
    return prompts.model_copy(update={"formats": [form.model_copy(update=given)]})


def differences(first: Arm, second: Arm) -> tuple[str, ...]:
    """Say what differs between two arms of a suite, one clause for each thing."""
    changed = [*differences_of_models(first.model, second.model)]
    said = [_instruction(arm.prompts) for arm in (first, second)]
    if said[0] != said[1]:
        changed.append(f"instruction: {said[0]}, not {said[1]}")
    forms = [_format(arm.prompts) for arm in (first, second)]
    if first.scoring != second.scoring:
        changed.append(f"scoring: {first.scoring}, not {second.scoring}")
    changed += _settings("training", first.train, second.train, "none")
    changed += _settings("classify", first.classify, second.classify, "none")
    changed += [
        f"format: {key} {_shown(forms[0][key])}, not {_shown(forms[1][key])}"
        for key in forms[0]
        if forms[0][key] != forms[1][key]
    ]
    return tuple(changed)


def _settings(
    what: str,
    first: TrainSpec | ClassifySpec | None,
    second: TrainSpec | ClassifySpec | None,
    absent: str,
) -> list[str]:
    """Say what differs between two trainings; where one arm has none, what the other reads."""
    if first == second:
        return []
    if first is None or second is None:
        said = [absent if each is None else _training(each) for each in (first, second)]
        return [f"{what}: {said[0]}, not {said[1]}"]
    both = first.model_dump(), second.model_dump()
    return [
        f"{what}: {key} {_shown(both[0][key])}, not {_shown(both[1][key])}"
        for key in both[0]
        if both[0][key] != both[1][key]
    ]


def _training(spec: TrainSpec | ClassifySpec) -> str:
    text = getattr(spec, "text", None)
    if text is None:
        return f"{spec.examples} labelled examples"
    return {"extra": "extra texts", "scored": "the texts that are scored"}.get(
        text, f"the texts of {text}"
    )


def differences_of_models(
    first: ModelSpec | RecordedModelSpec, second: ModelSpec | RecordedModelSpec
) -> tuple[str, ...]:
    """Say what differs between two models; a model comes with its revision."""
    changed = []
    if first.name != second.name:
        changed.append(f"model: {_with_revision(first)}, not {_with_revision(second)}")
    keys = dict.fromkeys(key for model in (first, second) for key in model.keys_in_arms())
    for key in keys:
        one, other = (getattr(model, key, None) for model in (first, second))
        if one != other and (key != "revision" or first.name == second.name):
            unknown = _ABSENT.get(key, "unknown")
            shown = [_of_model(value, unknown) for value in (one, other)]
            changed.append(f"{key}: {shown[0]}, not {shown[1]}")
    return tuple(changed)


def joined(changed: Sequence[str]) -> str:
    """Return the clauses in one line."""
    return "; ".join(changed) or "nothing"


def _of_model(value: Any, unknown: str) -> str:
    if value is None or value == "":
        return unknown
    return str(value).lower() if isinstance(value, bool) else str(value)


def _with_revision(model: ModelSpec | RecordedModelSpec) -> str:
    revision = getattr(model, "revision", None)
    return f"{model.name}@{revision}" if revision else model.name


def _instruction(prompts: PromptsSpec) -> str:
    said = prompts.instructions
    return " and ".join(map(repr, said)) if said else "the task's own"


def _format(prompts: PromptsSpec) -> dict[str, Any]:
    """Return what the suite says of its one format; of several, which arms share, nothing."""
    forms = prompts.formats or []
    return (forms[0] if len(forms) == 1 else FormatSpec()).model_dump()


def _shown(value: Any) -> str:
    if value is None:
        return "as the task has it"
    return str(value).lower() if isinstance(value, bool) else repr(value)
