"""What is wrong with the models, data and results that a wrong suite names.

They are reported together with the suite's own mistakes, so that nobody mends one after the other.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.missing import missing_data, missing_named
from pytest_maxrandom.claims.training import wrong_files
from pytest_maxrandom.errors import (
    MaxRandomError,
    ModelNotFound,
    Problem,
    RecordedError,
    SuiteError,
    dotted,
)
from pytest_maxrandom.recorded.sources import ModelResults
from pytest_maxrandom.suite.parts import sound_parts, sound_results, sound_texts
from pytest_maxrandom.suite.tasks import TaskSpec
from pytest_maxrandom.tasks.load import load_task, members, set_aside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_maxrandom.models.registry import Backends
    from pytest_maxrandom.suite.parts import Part


def in_named_files(path: Path, backends: Backends) -> Iterator[Problem]:
    """Yield what is wrong with the files that a wrong suite names where it is right."""
    parts, line = sound_parts(path)
    for part in parts:

        def where(*keys: str, part: Part = part) -> tuple[Path, int | None]:
            return path, line(*part.place, *keys)

        try:
            _look(part, path, where, backends)
        except SuiteError as error:
            # Without some of its keys, of a task that alone is certain which file there is not.
            yield from (one for one in error.problems if part.whole or one.path == path)
        except MaxRandomError as error:
            wrong = error.problems if isinstance(error, ModelNotFound) else {"name": str(error)}
            for key, message in wrong.items():
                yield Problem(*where(key), f"{dotted((*part.place, key))}: {message}")
    yield from _in_results(path)
    yield from wrong_files(sound_texts(path), path.parent, line, path)


def _look(
    part: Part,
    path: Path,
    where: Callable[..., tuple[Path, int | None]],
    backends: Backends,
) -> None:
    if not isinstance(part.spec, TaskSpec):
        if part.spec.if_missing is None or backends.absent(part.spec, path.parent) is None:
            backends.locate(part.spec, path.parent)
        return
    if missing_data(part.spec, path.parent):
        return
    for one in members(part.spec, path.parent, where):
        if missing_named(one, path.parent, where):
            continue
        task = load_task(one, path.parent, where)
        if part.whole:
            set_aside(task, one, path.parent, partial(where, "test"))


def _in_results(path: Path) -> Iterator[Problem]:
    suite, places = sound_results(path)
    if suite is None:
        return
    read = ModelResults(suite)
    for model, place in zip(suite.spec.models, places, strict=True):
        try:
            read.of(model)
        except RecordedError as error:
            line = suite.line("models", place, "results")
            yield Problem(path, line, f"models[{place}].results: {error}")
