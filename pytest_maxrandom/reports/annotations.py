"""Annotations at lines of the suites: what a reader has to look at.

GitHub Actions reads annotations as workflow commands in a step's log,
https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_maxrandom.record import FAILING, OUTCOMES, ClaimRecord, Record, RunRecord
from pytest_maxrandom.reports.phrases import finding
from pytest_maxrandom.reports.red_flags import explained
from pytest_maxrandom.reports.summary import names, records
from pytest_maxrandom.reports.text import shorten, visible

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_maxrandom.errors import Problem

SHOWN = 10
"""Annotations of a kind that GitHub shows of a step."""

_BROKEN = "A suite cannot be read"
_MISTAKE = re.compile(r"(?P<path>.+?):(?P<line>\d{1,9}): (?P<message>.*)", re.DOTALL)
_LONGEST_TITLE, _LONGEST_MESSAGE = 120, 4000


@dataclass(frozen=True, slots=True)
class Annotation:
    """A message, and the line that it is about (from 1), if any."""

    title: str
    message: str
    path: Path | None = None
    line: int | None = None


def annotate(run: RunRecord, root: Path, here: Path) -> list[Annotation]:
    """Annotate a run, the most important first: what could not be read, then what fails.

    The paths of claims are relative to `root`, pytest's rootdir; those in the mistakes of suites to
    `here`, the folder where pytest was called.
    """
    known = names(run)

    def annotated(record: Record) -> Annotation:
        title, why = f"{known[record.id]} {OUTCOMES[record.outcome].one}", finding(record)
        if record.outcome == "failed" and record.message:
            why = explained(record) if isinstance(record, ClaimRecord) else record.message
        return Annotation(title, why, root / record.suite, record.line)

    of_mistakes, rest = [], []
    for mistake in run.broken:
        if place := _MISTAKE.fullmatch(mistake):
            path, line = here / place["path"], int(place["line"])
            of_mistakes.append(Annotation(_BROKEN, place["message"], path, line))
        else:
            rest.append(mistake)
    if rest:
        of_mistakes.append(Annotation(_BROKEN, "\n".join(rest)))
    failing = (one for outcome in FAILING for one in records(run) if one.outcome == outcome)
    return [*of_mistakes, *map(annotated, failing)]


def of_problem(problem: Problem) -> Annotation:
    """Annotate a mistake in a suite or a data file."""
    return Annotation(_BROKEN, problem.message, problem.path, problem.line)


def workflow_commands(found: Sequence[Annotation], workspace: Path) -> list[str]:
    """Write annotations, the most important first, as commands of GitHub Actions, one a line.

    Of more than are shown it writes the first ones, and a notice that says so. An annotation of a
    file outside of the workspace, the folder of the repository, stands at no line.
    """
    lines = [_command(annotation, workspace) for annotation in found[:SHOWN]]
    if (more := len(found) - SHOWN) > 0:
        told = f"{more} more {'is' if more == 1 else 'are'} not shown here"
        lines.append(f"::notice title=More than {SHOWN} annotations::{told}")
    return lines


def _command(annotation: Annotation, workspace: Path) -> str:
    properties = {}
    if annotation.path and (file := _within(annotation.path, workspace)):
        properties["file"] = file
        if annotation.line:
            properties["line"] = str(annotation.line)
    properties["title"] = shorten(visible(annotation.title), _LONGEST_TITLE)
    text = "\n".join(map(visible, annotation.message.split("\n")))
    listed = ",".join(
        f"{name}={_data(value).replace(':', '%3A').replace(',', '%2C')}"
        for name, value in properties.items()
    )
    return f"::error {listed}::{_data(shorten(text, _LONGEST_MESSAGE))}"


def _within(path: Path, workspace: Path) -> str:
    """Return the path relative to the workspace; empty if it is elsewhere or cannot be shown."""
    for normal in (os.path.abspath, os.path.realpath):
        relative = os.path.relpath(normal(path), normal(workspace))
        if relative.partition(os.sep)[0] != os.pardir and relative.isprintable():
            return relative.replace(os.sep, "/")
    return ""


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
