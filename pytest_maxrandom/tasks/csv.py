"""Tasks in CSV: a header with column names, then one example per row."""

from __future__ import annotations

import csv
import io
from collections import Counter
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import listed, quoted
from pytest_maxrandom.tasks.check import finished_task
from pytest_maxrandom.tasks.files import read_text
from pytest_maxrandom.tasks.findings import Mistake, file_findings
from pytest_maxrandom.tasks.rows import RowReader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_maxrandom.suite.spec import TaskSpec
    from pytest_maxrandom.tasks.findings import Findings
    from pytest_maxrandom.tasks.task import Task


def read_csv(file: Path, spec: TaskSpec) -> Task:
    """Read the task in a CSV file (commas, double quotes); blank lines are skipped.

    Raises
    ------
    SuiteError
        With all that is wrong in the file.
    """
    findings = file_findings(file)
    records = _records(findings.require(read_text, file), findings)
    line, header = next(records, (1, []))
    findings.raise_any()
    reader = RowReader.of(spec, lists_as_json=True)
    findings.require(_refuse_repeated, header, line)
    findings.require(_refuse_other_separators, header, line)
    reader.check_header(header, findings, line)
    return finished_task(
        spec.name, reader.examples(_rows(records, header, findings), findings), findings
    )


def _records(text: str, findings: Findings) -> Iterator[tuple[int, list[str]]]:
    """Each record that is not blank, with the line on which it starts."""
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    while True:
        start = lines.line_num + 1
        try:
            record = next(lines, None)
        except csv.Error as error:
            findings.add(start, f"not valid CSV in the row that starts here: {error}")
            return
        if record is None:
            return
        if record:
            yield start, record


def _refuse_repeated(header: list[str], line: int) -> None:
    repeated = [column for column, count in Counter(header).items() if count > 1]
    if repeated:
        raise Mistake(f"columns must differ, found more than once: {listed(repeated)}", line)


def _refuse_other_separators(header: list[str], line: int) -> None:
    for separator, name in ((";", "semicolons"), ("\t", "tabs"), ("|", "vertical bars")):
        if len(header) == 1 and separator in header[0]:
            raise Mistake(
                f"the columns are separated by {name}, found {quoted(header[0])}, expected commas; "
                "save the file with commas, or as JSONL",
                line,
            )


def _rows(
    records: Iterator[tuple[int, list[str]]], header: list[str], findings: Findings
) -> Iterator[tuple[int, dict[str, object]]]:
    for line, record in records:
        if len(record) == len(header):
            yield line, dict(zip(header, record, strict=True))
        else:
            more = len(record) > len(header)
            hint = "; put a cell that holds a comma in double quotes" if more else ""
            findings.add(
                line,
                f"a row must have {len(header)} cells like the header, found {len(record)}{hint}",
            )
