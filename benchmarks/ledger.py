"""Time and memory of reading a ledger file with a million prompts.

    python -m benchmarks.ledger [--lines NUMBER] [--rounds NUMBER]

The file is made in a temporary folder and holds one validation set and as many distinct prompts as
asked for, of ten revisions of a model. Every round reads it anew into an empty ledger, in this one
process; what was read is compared with what was written before any figure is printed.
"""

from __future__ import annotations

import argparse
import hashlib
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

from pytest_maxrandom.ledger import SetLedger, Subject, Try
from pytest_maxrandom.ledger.lines import line_of
from pytest_maxrandom.tasks.task import Example

EXAMPLES = [Example(str(i), f"question {i}", ("yes", "no"), (i % 2,)) for i in range(100)]
REVISIONS = [hashlib.sha256(bytes([i])).hexdigest() for i in range(10)]
SUBJECT = Subject("organization/model-7B", REVISIONS[0], "nf4", 4, "sum")
MIB = 2**20


def prompt(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def write(folder: Path, lines: int) -> Path:
    """Make a file with that many prompts, the first of them by the ledger itself."""
    ledger = SetLedger(folder, "run", "task", EXAMPLES)
    ledger.evaluated(SUBJECT, prompt(0), len(EXAMPLES), 50)
    row = {
        "kind": "prompt",
        "when": "2030-01-01T00:00:00+00:00",
        "run": "4f9c2f6e0d1b",
        "model": SUBJECT.model,
        "quantization": SUBJECT.quantization,
        "shots": SUBJECT.shots,
        "scoring": SUBJECT.scoring,
        "task_digest": prompt(-1),
        "n": len(EXAMPLES),
        "correct": 50,
    }
    with ledger.path.open("ab") as file:
        for number in range(1, lines):
            revision = REVISIONS[number % len(REVISIONS)]
            file.write(line_of({**row, "model_digest": revision, "prompt": prompt(number)}))
    return ledger.path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        size = write(folder, options.lines).stat().st_size
        before = _peak()
        seconds = []
        for _ in range(options.rounds):
            start = time.perf_counter()
            ledger = SetLedger(folder, "run", "task", EXAMPLES)
            seconds.append(time.perf_counter() - start)
            tries = ledger.tries(SUBJECT)
            last = Try(REVISIONS[(options.lines - 1) % 10], prompt(options.lines - 1), "sum")
            assert len(tries) == options.lines
            assert last in tries
            del ledger, tries
    print(f"{options.lines:,} prompts, {size / MIB:,.0f} MiB")
    print(f"read in {statistics.median(seconds):.2f} s (median of {options.rounds} rounds)")
    print(f"peak memory {_peak() / MIB:,.0f} MiB, of which {before / MIB:,.0f} MiB before reading")


def _peak() -> float:
    """Most memory that this process has held so far, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


if __name__ == "__main__":
    main()
