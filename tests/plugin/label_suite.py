"""A suite about letters, whose labels are checked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests import label_models
from tests.plugin.conftest import ledger_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pytest

HEAD = """\
models:
  - {{{model}}}
tasks:
  - name: letters
    format: jsonl
    path: letters.jsonl
    input_prefix: "Q: "
    output_prefix: "\\nA: "
    {task}
prompts:
  shots: [0]
  count: {t}
  instructions: {instructions}
  formats: [{{labels: letter, choice_prefix: "\\n"}}]
"""
CLAIM = "letters[tiny-none-0shot]"
BIAS = f"{CLAIM}::label_bias"
BALANCED = [number % 4 for number in range(100)]
MAJORITY = [0] * 45 + [1] * 20 + [2] * 18 + [3] * 17
FEW = [number % 4 for number in range(24)]


class LabelSuite:
    """One suite about letters, with the label-bias block that a test gives it."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.folder = pytester.mkdir("eval_suites")

    def write(
        self, model: Path | str, places: Sequence[int], rest: str, *, t: int = 10, task: str = ""
    ) -> None:
        """Write the suite of a model in a folder, or of a mock model that follows a rule."""
        said = (
            f"name: tiny, label: tiny-none, backend: mock, {model}"
            if isinstance(model, str)
            else f"name: {model}, label: tiny, quantization: none"
        )
        lines = (json.dumps(row) + "\n" for row in label_models.rows(places))
        (self.folder / "letters.jsonl").write_text("".join(lines))
        instructions = json.dumps(label_models.INSTRUCTIONS[:t])
        head = HEAD.format(model=said, t=t, instructions=instructions, task=task)
        (self.folder / "suite.yaml").write_text(head + rest + "\n")

    def run(self, *arguments: str) -> dict[str, dict[str, Any]]:
        """All records of a run by their names."""
        self.result = self.pytester.runpytest("--maxrandom-json=r.json", *arguments)
        report = json.loads((self.pytester.path / "r.json").read_text())
        return {
            record["id"].partition("::")[2]: record
            for record in (*report["claims"], *report["label_bias"])
        }

    def ledger(self) -> list[str]:
        """The prompts in the ledger."""
        return [line["prompt"] for line in ledger_of(self.folder) if line["kind"] == "prompt"]


def told(record: dict[str, Any]) -> dict[str, Any]:
    """What is found out, without what it cost."""
    return {key: value for key, value in record.items() if key != "engine"}
