"""`maxrandom init`: a first suite for tasks and models, with its numbers explained."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.commands.drafts import Draft, suite_of
from pytest_maxrandom.commands.tasks import keys_of
from pytest_maxrandom.errors import Problem, SuiteError
from pytest_maxrandom.studies.plan import plan_file, sweeps_of
from pytest_maxrandom.suite import FOLDER, is_suite
from pytest_maxrandom.tasks.found import FoundTask, NoTask, Unreadable, find_tasks
from pytest_maxrandom.tasks.guesses import completed

if TYPE_CHECKING:
    import argparse

    from pytest_maxrandom.claims.planned import PlannedClaim

_DESCRIPTION = """\
Write a suite for the given tasks and models. Its comments explain n, t and the power of the claim,
with numbers computed from the tasks' own examples and choices. No model is loaded, and no file is
overwritten."""
_EPILOG = """\
example: maxrandom init --task data/snarks.json --model allenai/OLMo-7B-hf --t 50"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Describe the command and its arguments."""
    parser = commands.add_parser(
        "init",
        help="write a suite for a task and a model",
        description=_DESCRIPTION,
        epilog=_EPILOG,
    )
    add = parser.add_argument
    add(
        "--task",
        action="append",
        required=True,
        metavar="PATH",
        help=(
            "a task file (BIG-bench JSON, JSONL, CSV, lm-eval YAML), or the name of an lm-eval "
            "task; may be repeated"
        ),
    )
    add(
        "--model",
        action="append",
        required=True,
        metavar="ID",
        help="a hub id, a folder, a GGUF file, or `mock` for a simulated model; may be repeated",
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
        help="set keys of the task, with their values in YAML, such as columns.input=question or "
        "columns.choices='[A, B, C]'; may be repeated",
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
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> str:
    """Write the suite, and say what to do next.

    Raises
    ------
    ValueError
        If an option is wrong, or the file exists.
    SuiteError
        If a task cannot be read, or no claim can be made of it.
    """
    tasks = _tasks(options)
    name = re.sub(r"[^\w.-]+", "-", tasks[0].name)
    path = options.out or Path(FOLDER) / f"{name}.yaml"
    if not is_suite(path.absolute(), Path.cwd()):
        raise ValueError(
            f"--out: pytest would not collect {path}; expected a YAML file below a folder named "
            f"{FOLDER}, or *.maxrandom.yaml"
        )
    if path.exists():
        raise ValueError(f"{path} already exists and was not changed; give --out another name")
    draft = Draft(
        path,
        [_model(model, path.parent) for model in options.model],
        [_entry(task, path.parent) for task in tasks],
        options.shots or [4],
        options.n,
        options.t,
    )
    made = not path.parent.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        claims = _planned(draft)
        with path.open("x", encoding="utf-8") as stream:
            stream.write(suite_of(draft, claims))
    except BaseException:
        if made:
            with contextlib.suppress(OSError):
                path.parent.rmdir()
        raise
    return f"Wrote {path}. Read it, then run:\n  maxrandom check {path}\n  pytest {path}"


def _tasks(options: argparse.Namespace) -> list[FoundTask]:
    tasks: list[FoundTask] = []
    problems: list[Problem] = []
    paths = [Path(task) for task in options.task]
    for each in find_tasks(paths, options.task_format, keys_of(options.set)):
        if isinstance(each, Unreadable):
            problems += each.problems
        elif isinstance(each, FoundTask) and each.line is not None:
            raise ValueError(f"--task: {each.path} is a suite already")
        elif not isinstance(each, NoTask):
            try:
                tasks.append(completed(each))
            except SuiteError as error:
                problems += error.problems
    if problems:
        raise SuiteError(problems)
    if not tasks:
        raise ValueError(f"--task: found no task in {', '.join(options.task)}")
    return tasks


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


def _entry(found: FoundTask, base: Path) -> dict[str, Any]:
    """Return the keys of a task; paths are made relative to the suite."""
    keys = found.spec.model_dump(exclude_unset=True, mode="json")
    for part in (keys, keys.get("pool"), keys.get("test")):
        if isinstance(part, dict) and (path := part.get("path")):
            file = found.base / Path(path).expanduser()
            part["path"] = _relative(file, base) if file.exists() else path
    return keys


def _relative(path: Path, base: Path) -> str:
    return Path(os.path.relpath(path.absolute(), base.absolute())).as_posix()


def _planned(draft: Draft) -> list[PlannedClaim]:
    """Return the claims of the first model, as pytest would collect them.

    Raises
    ------
    SuiteError
        With what is wrong with the tasks.
    """
    with tempfile.TemporaryDirectory(prefix=".maxrandom-", dir=draft.path.parent) as folder:
        # Paths are relative to the suite's own folder, so the draft stands there too.
        file = Path(f"{folder}.maxrandom.yaml")
        try:
            file.write_text(suite_of(draft, []), encoding="utf-8")
            claims = sweeps_of(plan_file(file))
        except SuiteError as error:
            own = [
                replace(problem, path=draft.path, line=None) if problem.path == file else problem
                for problem in error.problems
            ]
            raise SuiteError(own) from None
        finally:
            file.unlink(missing_ok=True)
    first = claims[0].model.name
    return [claim for claim in claims if claim.model.name == first]
