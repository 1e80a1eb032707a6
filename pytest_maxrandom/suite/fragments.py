"""Parts of a suite that stand in no file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from pytest_maxrandom.errors import Problem, SuiteError
from pytest_maxrandom.suite.mistakes import mistakes_of
from pytest_maxrandom.suite.positions import Document
from pytest_maxrandom.suite.spec import SuiteSpec

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.suite.base import FormatSpec
    from pytest_maxrandom.suite.tasks import TaskSpec


def task_of_keys(keys: dict[str, Any], path: Path) -> TaskSpec:
    """Return the typed form of one task, whose keys stand in no suite.

    Parameters
    ----------
    keys : dict
        As they would stand in a suite below `tasks`.
    path : Path
        The file that mistakes are reported for.

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
