"""The formats in which a JSON report can be written: those here, and those of packages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from pytest_maxrandom.host import packages
from pytest_maxrandom.host.packages import NamedParts, blamed
from pytest_maxrandom.reports.badge import badge, badge_svg
from pytest_maxrandom.reports.checklist import checklist
from pytest_maxrandom.reports.csv import csv
from pytest_maxrandom.reports.hub import hub
from pytest_maxrandom.reports.page.render import html
from pytest_maxrandom.reports.references import bibtex
from pytest_maxrandom.reports.rendering import disclosure, latex, markdown

if TYPE_CHECKING:
    from pytest_maxrandom.record import RunRecord


class ReportFormat(Protocol):
    """Writes a report, for ``maxrandom report --format NAME``.

    A package adds one by an entry point of the group ``pytest_maxrandom.report_formats``, whose
    name is the format.
    """

    def __call__(self, run: RunRecord, /) -> str:
        """Return the report of a run, a text that ends with a line feed.

        Parameters
        ----------
        run : RunRecord
            What the JSON report holds: claims in the order in which they are shown, with unrounded
            numbers; accuracies and probabilities are from 0 to 1. It must stay as it is.

        Raises
        ------
        ReportError
            In one sentence, if it cannot be written so. What else a package raises is told in a
            sentence that names the package.
        """


def _usable(name: str, loaded: Any) -> ReportFormat:
    if not callable(loaded):
        raise TypeError("what can be called, as pytest_maxrandom.reports.formats.ReportFormat says")

    def write(run: RunRecord, /) -> str:
        with blamed(packages.REPORT_FORMATS, name):
            text = loaded(run)
            if not isinstance(text, str):
                raise TypeError(f"it returned {type(text).__name__}, expected str")
            return text

    return write


FORMATS: NamedParts[ReportFormat] = NamedParts(
    packages.REPORT_FORMATS,
    {
        "markdown": markdown,
        "disclosure": disclosure,
        "checklist": checklist,
        "html": html,
        "latex": latex,
        "bibtex": bibtex,
        "csv": csv,
        "badge": badge,
        "badge-svg": badge_svg,
        "hub": hub,
    },
    _usable,
)
"""By their names on the command line; the command gives the built-in ones its options."""
