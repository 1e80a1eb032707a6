"""`maxrandom report`: the Markdown report of recorded numbers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    text = "the Markdown report of a JSON report"
    parser = commands.add_parser("report", help=text, description=text.capitalize())
    parser.add_argument("results", type=Path, help="file written by pytest --maxrandom-json")
    parser.add_argument("--templates", type=Path, help="folder with templates that override blocks")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Render the report.

    Raises
    ------
    ReportError
        If the file or a template is wrong.
    """
    from pytest_maxrandom.reports.markdown import markdown
    from pytest_maxrandom.reports.results import load

    return markdown(load(options.results), options.templates).rstrip("\n")
