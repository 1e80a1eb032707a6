"""Tasks in JSONL: one JSON object per line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.errors import described
from pytest_maxrandom.tasks.check import finished_task
from pytest_maxrandom.tasks.files import read_text
from pytest_maxrandom.tasks.findings import Mistake, file_findings
from pytest_maxrandom.tasks.json_text import JsonObject, parse_json
from pytest_maxrandom.tasks.rows import RowReader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_maxrandom.suite.spec import TaskSpec
    from pytest_maxrandom.tasks.findings import Findings
    from pytest_maxrandom.tasks.task import Task


def read_jsonl(file: Path, spec: TaskSpec) -> Task:
    """Read the task in a JSONL file; blank lines are skipped.

    Raises
    ------
    SuiteError
        With all that is wrong in the file.
    """
    findings = file_findings(file)
    text = findings.require(read_text, file)
    findings.require(_refuse_one_document, text)
    reader = RowReader.of(spec)
    rows = list(_rows(text, findings))
    if rows:  # a row may lack a choice column, but one that no row has is a slip of the pen
        reader.check_header(dict.fromkeys(column for _, row in rows for column in row), findings)
    return finished_task(spec.name, reader.examples(rows, findings), findings)


def _rows(text: str, findings: Findings) -> Iterator[tuple[int, JsonObject]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            row = findings.attempt(number, _row, line)
            if row is not None:
                yield number, row


def _row(line: str) -> JsonObject:
    row = parse_json(line)
    if not isinstance(row, JsonObject):
        raise Mistake(f"a line must be a JSON object in braces, found {described(row)}")
    row.require_unique_keys()
    return row


def _refuse_one_document(text: str) -> None:
    """Say it once, and not on every line, where the file is JSON over many lines."""
    first = text.lstrip().split("\n", 1)[0]
    try:
        parse_json(first)
    except Mistake:
        try:
            parse_json(text)
        except Mistake:
            return
        raise Mistake(
            "the file is one JSON value over several lines, expected one object in each line; "
            "a BIG-bench task has `format: bigbench`"
        ) from None
