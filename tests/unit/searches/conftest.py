"""A suite of mock models, with demonstrations from outside of its validation set."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One model that knows half of the answers; two shots; 60 examples of 100."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "eval_suites"
    folder.mkdir()
    rows = [
        {"id": f"e{i}", "input": f"Is {i * 7919 % 1000} a number that is good enough?",
         "choices": ["Yes", "No"], "answer": ("Yes", "No")[i * 31 % 7 % 2]}
        for i in range(100)
    ]  # fmt: skip
    (folder / "task.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = folder / "suite.yaml"
    path.write_text(
        "models: [{backend: mock, name: knows, knows: 0.5}]\n"
        "tasks:\n"
        "  - {name: task, format: jsonl, path: task.jsonl, validation: {max_examples: 60}}\n"
        "prompts: {shots: 2, count: 3}\n"
    )
    return path


def lines(suite: Path, kind: str) -> list[dict[str, Any]]:
    files = suite.parent.glob("maxrandom-ledger-simulated/*.jsonl")
    rows = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return [row for row in rows if row["kind"] == kind]
