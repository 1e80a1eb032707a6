"""The HTML report: one file that needs nothing from elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.reports.dialects import HTML
from pytest_maxrandom.reports.rendering import render

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.record import RunRecord


def html(run: RunRecord, templates: Path | None = None) -> str:
    """Render a run as an HTML document; see :func:`.rendering.render`."""
    return render(run, HTML, templates)
