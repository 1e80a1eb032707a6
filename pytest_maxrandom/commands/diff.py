"""`maxrandom diff`: what changed between two runs, and whether anything got worse."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from pytest_maxrandom.commands import add_command, json_text, written
from pytest_maxrandom.errors import ReportError
from pytest_maxrandom.host import STORE
from pytest_maxrandom.reports import worse
from pytest_maxrandom.reports.base_run import base_run
from pytest_maxrandom.reports.difference import content, difference, lines, markdown
from pytest_maxrandom.reports.layout import Line
from pytest_maxrandom.reports.recorded_looks import count_looks
from pytest_maxrandom.reports.regressions import Asserted, regressions
from pytest_maxrandom.reports.results import find, path_of
from pytest_maxrandom.reports.summary import names

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
report. With --assert the answers of both, which the reports keep, are paired by prompt and example,
and each claim is worse, not worse by more than the margin, or cannot be told."""
_EPILOG = """\
The exit code is 0 if no claim fell, 1 if one did, and 2 if an argument or a file is wrong. With
--assert it is also 1 if a claim is worse, or if that cannot be told of one (cannot_tell=pass lets
that pass)."""
ASSERT = (
    "not_worse_than=MARGIN, such as not_worse_than=-0.02: no claim's mean score may be lower by "
    "more than that. Behind commas: alpha=LEVEL (default: 0.05), cannot_tell=pass (default: fail), "
    "and prompts=sample, where prompts stand for others (default: fixed)"
)
"""What --assert takes, here and in a gate."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    text = "show what changed between two JSON reports, and whether anything got worse"
    parser = add_command(commands, "diff", run, text, _DESCRIPTION, _EPILOG)
    parser.add_argument(
        "base",
        metavar="BASE",
        help=f"the earlier report: {_REPORT}; or a suite whose answers the store has",
    )
    parser.add_argument("head", metavar="HEAD", help="the later report: a file, or a git revision")
    parser.add_argument("--assert", dest="asserted", metavar="TEXT", help=ASSERT)
    parser.add_argument(
        "--store",
        type=Path,
        default=Path(STORE),
        help=f"file that has the results of a suite that is BASE ({STORE})",
    )
    parser.add_argument(
        "--format",
        choices=("text", "markdown", "json"),
        default="text",
        help="text: for a terminal (the default); markdown: for GitHub; json: for programs",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="file to write (default: standard output)"
    )


def run(options: argparse.Namespace) -> str:
    """Compare, and set the exit code.

    Raises
    ------
    ReportError
        If a report is not there or wrong, or the difference cannot be written.
    ValueError
        If what is asserted is none.
    """
    asserted = None if options.asserted is None else read_asserted(options.asserted)
    base = base_run(options.base, path_of(options.head), store=options.store)
    if Path(options.head).suffix in (".yaml", ".yml"):
        raise ReportError(f"{options.head}: a suite can be BASE only; give a report as HEAD")
    head = find(options.head, path_of(options.base))
    compared = difference(options.base, base, options.head, head)
    lost = None
    if asserted is not None:
        count_looks(base, head, Path.cwd(), uuid4().hex)
        lost = regressions(base, head, options.base, asserted)
    options.status = int(compared.fell or not (lost is None or lost.met))
    called = {**names(base), **names(head)}
    if options.format == "json":
        of_answers = {} if lost is None else {"regressions": worse.content(lost)}
        text = json_text({**content(compared), **of_answers})
    elif options.format == "markdown":
        first = "" if lost is None else f"{worse.markdown(lost, called)}\n"
        text = f"{first}{markdown(compared)}".removesuffix("\n")
    else:
        width = shutil.get_terminal_size().columns if options.out is None else 80
        told = [] if lost is None else [*worse.lines(lost, called, width), Line("")]
        text = "\n".join(line.text for line in [*told, *lines(compared, width)])
    return text if options.out is None else written(options.out, f"{text}\n", "difference")


def read_asserted(text: str) -> Asserted:
    """Read --assert.

    Raises
    ------
    ValueError
        In one sentence, if nothing such can be asserted.
    """
    try:
        return Asserted.read(text)
    except ValueError as error:
        raise ValueError(f"--assert: {error}") from None
