"""The Markdown report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.reports.dialects import MARKDOWN
from pytest_maxrandom.reports.rendering import render

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.record import RunRecord


def markdown(run: RunRecord, templates: Path | None = None) -> str:
    """Render a run as GitHub-flavoured Markdown; see :func:`.rendering.render`."""
    return render(run, MARKDOWN, templates)
