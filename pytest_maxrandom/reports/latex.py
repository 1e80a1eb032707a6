"""The LaTeX report: tables and a paragraph for a paper."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.reports.dialects import LATEX
from pytest_maxrandom.reports.references import bibtex
from pytest_maxrandom.reports.rendering import render

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.record import RunRecord


def latex(run: RunRecord, templates: Path | None = None, *, standalone: bool = False) -> str:
    r"""Render a run as LaTeX, in ASCII; see :func:`.rendering.render`.

    Parameters
    ----------
    run : RunRecord
        The claims, in the order in which they are shown.
    templates : Path, optional
        A folder with the user's own templates.
    standalone : bool
        Write a whole document with its references, not a fragment for ``\input``.
    """
    return render(run, LATEX, templates, standalone=standalone, bibliography=bibtex(run))
