"""What lm-evaluation-harness makes of tasks; run as a script, because it changes its process.

Argument: a folder with ``job.json`` of the form

    {"folder": tasks, "model": folder or null, "tasks": {name: [[place, ...], ...]}}

where a list of places is a prompt, and a place is the index of a demonstration among those that
lm-eval itself would draw from. Into ``built.json`` goes, for each task, prompt and document, what
lm-eval asks, which choices it takes for right, and, with a model, what it answers.
"""

from __future__ import annotations

import json
import sys
from itertools import count
from pathlib import Path
from typing import Any


class _Given:
    """Stands in for lm-eval's sampler, which draws anew for each document."""

    def __init__(self, documents: list[Any]) -> None:
        self.documents = documents

    def sample(self, n: int, **_: Any) -> list[Any]:
        assert n == len(self.documents)
        return self.documents


def _right(task: Any, doc: Any, choices: list[str]) -> list[int]:
    """Return the choices for which lm-eval gives a point, told by its own scoring."""
    certain = [
        [(0.0 if one == chosen else -1e9 * len(choices[one]), False) for one in range(len(choices))]
        for chosen in range(len(choices))
    ]
    scored = [task.process_results(doc, results)["acc"] for results in certain]
    return [index for index, points in enumerate(scored) if points == 1]


def _built(task: Any, prompts: list[list[int]], asked: list[Any]) -> dict[str, Any]:
    # Only their names are read; some tasks report neither.
    task._metric_fn_list = dict.fromkeys(("acc", "acc_norm"))
    drawn_from = list(task.fewshot_docs())
    documents = list(task.eval_docs)
    found: dict[str, Any] = {
        "pool": len(drawn_from),
        "documents": [
            {
                "choices": task.doc_to_choice(doc),
                "right": _right(task, doc, task.doc_to_choice(doc)),
            }
            for doc in documents
        ],
        "prompts": [],
    }
    for places in prompts:
        task.sampler = _Given([drawn_from[place] for place in places])
        rows = []
        for number, doc in enumerate(documents):
            context = task.fewshot_context(
                doc, num_fewshot=len(places), gen_prefix=task.doc_to_prefix(doc)
            )
            requests = task.construct_requests(doc=doc, ctx=context, metadata=("task", number, 1))
            requests = requests[: len(task.doc_to_choice(doc))]
            rows.append({"requests": [list(each.arguments[:2]) for each in requests]})
            asked.append((rows[-1], task, doc, requests))
        found["prompts"].append(rows)
    return found


def main(folder: Path) -> None:
    from lm_eval.tasks import TaskManager

    job = json.loads((folder / "job.json").read_text())
    manager = TaskManager(include_path=job["folder"], include_defaults=False)
    tasks = manager.load(list(job["tasks"]))["tasks"]
    asked: list[Any] = []
    built = {name: _built(tasks[name], prompts, asked) for name, prompts in job["tasks"].items()}
    if job["model"]:
        from lm_eval.models.huggingface import HFLM

        model = HFLM(pretrained=job["model"], dtype="float32", device="cpu", batch_size=16)
        answers = model.loglikelihood([each for *_, requests in asked for each in requests])
        place = count()
        for row, task, doc, requests in asked:
            results = [answers[next(place)] for _ in requests]
            scored = task.process_results(doc, results)
            row["log_likelihoods"] = [float(value) for value, _ in results]
            row["acc"], row["acc_norm"] = float(scored["acc"]), float(scored["acc_norm"])
    (folder / "built.json").write_text(json.dumps(built))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
