"""The process in which lm-evaluation-harness itself builds a task that names functions of Python.

It runs the task's code, so it is started only where :mod:`pytest_maxrandom.tasks.lm_eval.documents`
allows that. It imports nothing of this package.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from typing import Any

_ASKED = ("doc_to_text", "doc_to_choice", "doc_to_target")


def main() -> None:
    """Read which YAML file is meant; write the fields of its documents."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a task prints is no reply
    warnings.simplefilter("ignore")
    try:
        reply = _built(**json.loads(sys.stdin.read()))
    except Exception as error:  # whatever lm-eval, the data and the task's own code raise
        reply = {"mistake": " ".join(f"{type(error).__name__}: {error}".split())}
    with replies:
        json.dump(reply, replies, default=_plain)


def _built(file: str, pool: bool) -> dict[str, Any]:
    """Return the fields of the documents, as questions and as demonstrations, and of the pool."""
    from lm_eval.tasks import TaskManager

    (task,) = TaskManager(include_defaults=False).load(file)["tasks"].values()
    config, shown = task.config, task.fewshot_cfg
    documents = list(task.eval_docs)
    again = [key for key in _ASKED if getattr(shown, key) != getattr(config, key)]
    return {
        "scored": [_fields(task, config, each) for each in documents],
        "shown": [_fields(task, shown, each) for each in documents] if again else None,
        "pool": [_fields(task, shown, each) for each in task.fewshot_docs()] if pool else None,
    }


def _fields(task: Any, config: Any, document: Any) -> list[Any]:
    """Return text, choices, target, prefix and description of a document."""
    return [
        task.doc_to_text(document, config.doc_to_text),
        task.doc_to_choice(document, config.doc_to_choice),
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
