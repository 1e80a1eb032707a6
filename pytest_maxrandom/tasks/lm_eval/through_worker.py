"""The process in which lm-evaluation-harness itself builds tasks that name functions of Python.

It runs the tasks' code, so it is started only where :mod:`pytest_maxrandom.tasks.lm_eval.building`
allows that. It imports nothing of this package.

What functions draw must not depend on the machine, nor on other tasks. So before each task the
seeds are those that lm-eval sets before a run, its modules are loaded anew, and `datasets` keeps
what it computes in a new folder, where nobody else has left results. All tasks are built twice,
the second time in the opposite order.
"""

from __future__ import annotations

import json
import os
import random
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

_ASKED = ("doc_to_text", "doc_to_choice", "doc_to_target")


_BESIDE: dict[str, Any] = {}
"""How `datasets` itself places what it keeps."""
_OTHERS = (
    "its functions give other documents each time, although `random`, `numpy.random` and `torch` "
    "have the seeds that lm-eval sets; let them draw with one of these, and with nothing else"
)
_UNALIGNED = (
    "its functions make other documents of the same rows for demonstrations than for questions, "
    "and do not keep what tells which row each is; let them keep its columns"
)


class Unaligned(ValueError):
    """Demonstrations are made of other rows than questions."""


def main() -> None:
    """Read which YAML files are meant; write the fields of their documents."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a task prints is no reply
    warnings.simplefilter("ignore")
    asked = json.loads(sys.stdin.read())
    tasks, folder = asked["tasks"], asked["folder"]
    first = [_reply(folder, **task) for task in tasks]
    second = [_reply(folder, **task) for task in reversed(tasks)][::-1]
    with replies:
        replies.write(f"[{','.join(map(_same, first, second))}]")


def _same(first: str, second: str) -> str:
    """Return a reply that was given twice."""
    if first == second:
        return first
    for reply in (first, second):
        if {"mistake", "refused"} & json.loads(reply).keys():
            return reply
    return json.dumps({"refused": _OTHERS})


def _reply(folder: str, file: str, pool: bool) -> str:
    try:
        return json.dumps(_alone(folder, file, pool), default=_plain)
    except Unaligned:
        return json.dumps({"refused": _UNALIGNED})
    except Exception as error:  # whatever lm-eval, the data and the task's own code raise
        return json.dumps({"mistake": " ".join(f"{type(error).__name__}: {error}".split())})


def _alone(folder: str, file: str, pool: bool) -> dict[str, Any]:
    """Build a task as if it were the only one."""
    from lm_eval.tasks import TaskManager

    with_torch = "torch" in sys.modules
    before = set(sys.modules)
    _seed()
    try:
        with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as own:
            _keep_in(own)
            (task,) = TaskManager(include_defaults=False).load(file)["tasks"].values()
            reply = _built(task, pool)
    finally:
        for name in set(sys.modules) - before:
            of_task = name.startswith("lm_eval.tasks.") and name.count(".") > 2
            if of_task or "__mtime__" in vars(sys.modules[name]):  # which lm-eval gives to them
                del sys.modules[name]
    # What a function imports has a generator of its own, which had no seed until now.
    return reply if with_torch or "torch" not in sys.modules else _alone(folder, file, pool)


def _seed() -> None:
    """Set the seeds that lm-eval sets at the beginning of a run."""
    import numpy as np
    from lm_eval.defaults import DEFAULT_OTHER_SEED, DEFAULT_RANDOM_SEED

    random.seed(DEFAULT_RANDOM_SEED)
    np.random.seed(DEFAULT_OTHER_SEED)
    if (torch := sys.modules.get("torch")) is not None:
        torch.manual_seed(DEFAULT_OTHER_SEED)


def _keep_in(folder: str) -> None:
    """Let `datasets` keep what functions make of rows in a folder, and not beside the rows.

    There it would find what earlier runs, or other processes, made of the same rows.
    """
    import datasets
    from datasets import Dataset

    datasets.enable_caching()
    beside = _BESIDE.setdefault("path", Dataset._get_cache_file_path)

    def place(rows: Any, fingerprint: str) -> str:
        path = Path(beside(rows, fingerprint))
        return str(Path(folder) / path.name if rows.cache_files else path)

    Dataset._get_cache_file_path = place


def _built(task: Any, pool: bool) -> dict[str, Any]:
    """Return the fields of the documents, as questions and as demonstrations, and of the pool."""
    config, shown = task.config, task.fewshot_cfg
    # In this order lm-eval makes them, and functions may go on drawing in between.
    drawn = list(task.sampler.fewshot_docs() if hasattr(task, "sampler") else task.fewshot_docs())
    documents = list(task.eval_docs)
    again = [key for key in _ASKED if getattr(shown, key) != getattr(config, key)]
    if not pool and drawn != documents:
        again.append("documents")
        _check_aligned(task, documents, drawn)
    others = documents if pool else drawn
    return {
        "scored": [_fields(task, config, each) for each in documents],
        "shown": [_fields(task, shown, each) for each in others] if again else None,
        "pool": [_fields(task, shown, each) for each in drawn] if pool else None,
    }


def _check_aligned(task: Any, documents: list[Any], drawn: list[Any]) -> None:
    """Refuse demonstrations of which it is not known which question's row each has."""
    split = task.config.test_split or task.config.validation_split
    columns = getattr(task.dataset[split], "column_names", None) or []
    asked, shown = (
        [{key: one[key] for key in columns if key in one} for one in each]
        for each in (documents, drawn)
    )
    if asked != shown or not all(asked):
        raise Unaligned


def _fields(task: Any, config: Any, document: Any) -> list[Any]:
    """Return text, choices, target, prefix and description of a document."""
    chooses = config.doc_to_choice is not None or task.config.doc_to_choice is not None
    return [
        task.doc_to_text(document, config.doc_to_text),
        task.doc_to_choice(document, config.doc_to_choice) if chooses else None,
        task.doc_to_target(document, config.doc_to_target),
        task.resolve_field(document, config.gen_prefix),
        task.resolve_field(document, task.config.description) or "",
    ]


def _plain(value: Any) -> Any:
    """Return a number of NumPy, as functions of tasks give them, as one of Python."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"found {type(value).__name__}, expected a text, a number or a list of these")


if __name__ == "__main__":
    main()
