"""A suite that names what runs today, for tests of what is compared with it."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

N = 120
SUITE = """\
models:
  - {{name: new, backend: mock, knows: {knows}, copies: 0.5}}
incumbent: {incumbent}
tasks:
  - {{name: larger, format: jsonl, path: q.jsonl, validation: {{max_examples: {n}}}}}
prompts: {{shots: 2, count: 10}}
assert: {{better_than: incumbent}}
"""
OLD = '{instruction: "Answer:", model: {name: old, backend: mock, knows: 0.4}}'


def questions(folder: Path) -> Path:
    """Write questions with two choices, more than a validation set takes, and return the folder."""
    generator = random.Random(3)
    lines = []
    for number in range(N + 40):
        one, other = generator.sample(range(1000), 2)
        lines.append(
            {
                "id": f"q{number}",
                "input": f"Is {one} larger than {other}?",
                "choices": ["Yes", "No"],
                "answer": "Yes" if one > other else "No",
            }
        )
    (folder / "q.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def suite(folder: Path, knows: float = 0.9, incumbent: str = OLD, n: int = N) -> None:
    text = SUITE.format(knows=knows, incumbent=incumbent, n=n)
    (folder / "s.yaml").write_text(text)


def run(pytester: pytest.Pytester, *options: str) -> dict[str, Any]:
    pytester.runpytest("--maxrandom-json=r.json", "--maxrandom-report=r.md", *options)
    report: dict[str, Any] = json.loads((pytester.path / "r.json").read_text())
    return report["claims"][0]  # type: ignore[no-any-return]
