"""Cost of recorded results: from the files to the report, as a user runs it.

    python -m benchmarks.recorded [--data FOLDER] [--quick]

Two figures, both in seconds of the clock for a whole run of pytest, in an environment in which
torch, transformers and bitsandbytes cannot be imported:

- the 144 experiments of arXiv 2404.13020, from their archives to report and JSON (skipped where
  the data folder is missing; --data or MAXRANDOM_DATA names it);
- 288 sweeps of 200 prompts on 200 examples with answers and right answers, each with a permutation
  test of 9,999 permutations.

The answers are checked before a figure is printed: the first against the published verdicts, the
second against counting, and its permutation p against permutations that are drawn one by one.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PAPER = ROOT / "eval_suites" / "paper"
ABSENT = ("torch", "transformers", "bitsandbytes")
T, N, CHOICES = 200, 200, 4
SHOTS = (1, 2, 4)
STRENGTHS = (0.0, 0.03, 0.1, 0.4)
"""With which probability a prompt knows the answer; else it guesses."""


def run_pytest(suite: Path, folder: Path, environment: dict[str, str]) -> tuple[float, Any]:
    """Run a suite with both reports; return the seconds and the numbers."""
    blocked = folder / "blocked"
    blocked.mkdir(exist_ok=True)
    for name in ABSENT:
        (blocked / f"{name}.py").write_text(f"raise ImportError('no module named {name}')\n")
    numbers = folder / "r.json"
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(suite)),
        *(f"--maxrandom-json={numbers}", f"--maxrandom-report={folder / 'r.md'}"),
        f"--rootdir={suite.parents[1]}",
    ]
    path = os.pathsep.join([str(blocked), str(ROOT)])
    started = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - started
    if done.returncode not in (0, 1):  # claims may fail
        raise SystemExit(done.stdout + done.stderr)
    return seconds, json.loads(numbers.read_text())


def experiments(data: Path, folder: Path) -> str:
    """Time the published experiments, when their verdicts are the published ones."""
    with (data / "paper" / "experiments.csv").open(newline="") as lines:
        rows = {(row["model"], row["dataset"], row["shots"]): row for row in csv.DictReader(lines)}
    names = {
        "above_both": "above maximum",
        "between": "between baselines",  # and those at the standard baseline
        "below_both": "below standard",
    }
    seconds, found = run_pytest(
        PAPER / "as_published.yaml", folder, {"MAXRANDOM_DATA": str(data.resolve())}
    )
    assert len(found["claims"]) == len(rows) == 144
    for claim in found["claims"]:
        row = rows[claim["model"], claim["task"], str(claim["shots"])]
        verdict = claim["verdict"].replace("at standard", names["between"])
        assert verdict == names[row["verdict"]], claim["id"]
        assert claim["best_correct"] == int(row["best_correct"]), claim["id"]
    return f"144 experiments from .npz to report: {seconds:.1f} s"


def sweeps(tasks: int, folder: Path) -> str:
    """Time permutation tests of sweeps that are made here."""
    generator = np.random.default_rng(0)
    arrays: dict[str, Any] = {}
    for task in range(tasks):
        for shots in SHOTS:
            gold = generator.integers(0, CHOICES, N)
            guessed = generator.integers(0, CHOICES, (T, N))
            knows = generator.random((T, N)) < STRENGTHS[task % len(STRENGTHS)]
            prefix = f"task{task}__{shots}__"
            arrays |= {
                prefix + "answers": np.where(knows, gold, guessed),
                prefix + "gold": gold,
                prefix + "choices": np.full(N, CHOICES),
                prefix + "prompt_ids": np.arange(T),
                prefix + "example_ids": np.arange(N),
                prefix + "demonstration_ids": generator.permuted(
                    np.tile(np.arange(1000), (T, 1)), axis=1
                )[:, :shots] + np.arange(T)[:, None] * 1000,
            }  # fmt: skip
    np.savez(folder / "m.npz", **arrays)
    suites = folder / "eval_suites"
    suites.mkdir()
    suite = suites / "s.yaml"
    suite.write_text(
        "models: [{name: m, backend: recorded, results: {path: ../m.npz, format: npz}}]\n"
        f"tasks: [{', '.join(f'{{name: task{task}}}' for task in range(tasks))}]\n"
        "assert: {permutation_p: 0.05}\n"
    )
    seconds, found = run_pytest(suite, folder, {})
    check(found["claims"], arrays)
    prompts = len(found["claims"]) * T
    return (
        f"{prompts:,} prompts x {N} examples with {len(found['claims'])} permutation tests: "
        f"{seconds:.1f} s"
    )


def check(claims: list[dict[str, Any]], arrays: dict[str, Any]) -> None:
    """Compare with counts, and some p-values with permutations that are drawn one by one."""
    for place, claim in enumerate(claims):
        prefix = f"{claim['task']}__{claim['shots']}__"
        answers, gold = arrays[prefix + "answers"], arrays[prefix + "gold"]
        correct = (answers == gold).sum(axis=1)
        assert claim["correct_counts"] == correct.tolist(), claim["id"]
        assert (claim["t"], claim["n"], claim["best_correct"]) == (T, N, correct.max())
        if place % 48:
            continue
        generator = np.random.default_rng(place)
        draws = 1000
        reached = sum(
            (answers == generator.permutation(gold)).sum(axis=1).max() >= correct.max()
            for _ in range(draws)
        )
        error = max(0.002, 4 * (claim["permutation_p"] * (1 - claim["permutation_p"]) / 500) ** 0.5)
        assert abs(reached / draws - claim["permutation_p"]) <= error, claim["id"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("MAXRANDOM_DATA"))
    parser.add_argument("--quick", action="store_true", help="a sixth of the sweeps")
    options = parser.parse_args()
    data = Path(options.data or ROOT.parent / "shared" / "data")
    with tempfile.TemporaryDirectory() as folder:
        if data.is_dir():
            print(experiments(data, Path(folder)), flush=True)
        else:
            print(f"no data in {data}: the published experiments are left out", flush=True)
        print(sweeps(16 if options.quick else 96, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
