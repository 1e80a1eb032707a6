"""Parts of a suite read alone: those that stand in no file, and what is right in a wrong suite.

One message then has the mistakes of a wrong suite and those of what it names. A model or a task
with wrong keys is taken without them, where what is left is one.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from pytest_maxrandom.errors import ExtensionError, Problem, SuiteError
from pytest_maxrandom.suite.checks import entries, is_recorded
from pytest_maxrandom.suite.loader import RecordedSuite
from pytest_maxrandom.suite.mistakes import mistakes_of
from pytest_maxrandom.suite.models import MODELS, ModelSpec
from pytest_maxrandom.suite.positions import Document, read
from pytest_maxrandom.suite.recorded import RecordedSuiteSpec
from pytest_maxrandom.suite.spec import SuiteSpec
from pytest_maxrandom.suite.tasks import TASKS, TaskSpec, usual_format
from pytest_maxrandom.suite.training import is_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from pydantic_core import ErrorDetails

    from pytest_maxrandom.suite.base import FormatSpec, Location

_NONE = {"name": "none"}


@dataclass(frozen=True, slots=True)
class Part:
    """A model or a task of a wrong suite."""

    place: tuple[str, int]
    """Where it stands: ``("tasks", 0)``."""
    spec: ModelSpec | TaskSpec
    whole: bool
    """Whether all its keys are right. Else the wrong ones are left out, and what only the data can
    tell, such as its columns, is not known."""


def sound_parts(path: Path) -> tuple[list[Part], Callable[..., int]]:
    """Return the models and tasks of a wrong suite, and what tells the line of a place, from 1.

    There are none where results are recorded: `sound_results` has those.
    """
    document, data = _read(path)
    sound = []
    for part, typed in (("models", _model), ("tasks", _task)):
        for index, keys in enumerate([] if is_recorded(data) else entries(data, part)):
            spec, whole = _without_mistakes(_with_format(part, keys), typed)
            if spec is not None:
                sound.append(Part((part, index), spec, whole))
    return sound, lambda *place: document.line(place)


def sound_texts(path: Path) -> dict[str, str]:
    """Return the file of texts of each arm of a wrong suite that names one."""
    arms = _read(path)[1].get("arms")
    trained = {
        str(name): arm["train"].get("text")
        for name, arm in (arms.items() if isinstance(arms, dict) else ())
        if isinstance(arm, dict) and isinstance(arm.get("train"), dict)
    }
    return {name: text for name, text in trained.items() if isinstance(text, str) and is_path(text)}


def sound_results(path: Path) -> tuple[RecordedSuite | None, list[int]]:
    """Return what is right of a wrong suite of recorded results, and where its models stand."""
    document, data = _read(path)
    if not is_recorded(data):
        return None, []
    models = enumerate(entries(data, "models"))
    right = [(place, keys) for place, keys in models if _is_right({"models": [keys]})]
    tasks = [keys for keys in entries(data, "tasks") if _is_right({"tasks": [keys]})]
    prompts = _without_mistakes(data.get("prompts", {}), lambda keys: _fits({"prompts": keys}))[0]
    if not right or prompts is None:
        return None, []
    known = {"models": [keys for _, keys in right], "tasks": tasks or [_NONE], **prompts}
    try:
        spec = RecordedSuiteSpec.model_validate(known, context=known)
    except ValidationError:
        return None, []
    return RecordedSuite(path, document, spec), [place for place, _ in right]


def _read(path: Path) -> tuple[Document, dict[str, Any]]:
    try:
        document = read(path)
    except SuiteError:
        document = Document(None)
    return document, document.data if isinstance(document.data, dict) else {}


def _with_format(part: str, keys: Any) -> Any:
    """Return the keys of a task that has no format, with the one that its file's suffix tells."""
    if part != "tasks" or (usual := usual_format(keys)) is None:
        return keys
    return {
        **_NONE,
        **keys,
        "format": keys["format"] if keys.get("format") in TASKS.names() else usual,
    }


def _model(keys: Any) -> ModelSpec:
    try:
        kind = MODELS.kind(keys) if isinstance(keys, dict) else None
    except ExtensionError:
        kind = None
    if kind is None:
        raise SuiteError([])  # the loader says what is wrong with it
    return kind.model_validate(keys)


def _task(keys: Any) -> TaskSpec:
    data = {"models": [_NONE], "tasks": [keys]}
    return SuiteSpec.model_validate(data, context=data).tasks[0]


_RESULTS = {"name": "none", "backend": "recorded", "results": {"path": "none", "format": "npz"}}


def _fits(said: dict[str, Any]) -> dict[str, Any]:
    """Return what a suite of recorded results may say; pydantic raises where it may not."""
    whole = {"models": [_RESULTS], "tasks": [_NONE], **said}
    RecordedSuiteSpec.model_validate(whole, context=whole)
    return said


def _is_right(said: dict[str, Any]) -> bool:
    try:
        _fits(said)
    except ValidationError:
        return False
    return True


def _without_mistakes(keys: Any, typed: Callable[[Any], Any]) -> tuple[Any, bool]:
    """Return the typed form of some keys, and whether it has all of them; None where it has none.

    Keys that hide other mistakes are taken out before these are known, so it is tried again.
    """
    left = keys
    for _ in range(3):
        try:
            return typed(left), left is keys
        except ValidationError as error:
            left = _without(left, error.errors(include_url=False))
        except SuiteError:
            break
        if left is None:
            break
    return None, False


def _without(keys: Any, errors: Sequence[ErrorDetails]) -> Any:
    """Return a copy without the keys that are wrong; None where something else is wrong."""
    left = copy.deepcopy(keys)
    for error in errors:
        place = _within(keys, error["loc"])
        if not place:  # a key of the part itself is missing, or all of it contradicts itself
            return None
        here: Any = left
        for part in place[:-1]:
            here = here.get(part) if isinstance(here, dict) else here[part]
        if not isinstance(here, dict):
            return None
        here.pop(place[-1], None)
    return left


def _within(keys: Any, location: Sequence[str | int]) -> Location:
    """Return where an error is in some keys, which may have been validated as a part of a suite."""
    below = location[2:] if tuple(location[:2]) == ("tasks", 0) else location
    return Document(keys).path(below[1:] if location[:1] == ("prompts",) else below)


def task_of_keys(keys: dict[str, Any], path: Path) -> TaskSpec:
    """Return the typed form of one task, whose keys stand in no suite.

    Raises
    ------
    SuiteError
        With all that is wrong with the keys, as mistakes in the file `path`.
    """
    data = {"models": [{"name": "none"}], "tasks": [keys]}
    try:
        return _spec_of(data, "tasks[0].").tasks[0]
    except ValueError as error:
        raise SuiteError([Problem(path, None, each) for each in error.args]) from None


def format_of_keys(keys: dict[str, Any]) -> FormatSpec:
    """Return the typed form of one format, whose keys stand in no suite.

    Raises
    ------
    ValueError
        With all that is wrong with the keys.
    """
    task = {"name": "none", "format": "jsonl", "path": "none"}
    data = {"models": [{"name": "none"}], "tasks": [task], "prompts": {"formats": [keys]}}
    formats = _spec_of(data, "prompts.formats[0].").prompts.formats
    assert formats is not None
    return formats[0]


def _spec_of(data: dict[str, Any], place: str) -> SuiteSpec:
    """Return the typed form of a suite that stands in no file; mistakes leave out a place."""
    try:
        return SuiteSpec.model_validate(data, context=data)
    except ValidationError as error:
        errors = error.errors(include_url=False)
        found = mistakes_of(errors, Document(data), SuiteSpec, ())
        raise ValueError(*(each.replace(place, "") for each in found.values())) from None
