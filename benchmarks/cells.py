"""Memory and time of large recorded results: what each cell costs, from each kind of file.

    python -m benchmarks.cells [--prompts T] [--examples N] [--only KIND ...] [--judge]

The answers of T prompts to N examples (1,000 and 10,000 unless said otherwise) are written as npz,
CSV and Parquet, or --only as some, and each file is read by a process of its own: the CSV file also
without pyarrow.
What all of them read must be the same before a figure is printed. Seconds are those of the process
on its CPU, without its imports, so that other work on the machine hardly changes them; memory is
the most that the process ever held, beyond what it held before it read.

With --judge pytest judges each file instead, with its permutation p and both reports.
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
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.recorded import run_pytest

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
KINDS = ("npz", "csv", "parquet")
LABELS = "ABCD"
KNOWN = 0.02
"""With which probability a prompt knows the answer; else it guesses."""


def write(path: Path, t: int, n: int) -> None:
    """Write answers as npz, CSV or Parquet, the same ones whatever the ending of the name."""
    generator = np.random.default_rng(0)
    gold = generator.integers(0, len(LABELS), n, dtype=np.int8)
    said = np.empty((t, n), dtype=np.int8)
    for row in said:
        guessed = generator.integers(0, len(LABELS), n, dtype=np.int8)
        row[:] = np.where(generator.random(n) < KNOWN, gold, guessed)
    {".npz": _write_npz, ".csv": _write_csv, ".parquet": _write_parquet}[path.suffix](
        path, said, gold
    )


def _write_npz(path: Path, said: NDArray[np.int8], gold: NDArray[np.int8]) -> None:
    t, n = said.shape
    arrays: dict[str, Any] = {
        "answers": said,
        "gold": gold,
        "choices": np.full(n, len(LABELS)),
        "prompt_ids": np.array([f"p{prompt}" for prompt in range(t)]),
        "example_ids": np.array([f"e{example}" for example in range(n)]),
    }
    np.savez(path, **{f"task__0__{name}": array for name, array in arrays.items()})


def _write_csv(path: Path, said: NDArray[np.int8], gold: NDArray[np.int8]) -> None:
    cells = [
        [f",e{example},{label},{LABELS[right]},{len(LABELS)}\n" for label in LABELS]
        for example, right in enumerate(gold.tolist())
    ]
    with path.open("w") as file:
        file.write("prompt,example,prediction,gold,choices\n")
        for prompt, labels in enumerate(said):
            rows = (f"p{prompt}{own[s]}" for own, s in zip(cells, labels.tolist(), strict=True))
            file.write("".join(rows))


def _write_parquet(path: Path, said: NDArray[np.int8], gold: NDArray[np.int8]) -> None:
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
        for name in ("pyarrow.csv", "pyarrow.parquet"):  # imports are no cost of a cell
            import_module(name)
    before, start = peak(), time.process_time()
    if path.suffix == ".npz":
        [answers] = read_npz(path)
    else:
        spec = TableResults(path=path.name, format="table")
        [answers] = read_table(path, spec, Meant("m", "task", 0))
    seconds, more = time.process_time() - start, peak() - before
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
    print(json.dumps([seconds, more, peak(), known.hexdigest()]))


def peak() -> int:
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
        # Millions of rows of Parquet unpack to more than is usual from outside.
        env={**os.environ, "PYTHONPATH": str(ROOT), "MAXRANDOM_LIMITS": "data_mb=40000"},
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


def judged(path: Path, t: int, n: int) -> str:
    """Judge a file with pytest, and tell what that cost, when its numbers are those of counting.

    It is what all children of this process cost.
    """
    (path.parent / "eval_suites").mkdir()
    suite = path.parent / "eval_suites" / "s.yaml"
    kind = "npz" if path.suffix == ".npz" else "table"
    shots = "" if path.suffix == ".npz" else ", shots: 0"
    results = f"{{path: ../{path.name}, format: {kind}{shots}}}"
    suite.write_text(
        f"models: [{{name: m, backend: recorded, results: {results}}}]\n"
        "tasks: [{name: task}]\nassert: {permutation_p: 0.05}\n"
    )
    clock, found = run_pytest(suite, path.parent, {})
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    [claim] = found["claims"]
    assert (claim["t"], claim["n"]) == (t, n)
    suite.unlink()
    suite.parent.rmdir()
    return (
        f"best {claim['best_correct']}, permutation p {claim['permutation_p']:.4f}; "
        f"{used.ru_utime + used.ru_stime:.0f} s of CPU, {clock:.0f} s of the clock, "
        f"{used.ru_maxrss * 1024 / 1e6:,.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prompts", type=int, default=1_000)
    parser.add_argument("--examples", type=int, default=10_000)
    parser.add_argument("--only", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--judge", action="store_true")
    options = parser.parse_args()
    t, n = options.prompts, options.examples
    digests, quickest = set(), 0.0
    print(f"{t:,} prompts x {n:,} examples")
    with tempfile.TemporaryDirectory() as name:
        for kind in options.only:
            path = Path(name) / f"m.{kind}"
            alone(f"write(Path({str(path)!r}), {t}, {n})")
            if options.judge:
                print(f"{kind}: {alone(f'print(judged(Path({str(path)!r}), {t}, {n}))')}", end="")
                path.unlink()
                continue
            for arrow in (True, False) if kind == "csv" else (True,):
                seconds, more, peak, digest = read(path, arrow=arrow)
                quickest = quickest or seconds
                digests.add(digest)
                assert len(digests) == 1  # the same by all ways
                print(
                    f"{kind}{'' if arrow else ', csv module'}: {seconds:.1f} s of CPU "
                    f"({seconds / quickest:.0f} times the first), {peak / 1e6:,.0f} MB, "
                    f"{more / t / n:.1f} bytes a cell",
                    flush=True,
                )
            path.unlink()


if __name__ == "__main__":
    main()
