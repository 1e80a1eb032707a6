"""`maxrandom init`: a first suite for tasks and models, with its numbers explained."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.claims.recorded_claims import RecordedClaim
from pytest_maxrandom.commands import add_command, table
from pytest_maxrandom.commands.drafts import Draft, suite_of
from pytest_maxrandom.commands.recorded_drafts import (
    recorded_draft,
    recorded_suite_of,
    summary_of,
    untold_of,
    words_of,
)
from pytest_maxrandom.commands.task_guesses import Guess, completed
from pytest_maxrandom.commands.tasks import keys_of
from pytest_maxrandom.errors import Problem, RecordedError, SuiteError
from pytest_maxrandom.recorded.found import find_results, name_of
from pytest_maxrandom.studies.plan import plan_file, sweeps_of
from pytest_maxrandom.suite import FOLDER, is_suite
from pytest_maxrandom.suite.tasks import RowsSpec
from pytest_maxrandom.tasks.found import FoundTask, NoTask, Unreadable, find_tasks
from pytest_maxrandom.tasks.load import load_task

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from pytest_maxrandom.claims.planned import Planned

_DESCRIPTION = """\
Write a suite for the given tasks and models, or for predictions that exist already. Its comments
explain n, t and the power of the claim, with numbers computed from the tasks' own examples and
choices; or which column of the predictions holds what, and why that seems so. No model is loaded,
and no file is overwritten."""
_EPILOG = """\
examples: maxrandom init --task data/snarks.json --model allenai/OLMo-7B-hf --t 50;
maxrandom init --results predictions.csv"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    text = "write a suite for a task and a model, or for predictions"
    parser = add_command(commands, "init", run, text, _DESCRIPTION, _EPILOG)
    add = parser.add_argument
    add(
        "--task",
        action="append",
        metavar="PATH",
        help=(
            "a task file (BIG-bench JSON, JSONL, CSV, lm-eval YAML), or the name of an lm-eval "
            "task; may be repeated"
        ),
    )
    add(
        "--model",
        action="append",
        metavar="ID",
        help="a hub id, a folder, a GGUF file, or `mock` for a simulated model; may be repeated; "
        "with --results, the name of their model if they do not say it",
    )
    add(
        "--results",
        type=Path,
        metavar="PATH",
        help="predictions that exist already, in place of --task: a table (CSV, JSONL, Parquet), "
        ".npz, what --maxrandom-predictions wrote, or logs of lm-eval or Inspect",
    )
    add(
        "--task-format", metavar="FORMAT", help="format of the task file (default: from its suffix)"
    )
    add(
        "--set",
        action="extend",
        nargs="+",
        default=[],
        metavar="KEY=VALUE",
        help="set keys of the task or of the results, with their values in YAML, such as "
        "columns.input=question or columns.choices='[A, B, C]'; may be repeated",
    )
    add(
        "--shots",
        type=int,
        action="append",
        metavar="K",
        help="number of demonstrations (default: 4)",
    )
    add("--n", type=int, default=200, help="largest number of examples (default: 200)")
    add("--t", type=int, default=20, help="number of prompts to try (default: 20)")
    add("--out", type=Path, metavar="FILE", help=f"file to write (default: {FOLDER}/TASK.yaml)")


def run(options: argparse.Namespace) -> str:
    """Write the suite, and say what to do next.

    Raises
    ------
    ValueError
        If an option is wrong, the file exists, or something is missing.
    SuiteError
        If a task cannot be read, or no claim can be made of it.
    RecordedError
        If results cannot be read.
    """
    if options.results is not None:
        return _of_results(options)
    if lacking := [flag for flag in ("task", "model") if not getattr(options, flag)]:
        raise ValueError(
            f"--{' and --'.join(lacking)} {'are' if lacking[1:] else 'is'} missing; give a task "
            "and a model, such as --task questions.csv --model mock, or answers that exist "
            "already: --results predictions.csv"
        )
    tasks, guesses = _tasks(options)
    path = _suite_path(options, tasks[0].name)
    draft = Draft(
        path,
        [_model(model, path.parent) for model in options.model],
        [_entry(task, path.parent, options.n if options.shots != [0] else None) for task in tasks],
        options.shots or [4],
        options.n,
        options.t,
        guesses,
    )

    def text() -> str:
        claims = sweeps_of(_planned(path, suite_of(draft, [])))
        return suite_of(draft, [each for each in claims if each.model.name == claims[0].model.name])

    _write(path, text)
    written = shlex.quote(str(path))
    return "\n".join(
        [
            *_guessed(guesses),
            f"Wrote {path}. Read it, then run:",
            f"  maxrandom check {written}",
            f"  pytest {written}",
        ]
    )


def _guessed(guesses: Mapping[str, Sequence[Guess]]) -> Iterator[str]:
    """Yield what was guessed of each task, and why."""
    for task, found in guesses.items():
        if found:
            yield f"Guessed of {task} (--set says otherwise):"
            yield table([[f"  {each.key}", each.value, each.why] for each in found], left=3)


def _of_results(options: argparse.Namespace) -> str:
    """Write a suite for results that exist."""
    if wrong := [flag for flag in ("task", "task_format", "shots") if getattr(options, flag)]:
        raise ValueError(
            f"--{wrong[0].replace('_', '-')} does not go with --results: a model is not run "
            "again; say what the results are about with --set, such as --set shots=4"
        )
    if len(options.model or ()) > 1:
        raise ValueError("--model: give one name with --results, that of their model")
    source = options.results.expanduser()
    path = _suite_path(options, name_of(source))
    draft = recorded_draft(
        path,
        source,
        _relative(source, path.parent),
        keys_of(options.set),
        next(iter(options.model or ()), None),
    )

    def text() -> str:
        planned = _planned(path, recorded_suite_of(draft, []))
        claims = [each for each in planned if isinstance(each, RecordedClaim) and not each.missing]
        draft.untold |= untold_of(claims)
        return recorded_suite_of(draft, claims)

    _write(path, text)
    run = f"pytest {shlex.quote(str(path))}"
    return f"{summary_of(draft)}\nWrote {path}. For the verdict, run:\n  {run}"


def _suite_path(options: argparse.Namespace, name: str) -> Path:
    """Return the file to write, which pytest collects and which is not there yet."""
    stem = re.sub(r"[^\w.-]+", "-", name)
    path: Path = options.out or Path(FOLDER) / f"{stem}.yaml"
    if not is_suite(path.absolute(), Path.cwd()):
        raise ValueError(
            f"--out: pytest would not collect {path}; expected a YAML file below a folder named "
            f"{FOLDER}, or *.maxrandom.yaml"
        )
    if path.exists():
        raise ValueError(f"{path} already exists and was not changed; give --out another name")
    return path


def _write(path: Path, text: Callable[[], str]) -> None:
    """Write what is made in the file's folder; nothing is left behind where that fails."""
    made = not path.parent.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        written = text()
        with path.open("x", encoding="utf-8") as stream:
            stream.write(written)
    except BaseException:
        if made:
            with contextlib.suppress(OSError):
                path.parent.rmdir()
        raise


def _tasks(options: argparse.Namespace) -> tuple[list[FoundTask], dict[str, list[Guess]]]:
    """Return the tasks, and by their names what was guessed of them."""
    tasks: list[FoundTask] = []
    guesses: dict[str, list[Guess]] = {}
    problems: list[Problem] = []
    paths = [Path(task) for task in options.task]
    keys = keys_of(options.set)
    form = ["--task-format", options.task_format] if options.task_format else []
    words = [
        *form,
        *(word for name in options.model for word in ("--model", name)),
        *words_of(keys),
    ]
    for found_task in find_tasks(paths, options.task_format, keys):
        if isinstance(found_task, Unreadable):
            problems += found_task.problems
        elif isinstance(found_task, FoundTask) and found_task.line is not None:
            raise ValueError(f"--task: {found_task.path} is a suite already")
        elif not isinstance(found_task, NoTask):
            try:
                command = ["maxrandom", "init", "--task", str(found_task.path), *words]
                whole, guesses[found_task.name] = completed(found_task, command)
                tasks.append(whole)
            except SuiteError as error:
                problems += [*error.problems, *_are_answers(found_task.path)]
    if problems:
        raise SuiteError(problems)
    if not tasks:
        raise ValueError(f"--task: found no task in {', '.join(options.task)}")
    return tasks, guesses


def _are_answers(path: Path) -> list[Problem]:
    """Say of what is no task that it looks like the answers of a model, if it does."""
    try:
        found = find_results(path, {}, {"chance": None})
    except RecordedError:
        return []
    if found.missing or found.guessed is None:
        return []
    told = f"maxrandom init --results {shlex.quote(str(path))}"
    return [Problem(path, None, f"it looks like answers that exist already: `{told}`")]


def _model(name: str, base: Path) -> dict[str, Any]:
    """Return the keys of a model; a path is made relative to the suite."""
    if name == "mock":
        return {"name": "mock", "backend": "mock", "knows": 0.6}
    if "://" in name:
        raise ValueError(
            f"--model: found {name!r}, expected a hub id, a folder or a GGUF file; for a model "
            "behind a server, write the keys backend, url and name into the suite"
        )
    path = Path(name).expanduser()
    if path.exists():
        name = _relative(path, base)
    elif name.startswith((".", "/", "~")) or path.suffix == ".gguf":
        raise ValueError(f"--model: there is no file or folder {name}")
    if path.suffix == ".gguf":
        return {"name": name, "backend": "gguf"}
    return {"name": name, "quantization": "nf4"}


def _entry(found: FoundTask, base: Path, most: int | None) -> dict[str, Any]:
    """Return the keys of a task; paths are made relative to the suite.

    Of few open answers, a third is left for the demonstrations of up to `most` examples: prompts
    that leave out their own have no exact test there.
    """
    keys = found.spec.model_dump(exclude_unset=True, mode="json")
    for part in (keys, keys.get("pool"), keys.get("test")):
        if isinstance(part, dict) and (path := part.get("path")):
            file = found.base / Path(path).expanduser()
            part["path"] = _relative(file, base) if file.exists() else path
    if most is not None and isinstance(found.spec, RowsSpec) and found.spec.is_open:
        there = len(load_task(found.spec, found.base, found.where).examples)
        if 3 * most > 2 * there and not {"pool", "validation"} & keys.keys():
            keys["validation"] = {"max_examples": 2 * there // 3}
    return keys


def _relative(path: Path, base: Path) -> str:
    return Path(os.path.relpath(path.absolute(), base.absolute())).as_posix()


def _planned(path: Path, text: str) -> list[Planned]:
    """Return what a suite plans, as pytest would collect it from this place."""
    with tempfile.TemporaryDirectory(prefix=".maxrandom-", dir=path.parent) as folder:
        # Paths are relative to the suite's own folder, so the draft stands there too.
        file = Path(f"{folder}.maxrandom.yaml")
        try:
            file.write_text(text, encoding="utf-8")
            return plan_file(file)
        except SuiteError as error:
            own = [
                replace(problem, path=path, line=None) if problem.path == file else problem
                for problem in error.problems
            ]
            raise SuiteError(own) from None
        finally:
            file.unlink(missing_ok=True)
