"""A suite whose prompts are searched for, and the lines of its ledger."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path


def write_suite(folder: Path, prompts: str, *, examples: int = 500, validation: int = 200) -> Path:
    """Write a suite of two mock models: one knows half of the answers, and one guesses.

    Parameters
    ----------
    prompts : str
        Keys of `prompts`.
    examples, validation : int
        Of the task, and how many of them prompts are judged by.
    """
    folder.mkdir()
    rows = [
        {"id": f"e{i}", "input": f"Is {i * 7919 % 1000} a number that is good enough?",
         "choices": ["Yes", "No"], "answer": ("Yes", "No")[i * 31 % 7 % 2]}
        for i in range(examples)
    ]  # fmt: skip
    (folder / "task.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = folder / "suite.yaml"
    path.write_text(
        "models:\n"
        "  - {backend: mock, name: knows, knows: 0.5}\n"
        "  - {backend: mock, name: guesses}\n"
        "tasks:\n"
        "  - {name: task, format: jsonl, path: task.jsonl, "
        f"validation: {{max_examples: {validation}}}}}\n"
        f"prompts: {{{prompts}}}\n"
    )
    return path


def lines(suite: Path, kind: str) -> list[dict[str, Any]]:
    """Return the lines of one kind in the ledger beside a suite."""
    files = suite.parent.glob("maxrandom-ledger-simulated/*.jsonl")
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return [row for row in rows if row["kind"] == kind]
