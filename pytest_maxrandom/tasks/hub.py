"""Tasks from the Hugging Face hub, or from a local folder, through the package `datasets`."""

from __future__ import annotations

import os
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import Problem, quoted
from pytest_maxrandom.tasks.check import finished_task
from pytest_maxrandom.tasks.files import shown
from pytest_maxrandom.tasks.findings import Findings, Mistake
from pytest_maxrandom.tasks.rows import RowReader

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytest_maxrandom.suite.spec import TaskSpec
    from pytest_maxrandom.tasks.task import Task


def read_hub(spec: TaskSpec, base: Path, where: Callable[[str], tuple[Path, int | None]]) -> Task:
    """Read the task in one split of a dataset; nested columns have dots (`choices.text`).

    Parameters
    ----------
    spec : TaskSpec
        With a split.
    base : Path
        A folder `base / spec.path`, if there is one, is read in place of the hub.
    where : callable
        File and line of a key of the task in the suite.

    Raises
    ------
    SuiteError
        With all that is wrong.
    """
    file, line = where("path")

    def locate(row: int | None, message: str) -> Problem:
        prefix = f"{quoted(spec.path)}, " + (f"split {spec.split}" if row is None else f"row {row}")
        return Problem(file, line, f"{prefix}: {message}")

    findings = Findings(locate, lambda row: f"row {row}")
    dataset = findings.require(_load, spec, base)
    reader = _reader(spec, dataset.features)
    reader.check_header(dataset.column_names, findings)
    dataset = dataset.select_columns(list(reader.wanted))  # others may be slow to decode
    return finished_task(spec.name, reader.examples(enumerate(dataset, 1), findings), findings)


def _load(spec: TaskSpec, base: Path) -> Any:
    try:
        import datasets
    except ImportError:
        raise Mistake(
            "`format: hub` needs the package datasets; "
            'install it with `pip install "pytest-maxrandom[datasets]"`'
        ) from None
    folder = shown(base / spec.path)
    is_local = os.path.exists(folder)  # noqa: PTH110 - Path.exists raises where a name is too long
    if not is_local and spec.path.startswith((".", "/")):
        raise Mistake(
            f"there is no folder {quoted(str(folder), 200)} (paths are relative to the suite file)"
        )
    try:
        dataset = datasets.load_dataset(
            str(folder) if is_local else spec.path,
            name=spec.subset,
            split=spec.split,
            revision=spec.revision,
        )
    # Network, hub, builders and parsers each raise errors of their own here.
    except Exception as error:
        reason = textwrap.shorten(str(error), 400, placeholder=" ...") or type(error).__name__
        raise Mistake(f"the dataset cannot be loaded: {reason}") from error
    return dataset.flatten()


def _reader(spec: TaskSpec, features: dict[str, Any]) -> RowReader:
    """Return the reader; an answer's classes are indices, and their names choices if need be."""
    reader = RowReader.of(spec)
    names = getattr(features.get(spec.columns.answer), "names", None)
    if not names:
        return reader
    given = "choices" in spec.columns.model_fields_set or spec.columns.choices in features
    return replace(
        reader,
        choices=reader.choices if reader.choices or given else names,
        answer_is=reader.answer_is or "index",
    )
