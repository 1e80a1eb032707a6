"""Tasks from the Hugging Face hub, or from a local folder, through the package `datasets`."""

from __future__ import annotations

import os
import textwrap
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import Problem, quoted
from pytest_maxrandom.suite.tasks import HubSpec
from pytest_maxrandom.tasks.files import shown
from pytest_maxrandom.tasks.mistakes import Findings, Mistake, finished_task
from pytest_maxrandom.tasks.rows import RowReader

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.tasks.source import Where
    from pytest_maxrandom.tasks.task import Task


class Hub:
    """Reads one split of a dataset; nested columns have dots (`choices.text`).

    A folder `base / spec.path`, if there is one, is read in place of the hub.
    """

    spec = HubSpec

    def read(self, spec: HubSpec, base: Path, where: Where) -> Task:
        """Read the task; see :class:`pytest_maxrandom.tasks.source.Source`."""
        file, line = where("path")

        def locate(row: int | None, message: str) -> Problem:
            part = f"split {spec.split}" if row is None else f"row {row}"
            return Problem(file, line, f"{quoted(spec.path)}, {part}: {message}")

        findings = Findings(locate, lambda row: f"row {row}")
        dataset = findings.require(_load, spec, base)
        reader = RowReader(_with_classes(spec, dataset.features))
        reader.check_header(dataset.column_names, findings)
        dataset = dataset.select_columns(list(reader.wanted))  # others may be slow to decode
        return finished_task(spec.name, reader.examples(enumerate(dataset, 1), findings), findings)


def _load(spec: HubSpec, base: Path) -> Any:
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


def _with_classes(spec: HubSpec, features: dict[str, Any]) -> HubSpec:
    """Read an answer's classes as indices, and their names as choices if need be."""
    names = getattr(features.get(spec.columns.answer), "names", None)
    if not names:
        return spec
    given = "choices" in spec.columns.model_fields_set or spec.columns.choices in features
    return spec.model_copy(
        update={
            "choices": spec.choices if spec.choices or given else names,
            "answer_is": spec.answer_is or "index",
        }
    )
