"""How many multiple-choice tasks of the installed lm-evaluation-harness are read, and why not all.

    python tools/lm_eval_share.py [--every N]

No data hub is asked: each task that needs no function of Python is read with documents made here
(see ``lm_eval_documents.py``), of the columns that its own templates name. So a task counts as read
where all of its keys are known, its templates give texts, choices and a right answer for these
documents, and what comes out is a task as the plugin runs it. Whether its real data are as its
templates say, only they can tell.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval_documents import Unknown, documents

from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.suite.tasks import LmEvalSpec
from pytest_maxrandom.tasks.lm_eval.config import read_config
from pytest_maxrandom.tasks.lm_eval.index import index, installed
from pytest_maxrandom.tasks.load import load_task

if TYPE_CHECKING:
    from collections.abc import Mapping

_SPLITS = ("training_split", "validation_split", "test_split", "fewshot_split")
_UNUSED = "metric_list"
"""Key whose functions sum scores up, which no reader of the task needs."""


@dataclass
class Share:
    """Counts of task files.

    Attributes
    ----------
    read, all : Counter
        By what functions of Python they name.
    reasons : Counter
        Why others are not read.
    """

    read: Counter[str] = field(default_factory=Counter)
    all: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    @property
    def without_functions(self) -> float:
        """The share of those that need no function of Python."""
        kinds = ("none", "for sums of scores only")
        return sum(self.read[kind] for kind in kinds) / sum(self.all[kind] for kind in kinds)

    def table(self) -> str:
        """Return the counts as Markdown."""
        lines = ["| functions of Python | tasks | read by the loader |", "| --- | ---: | ---: |"]
        for kind, count in self.all.most_common():
            read = f"{self.read[kind]} ({self.read[kind] / count:.1%})"
            lines.append(f"| {kind} | {count} | {'' if kind == 'needed' else read} |")
        lines += ["", "| not read because | tasks | for example |", "| --- | ---: | --- |"]
        for reason, count in self.reasons.most_common():
            lines.append(f"| {reason} | {count} | {self.examples[reason]} |")
        return "\n".join(lines)


def measured(folder: Path, every: int = 1) -> Share:
    """Read each task, or each so-manieth; `folder` is for their documents."""
    root = installed()
    if root is None:
        raise SystemExit('lm-eval is not installed; `pip install "pytest-maxrandom[lm_eval]"`')
    share = Share()
    for name, file in list(index(root).tasks.items())[::every]:
        config = read_config(file, root)
        if config.get("output_type") != "multiple_choice":
            continue
        functions = config.functions()
        needed = bool(functions.keys() - {_UNUSED})
        kind = "needed" if needed else "for sums of scores only" if functions else "none"
        share.all[kind] += 1
        if needed:
            continue
        if reason := _refused(name, config.values, folder):
            share.reasons[reason] += 1
            share.examples.setdefault(reason, name)
        else:
            share.read[kind] += 1
    return share


def _refused(name: str, config: Mapping[str, Any], folder: Path) -> str:
    """Say why a task is not read; nothing if it is."""
    try:
        rows = documents(config, 6)
    except Unknown as error:
        return f"no documents could be made here: {error}"
    scored = config.get("test_split") or config.get("validation_split")
    fewshot = config.get("fewshot_config") or {}
    files = {}
    for split in filter(None, {*map(config.get, _SPLITS), fewshot.get("split")}):
        file = folder / f"{str(split).replace('/', '_')}.jsonl"
        part = rows[:4] if split == scored else rows[4:]
        file.write_text("".join(json.dumps(row) + "\n" for row in part), encoding="utf-8")
        files[split] = str(file)
    said = {"dataset_path": "json", "dataset_kwargs": {"data_files": files}}
    spec = LmEvalSpec.model_validate({"name": name, "format": "lm_eval", "path": name, **said})
    try:
        task = load_task(spec, folder)
    except SuiteError as error:
        return _kind_of(error.problems[0].message.removeprefix(f"{name}: "))
    return "" if len(task.examples) == 4 else f"of 4 documents {len(task.examples)} are read"


def _kind_of(message: str) -> str:
    """Return a message without what names one task."""
    return re.sub(r"document \d+: ", "", message)[:160]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--every", type=int, default=1, help="read each so-manieth task only")
    with tempfile.TemporaryDirectory() as folder:
        share = measured(Path(folder), parser.parse_args().every)
    print(share.table())
    print(f"\nOf those that need no function of Python: {share.without_functions:.1%}")


if __name__ == "__main__":
    main()
