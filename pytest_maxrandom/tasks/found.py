"""Which tasks paths hold: those of suites, and files that are tasks themselves."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pytest_maxrandom.errors import Problem, SuiteError, did_you_mean, listed, quoted
from pytest_maxrandom.host.delimiters import delimiter_of
from pytest_maxrandom.suite import is_suite
from pytest_maxrandom.suite.loader import RecordedSuite, load_any_suite
from pytest_maxrandom.suite.parts import task_of_keys
from pytest_maxrandom.suite.tasks import FORMATS, RowsSpec, TaskSpec
from pytest_maxrandom.tasks.lm_eval.index import index, installed
from pytest_maxrandom.tasks.load import members
from pytest_maxrandom.tasks.reading import shown
from pytest_maxrandom.tasks.rows import RowReader, holds

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pytest_maxrandom.tasks.task import Where

_YAML = (".yaml", ".yml")
_TASK = re.compile(r"^task[ \t]*:[ \t]*['\"]?([\w.+/-]*)", re.MULTILINE)
_GROUP = re.compile(r"^group[ \t]*:", re.MULTILINE)
_EXAMPLES = re.compile(r'"(examples|subtasks)"\s*:\s*\[')
_OF_SUITE = (re.compile(r"^models\s*:", re.MULTILINE), re.compile(r"^tasks\s*:", re.MULTILINE))


@dataclass(frozen=True)
class FoundTask:
    """A task that can be loaded."""

    name: str
    """As its suite calls it, or after its file."""
    path: Path
    """The suite, file or folder that it was found in."""
    spec: TaskSpec
    """How it is read; `load_task` takes it with `base` and `where`."""
    base: Path
    where: Where
    line: int | None = None
    """Its line in a suite; None where it stands in none."""


@dataclass(frozen=True)
class Unreadable:
    """What should hold tasks, and cannot be read."""

    path: Path
    problems: Sequence[Problem]
    format: str | None = None


@dataclass(frozen=True)
class NoTask:
    """A file of a folder that is no task, with the reason."""

    path: Path
    reason: str


Found: TypeAlias = "FoundTask | Unreadable | NoTask"


def find_tasks(
    paths: Sequence[Path], form: str | None = None, keys: Mapping[str, Any] | None = None
) -> Iterator[Found]:
    """Yield what paths hold, each file once.

    YAML is a suite by the rules of :func:`pytest_maxrandom.suite.is_suite`, and where it has
    `models` and `tasks`; of other files the suffix says what they are. Folders are searched for
    all of them; of what is found there, a file that a suite names is no task of its own, nor is
    one without the columns of its format. What is no file may be a name of the installed lm-eval.

    Parameters
    ----------
    form : str, optional
        The format of all that is no suite, in place of what suffixes say. What is no file may then
        be an id on the hub, or whatever else the format takes as its path.
    keys : mapping, optional
        Keys of a task in a suite, for what stands in none, such as `columns`.
    """
    layout = dict(keys or {})
    resolved: set[Path] = set()
    searched: dict[Path, Path] = {}
    for path in paths:
        if path.is_dir() and (form is None or form in FORMATS.values()):
            for file in _files(path, form):
                searched.setdefault(file, path)
        elif path.resolve() not in resolved:
            resolved.add(path.resolve())
            yield from _of_path(path, form, layout)
    named: set[Path] = set()
    suites = [path for path in searched if form is None and _is_suite(path)]
    for path in suites:
        for found in _of_suite(path) if path.resolve() not in resolved else ():
            yield found
            if isinstance(found, FoundTask):
                named |= set(_named_by(found))
    resolved |= {path.resolve() for path in suites}
    for path, folder in searched.items():
        if (whole := path.resolve()) in resolved:
            continue
        resolved.add(whole)
        if whole in named:
            yield NoTask(shown(path), "the data of a suite found here")
        elif reason := _no_task(path, layout):
            yield NoTask(shown(path), reason)
        else:
            yield from _of_file(path, form or FORMATS[path.suffix], layout, folder)


def _files(folder: Path, form: str | None) -> list[Path]:
    """Return the files of a folder that may hold tasks; hidden ones do not."""
    suffixes = [suffix for suffix, known in FORMATS.items() if form in (None, known)]
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in suffixes
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path.is_file()
    )


def _is_suite(path: Path) -> bool:
    if path.suffix not in _YAML:
        return False
    whole, here = path.absolute(), Path.cwd()
    root = here if whole.is_relative_to(here) else whole.parent
    if is_suite(whole, root):
        return True
    text = _text(path)
    return all(key.search(text) for key in _OF_SUITE)


def _text(path: Path) -> str:
    """Return what can be read of a file; its source says what is wrong with it."""
    try:
        return path.read_bytes().decode("utf-8-sig", "replace")
    except OSError:
        return ""


def _of_suite(path: Path) -> Iterator[Found]:
    try:
        suite = load_any_suite(shown(path))
    except SuiteError as error:
        yield Unreadable(shown(path), error.problems)
        return
    if isinstance(suite, RecordedSuite):
        yield NoTask(shown(path), "a suite of recorded results, which hold no examples")
        return
    for number, spec in enumerate(suite.spec.tasks):

        def where(*below: str, number: int = number) -> tuple[Path, int | None]:
            return suite.path, suite.line("tasks", number, *below)

        base = suite.path.parent
        yield from _members(FoundTask(spec.name, suite.path, spec, base, where, where()[1]))


def _named_by(found: FoundTask) -> Iterator[Path]:
    """Yield the data files that a task of a suite names."""
    for part in (found.spec, found.spec.test, getattr(found.spec, "pool", None)):
        if isinstance(named := getattr(part, "path", None), str):
            yield (found.base / named).resolve()


def _of_path(path: Path, form: str | None, keys: Mapping[str, Any]) -> Iterator[Found]:
    """Yield what a path stands for that somebody named."""
    if form is None and path.is_file() and _is_suite(path):
        yield from _of_suite(path)
        return
    known, message = form or FORMATS.get(path.suffix), ""
    if form is None and not path.exists():
        names = () if (folder := installed()) is None else index(folder).names
        if str(path) in names:
            known = "lm_eval"
        else:
            message = (
                f"there is no file or folder {quoted(str(path), 200)}, and no lm-eval task of this "
                f"name{'' if names else ' (lm-eval is not installed)'}"
                f"{did_you_mean(str(path), names)}; correct the path, or give --task-format"
            )
    elif known is None:
        message = (
            f"found a file that ends in {quoted(path.suffix)}, expected a suite (.yaml) or "
            f"{', '.join(FORMATS)}; give --task-format"
        )
    if known is None or message:
        yield Unreadable(shown(path), [Problem(shown(path), None, message)], known)
        return
    yield from _of_file(path, known, keys, Path())


def _of_file(path: Path, form: str, keys: Mapping[str, Any], folder: Path) -> Iterator[Found]:
    """Yield what stands in no suite: the task of a file in a folder, or those it stands for."""
    within = path.relative_to(folder) if path.is_relative_to(folder) else path
    name = _name(path, form)
    try:
        spec = task_of_keys({"name": name, "format": form, "path": str(within), **keys}, path)
    except SuiteError as error:
        yield Unreadable(shown(path), error.problems, form)
        return

    def where(*_: str) -> tuple[Path, int | None]:
        return shown(path), None

    yield from _members(FoundTask(name, shown(path), spec, folder, where))


def _members(task: FoundTask) -> Iterator[Found]:
    """Yield the tasks that one stands for, such as those of a group: mostly itself."""
    try:
        specs = members(task.spec, task.base, task.where)
    except SuiteError as error:
        yield Unreadable(task.path, error.problems, task.spec.format)
        return
    for spec in specs:
        yield replace(task, name=spec.name, spec=spec)


def _name(path: Path, form: str) -> str:
    """Name a task as its file does, or after it; after its folder where all files are called so."""
    if form == "lm_eval" and path.is_file() and (said := _TASK.search(_text(path))):
        return said[1] or path.stem
    return path.resolve().parent.name if path.name == "task.json" else path.resolve().stem


def _no_task(path: Path, keys: Mapping[str, Any]) -> str:
    """Say why a file of a folder is no task; nothing where it may be one."""
    if FORMATS[path.suffix] == "lm_eval":
        text = _text(path)
        if _GROUP.search(text):
            return "a group, whose tasks have rows of their own"
        return "" if _TASK.search(text) else "neither a suite nor a task"
    if FORMATS[path.suffix] == "bigbench":
        return "" if _EXAMPLES.search(_text(path)) else "JSON without examples"
    try:
        said = {"name": "task", "format": FORMATS[path.suffix], "path": "-", **keys}
        spec = task_of_keys(said, path)
    except SuiteError:
        return ""
    header = _header(path)
    if header is None or not isinstance(spec, RowsSpec):
        return ""
    wanted = RowReader(spec).wanted
    missing = [each for each in wanted if not any(holds(name, each) for name in header)]
    noun = "columns" if len(missing) > 1 else "column"
    return f"without {noun} {listed(missing)}" if missing else ""


def _header(path: Path) -> list[str] | None:
    """Return the columns of the first row; None where there is none to be read."""
    file = io.StringIO(_text(path))
    delimiter, _ = delimiter_of(file)
    line = next((line for line in file if line.strip()), "")
    try:
        csv_row = csv.reader([line], delimiter=delimiter)
        row = next(csv_row) if path.suffix == ".csv" else json.loads(line)
    except (ValueError, csv.Error, RecursionError, StopIteration):
        return None
    return list(row) if isinstance(row, dict | list) else None
