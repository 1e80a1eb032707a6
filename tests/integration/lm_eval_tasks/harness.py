"""Task files as lm-eval installs them, with local documents; and what lm-eval makes of them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from tests.integration.lm_eval_tasks.documents import ROWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

DRIVER = Path(__file__).with_name("driver.py")
SCORED = 5
"""Documents of the split that is scored; the others are those of all other splits."""
_SPLITS = ("training_split", "validation_split", "test_split", "fewshot_split")


class _Loader(yaml.SafeLoader):
    """Reads a task file as data: functions stay names."""


_Loader.add_constructor("!function", lambda loader, node: f"!function {node.value}")


def installed() -> Path:
    """Return lm-eval's folder of tasks, without importing it."""
    spec = find_spec("lm_eval")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "tasks"


def config_of(path: Path) -> dict[str, Any]:
    """Return what a task file says, with what it includes; functions as names."""
    said = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    assert isinstance(said, dict)
    merged: dict[str, Any] = {}
    for included in _included(said):
        merged |= config_of(path.parent / included)
    return merged | said


def _included(said: Mapping[str, Any]) -> list[str]:
    names = said.get("include", [])
    return [names] if isinstance(names, str) else list(names)


def _files(path: Path) -> Iterator[Path]:
    """Yield a task file, what it includes, and the Python modules beside these."""
    yield path
    yield from path.parent.glob("*.py")
    for included in _included(yaml.load(path.read_text(encoding="utf-8"), _Loader)):
        yield from _files((path.parent / included).resolve())


@dataclass(frozen=True)
class Local:
    """One of lm-eval's task files with local documents.

    Attributes
    ----------
    name : str
        What it is called here.
    file : Path
        A task file that includes the original and replaces where its documents are from.
    scored, others : list of dict
        The documents that are scored, and those of all other splits.
    config : dict
        What the original says.
    """

    name: str
    file: Path
    scored: list[dict[str, Any]]
    others: list[dict[str, Any]]
    config: dict[str, Any]


def localized(original: str, row: Callable[[int], dict[str, Any]], folder: Path) -> Local:
    """Copy a task file with all that it includes, and write one beside it with local documents.

    Parameters
    ----------
    original : str
        The file, relative to lm-eval's folder of tasks.
    row : callable
        Gives its documents.
    """
    source = installed() / original
    for file in _files(source):
        copy = folder / file.relative_to(installed())
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    config = config_of(source)
    splits = [config[key] for key in _SPLITS if config.get(key)]
    fewshot = config.get("fewshot_config") or {}
    splits += [fewshot["split"]] if fewshot.get("split") else []
    scored = config.get("test_split") or config["validation_split"]
    rows = [row(number) for number in range(ROWS)]
    parts = dict.fromkeys(splits, rows[SCORED:])
    parts[scored] = rows[:SCORED]
    name = "local_" + original.removesuffix(".yaml").replace("/", "_")
    files = {}
    for split, part in parts.items():
        path = folder / "data" / f"{name}.{split}.jsonl"
        path.parent.mkdir(exist_ok=True)
        path.write_text("".join(json.dumps(each) + "\n" for each in part), encoding="utf-8")
        files[split] = str(path)
    local = {
        "include": source.name,
        "task": name,
        "dataset_path": "json",
        "dataset_name": None,
        "dataset_kwargs": {"data_files": files},
    }
    file = folder / Path(original).parent / f"{name}.yaml"
    file.write_text(yaml.safe_dump(local, allow_unicode=True), encoding="utf-8")
    return Local(name, file, rows[:SCORED], rows[SCORED:], config)


def built_by_lm_eval(
    folder: Path, prompts: Mapping[str, list[list[int]]], model: Path | None = None
) -> dict[str, Any]:
    """Return what lm-eval builds of the tasks in `folder`, and answers; see ``driver.py``."""
    job = {"folder": str(folder), "model": model and str(model), "tasks": dict(prompts)}
    (folder / "job.json").write_text(json.dumps(job))
    home = {"HF_HOME": str(folder / "home"), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, DRIVER, folder],
        env=os.environ | home,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, Any] = json.loads((folder / "built.json").read_text())
    return found
