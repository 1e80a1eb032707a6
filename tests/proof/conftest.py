"""The figures that proofs measure, printed when they are over."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def measured(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """Keep a line of figures with the test's report."""
    return lambda line: record_property("measured", line)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = terminalreporter.getreports("passed") + terminalreporter.getreports("failed")
    lines = [
        value for report in reports for name, value in report.user_properties if name == "measured"
    ]
    if lines:
        terminalreporter.section("measured")
        for line in sorted(lines):
            terminalreporter.line(line)
