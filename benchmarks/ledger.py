"""Time and memory of a ledger with a million prompts: in one file, and in a thousand.

    python -m benchmarks.ledger [--lines NUMBER] [--files NUMBER] [--rounds NUMBER]

The files are made in a temporary folder. Each holds one validation set and distinct prompts of ten
revisions of a model, as many in all as asked for. Every round reads anew into an empty ledger, in
this one process, whose seconds on the processor are told; what was read is compared with what was
written before any figure is printed. Of many files a claim needs its own; `verify` reads all lines.
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from pytest_maxrandom.ledger import SetLedger, Subject, Try, examples_digest
from pytest_maxrandom.ledger.lines import line_of
from pytest_maxrandom.ledger.summary import mistakes
from pytest_maxrandom.tasks.task import Example

EXAMPLES = [Example(str(i), f"question {i}", ("yes", "no"), (i % 2,)) for i in range(100)]
REVISIONS = [hashlib.sha256(bytes([i])).hexdigest() for i in range(10)]
SUBJECT = Subject("organization/model-7B", REVISIONS[0], "nf4", 4, "sum")
MIB = 2**20


def prompt(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def examples_of(file: int) -> list[Example]:
    return [replace(each, input=f"question {each.id} of {file}") for each in EXAMPLES]


def write(folder: Path, lines: int, file: int = 0) -> Path:
    """Make a file with that many prompts, the first of them by the ledger itself."""
    ledger = SetLedger(folder, "run", "task", examples_of(file))
    ledger.evaluated(SUBJECT, prompt(0), len(EXAMPLES), 50)
    row = {
        "kind": "prompt",
        "when": "2030-01-01T00:00:00+00:00",
        "run": "4f9c2f6e0d1b",
        "model": SUBJECT.model,
        "quantization": SUBJECT.quantization,
        "shots": SUBJECT.shots,
        "scoring": SUBJECT.scoring,
        "task_digest": examples_digest(examples_of(file)),
        "n": len(EXAMPLES),
        "correct": 50,
    }
    with ledger.path.open("ab") as written:
        for number in range(1, lines):
            revision = REVISIONS[number % len(REVISIONS)]
            written.write(line_of({**row, "model_digest": revision, "prompt": prompt(number)}))
    return ledger.path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    _one_of_many(options.lines // options.files, options.files, options.rounds)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = write(folder, options.lines)
        size = path.stat().st_size
        before = _peak()
        seconds = []
        for _ in range(options.rounds):
            start = time.process_time()
            ledger = SetLedger(folder, "run", "task", examples_of(0))
            seconds.append(time.process_time() - start)
            tries = ledger.tries(SUBJECT)
            last = Try(REVISIONS[(options.lines - 1) % 10], prompt(options.lines - 1), "sum")
            assert len(tries) == options.lines
            assert last in tries
            del ledger, tries
        read = _peak()
        start = time.process_time()
        assert not mistakes(path)
        checked = time.process_time() - start
    print(f"one file of {options.lines:,} prompts, {size / MIB:,.0f} MiB")
    print(f"read in {statistics.median(seconds):.2f} s (median of {options.rounds} rounds)")
    print(f"its memory: {(read - before) / MIB:,.0f} MiB")
    print(f"verified in {checked:.1f} s, with {(_peak() - read) / MIB:,.0f} MiB more")


def _one_of_many(lines: int, files: int, rounds: int) -> None:
    """Read what a claim needs of many files, and check all of them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = []
        for number in range(files):
            path = write(folder / str(number), lines, number)  # alone, or it would look at all
            paths.append(path.rename(folder / path.name))
        size = sum(path.stat().st_size for path in paths)
        before = _peak()
        seconds = []
        for _ in range(rounds):
            start = time.process_time()
            ledger = SetLedger(folder, "run", "task", examples_of(files // 2))
            seconds.append(time.process_time() - start)
            assert len(ledger.tries(SUBJECT)) == lines
            del ledger
        started = _peak()
        start = time.process_time()
        assert not any(map(mistakes, paths))
        checked = time.process_time() - start
    print(f"{files:,} files of {lines:,} prompts, {size / MIB:,.0f} MiB")
    print(f"a claim begins in {statistics.median(seconds):.2f} s (median of {rounds} rounds)")
    print(f"its memory: {(started - before) / MIB:,.0f} MiB")
    print(f"verified in {checked:.1f} s, with {(_peak() - started) / MIB:,.0f} MiB more")


def _peak() -> float:
    """Most memory that this process has held so far, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


if __name__ == "__main__":
    main()
