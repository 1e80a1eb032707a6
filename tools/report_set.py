"""Make a set of JSON reports, of each kind of suite one: what no change of code may change.

    python tools/report_set.py OUT [--only NAME ...]

Each suite runs in a scratch folder with an empty store and an empty ledger, with the package that
PYTHONPATH names, and its report becomes OUT/NAME.json. `tools/compare_reports.py` compares two such
folders. The suites of the paper need its data (MAXRANDOM_DATA) and are left out without them.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.served import serving

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
DATA = Path(os.environ.get("MAXRANDOM_DATA") or ROOT.parent / "shared" / "data")
MOCKS = """\
models:
  - {backend: mock, name: knows, knows: 0.6}
  - {backend: mock, name: guesses}
  - {backend: mock, name: prefers, prefers: 'No'}
tasks:
  - {name: task, format: jsonl, path: task.jsonl, validation: {max_examples: 60}}
"""
RECORDED = """\
models:
  - {{name: m, backend: recorded, results: {{path: {path}, format: {format}}}}}
tasks:
  - {{name: knows{rest}}}
  - {{name: guesses{rest}}}
"""
SEARCH = """\
from pytest_maxrandom import search
for model in ("knows", "guesses"):
    for feedback in ("accept", "score"):
        given = {"model": model, "feedback": feedback, "budget": 12, "store": "store.db"}
        with search("eval_suites/suite.yaml", **given, by=feedback) as tries:
            for step in range(12):
                tries.try_prompt(instruction=f"{feedback} {step}. ")
            tries.verdict()
"""


def instructions(count: int) -> str:
    """Return that many instructions as YAML."""
    return json.dumps([f"Instruction {number}. " for number in range(count)])


ZERO_SHOT = f"prompts: {{shots: 0, count: 12, instructions: {instructions(12)}}}\n"
FEW_SHOTS = "prompts: {shots: 2, count: 6}\n"


class Scratch:
    """A folder in which one suite runs.

    Attributes
    ----------
    suites : Path
        The folder of its suites.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.suites = folder, folder / "eval_suites"
        self.suites.mkdir()
        (folder / "pytest.ini").write_text("[pytest]\n")
        kept = {
            name: value
            for name, value in os.environ.items()
            if name != "CI" and not name.startswith("MAXRANDOM_")
        }
        self._environment = kept | {"MAXRANDOM_DATA": str(DATA), "HF_HUB_OFFLINE": "1"}

    def write(self, suite: str) -> None:
        """Write a suite of mock models and the task that it may name."""
        rows = [
            {"id": f"e{i}", "input": f"Is {i * 7919 % 1000} a good number?", "passage": i // 2,
             "choices": ["Yes", "No"], "answer": ("Yes", "No")[i * 31 % 7 % 2]}
            for i in range(90)
        ]  # fmt: skip
        letters = [
            {"id": f"q{i}", "input": f"What is {i * 7919 % 1000}?",
             "choices": [f"{word} {i:02}" for word in ("red", "blue", "green", "grey")],
             "answer": i % 4 if i % 3 else 0}
            for i in range(80)
        ]  # fmt: skip
        for name, lines in (("task", rows), ("letters", letters)):
            text = "".join(json.dumps(row) + "\n" for row in lines)
            (self.suites / f"{name}.jsonl").write_text(text)
        (self.suites / "suite.yaml").write_text(suite)

    def run(self, *command: str, report: str = "", fails: bool = False) -> None:
        """Run Python, as it ends when claims fail where a report is said.

        Raises
        ------
        RuntimeError
            If it ends otherwise.
        """
        done = subprocess.run(
            [sys.executable, *command],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        written = not report or (self.folder / report).is_file()
        if done.returncode not in ((0, 1) if report or fails else (0,)) or not written:
            raise RuntimeError(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")

    def pytest(self, *options: str, path: str = "eval_suites", report: str = "r.json") -> None:
        """Run the suites."""
        words = ("-q", "-p", "no:cacheprovider", "--maxrandom-store=store.db")
        self.run(
            "-m", "pytest", *words, f"--maxrandom-json={report}", *options, path, report=report
        )


def copied(*names: str, path: str = "eval_suites") -> Callable[[Scratch], None]:
    """Return what runs suites of the repository without what was counted of them."""

    def run(scratch: Scratch) -> None:
        for name in names:
            counted = shutil.ignore_patterns("maxrandom-ledger*", "study", "__pycache__")
            target = scratch.suites / name
            shutil.copytree(ROOT / "eval_suites" / name, target, ignore=counted)
        scratch.pytest(path=path)

    return run


def of_mocks(rest: str, models: str = MOCKS) -> Callable[[Scratch], None]:
    """Return what runs a suite of mock models."""

    def run(scratch: Scratch) -> None:
        scratch.write(models + rest)
        scratch.pytest()

    return run


def sharded(scratch: Scratch) -> None:
    """Run a suite in three parts, and join them."""
    scratch.write(MOCKS + "prompts: {shots: [0, 2], count: 6}\n")
    command = ("-m", "pytest_maxrandom.cli")
    scratch.run(*command, "shards", "eval_suites", "--into", "3", "--out", "parts")
    for part in "123":
        scratch.run(*command, "run-shard", "parts", part)
    words = ("--maxrandom-json=r.json", "-p", "no:cacheprovider")
    scratch.run(*command, "join", "parts", "--", *words, report="r.json")


def served(*servers: tuple[str, str]) -> Callable[[Scratch], None]:
    """Return what runs a model behind each server: its dialect, and the seed of its answers."""

    def run(scratch: Scratch) -> None:
        models = "models:\n"
        with ExitStack() as running:
            for number, (dialect, seed) in enumerate(servers):
                server = running.enter_context(serving(dialect))
                server.seed, server.model = seed, f"model-{number}"
                url = f'url: "{server.url}", served_model: {server.model}'
                models += f"- {{name: {dialect}-{number}, backend: {dialect}, {url}}}\n"
            task = "{name: task, format: jsonl, path: task.jsonl, validation: {max_examples: 16}}"
            scratch.write(f"{models}tasks: [{task}]\nprompts: {{shots: 1, count: 4}}\n")
            scratch.pytest()

    return run


def searched(scratch: Scratch) -> None:
    """Search for prompts, and judge what was searched for."""
    task = MOCKS.replace("{max_examples: 60}", "{max_examples: 60}, test: {fraction: 0.3}")
    scratch.write(task + ZERO_SHOT)
    scratch.run("-c", SEARCH)
    scratch.pytest()


def answers() -> dict[str, np.ndarray]:
    """Return what 12 prompts answer to 60 questions of four choices, of two tasks, and the gold."""
    draw = np.random.default_rng(7)
    gold = draw.integers(0, 4, 60)
    said = draw.integers(0, 4, (12, 60))
    return {
        "gold": gold,
        "guesses": said,
        "knows": np.where(draw.random((12, 60)) < 0.4, gold, said),
    }


def table(scratch: Scratch, *, right_only: bool = False) -> None:
    """Judge a table of predictions, or one that says only what is right."""
    found = answers()
    with (scratch.suites / "table.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        said = ["correct"] if right_only else ["prediction", "gold"]
        writer.writerow(["model", "task", "shots", "choices", "prompt", "example", *said])
        for task in ("knows", "guesses"):
            for (prompt, example), chosen in np.ndenumerate(found[task]):
                gold = found["gold"][example]
                own = [int(chosen == gold)] if right_only else ["ABCD"[chosen], "ABCD"[gold]]
                writer.writerow(["m", task, 2, 4, prompt, f"e{example}", *own])
    suite = RECORDED.format(path="table.csv", format="table", rest="")
    (scratch.suites / "suite.yaml").write_text(suite + "label_bias: {}\n" * (not right_only))
    scratch.pytest()


def right_only(scratch: Scratch) -> None:
    """Judge a table that says only what is right."""
    table(scratch, right_only=True)


def npz(scratch: Scratch) -> None:
    """Judge arrays."""
    found = answers()
    arrays: dict[str, Any] = {}
    for task in ("knows", "guesses"):
        of_task = {
            "correct": found[task] == found["gold"],
            "evaluated": np.ones((12, 60), dtype=bool),
            "prompt_ids": np.arange(12),
            "example_ids": np.arange(60),
            "answers": found[task],
            "gold": found["gold"],
        }
        arrays |= {f"{task}__0__{name}": value for name, value in of_task.items()}
    np.savez(scratch.suites / "m.npz", **arrays)
    suite = RECORDED.format(path="m.npz", format="npz", rest=", chance: 1/4")
    (scratch.suites / "suite.yaml").write_text(suite)
    scratch.pytest()


def predictions(scratch: Scratch) -> None:
    """Judge what a run of mock models has written."""
    scratch.write(MOCKS + ZERO_SHOT)
    scratch.pytest("--maxrandom-predictions=p.jsonl", report="first.json")
    results = "results: {path: ../p.jsonl, format: predictions}"
    models = "".join(
        f"- {{name: {name}, backend: recorded, {results}}}\n"
        for name in ("knows", "guesses", "prefers")
    )
    suite = f"models:\n{models}tasks: [{{name: task}}]\n"
    (scratch.suites / "suite.yaml").write_text(suite)
    scratch.pytest()


LETTERS = """\
models:
  - {backend: mock, name: prefers, prefers: A}
  - {backend: mock, name: knows, knows: 0.7}
tasks:
  - {name: letters, format: jsonl, path: letters.jsonl}
prompts:
  shots: 0
  count: 5
  instructions: ["One. ", "Two. ", "Three. ", "Four. ", "Five. "]
  formats: [{labels: letter, choice_prefix: "\\n"}]
"""
ONE = """\
models:
  - {backend: mock, name: knows, knows: 0.6}
""" + MOCKS[MOCKS.index("tasks:") :]
REPORTS: dict[str, Callable[[Scratch], None]] = {
    "demo": copied("demo"),
    "paper": copied("paper"),
    "pretraining": copied("demo", "pretraining", path="eval_suites/pretraining/small.yaml"),
    "decided": of_mocks(
        ZERO_SHOT.replace("count: 12", "count: 12, budget: 12") + "until: decided\n"
    ),
    "sharded": sharded,
    "served": served(("llama_cpp", "")),
    "searched": searched,
    "table": table,
    "right-only": right_only,
    "npz": npz,
    "predictions": predictions,
    "models": served(("vllm", ""), ("vllm", "other"), ("vllm", ""), ("vllm", "third")),
    "replicates": of_mocks(FEW_SHOTS + "replicates: 4\n"),
    "compared": of_mocks(
        FEW_SHOTS + "arms: {plain: {}, copy: {}, other: {seed: 1}, terse: "
        '{instruction: "Answer. "}}\n'
        "compare: [other - plain, {arms: copy - plain, assert: {not_worse_than: -0.15}}]\n",
        ONE,
    ),
    "label-bias": of_mocks("label_bias: {check: move}\n", LETTERS),
    "recall": of_mocks("label_bias: {check: recall}\n", LETTERS),
    "generated": of_mocks(
        "prompts: {shots: 1, count: 4, formats: [{labels: letter}]}\n"
        "scoring: generate\ngeneration: {max_tokens: 12}\nlabel_bias: {check: move}\n"
    ),
    "balanced-accuracy": of_mocks(ZERO_SHOT + "metric: balanced_accuracy\n"),
    "leave-out": of_mocks("prompts: {shots: [1, 3], count: 6, demonstrations: leave_out}\n"),
    "clusters": of_mocks(
        FEW_SHOTS,
        MOCKS.replace(
            "{max_examples: 60}",
            "{max_examples: 60}, test: {fraction: 0.2}, columns: {cluster: passage}",
        ),
    ),
}


def main() -> None:
    """Make the reports."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", nargs="+", choices=REPORTS, default=list(REPORTS))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.only:
        if name == "paper" and not (DATA / "paper").is_dir():
            print(f"paper: left out, for there are no data in {DATA}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            scratch = Scratch(Path(folder).resolve())
            REPORTS[name](scratch)
            text = (scratch.folder / "r.json").read_text(encoding="utf-8")
            text = text.replace(str(scratch.folder), "SCRATCH")
        (options.out / f"{name}.json").write_text(text, encoding="utf-8")
        report = json.loads(text)
        flags = {flag["kind"] for claim in report["claims"] for flag in claim["red_flags"]}
        print(f"{name}: {len(report['claims'])} claims, red flags {sorted(flags)}", flush=True)


if __name__ == "__main__":
    main()
