"""`maxrandom tasks`: what chance is of any tasks, and what is wrong with them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from pytest_maxrandom.commands import add_command
from pytest_maxrandom.errors import MaxRandomError, SuiteError
from pytest_maxrandom.record import AuditedTask, LeftOut, TaskAudit
from pytest_maxrandom.reports.audits import WIDE, as_csv, as_json, as_markdown, as_text, worded
from pytest_maxrandom.stats.best_of import MOST_GUESSERS
from pytest_maxrandom.stats.chances import proportion
from pytest_maxrandom.studies.audit import read_and_audit
from pytest_maxrandom.tasks.found import Found, FoundTask, NoTask, find_tasks

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence


_DESCRIPTION = """\
Describe tasks before any model sees them: examples, choices, chance, the best constant answer, the
best rule that needs no knowledge, copies, clusters, the maximum random baseline, the right answers
that a claim needs to pass, and the mistakes in the data. No model is run. The exit code is 0 if all
tasks can be read, 1 if one cannot (the others are still shown), and 2 if there is no task or an
argument is wrong."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    text = "show the baselines of tasks and the mistakes in them"
    parser = add_command(commands, "tasks", run, text, _DESCRIPTION)
    add = parser.add_argument
    add(
        "paths",
        nargs="*",
        metavar="PATH",
        help=(
            "a suite, a task file (BIG-bench JSON, JSONL, CSV, lm-eval YAML), the name of an "
            "lm-eval task, or a folder to search"
        ),
    )
    add(
        "--task-format",
        metavar="FORMAT",
        help="`format` of task files, as in a suite (default: from the file's suffix)",
    )
    add(
        "--set",
        action="extend",
        nargs="+",
        default=[],
        metavar="KEY=VALUE",
        help="set keys of task files as a suite would, with their values in YAML, such as "
        "columns.input=question or columns.choices='[A, B, C]'; may be repeated",
    )
    add("--t", default="1,10,100", help="numbers of prompts (default: 1,10,100)", metavar="T,...")
    add("--alpha", type=float, default=0.05, help="level of the test (default: 0.05)")
    add(
        "--format",
        choices=("table", "csv", "json", "md"),
        default="table",
        help="table (the default) fits the terminal; csv and json have all numbers, md is a page",
    )
    add("-o", "--output", type=Path, help="file to write (default: standard output)")


def run(options: argparse.Namespace) -> str:
    """Return the audit of all tasks; `options.status` is left as 1 if one cannot be read.

    Raises
    ------
    ValueError
        If an option is wrong, or there is no task.
    """
    prompts, alpha = _numbers(options.t), proportion("alpha", options.alpha)
    # `--set a=b PATH` takes the path for a pair.
    after = [
        each
        for each in options.set
        if "=" not in each and (not options.paths or Path(each).exists())
    ]
    pairs, named = [each for each in options.set if each not in after], [*options.paths, *after]
    if not named:
        raise ValueError("found no PATH; expected a suite, a task file, or a folder to search")
    paths = [Path(path) for path in named]
    tasks: list[AuditedTask] = []
    left_out: list[LeftOut] = []
    for found in find_tasks(paths, options.task_format, keys_of(pairs)):
        if isinstance(found, NoTask):
            left_out.append(LeftOut(str(found.path), found.reason))
        else:
            tasks.append(_audited(found, prompts, alpha))
    if not tasks:
        told = "; ".join(f"{each.path}: {each.reason}" for each in left_out[:3])
        raise ValueError(
            f"no task in {', '.join(named)}{f' ({told})' if told else ''}; expected a "
            "suite, BIG-bench JSON, lm-eval YAML, or JSONL or CSV with the columns input, choices "
            "and answer (--set names other columns)"
        )
    options.status = 1 if any(task.problems for task in tasks) else 0
    audit = TaskAudit(alpha, prompts, tasks, left_out)
    if options.format == "table":
        text = as_text(audit, shutil.get_terminal_size((WIDE, 24)).columns)
    else:
        text = {"csv": as_csv, "json": as_json, "md": as_markdown}[options.format](audit)
    if options.output is None:
        return text
    options.output.write_text(f"{text}\n", encoding="utf-8")
    return f"{len(tasks):,} {'task' if len(tasks) == 1 else 'tasks'} in {options.output}"


def _audited(task: Found, prompts: list[int], alpha: float) -> AuditedTask:
    assert not isinstance(task, NoTask)
    if isinstance(task, FoundTask):
        try:
            return worded(read_and_audit(task, prompts, alpha))
        except SuiteError as error:
            problems = [str(each) for each in error.problems]
        except MaxRandomError as error:
            problems = [str(error)]
        return AuditedTask(
            name=task.name,
            path=str(task.path),
            line=task.line,
            format=task.spec.format,
            problems=problems,
        )
    return AuditedTask(
        name=task.path.name,
        path=str(task.path),
        format=task.format,
        problems=[str(each) for each in task.problems],
    )


def _numbers(text: str) -> list[int]:
    """Read "1,10,100"."""
    try:
        numbers = sorted({int(part) for part in text.split(",")})
    except ValueError:
        numbers = [0]
    if numbers[0] < 1 or numbers[-1] > MOST_GUESSERS:
        raise ValueError(f"--t: found {text!r}, expected numbers of prompts such as 1,10,100")
    return numbers


def keys_of(pairs: Sequence[str]) -> dict[str, Any]:
    """Read "columns.input=question" as {"columns": {"input": "question"}}."""
    keys: dict[str, Any] = {}
    for pair in pairs:
        place, equals, value = pair.partition("=")
        *above, last = place.split(".")
        within = keys
        for part in above:
            within = within.setdefault(part, {})
            if not isinstance(within, dict):
                raise ValueError(f"--set: {place} is below a key that already has a value")
        if not equals or not last:
            raise ValueError(f"--set: found {pair!r}, expected KEY=VALUE such as answer_is=letter")
        try:
            within[last] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            reason = " ".join(str(error).split())
            raise ValueError(f"--set: {value!r} of {place} is not valid YAML: {reason}") from None
    return keys
