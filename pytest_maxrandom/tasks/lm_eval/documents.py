"""Documents of tasks, made in processes of their own.

One process renders the templates of all tasks of a session (`worker.py`). It is ended where one
document takes too long, and another one is begun.

Functions of Python are run by lm-evaluation-harness alone (`through_worker.py`). A suite comes with
a pull request, and so does a task's file: neither may decide alone that code runs. What may run is
said outside of the repository.
"""

from __future__ import annotations

import atexit
import json
import os
import pickle
import struct
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from pytest_maxrandom.tasks.lm_eval.config import functions_of, read_config
from pytest_maxrandom.tasks.lm_eval.data import with_found_files
from pytest_maxrandom.tasks.lm_eval.index import installed
from pytest_maxrandom.tasks.reading import Mistake

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_maxrandom.suite.tasks import LmEvalSpec
    from pytest_maxrandom.tasks.lm_eval.config import Config, Function
    from pytest_maxrandom.tasks.lm_eval.data import Rows

SECONDS = 20.0
"""For up to 500 documents, at most."""
MEMORY = 1 << 30
"""Bytes, for all that the process holds."""

_WORKER = Path(__file__).with_name("worker.py")
_BUILDER = Path(__file__).with_name("through_worker.py")
_AT_ONCE = 500
"""Documents that are sent together, so that the memory of the other process holds them."""
_KEPT = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""All that the other process gets of the environment: no keys are there."""

TRUSTED = "MAXRANDOM_TRUSTED_TASKS"
"""Environment variable of the runner: whose functions may run, with commas between. A name is that
of a task, a group or a tag which comes with the installed lm-eval; an absolute path is a YAML file,
or a folder with all below it."""
_STRUCTURE = ("task", "task_list", "group", "tag")


@dataclass(frozen=True, slots=True)
class Document:
    """The fields of one document, as lm-evaluation-harness gets them from a row."""

    text: Any
    """`doc_to_text`; a number where the choices are texts of their own (`multiple_input`), and this
    is the right one."""
    choices: Any
    """`doc_to_choice`."""
    target: Any
    """`doc_to_target`."""
    prefix: Any = None
    """`gen_prefix`."""
    description: Any = ""
    """What stands on top of a prompt."""


class _Process:
    """The process, which is begun when it is first needed."""

    def __init__(self) -> None:
        self._running: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def render(
        self, how: tuple[dict[str, Any], list[str], bool], rows: Sequence[Mapping[str, Any]]
    ) -> list[dict[str, Any]]:
        """Return the reply for each row, up to the first that is a mistake.

        Raises
        ------
        Mistake
            Where there is no reply in time.
        """
        with self._lock:
            process = self._running = self._running or _started()
            try:
                return self._replies(process, how, rows)
            except (OSError, ValueError):  # it has ended, and so the line has
                self._end()
                raise Mistake(
                    f"rendering {min(len(rows), _AT_ONCE)} documents takes more than {SECONDS:g} "
                    f"seconds or {MEMORY >> 30} GiB of memory, more than any task needs; check its "
                    "templates for an endless loop"
                ) from None
            except BaseException:  # what is left in the pipe belongs to no request
                self._end()
                raise

    def _replies(
        self,
        process: subprocess.Popen[bytes],
        how: tuple[dict[str, Any], list[str], bool],
        rows: Sequence[Mapping[str, Any]],
    ) -> list[dict[str, Any]]:
        assert process.stdin is not None
        assert process.stdout is not None
        replies: list[dict[str, Any]] = []
        for first in range(0, len(rows), _AT_ONCE):
            part = rows[first : first + _AT_ONCE]
            message = pickle.dumps((*how, list(part)))
            process.stdin.write(struct.pack("!Q", len(message)) + message)
            process.stdin.flush()
            for _ in part:
                replies.append(json.loads(process.stdout.readline()))
                if "mistake" in replies[-1]:
                    return replies
        return replies

    def _end(self) -> None:
        process, self._running = self._running, None
        if process is not None:
            process.kill()
            process.communicate()

    def close(self) -> None:
        """End the process."""
        self._end()


def _started() -> subprocess.Popen[bytes]:
    # The script alone is run, with the paths of this process, and imports nothing of the package.
    script = (
        f"import runpy, sys; sys.path[:] = {sys.path!r}; "
        f"runpy.run_path({str(_WORKER)!r}, run_name='__main__')"
    )
    return subprocess.Popen(
        [sys.executable, "-I", "-c", script, str(SECONDS), str(MEMORY)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={name: os.environ[name] for name in _KEPT if name in os.environ},
    )


_PROCESS = _Process()
atexit.register(_PROCESS.close)


def rendered(
    fields: Mapping[str, Any], rows: Rows, columns: Sequence[str], *, numbered: bool = True
) -> list[Document]:
    """Return the fields of each row.

    Parameters
    ----------
    fields : mapping
        `doc_to_text`, `doc_to_choice`, `doc_to_target`, `gen_prefix`, `description`.
    columns : sequence of str
        A field that is one of these names stands for the column's value: those of the split that
        is scored, for demonstrations too.
    numbered : bool
        Whether a text of digits is the number of a choice.

    Raises
    ------
    Mistake
        With the row's number, from 1, where a template is wrong.
    """
    found: list[Document] = []
    replies = _PROCESS.render((dict(fields), list(columns), numbered), rows.rows)
    for number, reply in enumerate(replies, 1):
        if "mistake" in reply:
            raise Mistake(f"document {number}: {reply['mistake']}")
        values = reply["values"]
        found.append(
            Document(
                values["doc_to_text"],
                values["doc_to_choice"],
                values["doc_to_target"],
                values["gen_prefix"],
                values["description"] or "",
            )
        )
    return found


def built(
    config: Config,
    spec: LmEvalSpec,
    splits: tuple[str, str | None],
    folders: Sequence[Path],
    *,
    pool: bool,
) -> tuple[list[Document], list[Document] | None, list[Document] | None]:
    """Let lm-eval make the documents of a task, if it is trusted, in a process of its own.

    Parameters
    ----------
    splits : tuple of str
        The split that is scored, and that of demonstrations; None where it is the same.
    folders : sequence of Path
        Where files of the data are looked for.
    pool : bool
        Whether demonstrations have documents of their own.

    Returns
    -------
    scored, shown, pool : lists of Document
        See :class:`pytest_maxrandom.tasks.lm_eval.source.Read`.

    Raises
    ------
    Mistake
        In one sentence, where its code must not run, before anything of it is imported; or fails.
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
    reply = _reply(config.path, values, pool)
    if "mistake" in reply:
        raise Mistake(f"lm-eval could not build it: {reply['mistake'][:400]}")
    scored, again, others = (reply[part] for part in ("scored", "shown", "pool"))
    return _documents(scored) or [], _documents(again), _documents(others)


def _documents(found: list[list[Any]] | None) -> list[Document] | None:
    return None if found is None else [Document(*each) for each in found]


def _reply(path: Path, values: Mapping[str, Any], pool: bool) -> dict[str, Any]:
    """Run lm-eval with the task's file and what was read of it here."""
    plain = {
        key: value
        for key, value in values.items()
        if key not in _STRUCTURE[1:] and not list(functions_of(value))
    }
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "task.yaml"
        content = {"include": str(path.resolve()), **plain}
        file.write_text(yaml.safe_dump(content, allow_unicode=True), encoding="utf-8")
        # -P: nothing is imported from the working folder, which may be the repository.
        done = subprocess.run(
            [sys.executable, "-P", str(_BUILDER)],
            input=json.dumps({"file": str(file), "pool": pool}),
            env=os.environ | {"PYTHONHASHSEED": "0"},
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
    if done.returncode or not done.stdout:
        return {"mistake": f"it exited with {done.returncode}; {done.stderr.strip()[-200:]}"}
    reply: dict[str, Any] = json.loads(done.stdout)
    return reply


def _check_trusted(config: Config, spec: LmEvalSpec) -> None:
    named = {key: found for key in config.values if (found := list(functions_of(config.get(key))))}
    said = ", ".join(f"`{key}: {found[0].name}`" for key, found in named.items())
    needed = [] if spec.trust_remote_code else ["the suite's task says `trust_remote_code: true`"]
    names = {spec.path, *(spec.task or ()), str(config.get("task"))}
    if not _is_trusted(config.path, [one for found in named.values() for one in found], names):
        entry = spec.path if _comes_with(config.path) else config.path.resolve()
        needed.append(f"whoever runs the suite sets {TRUSTED}={entry} outside the repository")
    if needed:
        raise Mistake(
            f"it names Python functions ({said}), which run only if {' and '.join(needed)}"
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
