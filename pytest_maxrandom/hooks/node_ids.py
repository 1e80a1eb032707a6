"""Ids of items that belong to a claim, such as ``task[model-0shot]::label_bias``, as shown.

Since pytest 9.2 an id is taken apart at its first bracket, and what is shown is put together again
with a bracket at the end, which such an id has not: it would be shown as none that can be selected.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest


def show_as_written(reporter: pytest.TerminalReporter) -> None:
    """Let the short summary name items by ids that can be selected."""
    for reports in reporter.stats.values():
        for report in reports:
            parts = getattr(report, "id", None)
            if parts is not None and _is_misread(report.nodeid):
                names = tuple(report.nodeid.split("::")[1:])
                report._id = dataclasses.replace(parts, names=names, params=None)


def name_in_junit(config: pytest.Config, report: pytest.TestReport) -> None:
    """Let a JUnit report name an item as it is written; to be called before it takes the report."""
    if report.when != "setup" or not _is_misread(report.nodeid):
        return
    for plugin in config.pluginmanager.get_plugins():
        of_item: Any = getattr(plugin, "node_reporter", None)
        if of_item is not None:
            of_item(report).add_attribute("name", report.nodeid.partition("::")[2])


def _is_misread(node_id: str) -> bool:
    """Whether more than a bracket follows the first bracket of an item's name."""
    _, _, name = node_id.partition("::")
    return "[" in name and not name.endswith("]")
