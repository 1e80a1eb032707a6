"""What proofs measure, printed as the tables of docs/explanation/what-a-green-run-means.md."""

from __future__ import annotations

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Measured = Callable[..., None]


@pytest.fixture
def measured(record_property: Callable[[str, object], None]) -> Measured:
    """Keep a row of a table with the test's report: the table, its columns, what it is of, shares.

    Columns are names with bars in between, and so are the first cells of a row; a share may also be
    a text, such as why there is none.
    """

    def keep(table: str, columns: str, row: str, *shares: float | str) -> None:
        cells = [
            share if isinstance(share, str) else f"{share:.3f}".removeprefix("0")
            for share in shares
        ]
        whole = " | ".join([row, *cells])
        assert whole.count("|") == columns.count("|"), (columns, whole)
        record_property("measured", [table, columns, whole])

    return keep


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Keep what each test measured in a file at once, where `tools/proof_tables.py` names one."""
    path = os.environ.get("MAXRANDOM_TABLES")
    if report.when != "call" or path is None or "PYTEST_XDIST_WORKER" in os.environ:
        return
    rows = [value for name, value in report.user_properties if name == "measured"]
    found = {"id": report.nodeid, "passed": report.passed, "rows": rows, "commit": _commit()}
    with Path(path).open("a", encoding="utf-8") as kept:
        kept.write(json.dumps(found) + "\n")


@cache
def _commit() -> str:
    command = ["git", "describe", "--always", "--dirty"]
    return subprocess.check_output(command, text=True, cwd=Path(__file__).parent).strip()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    tables: dict[tuple[str, str], list[str]] = {}
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    for name, value in (each for report in reports for each in report.user_properties):
        if name == "measured":
            table, columns, row = value
            tables.setdefault((table, columns), []).append(row)
    for (table, columns), rows in sorted(tables.items()):
        terminalreporter.section(table)
        for row in (columns, *rows):
            terminalreporter.line(f"| {row} |")
