"""Tasks with functions of Python, whose documents only lm-evaluation-harness itself can make.

A suite comes with a pull request, and so does a task's file: neither may decide alone that code
runs. What may run is said outside of the repository.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from pytest_maxrandom.tasks.lm_eval.config import functions_of, read_config
from pytest_maxrandom.tasks.lm_eval.data import with_found_files
from pytest_maxrandom.tasks.lm_eval.index import installed
from pytest_maxrandom.tasks.lm_eval.templates import Document
from pytest_maxrandom.tasks.reading import Mistake

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_maxrandom.suite.tasks import LmEvalSpec
    from pytest_maxrandom.tasks.lm_eval.config import Config, Function

TRUSTED = "MAXRANDOM_TRUSTED_TASKS"
"""Environment variable of the runner: whose functions may run, with commas between. A name is that
of a task, a group or a tag which comes with the installed lm-eval; an absolute path is a YAML file,
or a folder with all below it."""
_WORKER = Path(__file__).with_name("through_worker.py")
_STRUCTURE = ("task", "task_list", "group", "tag")


def documents(
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
            [sys.executable, "-P", str(_WORKER)],
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
