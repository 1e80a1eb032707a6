"""Run what needs a GPU on this machine: the tests of models there, and a benchmark of sweeps.

    python tools/gpu.py [--table FILE]

The tests are those of models, which are computed on a GPU where there is one (`tests.tiny.place`).
The table shows how a sweep of models of 1 and 7 billion parameters, in float32, bfloat16 and NF4,
compares with the paper's loop and with what the card reaches in the product of two matrices.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROOT = Path(__file__).parents[1]
_TESTS = ("tests/unit/models", "tests/plugin/test_arithmetic.py", "tests/plugin/test_generation.py")


def absent() -> str | None:
    """Say why nothing can run on a GPU here; None where it can."""
    try:
        import torch
    except ImportError as error:
        return f"torch cannot be imported ({error})"
    if torch.version.cuda is None:
        return f"torch {torch.__version__} is built for processors only; install a build for CUDA"
    if not torch.cuda.is_available():
        return "torch finds no GPU; `nvidia-smi` says whether the driver does"
    return None


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the tests, then the benchmark, and write its table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--table", type=Path, default=_ROOT / "build" / "gpu.md")
    options = parser.parse_args(arguments)
    if (why := absent()) is not None:
        raise SystemExit(f"Nothing can run on a GPU here: {why}")
    tests = subprocess.run([sys.executable, "-m", "pytest", *_TESTS], cwd=_ROOT, check=False)
    options.table.parent.mkdir(parents=True, exist_ok=True)
    with options.table.open("w", encoding="utf-8") as table:
        command = [sys.executable, "-m", "benchmarks.cards"]
        measured = subprocess.run(command, cwd=_ROOT, check=False, stdout=table)
    print(options.table.read_text(encoding="utf-8"))
    raise SystemExit(tests.returncode or measured.returncode)


if __name__ == "__main__":
    main()
