"""Parts of a suite that stand by themselves: in a suite that is wrong, or in no file."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from pytest_maxrandom.errors import Problem, SuiteError
from pytest_maxrandom.suite.checks import is_recorded
from pytest_maxrandom.suite.loader import mistakes_of
from pytest_maxrandom.suite.models import kind_of
from pytest_maxrandom.suite.positions import Document, read
from pytest_maxrandom.suite.spec import SuiteSpec

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_maxrandom.suite.base import FormatSpec, Location
    from pytest_maxrandom.suite.models import ModelSpec
    from pytest_maxrandom.suite.tasks import TaskSpec


def sound_parts(path: Path) -> tuple[dict[Location, ModelSpec | TaskSpec], Callable[..., int]]:
    """Return the models and tasks of a wrong suite that are right by themselves, by their places.

    Returns
    -------
    dict, callable
        Also the line of a place, from 1. There are no parts where results are recorded.
    """
    try:
        document = read(path)
    except SuiteError:
        return {}, lambda *_: 1
    data = document.data if isinstance(document.data, dict) else {}
    found: dict[Location, ModelSpec | TaskSpec] = {}
    for part, read_part in (("models", _model_of_keys), ("tasks", task_of_keys)):
        entries = [] if is_recorded(data) else data.get(part)
        for index, keys in enumerate(entries if isinstance(entries, list) else []):
            with suppress(SuiteError, ValidationError):
                found[part, index] = read_part(keys, path)
    return found, lambda *place: document.line(place)


def _model_of_keys(keys: Any, path: Path) -> ModelSpec:
    return kind_of(keys).model_validate(keys)


def task_of_keys(keys: dict[str, Any], path: Path) -> TaskSpec:
    """Return the typed form of one task, whose keys stand in no suite.

    Parameters
    ----------
    keys : dict
        As they would stand in a suite below `tasks`.
    path : Path
        What mistakes are told of.

    Raises
    ------
    SuiteError
        With all that is wrong with the keys.
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
        found = mistakes_of(errors, Document(data, None, []), SuiteSpec, ())
        raise ValueError(*(each.replace(place, "") for each in found.values())) from None
