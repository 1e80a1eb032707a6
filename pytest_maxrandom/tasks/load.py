"""Loading the task that a suite names."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, TypeAlias

from pytest_maxrandom.errors import Problem, SuiteError
from pytest_maxrandom.tasks.bigbench import read_bigbench
from pytest_maxrandom.tasks.csv import read_csv
from pytest_maxrandom.tasks.files import find_file
from pytest_maxrandom.tasks.findings import Mistake
from pytest_maxrandom.tasks.hub import read_hub
from pytest_maxrandom.tasks.jsonl import read_jsonl
from pytest_maxrandom.tasks.task import Layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_maxrandom.suite.spec import TaskSpec
    from pytest_maxrandom.tasks.task import Task

    Where: TypeAlias = Callable[[str], tuple[Path, int | None]]

_FILE_READERS: dict[str, Callable[[Path, TaskSpec], Task]] = {
    "bigbench": read_bigbench,
    "jsonl": read_jsonl,
    "csv": read_csv,
}
_FORMATS_OF_KEY = {
    "columns": ("jsonl", "csv", "hub"),
    "choices": ("jsonl", "csv", "hub"),
    "answer_is": ("jsonl", "csv", "hub"),
    "subset": ("hub",),
    "split": ("hub",),
    "revision": ("hub",),
}


def load_task(spec: TaskSpec, base: Path, where: Where | None = None) -> Task:
    """Load the task that `spec` names, with all its examples.

    Parameters
    ----------
    spec : TaskSpec
        A validated task of a suite.
    base : Path
        The folder that paths are relative to: that of the suite file.
    where : callable, optional
        From a key of the task (such as "path") to the suite file and the key's line in it; for a
        key that the suite does not give, the line of the task.

    Raises
    ------
    SuiteError
        With all mistakes in the suite's keys, or else all mistakes in the data.
    """
    where = where or (lambda _key: (base, None))
    problems = [Problem(*where(key), message) for key, message in _wrong_keys(spec)]
    file = None
    if spec.format != "hub":
        try:
            file = find_file(spec.path, base)
        except Mistake as mistake:
            problems.append(Problem(*where("path"), str(mistake)))
    if problems:
        raise SuiteError(problems)
    task = _FILE_READERS[spec.format](file, spec) if file else read_hub(spec, base, where)
    return replace(task, layout=_override(task.layout, spec))


def _wrong_keys(spec: TaskSpec) -> Iterator[tuple[str, str]]:
    """Keys that do not go with the task's format or with each other, and why."""
    for key, formats in _FORMATS_OF_KEY.items():
        given = key in spec.model_fields_set and getattr(spec, key) is not None
        named = key
        if key == "columns" and "cluster" in spec.columns.model_fields_set:
            # Every format can have clusters.
            others = sorted(spec.columns.model_fields_set - {"cluster"})
            given, named = bool(others), ": ".join([key, *others[:1]])
        if given and spec.format not in formats:
            yield (
                key,
                f"`{named}` goes with `format: {' | '.join(formats)}`, "
                f"but this task has `format: {spec.format}`; remove one of the two",
            )
    if spec.format == "hub" and spec.split is None:
        yield "format", "`format: hub` needs a `split`, for example `split: validation`"
    if spec.choices is not None and "choices" in spec.columns.model_fields_set:
        yield (
            "choices",
            "`choices` gives every example the same choices, and `columns: choices:` says which "
            "column holds them; remove one of the two",
        )


def _override(layout: Layout, spec: TaskSpec) -> Layout:
    """Return `layout` with what the suite says in place of it."""
    given = {field.name: getattr(spec, field.name) for field in fields(Layout)}
    return replace(layout, **{name: value for name, value in given.items() if value is not None})
