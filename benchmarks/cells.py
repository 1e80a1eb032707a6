"""Memory and time of large recorded results: what each cell costs, from each kind of file.

    python -m benchmarks.cells [--prompts T] [--examples N] [--judge]

The answers of T prompts to N examples (1,000 and 10,000 unless said otherwise) are written as CSV,
Parquet and npz, and each file is read by a process of its own: the CSV file also without pyarrow.
What all of them read must be the same before a figure is printed. Seconds are those of the process
on its CPU, without its imports, so that other work on the machine hardly changes them; memory is
the most that the process ever held, beyond what it held before it read.

With --judge pytest judges the npz file as well, with its permutation p and both reports.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.recorded import run_pytest

ROOT = Path(__file__).resolve().parents[1]
LABELS = "ABCD"
KNOWN = 0.02
"""With which probability a prompt knows the answer; else it guesses."""


def write(folder: Path, t: int, n: int) -> None:
    """Write the same answers as CSV, Parquet and npz."""
    generator = np.random.default_rng(0)
    gold = generator.integers(0, len(LABELS), n, dtype=np.int8)
    arrays: dict[str, Any] = {
        "task__0__gold": gold,
        "task__0__choices": np.full(n, len(LABELS)),
        "task__0__prompt_ids": np.array([f"p{prompt}" for prompt in range(t)]),
        "task__0__example_ids": np.array([f"e{example}" for example in range(n)]),
    }
    said = np.empty((t, n), dtype=np.int8)
    for row in said:
        guessed = generator.integers(0, len(LABELS), n, dtype=np.int8)
        row[:] = np.where(generator.random(n) < KNOWN, gold, guessed)
    np.savez(folder / "m.npz", **arrays, task__0__answers=said)
    cells = [
        [f",e{example},{label},{LABELS[right]},{len(LABELS)}\n" for label in LABELS]
        for example, right in enumerate(gold.tolist())
    ]
    with (folder / "m.csv").open("w") as file:
        file.write("prompt,example,prediction,gold,choices\n")
        for prompt, labels in enumerate(said.tolist()):
            rows = (f"p{prompt}{own[s]}" for own, s in zip(cells, labels, strict=True))
            file.write("".join(rows))
    _write_parquet(folder / "m.parquet", said, gold)


def _write_parquet(path: Path, said: np.ndarray[Any, Any], gold: np.ndarray[Any, Any]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    t, n = said.shape
    texts = pa.array([*LABELS])
    examples = pa.array([f"e{example}" for example in range(n)])
    schema = pa.schema(
        [(name, pa.string()) for name in ("prompt", "example", "prediction", "gold")]
        + [("choices", pa.int64())]
    )
    with pq.ParquetWriter(path, schema) as writer:
        for prompt in range(t):
            columns = [
                pa.repeat(f"p{prompt}", n),
                examples,
                texts.take(pa.array(said[prompt])),
                texts.take(pa.array(gold)),
                pa.repeat(len(LABELS), n).cast(pa.int64()),
            ]
            writer.write_table(pa.table(dict(zip(schema.names, columns, strict=True))))


def read_here(path: Path) -> None:
    """Read a file, and print what that cost and what was read."""
    from pytest_maxrandom.recorded.npz import read_npz
    from pytest_maxrandom.recorded.tables.grid import Meant
    from pytest_maxrandom.recorded.tables.table import read_table
    from pytest_maxrandom.suite.recorded import TableResults

    if "pyarrow" not in sys.modules and path.suffix != ".npz":
        import pyarrow.csv
        import pyarrow.parquet  # noqa: F401
    before, start = _peak(), time.process_time()
    if path.suffix == ".npz":
        [answers] = read_npz(path)
    else:
        spec = TableResults(path=path.name, format="table")
        [answers] = read_table(path, spec, Meant("m", "task", 0))
    seconds, more = time.process_time() - start, _peak() - before
    assert answers.answers is not None
    assert answers.gold is not None
    # Labels are numbered by the readers: what counts is what they say.
    names = answers.labels if path.suffix != ".npz" else tuple(LABELS)
    table = np.frombuffer("".join(names).encode(), dtype=np.uint8)
    known = hashlib.sha256(answers.correct.tobytes())
    for row in answers.answers:
        known.update(table[row].tobytes())
    known.update(repr([[names[each] for each in right] for right in answers.gold]).encode())
    known.update(repr((answers.prompts, answers.examples, answers.chances)).encode())
    print(json.dumps([seconds, more, _peak(), known.hexdigest()]))


def _peak() -> int:
    """Most memory that this process has held so far, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # what resource tells begins with what its parent held
        [most] = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
        return int(most.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def alone(call: str, *, arrow: bool = True) -> str:
    """Return what a call of this module prints in a process of its own.

    Its peak would count what this process holds, which therefore makes nothing itself.
    """
    blocked = "" if arrow else "sys.modules['pyarrow'] = None; "
    program = f"import sys; {blocked}from pathlib import Path; from benchmarks.cells import *; "
    done = subprocess.run(
        [sys.executable, "-c", program + call],
        # Ten million rows of Parquet unpack to more than is usual from outside.
        env={**os.environ, "PYTHONPATH": str(ROOT), "MAXRANDOM_LIMITS": "data_mb=4000"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return done.stdout


def read(path: Path, *, arrow: bool = True) -> tuple[float, int, int, str]:
    """Read a file in a process of its own; see `read_here`."""
    found = json.loads(alone(f"read_here(Path({str(path)!r}))", arrow=arrow))
    seconds, more, peak, digest = found
    return seconds, more, peak, digest


def judged(folder: Path, t: int) -> str:
    """Judge the npz file, when its numbers are those of counting."""
    suites = folder / "eval_suites"
    suites.mkdir()
    suite = suites / "s.yaml"
    suite.write_text(
        "models: [{name: m, backend: recorded, results: {path: ../m.npz, format: npz}}]\n"
        "tasks: [{name: task}]\nassert: {permutation_p: 0.05}\n"
    )
    seconds, found = run_pytest(suite, folder, {})
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    [claim] = found["claims"]
    with np.load(folder / "m.npz") as arrays:
        right = (arrays["task__0__answers"] == arrays["task__0__gold"]).sum(axis=1)
    assert claim["t"] == t
    assert claim["best_correct"] == right.max()
    return (
        f"judged by pytest, permutation p {claim['permutation_p']:.4f}: {seconds:.0f} s of the "
        f"clock, {peak / 1e6:,.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prompts", type=int, default=1_000)
    parser.add_argument("--examples", type=int, default=10_000)
    parser.add_argument("--judge", action="store_true")
    options = parser.parse_args()
    cells = options.prompts * options.examples
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        alone(f"write(Path({name!r}), {options.prompts}, {options.examples})")
        ways = {
            "npz": read(folder / "m.npz"),
            "CSV": read(folder / "m.csv"),
            "CSV, csv module": read(folder / "m.csv", arrow=False),
            "Parquet": read(folder / "m.parquet"),
        }
        assert len({digest for *_, digest in ways.values()}) == 1
        print(f"{options.prompts:,} prompts x {options.examples:,} examples, the same by all ways")
        for way, (seconds, more, peak, _) in ways.items():
            print(
                f"{way}: {seconds:.1f} s of CPU ({seconds / ways['npz'][0]:.0f} times npz), "
                f"{peak / 1e6:,.0f} MB, {more / cells:.1f} bytes a cell"
            )
        if options.judge:
            print(judged(folder, options.prompts))


if __name__ == "__main__":
    main()
