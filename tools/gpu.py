"""Run what needs a GPU on this machine: the tests of models there, and the benchmark of sweeps.

    python tools/gpu.py [--table FILE]

The tests are those of models, whose `device: auto` is a GPU where there is one. The table shows how
a sweep in NF4 and in float32 compares with the paper's loop and with lm-evaluation-harness on it,
and how many tokens a second the card's own limit would allow: a token of a model of P parameters
takes some 2 P operations, and the limit is what the card reaches in the product of two matrices.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROOT = Path(__file__).parents[1]
_TESTS = ("tests/unit/models", "tests/plugin/test_arithmetic.py", "tests/plugin/test_generation.py")
_SIZE, _PRODUCTS = 8192, 20


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


def limit() -> str:
    """Return what the card reaches in products of matrices in bfloat16, in words."""
    import torch

    matrix = torch.randn(_SIZE, _SIZE, dtype=torch.bfloat16, device="cuda")
    for _ in range(2):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(_PRODUCTS):
            matrix @ matrix
        torch.cuda.synchronize()
        seconds = time.perf_counter() - start
    rate = 2 * _SIZE**3 * _PRODUCTS / seconds
    return (
        f"{torch.cuda.get_device_name()} reaches {rate / 1e12:,.0f} TFLOP/s in bfloat16: at most "
        f"{rate / 2 / 1e9:,.0f} tokens a second of a model of 1 billion parameters."
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the tests, then the benchmark, and write its table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--table", type=Path, default=_ROOT / "build" / "gpu.md")
    options = parser.parse_args(arguments)
    if (why := absent()) is not None:
        raise SystemExit(f"Nothing can run on a GPU here: {why}")
    tests = subprocess.run([sys.executable, "-m", "pytest", *_TESTS], cwd=_ROOT, check=False)
    command = [sys.executable, "-m", "benchmarks.sweep", "--device", "cuda"]
    written = subprocess.run(command, cwd=_ROOT, check=True, stdout=subprocess.PIPE, text=True)
    options.table.parent.mkdir(parents=True, exist_ok=True)
    options.table.write_text(f"{limit()}\n\n{written.stdout}", encoding="utf-8")
    print(f"{options.table}: {limit()}")
    raise SystemExit(tests.returncode)


if __name__ == "__main__":
    main()
