"""Tasks that name functions of Python: lm-evaluation-harness builds them (`through_worker.py`).

A suite comes with a pull request, and so does a task's file: neither may decide alone that code
runs. What may run is said outside of the repository.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.host.limits import limits, raised
from pytest_maxrandom.tasks.lm_eval.config import Config, Function, functions_of, read_config
from pytest_maxrandom.tasks.lm_eval.data import with_found_files
from pytest_maxrandom.tasks.lm_eval.documents import Document
from pytest_maxrandom.tasks.lm_eval.index import installed
from pytest_maxrandom.tasks.reading import Mistake

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_maxrandom.suite.tasks import LmEvalSpec

_BUILDER = Path(__file__).with_name("through_worker.py")

TRUSTED = "MAXRANDOM_TRUSTED_TASKS"
"""Environment variable of the runner: whose functions may run, with commas between. A name is that
of a task, a group or a tag which comes with the installed lm-eval; an absolute path is a YAML file,
or a folder with all below it."""
_STRUCTURE = ("task", "task_list", "group", "tag")


@dataclass(frozen=True, slots=True)
class Request:
    """What lm-eval is asked to build: the task's own file with what was read of it here."""

    content: str
    """A YAML file that includes the task's."""
    pool: bool
    """Whether demonstrations have documents of their own."""


class Group:
    """Tasks that one entry of a suite stands for: one process builds all that have functions."""

    def __init__(self) -> None:
        self._members: list[Callable[[], Request | None]] = []
        self._replies: dict[Request, dict[str, Any]] = {}

    def add(self, requested: Callable[[], Request | None]) -> None:
        """Add a task: what returns its request, None where it has no functions."""
        self._members.append(requested)

    def reply(self, request: Request) -> dict[str, Any]:
        """Return what lm-eval made of a task; the others are built with it, the first time."""
        wanted = [request]
        while self._members:
            try:
                other = self._members.pop()()
            except (Mistake, SuiteError):  # which reading it tells
                continue
            if other is not None and other != request:
                wanted.insert(1, other)
        if request not in self._replies:
            self._replies |= zip(wanted, _replies(wanted), strict=True)
        return self._replies.pop(request)


def requested(
    config: Config,
    spec: LmEvalSpec,
    splits: tuple[str, str | None],
    folders: Sequence[Path],
    *,
    pool: bool,
) -> Request:
    """Return what lm-eval is to build of a task with functions, if it is trusted.

    Parameters
    ----------
    splits : tuple of str
        The split that is scored, and that of demonstrations; None where it is the same.
    folders : sequence of Path
        Where files of the data are looked for.
    pool : bool
        Whether demonstrations have documents of their own.

    Raises
    ------
    Mistake
        In one sentence, where its code must not run, before anything of it is imported.
    """
    _check_trusted(config, spec)
    if find_spec("lm_eval") is None:
        raise Mistake(
            "it has Python functions, which lm-eval runs; "
            'install lm-eval with `pip install "pytest-maxrandom[lm_eval]"`'
        )
    values = {**with_found_files(config, folders).values, "task": "task"}
    if spec.split is not None:
        values |= {"test_split": splits[0], "fewshot_split": splits[1] or splits[0]}
    plain = {
        key: value
        for key, value in values.items()
        if key not in _STRUCTURE[1:] and not list(functions_of(value))
    }
    content = {"include": str(config.path.resolve()), **plain}
    return Request(yaml.safe_dump(content, allow_unicode=True), pool)


def built(
    request: Request, group: Group
) -> tuple[list[Document], list[Document] | None, list[Document] | None]:
    """Let lm-eval make the documents of a task, in a process of its own.

    Returns
    -------
    scored, shown, pool : lists of Document
        See :class:`pytest_maxrandom.tasks.lm_eval.source.Read`.

    Raises
    ------
    Mistake
        In one sentence, where that fails, or gives other documents a second time.
    """
    reply = group.reply(request)
    if "refused" in reply:
        raise Mistake(reply["refused"])
    if "mistake" in reply:
        raise Mistake(f"lm-eval could not build it: {reply['mistake'][:400]}")
    scored, again, others = (reply[part] for part in ("scored", "shown", "pool"))
    return _documents(scored) or [], _documents(again), _documents(others)


def _documents(found: list[list[Any]] | None) -> list[Document] | None:
    return None if found is None else [Document(*each) for each in found]


def _replies(requests: Sequence[Request]) -> list[dict[str, Any]]:
    """Run lm-eval once for all of them; once for each where that process is ended by one."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        asked = []
        for number, request in enumerate(requests):
            file = Path(folder) / f"{number}.yaml"
            file.write_text(request.content, encoding="utf-8")
            asked.append({"file": str(file), "pool": request.pool})
        try:
            code, replies, stderr = _run(json.dumps({"tasks": asked, "folder": folder}))
        except subprocess.TimeoutExpired as error:
            late = (
                f"its Python functions, with those of the tasks beside it, take more than "
                f"{error.timeout:,.0f} s; name fewer tasks, or {raised('function_seconds')}"
            )
            return [{"refused": late}] * len(requests)
    if not code and replies:
        found: list[dict[str, Any]] = json.loads(replies)
        return found
    if len(requests) > 1:
        return [reply for request in requests for reply in _replies([request])]
    return [{"mistake": f"it exited with {code}; {stderr.strip()[-200:]}"}]


def _run(asked: str) -> tuple[int, str, str]:
    """Run the other process; return its exit code and what it says on both streams.

    It is ended if it takes longer than the limit, and so it is by an interrupt.
    """
    # -P: nothing is imported from the working folder, which may be the repository.
    with subprocess.Popen(
        [sys.executable, "-P", str(_BUILDER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONHASHSEED": "0"},
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
    ) as process:
        try:
            replies, stderr = process.communicate(asked, timeout=limits().function_seconds)
        except BaseException:
            if os.name == "posix":  # with all that it has started
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
            # After an interrupt, leaving the block waits for a quarter of a second only.
            process.wait()
            raise
    return process.returncode, replies, stderr


def _check_trusted(config: Config, spec: LmEvalSpec) -> None:
    named = {key: found for key in config.values if (found := list(functions_of(config.get(key))))}
    functions = ", ".join(f"`{key}: {found[0].name}`" for key, found in named.items())
    needed = [] if spec.trust_remote_code else ["the suite's task says `trust_remote_code: true`"]
    names = {spec.path, *(spec.task or ()), str(config.get("task"))}
    if not _is_trusted(config.path, [one for found in named.values() for one in found], names):
        entry = spec.path if _comes_with(config.path) else config.path.resolve()
        needed.append(f"whoever runs the suite sets {TRUSTED}={entry} outside the repository")
    if needed:
        raise Mistake(
            f"it names Python functions ({functions}), which run only if {' and '.join(needed)}"
        )
    own = read_config(config.path, Path(config.path.anchor)).values
    for key in named:
        if own.get(key) != config.values[key]:
            raise Mistake(
                f"`{key}` is a function that a group gives to the task; put it into the task's own "
                "file"
            )


def _is_trusted(path: Path, functions: Sequence[Function], names: set[str]) -> bool:
    """Tell whether the runner trusts a task's file, and the folder of each of its functions."""
    places = [path.resolve(), *(function.folder.resolve() for function in functions)]
    entries = [part.strip() for part in os.environ.get(TRUSTED, "").split(",")]
    if names & set(entries) and all(map(_comes_with, places)):
        return True
    trusted = [Path(entry).resolve() for entry in entries if Path(entry).is_absolute()]
    # A file is trusted with the modules beside it.
    return all(
        any(
            place.is_relative_to(entry) or (entry.is_file() and place == entry.parent)
            for entry in trusted
        )
        for place in places
    )


def _comes_with(path: Path) -> bool:
    """Tell whether a file comes with the installed lm-eval."""
    folder = installed()
    return folder is not None and path.resolve().is_relative_to(folder.resolve())
