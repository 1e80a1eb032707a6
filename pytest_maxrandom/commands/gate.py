"""`maxrandom gate`: pytest on suites in continuous integration, told to those who wait for it."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.ci import actions
from pytest_maxrandom.ci.gate import Watch, discard, judge, known_base, report_files, unread_base
from pytest_maxrandom.ci.process import run_pytest
from pytest_maxrandom.errors import GitError, ReportError
from pytest_maxrandom.host.data import Boundary, work_tree
from pytest_maxrandom.ledger.base import BASE
from pytest_maxrandom.reports.annotations import Annotation, annotate, workflow_commands
from pytest_maxrandom.reports.guessers import odds_section
from pytest_maxrandom.reports.markdown import MARKDOWN
from pytest_maxrandom.reports.results import load

if TYPE_CHECKING:
    import argparse

    from pytest_maxrandom.ci.gate import Outcome
    from pytest_maxrandom.record import RunRecord

_REPORT = Path("maxrandom-report/report.md")
_DESCRIPTION = """\
Run pytest on suites and write the Markdown report, with the JSON report, the page and the JUnit
file in the same folder. In GitHub Actions it also writes annotations, the step's summary, and the
outputs code, outcome (passed, failed or error), passed, failed, notice (the reason, where the
reports do not give it), report, json, page and junit."""
_EPILOG = """\
The exit code is pytest's: 0 if all claims pass, 1 if one fails, 2 if the run was interrupted or a
suite is wrong, 3 for an internal error, 4 for wrong arguments, 5 if nothing was tested, and 128 + s
if signal s ended pytest. If pytest succeeds, the gate still returns 5 if there was no claim, and 1
if results are simulated or the ledger lost lines since the base. The gate runs nothing and returns
2 if git cannot read the base, or if a file that no gate wrote would be overwritten."""

_ALLOWED = (
    (
        "--allow-env",
        "NAME",
        "environment variable that the paths of results may name; several may be given, in one or "
        "in several options",
    ),
    (
        "--allow-path",
        "FOLDER",
        "folder outside of the repository, or address, whose data suites may read; several may be "
        "given",
    ),
)
"""What a suite alone may not read: its author could show what the runner holds."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    parser = commands.add_parser(
        "gate", help="run pytest on suites in CI", description=_DESCRIPTION, epilog=_EPILOG
    )
    add = parser.add_argument
    add("paths", nargs="*", metavar="SUITE", help="a suite, or a folder with suites")
    add("--suites", default="", metavar="TEXT", help="more suites, quoted as in a shell")
    add(
        "--pytest-args",
        default="",
        metavar="TEXT",
        help="more arguments for pytest, quoted as in a shell but not expanded",
    )
    add(
        "--report",
        default=str(_REPORT),
        metavar="PATH.md",
        help=f"Markdown report; its folder is created (default: {_REPORT})",
    )
    add(
        "--base-ref",
        default="",
        metavar="REF",
        help="branch or commit whose ledger lines must all still be there (default: the base of "
        "the pull request, if GitHub or GitLab names it); `none` compares with nothing",
    )
    add(
        "--exit-zero",
        action="store_true",
        help="always exit with 0; the output `code` has pytest's exit code",
    )
    for option, metavar, said in _ALLOWED:
        add(option, action="append", default=[], metavar=metavar, help=said)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Run pytest and tell what became of it; the exit code is left in `options.status`.

    Raises
    ------
    ValueError
        If an argument is wrong, or a file of somebody else's would be overwritten.
    OSError
        If the reports' folder or the step's outputs cannot be written.
    """
    suites = _suites([*options.paths, *_words("suites", options.suites)])
    arguments = _words("pytest-args", options.pytest_args)
    files = report_files(options.report)
    files["report"].parent.mkdir(parents=True, exist_ok=True)
    discard(files)
    arguments += [
        f"--maxrandom-report={files['report']}",
        f"--maxrandom-json={files['json']}",
        f"--maxrandom-html={files['page']}",
        "--maxrandom-texts=shared",
        f"--junitxml={files['junit']}",
    ]
    # Whatever pytest, and this command in its last words, take from suites is no command to CI.
    silence, end_of_silence = actions.silence()
    for line in silence:
        print(line, flush=True)
    ref = known_base(options.base_ref, os.environ)
    lost: list[str] = []
    recorded: RunRecord | None = None
    try:
        watch = Watch(ref) if ref else None
    except (GitError, OSError, ValueError) as error:
        root, said, outcome = Path.cwd(), list[str](), unread_base(str(error))
    else:
        with _boundary(options).in_force():
            code, root = run_pytest([*arguments, *suites], {BASE: ref} if ref else {})
        recorded, said = _read(files["json"])
        outcome = judge(code, recorded, ", ".join(suites))
        if watch is not None:
            outcome, lost = watch.judge(outcome)
            said += lost
    options.status = 0 if options.exit_zero else outcome.code
    try:
        actions.write_summary(_summary(files["report"], outcome, recorded))
    except OSError as error:
        said.append(f"the step's summary was not written: {error}")
    actions.write_outputs(
        {
            "code": str(outcome.code),
            "outcome": outcome.word,
            "passed": str(outcome.passed),
            "failed": str(outcome.failed),
            "notice": outcome.notice,
            **{
                name: file.as_posix()
                for name, file in files.items()
                if file.exists() and (name != "json" or recorded is not None)
            },
        }
    )
    said.append(f"{outcome.word}: {outcome.sentence}")
    last = [f"maxrandom gate: {sentence}" for sentence in said]
    return "\n".join(
        [*last, *end_of_silence, *_commands(outcome, recorded, root, first=bool(lost))]
    )


def _suites(paths: list[str]) -> list[str]:
    if not paths:
        raise ValueError("suites: found none, expected at least one file or folder")
    if switches := [path for path in paths if path.startswith("-")]:
        raise ValueError(
            f"suites: found {switches[0]!r}, expected a file or folder; options for pytest go into "
            "pytest-args"
        )
    return paths


def _boundary(options: argparse.Namespace) -> Boundary:
    """Return what suites may read: the repository, and what the workflow allows besides."""
    variables, places = (
        [word for text in given for word in _words(name, text)]
        for name, given in (("allow-env", options.allow_env), ("allow-path", options.allow_path))
    )
    whole = [place if "://" in place else str(Path(place).resolve()) for place in places]
    return Boundary(work_tree(Path.cwd()), variables, whole)


def _words(name: str, text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise ValueError(f"{name}: found {text!r}, expected words ({error})") from error


def _read(json: Path) -> tuple[RunRecord | None, list[str]]:
    """Return the run as it was recorded, if it was, and what a person must know of that."""
    try:
        return (load(json) if json.exists() else None), []
    except ReportError as error:
        return None, [str(error)]


def _summary(report: Path, outcome: Outcome, recorded: RunRecord | None) -> str:
    """Return the report and how often the gate errs; below why it does not pass, where needed."""
    text = report.read_text(encoding="utf-8") if report.exists() else ""
    text += odds_section(recorded) if recorded else ""
    return f"**❌ {MARKDOWN.plain(outcome.notice)}**\n\n{text}" if outcome.notice else text


def _commands(
    outcome: Outcome, recorded: RunRecord | None, root: Path, *, first: bool
) -> list[str]:
    """Annotate what was recorded; if nothing is, or that is `first`, why the gate is red."""
    if not actions.here():
        return []
    found = annotate(recorded, root, Path.cwd()) if recorded else []
    if outcome.notice and (first or not found):
        found = [Annotation(outcome.title, outcome.reason), *found]
    return workflow_commands(found, actions.workspace())
