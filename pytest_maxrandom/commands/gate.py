"""`maxrandom gate`: pytest on suites in continuous integration, told to those who wait for it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from pytest_maxrandom.ci import actions
from pytest_maxrandom.ci.gate import discard, report_files, unread_base
from pytest_maxrandom.ci.judgement import Before, Judged, Ledger
from pytest_maxrandom.ci.process import run_pytest
from pytest_maxrandom.ci.since import Since
from pytest_maxrandom.commands import add_command
from pytest_maxrandom.commands.diff import ASSERT, read_asserted
from pytest_maxrandom.errors import GitError
from pytest_maxrandom.host.data import Boundary, work_tree
from pytest_maxrandom.ledger.base import BASE
from pytest_maxrandom.record import RESERVED, Reserved
from pytest_maxrandom.reports.annotations import Annotation, annotate, workflow_commands
from pytest_maxrandom.reports.guessers import odds_section
from pytest_maxrandom.reports.markdown import MARKDOWN

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping


_REPORT = Path("maxrandom-report/report.md")
_FAIL_ON = ("deselected",)
_DESCRIPTION = """\
Run pytest on suites and write the Markdown report, with the JSON report, the page and the JUnit
file in the same folder. In GitHub Actions it also writes annotations, the step's summary, and the
outputs code, outcome (passed, failed or error), passed, failed, reservations (how many), notice
(the reason, where the reports do not give it), report, json, page, junit and ledger (files with
lines to commit).

What a pull request takes out, excuses or weakens since the base, and tries that no committed ledger
counts, are reservations: they stand in the headline, which then has no tick. Those of the kinds of
--fail-on fail the gate. Of a claim that the run lacks, skips or excuses, pytest is asked what it
does with it at the base, in a copy of the base's files, where it sets tests up and runs none."""
_EPILOG = """\
The exit code is pytest's: 0 if all claims pass, 1 if one fails, 2 if the run was interrupted or a
suite is wrong, 3 for an internal error, 4 for wrong arguments, 5 if nothing was tested, and 128 + s
if signal s ended pytest. If pytest ends with 0, the report still decides: the gate returns 1 if a
claim in it does not hold, 2 if it lacks results, and 5 if there is no claim or no report. It also
returns 1 if results are simulated, the ledger lost lines since the base or lacks tries of this run,
a reservation fails it, or what --assert says is not shown. The gate runs nothing and returns 2 if
git cannot read the base, or if a file that no gate wrote would be overwritten."""

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
    parser = add_command(commands, "gate", run, "run pytest on suites in CI", _DESCRIPTION, _EPILOG)
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
        "--base",  # else an abbreviation of two options
        default="",
        metavar="REF",
        help="branch or commit whose ledger lines must all still be there, and with whose suites "
        "those of the work tree are compared (default: the base of the pull request, if GitHub or "
        "GitLab names it); `none` compares with nothing",
    )
    add(
        "--fail-on",
        default=",".join(_FAIL_ON),
        metavar="KINDS",
        help=f"reservations that fail the gate, separated by commas: {', '.join(RESERVED)}; or "
        "`none` (default: %(default)s)",
    )
    add(
        "--ledger",
        choices=get_args(Ledger),
        default="required",
        help="tries on models that are run, and that no committed ledger counts: they fail the "
        "gate (required, the default), or are a reservation (artifact), or pass (off); the lines "
        "to commit are kept in the first two cases",
    )
    add(
        "--assert",
        dest="asserted",
        metavar="TEXT",
        help=f"fail if a claim is worse than at the base, or if that cannot be told. {ASSERT}",
    )
    add(
        "--base-report",
        default="",
        metavar="REPORT",
        help="with --assert: the base's JSON report, a file or REVISION:PATH (default: the file at "
        "the base that has the path of this run's JSON report)",
    )
    add(
        "--exit-zero",
        action="store_true",
        help="always exit with 0; the output `code` has pytest's exit code",
    )
    for option, metavar, said in _ALLOWED:
        add(option, action="append", default=[], metavar=metavar, help=said)


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
    fail_on = _kinds(options.fail_on, options.ledger)
    files = report_files(options.report)
    since = _since(options, files["json"])
    files["report"].parent.mkdir(parents=True, exist_ok=True)
    discard(files)
    own = [
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
    limits = _boundary(options)
    try:
        before = Before(options.base_ref, suites, arguments, limits, since)
    except (GitError, OSError, ValueError) as error:
        judged = Judged(unread_base(str(error)))
    else:
        told = {BASE: before.ref} if before.ref else {}
        with limits.in_force():
            ran = run_pytest([*arguments, *own, *suites], told)
        judged = before.judge(ran, files, fail_on, options.ledger)
    outcome = judged.outcome
    options.status = 0 if options.exit_zero else outcome.code
    try:
        actions.write_summary(_summary(files["report"], judged))
    except OSError as error:
        judged.said.append(f"the step's summary was not written: {error}")
    actions.write_outputs(_outputs(judged, files))
    judged.said.append(f"{outcome.word}: {outcome.sentence}")
    last = [f"maxrandom gate: {sentence}" for sentence in judged.said]
    return "\n".join([*last, *end_of_silence, *_commands(judged)])


def _since(options: argparse.Namespace, json: Path) -> Callable[[str], Since] | None:
    """Return what reads the base's report, if anything is asserted of it."""
    if options.asserted is None:
        if options.base_report:
            raise ValueError("--base-report: found no --assert, which says what is compared")
        return None
    asserted, named = read_asserted(options.asserted), options.base_report
    if not named:
        return lambda ref: Since.read(asserted, "", ref, json)
    since = Since.read(asserted, named, "", json)  # before this run's report takes its place
    return lambda ref: since


def _kinds(names: str, ledger: Ledger) -> frozenset[Reserved]:
    """Read --fail-on; a ledger that is required fails the gate as well."""
    words = [word.strip() for word in names.split(",") if word.strip() not in ("", "none")]
    if unknown := [word for word in words if word not in RESERVED]:
        raise ValueError(
            f"fail-on: found {unknown[0]!r}, expected some of {', '.join(RESERVED)}, or none"
        )
    kinds = {kind for kind in RESERVED if kind in words}
    if ledger == "off" and "uncounted" in kinds:
        raise ValueError("fail-on: found uncounted with --ledger off, which does not look for it")
    return frozenset(kinds | ({"uncounted"} if ledger == "required" else set()))


def _outputs(judged: Judged, files: Mapping[str, Path]) -> dict[str, str]:
    outcome, run = judged.outcome, judged.recorded
    return {
        "code": str(outcome.code),
        "outcome": outcome.word,
        "passed": str(outcome.passed),
        "failed": str(outcome.failed),
        "reservations": str(len(run.reservations) if run else 0),
        "notice": outcome.notice,
        "ledger": "\n".join(map(str, judged.ledger)),
        **{
            name: file.as_posix()
            for name, file in files.items()
            if file.exists() and (name != "json" or run is not None)
        },
    }


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


def _summary(report: Path, judged: Judged) -> str:
    """Return the report and how often the gate errs; below why it does not pass, where needed."""
    notice = judged.outcome.notice
    text = report.read_text(encoding="utf-8") if report.exists() else ""
    text += odds_section(judged.recorded) if judged.recorded else ""
    return f"**❌ {MARKDOWN.plain(notice)}**\n\n{text}" if notice else text


def _commands(judged: Judged) -> list[str]:
    """Annotate what was recorded; if nothing is, or that is first, why the gate is red."""
    if not actions.here():
        return []
    outcome, run = judged.outcome, judged.recorded
    found = annotate(run, judged.root, Path.cwd()) if run else []
    if outcome.notice and (judged.first or not found):
        found = [Annotation(outcome.title, outcome.reason), *found]
    return workflow_commands(found, actions.workspace())
