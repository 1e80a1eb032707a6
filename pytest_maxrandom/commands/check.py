"""`maxrandom check` and `schema`: all mistakes in suites, and the schemas of what is written."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.ci.actions import silence, workspace
from pytest_maxrandom.claims.lengths import too_long
from pytest_maxrandom.commands import suites_in
from pytest_maxrandom.errors import ModelError, Problem, SuiteError
from pytest_maxrandom.reports import schema as reports
from pytest_maxrandom.reports.annotations import of_problem, workflow_commands
from pytest_maxrandom.reports.text import visible
from pytest_maxrandom.studies.plan import plan_file, sweeps_of
from pytest_maxrandom.suite.schema import dump_schema, installed_schema

if TYPE_CHECKING:
    import argparse

_DESCRIPTION = """\
Find the mistakes in suites and in their data, as pytest does when it collects them, and texts that
are too long for a local model. No model is loaded. The exit code is 0 if there is no mistake, 1 if
there is one, and 2 if there is nothing to check or an argument is wrong."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    parser = commands.add_parser(
        "check", help="find the mistakes in suites", description=_DESCRIPTION
    )
    parser.add_argument(
        "paths",
        type=Path,
        nargs="+",
        metavar="PATH",
        help="a suite, or a folder to search for suites",
    )
    parser.add_argument(
        "--annotations",
        choices=("github",),
        help="also print each mistake as an annotation for GitHub Actions",
    )
    parser.set_defaults(run=run)
    schema = commands.add_parser(
        "schema",
        help="print a JSON Schema, for editors and programs",
        description="Print the JSON Schema of suites, of JSON reports, or of the output of "
        "`maxrandom tasks`. The schema of suites includes the backends and formats "
        "that installed packages add.",
    )
    schema.add_argument(
        "of",
        nargs="?",
        choices=("suite", "report", "tasks"),
        default="suite",
        help="suite (the default); report: what pytest --maxrandom-json writes; tasks: what "
        "`maxrandom tasks --format json` prints",
    )
    schema.set_defaults(run=run_schema)


def run(options: argparse.Namespace) -> str:
    """Return one line for each mistake; `options.status` is left as 1 if there is one.

    Raises
    ------
    ValueError
        If a path does not exist or is neither a file nor a folder, or a folder holds no suite.
    """
    suites = suites_in(options.paths)
    problems = list(dict.fromkeys(problem for suite in suites for problem in _problems(suite)))
    options.status = 1 if problems else 0
    if not problems:
        return f"{len(suites)} {'suite' if len(suites) == 1 else 'suites'}, no mistake"
    lines = "\n".join(visible(str(problem)) for problem in problems)
    if not options.annotations:
        return lines
    before, after = silence()
    commands = workflow_commands([of_problem(problem) for problem in problems], workspace())
    return "\n".join([*before, lines, *after, *commands])


def run_schema(options: argparse.Namespace) -> str:
    """Return the JSON Schema of suites, of reports, or of what `maxrandom tasks` prints.

    Raises
    ------
    ExtensionError
        If what a package adds cannot be loaded.
    """
    written = {"report": reports.schema, "tasks": reports.tasks_schema}.get(options.of)
    made = dump_schema(installed_schema()) if written is None else reports.dump_schema(written())
    return made.rstrip("\n")


def _problems(suite: Path) -> tuple[Problem, ...]:
    try:
        claims = sweeps_of(plan_file(suite))
    except SuiteError as error:
        return error.problems
    found: dict[Problem, None] = {}
    for claim in claims:
        try:
            told = too_long(claim)
        except ModelError as error:
            told = str(error)
        if told is not None:
            found[Problem(suite, claim.line, told)] = None
    return tuple(found)
