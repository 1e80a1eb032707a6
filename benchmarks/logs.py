"""Memory and time of logs of other tools: what each answer costs, by how many there are.

    python -m benchmarks.logs [--runs NUMBER] [--samples NUMBER ...]

Each run of lm-evaluation-harness and of Inspect is one prompt, and has as many answers as asked for
(1,000 and 4,000 unless said otherwise), with right answers by lot. A process of its own reads them;
what it read is compared with what was written before a figure is printed. Seconds are those of its
processor, without imports, and memory is the most that it held beyond what it held before.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.cells import ROOT, peak
from tests.unit.recorded.logs import inspect_logs, lm_eval_logs
from tests.unit.recorded.reading import read_inspect, read_lm_eval

KINDS = ("lm_eval", "inspect (.eval)", "inspect (.json)")
CHOICES = ("red", "green", "blue")
LETTERS = "ABC"


def chosen(run: int, samples: int) -> list[int]:
    """Return which choice a run takes for each question; the first one is right."""
    draw = random.Random(run)
    return [draw.randrange(len(CHOICES)) for _ in range(samples)]


def write(folder: Path, kind: str, runs: int, samples: int) -> None:
    """Write the logs of runs that differ in what they answered."""
    for run in range(runs):
        said = chosen(run, samples)
        when = f"2026-01-01T12:00:{run:02}"
        if kind == "lm_eval":
            documents = [
                lm_eval_logs.Document(
                    [f" {choice}" for choice in CHOICES],
                    [-1.0 if place == own else -2.0 for place in range(len(CHOICES))],
                    "0",
                    acc=float(own == 0),
                    context=f"Run {run}: which colour has number {number}?",
                )
                for number, own in enumerate(said)
            ]
            time_of_run = f"{when.replace(':', '-')}.000001"
            log = lm_eval_logs.Run(documents, time=time_of_run, task_hash=str(run))
            lm_eval_logs.write_run(folder, log)
        else:
            answers = "".join(LETTERS[own] for own in said)
            own = inspect_logs.Log(answers, "A" * samples, system=f"Run {run}.", created=when)
            if kind == "inspect (.eval)":
                inspect_logs.write_archive(folder / f"{run:02}.eval", own)
            else:
                inspect_logs.write_json(folder / f"{run:02}.json", own)


def read_here(folder: Path, kind: str, runs: int, samples: int) -> None:
    """Read logs, compare them with what was written, and print what that cost."""
    before, start = peak(), time.process_time()
    [answers] = (read_lm_eval if kind == "lm_eval" else read_inspect)(folder)
    seconds, more = time.process_time() - start, peak() - before
    assert answers.correct.shape == (runs, samples)
    counts = sorted(chosen(run, samples).count(0) for run in range(runs))
    assert sorted(answers.correct_counts.tolist()) == counts
    print(json.dumps([seconds, more]))


def measured(kind: str, runs: int, samples: int) -> tuple[float, int]:
    """Return what it costs to read logs, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder), kind, runs, samples)
        call = f"read_here(Path({folder!r}), {kind!r}, {runs}, {samples})"
        done = subprocess.run(
            [sys.executable, "-c", f"from benchmarks.logs import *; {call}"],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    seconds, more = json.loads(done.stdout)
    return seconds, more


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--samples", type=int, nargs="+", default=[1_000, 4_000])
    options = parser.parse_args()
    for kind in KINDS:
        for samples in options.samples:
            seconds, more = measured(kind, options.runs, samples)
            each = options.runs * samples
            print(
                f"{kind}, {options.runs} runs of {samples:,} answers: {seconds:.1f} s of CPU "
                f"({seconds / each * 1e6:.0f} µs each), {more / 1e6:,.0f} MB ({more / each:,.0f} "
                "bytes each)",
                flush=True,
            )


if __name__ == "__main__":
    main()
