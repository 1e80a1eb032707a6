"""`maxrandom check` and `schema`: all mistakes in suites, and the schemas of what is written."""

from __future__ import annotations

import os
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.ci.actions import silence, workspace
from pytest_maxrandom.claims.lengths import lengths_of, too_long
from pytest_maxrandom.commands import add_command, suites_in
from pytest_maxrandom.errors import KEYS, ModelError, Problem, SuiteError, where_keys_are
from pytest_maxrandom.flags import KINDS
from pytest_maxrandom.flags.kinds.repeated_examples import copied
from pytest_maxrandom.record import RedFlag, looks_real
from pytest_maxrandom.record.metrics import METRICS
from pytest_maxrandom.recorded.sources import READERS
from pytest_maxrandom.reports import schema as reports
from pytest_maxrandom.reports.annotations import of_problem, workflow_commands
from pytest_maxrandom.reports.red_flags import sentence
from pytest_maxrandom.reports.remarks import worded
from pytest_maxrandom.reports.text import visible
from pytest_maxrandom.studies.plan import claims_of, plan_file, sweeps_of
from pytest_maxrandom.suite.schema import dump_schema, installed_schema
from pytest_maxrandom.sweeps.predictions import texts_of
from pytest_maxrandom.sweeps.scorers import SCORERS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pytest_maxrandom.claims.planned import ClaimOfSuite, PlannedClaim

_Found = dict[Problem, None]
"""In their order, each once."""
_DESCRIPTION = """\
Find the mistakes in suites and in their data, as pytest does when it collects them, and texts that
are too long for a local model. Remarks that a run would make on its data and prompts follow, and
which claims no run can tell; they are no mistakes. No model is loaded. The exit code is 0 if there
is no mistake, 1 if there is one, and 2 if there is nothing to check or an argument is wrong."""
_EPILOG = f"all keys of a suite and their defaults: {KEYS}"


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    parser = add_command(
        commands, "check", run, "find the mistakes in suites", _DESCRIPTION, _EPILOG
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
    schema = add_command(
        commands,
        "schema",
        run_schema,
        "print a JSON Schema, for editors and programs",
        "Print the JSON Schema of suites, of JSON reports, or of the output of `maxrandom tasks`. "
        "The schema of suites includes the backends and formats that installed packages add.",
        _EPILOG,
    )
    schema.add_argument(
        "of",
        nargs="?",
        choices=("suite", "report", "tasks"),
        default="suite",
        help="suite (the default); report: what pytest --maxrandom-json writes; tasks: what "
        "`maxrandom tasks --format json` prints",
    )


def run(options: argparse.Namespace) -> str:
    """Return one line for each mistake and remark; `options.status` is 1 if there is a mistake.

    Raises
    ------
    ValueError
        If a path does not exist or is neither a file nor a folder, or a folder holds no suite.
    """
    suites = suites_in(options.paths)
    problems, remarks = _Found(), _Found()
    for suite in suites:
        _check(suite, problems, remarks)
    options.status = 1 if problems else 0
    none = f"{len(suites)} {'suite' if len(suites) == 1 else 'suites'}, no mistake"
    found = [*map(_line, problems), *where_keys_are(problems)] if problems else [none]
    lines = "\n".join([*found, *map(_line, remarks)])
    if not (problems and options.annotations):
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
    if written is not None:
        return reports.dump_schema(written()).rstrip("\n")
    for refused in chain(*(each.refused() for each in (KINDS.parts, METRICS, READERS, SCORERS))):
        raise refused
    return dump_schema(installed_schema()).rstrip("\n")


def _line(problem: Problem) -> str:
    return visible(str(problem))


def _check(suite: Path, problems: _Found, remarks: _Found) -> None:
    """Find the mistakes in a suite; without any, what a run would remark as well."""
    try:
        planned = plan_file(suite)
    except SuiteError as error:
        problems |= dict.fromkeys(error.problems)
        return
    remarks |= {
        Problem(suite, each.line, told): None
        for each in claims_of(planned)
        if (told := _untold(each))
    }
    for claim in sweeps_of(planned):
        if (real := _misnamed(claim)) is not None:
            remarks[Problem(suite, claim.model_line or claim.line, real)] = None
        remarks |= {Problem(suite, claim.line, f"remark: {text}"): None for text in _remarks(claim)}
        if claim.simulated or claim.suite.classify is not None:  # whose head reads `max_length`
            continue
        try:
            known = lengths_of(claim)
            wrong = None if known is None else too_long(claim, known)
        except ModelError as error:
            problems[Problem(suite, claim.line, str(error))] = None
            continue
        if wrong is not None:
            problems[Problem(suite, claim.line, f"{claim.name}: {wrong}")] = None
        if known is None:
            text = (
                f"remark: only a run can tell whether texts are too long for {claim.model.name} "
                f"(`backend: {claim.model.backend}`)"
            )
            remarks[Problem(suite, claim.model_line or claim.line, text)] = None


def _misnamed(claim: PlannedClaim) -> str | None:
    """Say that a model is simulated with a real one's name or label, or no folder that is meant.

    What has two parts, as a hub id has, may be a folder that is looked for in the wrong place.
    """
    name, model = claim.model.name, claim.model
    if model.simulated:
        name = next((each for each in (model.label, name) if each and looks_real(each)), name)
        there = (claim.base / name).exists()
        if not (looks_real(name) or there):
            return None
        is_path = there or name.startswith((".", "/", "~")) or name.endswith(".gguf")
        return (
            f"remark: {name} is the name of a simulated model (`backend: {model.backend}`), and "
            f"looks like a {'path' if is_path else 'hub id'}: no file of it is read, and its "
            "results say nothing of a real model; for the real one replace the whole entry, such "
            f"as by `- name: {name}`"
        )
    first, slash, _ = name.partition("/")
    if not slash or (claim.base / name).exists() or model.backend != "transformers":
        return None
    if Path(name).exists():
        meant = Path(os.path.relpath(Path(name).absolute(), claim.base.absolute())).as_posix()
        return (
            f"remark: {name} is taken for a hub id, because there is no such folder beside the "
            f"suite; for the one that is here, write `name: {meant}`"
        )
    if (claim.base / first).is_dir() or Path(first).is_dir():
        return (
            f"remark: {name} is taken for a hub id, because there is no such folder in {first}/; "
            "correct the path if you mean a folder"
        )
    return None


def _untold(claim: ClaimOfSuite) -> str:
    """Say that no run can tell a claim, and why; empty where one can."""
    why = claim.claim.cannot_tell
    return "" if why is None else f"remark: {claim.name}: no run can tell: {worded(why).text}"


def _remarks(claim: PlannedClaim) -> Iterator[str]:
    """Say what a run would remark on the examples and the prompts of a claim."""
    found = claim.condition.prompt_set
    for remark in (*claim.condition.task.notes, *found.notes):
        yield f"{claim.task}: {worded(remark).text}"
    for flag in copied(texts_of(found.validation)["copies"]):
        severity = claim.claim.severity(flag)
        if severity != "ignore":
            known = RedFlag(flag.kind, severity, parameters=dict(flag.parameters))
            yield f"{claim.task}: {sentence(known)} (red flag `{flag.kind}`)"
