"""`maxrandom diff`: show what changed between two JSON reports, and why."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.commands import json_text
from pytest_maxrandom.errors import ReportError
from pytest_maxrandom.reports.difference import content, difference, lines, markdown
from pytest_maxrandom.reports.results import find, path_of

if TYPE_CHECKING:
    import argparse

_REPORT = (
    "a file written by pytest --maxrandom-json, or a git revision: REVISION:PATH, or REVISION alone"
)
_DESCRIPTION = """\
Show what changed between two JSON reports: which claims fell, rose, are new or gone, with their
best and needed accuracy, n, t and p before and after, and what else differs: examples, model,
settings, arithmetic, red flags. A report is a file, or a file at a git revision:
`maxrandom diff main:report.json report.json`. A revision alone uses the path of the other
report."""
_EPILOG = """\
The exit code is 0 if no claim fell, 1 if one did, and 2 if an argument or a file is wrong."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    text = "show what changed between two JSON reports, and why"
    parser = commands.add_parser("diff", help=text, description=_DESCRIPTION, epilog=_EPILOG)
    parser.add_argument("base", metavar="BASE", help=f"the earlier report: {_REPORT}")
    parser.add_argument("head", metavar="HEAD", help="the later report, in the same form")
    parser.add_argument(
        "--format",
        choices=("text", "markdown", "json"),
        default="text",
        help="text: for a terminal (the default); markdown: for GitHub; json: for programs",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="file to write (default: standard output)"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Compare, and set the exit code.

    Returns
    -------
    str
        The difference, or where it was written.

    Raises
    ------
    ReportError
        If a report is not there or wrong, or the difference cannot be written.
    """
    base = find(options.base, path_of(options.head))
    head = find(options.head, path_of(options.base))
    found = difference(options.base, base, options.head, head)
    options.status = int(found.fell)
    if options.format == "json":
        text = json_text(content(found))
    elif options.format == "markdown":
        text = markdown(found).removesuffix("\n")
    else:
        width = shutil.get_terminal_size().columns if options.out is None else 80
        text = "\n".join(line for line, _ in lines(found, width))
    if options.out is None:
        return text
    try:
        options.out.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise ReportError(f"{options.out}: cannot be written: {error.strerror}") from error
    return f"difference: {options.out}"
