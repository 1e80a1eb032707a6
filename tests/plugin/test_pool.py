"""A suite with a pool of demonstrations, whole: of a mock model, and of the demo's."""

from __future__ import annotations

import csv
import html
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.cli import main

if TYPE_CHECKING:
    import pytest

DEMO = Path(__file__).parents[2] / "eval_suites" / "demo"
DEMO_TASK = """\
  columns: {id: id}
  task_prefix: "What kind of thing is it?\\n"
  input_prefix: "- "
  output_prefix: ": "
  append_choices: false
"""


def write(folder: Path, models: str, rest: str, keys: str = "", n: int = 30) -> None:
    """Write a suite of the demo's questions: 30 validation examples, and a pool of all others.

    The pool repeats three of the validation examples.
    """
    folder.mkdir(exist_ok=True)
    lines = (DEMO / "data" / "kind_of.jsonl").read_text().splitlines(keepends=True)
    (folder / "asked.jsonl").write_text("".join(lines[:n]))
    again = (line.replace('"id": "', '"id": "again-') for line in lines[:3])
    (folder / "train.jsonl").write_text("".join([*lines[n:], *again]))
    (folder / "s.yaml").write_text(
        f"models: {models}\ntasks:\n- name: kind_of\n  format: jsonl\n  path: asked.jsonl\n"
        f"  pool: {{path: train.jsonl}}\n{keys}{rest}"
    )


def only_claim(path: Path) -> dict[str, Any]:
    (claim,) = json.loads(path.read_text())["claims"]
    found: dict[str, Any] = claim
    return found


def test_every_report_names_the_pool(
    pytester: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    models = "[{name: knows, backend: mock, knows: 0.6}]"
    write(pytester.path / "eval_suites", models, "prompts: {shots: 2, count: 20}\n")
    pytester.runpytest("--maxrandom-json=r.json", "--maxrandom-report=r.md").assert_outcomes(
        passed=1
    )
    claim = only_claim(pytester.path / "r.json")
    pool = len((DEMO / "data" / "kind_of.jsonl").read_text().splitlines()) - 30
    assert claim["n"] == claim["validation"]["examples"] == 30
    prompts = claim["prompts"]
    assert (prompts["regime"], prompts["pool"], prompts["source"]) == ("pool", pool, "train.jsonl")
    said = f"2 demonstrations each, from the {pool} examples of the task's own pool (train.jsonl)"
    left_out = "because they repeat a validation example: 3."
    assert said in (pytester.path / "r.md").read_text().replace("\\", "")
    assert left_out in (pytester.path / "r.md").read_text()
    for language in ("html", "latex"):
        capsys.readouterr()
        assert main(["report", "r.json", "--format", language]) == 0
        assert said in html.unescape(capsys.readouterr().out)
    capsys.readouterr()
    assert main(["report", "r.json", "--format", "csv"]) == 0
    (row,) = csv.DictReader(capsys.readouterr().out.splitlines())
    found = (row["prompts_regime"], row["prompts_pool"], row["prompts_source"])
    assert found == ("pool", str(pool), "train.jsonl")


def test_the_demos_model_is_shown_the_pool_only(pytester: pytest.Pytester) -> None:
    folder = pytester.path / "eval_suites"
    shutil.copytree(DEMO / "demo-llama", folder / "demo-llama")
    write(
        folder,
        "[{name: demo-llama, quantization: none}]",
        "prompts: {shots: 4, count: 5}\n",
        DEMO_TASK,
    )
    arguments = ("--maxrandom-json=r.json", "--maxrandom-predictions=p.jsonl")
    pytester.runpytest(*arguments).assert_outcomes(passed=1)
    claim = only_claim(pytester.path / "r.json")
    assert (claim["n"], claim["t"], claim["prompts"]["regime"]) == (30, 5, "pool")
    assert claim["best_accuracy"] > claim["max_random_baseline"]
    asked = [json.loads(line) for line in (folder / "asked.jsonl").read_text().splitlines()]
    scored = {row["input"] for row in asked}
    pool = [json.loads(line) for line in (folder / "train.jsonl").read_text().splitlines()]
    inputs = {row["id"]: row["input"] for row in pool}
    lines = [json.loads(line) for line in (pytester.path / "p.jsonl").read_text().splitlines()]
    shown = {name for line in lines for name in line.get("demonstration_ids", ())}
    assert len(shown) > 4
    assert not {inputs[name] for name in shown} & scored
    assert claim["validation_ids"] == [row["id"] for row in asked]

    # Other demonstrations on the same examples are further tries of the same claim.
    path = folder / "s.yaml"
    path.write_text(path.read_text().replace("  pool: {path: train.jsonl}\n", ""))
    pytester.runpytest("--maxrandom-json=r.json")
    again = only_claim(pytester.path / "r.json")
    assert (again["n"], again["prompts"]["regime"]) == (26, "leave_out")
    assert again["t"] == 10
    assert again["validation_ids"] == claim["validation_ids"]
