"""How work grows: seconds of the processor by lines, cells, answers, permutations and claims.

    python -m benchmarks.growth [--only SUBJECT ...] [--figures FILE.json] [--out FILE.svg]
    python -m benchmarks.growth --shards 10 --claims 10000

Each subject is measured at sizes over two decades or more, once each; what is measured of a whole
run of pytest has its start-up in it. The exponent is the slope of the logarithms over the last
decade: 1 where the cost of a piece is constant. With --figures what was measured is kept in a file
and not measured again, so that all of it can be measured in parts; --out draws what is known.

With --shards so many mock claims are cut into parts, which run one after the other, each in a
process of its own, and are joined; what each step takes is printed.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks import claims, ledger, reports
from pytest_maxrandom.claims.recorded_claims import plan_recorded
from pytest_maxrandom.ledger import SetLedger
from pytest_maxrandom.stats.permutation import max_t_of_all
from pytest_maxrandom.suite.loader import RecordedSuite, load_any_suite

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Curve = Mapping[int, float]
    """Seconds of the processor by size."""

T, N, CHOICES, LEVEL = 3, 40, 4, 0.05
MIB = 2**20


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _lines(size: int, folder: Path) -> float:
    ledger.write(folder, size)
    return _seconds(lambda: SetLedger(folder, "run", "task", ledger.examples_of(0)))


def _shape(cells: int) -> tuple[int, int]:
    """Return t and n, ten times as many examples as prompts where there is room."""
    t = round(math.sqrt(cells / 10))
    return t, cells // t


def _answers(cells: int) -> tuple[NDArray[Any], NDArray[Any]]:
    draw = np.random.default_rng(0)
    t, n = _shape(cells)
    return draw.integers(0, CHOICES, (t, n), dtype=np.int8), draw.integers(0, CHOICES, n)


def _cells(size: int, folder: Path) -> float:
    answers, gold = _answers(size)
    t, n = answers.shape
    arrays: dict[str, Any] = {
        "answers": answers,
        "gold": gold,
        "choices": np.full(n, CHOICES),
        "prompt_ids": np.arange(t),
        "example_ids": np.arange(n),
    }
    np.savez(folder / "m.npz", **{f"a__0__{name}": each for name, each in arrays.items()})
    suite = folder / "s.yaml"
    suite.write_text(
        "models: [{name: m, backend: recorded, results: {path: m.npz, format: npz}}]\n"
        "tasks: [{name: a}]\n"
    )
    loaded = load_any_suite(suite)
    assert isinstance(loaded, RecordedSuite)
    return _seconds(lambda: plan_recorded(loaded))


def _permutations(size: int, folder: Path) -> float:
    answers, gold = _answers(size)
    t, n = answers.shape
    return _seconds(lambda: max_t_of_all(answers, gold, [CHOICES] * n, t, level=LEVEL))


def _sweep(size: int, folder: Path) -> float:
    t, n = _shape(size)
    return _run(claims.Case("one task", t, n, 0), 1, folder)


def _claims(size: int, folder: Path) -> float:
    return _run(claims.Case("one task", T, N, 0), size, folder)


def _run(case: claims.Case, size: int, folder: Path) -> float:
    claims.write(folder, case, size)
    cost = claims.run(folder, case, size)
    assert cost is not None
    return cost.seconds


def _reports(size: int, folder: Path) -> float:
    run = reports.report(folder / "suite", size)
    return sum(_seconds(partial(write, run)) for write in reports.WAYS.values())


SUBJECTS: dict[str, tuple[Callable[[int, Path], float], tuple[int, ...], str]] = {
    "ledger": (_lines, (1_000, 10_000, 100_000, 1_000_000), "lines of a ledger, read"),
    "cells": (_cells, (10_000, 100_000, 1_000_000, 10_000_000), "recorded answers, read"),
    "sweep": (_sweep, (1_000, 10_000, 100_000), "answers of a mock sweep, a whole run"),
    "permutations": (_permutations, (10_000, 100_000, 1_000_000, 10_000_000), "answers, shuffled"),
    "claims": (_claims, (10, 100, 1_000), "claims of mock models, a whole run"),
    "reports": (_reports, (10, 100, 1_000), "claims, written in six reports"),
}
"""By name: what is measured, at which sizes, and what the size counts."""


def exponent(curve: Curve) -> float:
    """Return the slope over the last two sizes."""
    (small, before), (large, after) = sorted(curve.items())[-2:]
    return math.log(after / before) / math.log(large / small)


def draw(path: Path, curves: Mapping[str, Curve]) -> None:
    """Draw the curves beside a cost that is constant for each piece; the same bytes each time."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.rcParams.update({"svg.hashsalt": "maxrandom", "font.size": 9, "svg.fonttype": "none"})
    rows = math.ceil(len(curves) / 2)
    figure, panels = plt.subplots(
        rows, 2, figsize=(7.2, 2.3 * rows), layout="constrained", squeeze=False
    )
    figure.patch.set_facecolor("white")
    for axes in panels.flat[len(curves) :]:
        axes.set_visible(False)
    for (name, curve), axes in zip(curves.items(), panels.flat, strict=False):
        sizes = sorted(curve)
        linear = [curve[sizes[-1]] * size / sizes[-1] for size in sizes]
        axes.plot(sizes, linear, ":", color="#777777", label="constant for each")
        axes.plot(sizes, [curve[size] for size in sizes], "-o", color=claims.BLUE, markersize=4)
        axes.set(xscale="log", yscale="log", xlabel=SUBJECTS[name][2])
        axes.set_title(f"{name}: exponent {exponent(curve):.2f}", fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
    for of_row in panels:
        of_row[0].set_ylabel("CPU seconds")
    panels[0, 0].legend(frameon=False, fontsize=7)
    figure.savefig(path, metadata={"Date": None})


def shards(parts: int, number: int) -> None:
    """Cut so many claims into parts, run and join them, and print what each step takes."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        claims.write(folder, claims.Case("one model", T, N, 0), number)
        print("| step | CPU s | most MiB |\n| --- | ---: | ---: |")
        step = ["shards", "eval_suites", "--into", str(parts), "--out", "run"]
        _print("cut", [_maxrandom(folder, step)])
        _print("run", [_maxrandom(folder, ["run-shard", "run", str(n + 1)]) for n in range(parts)])
        size = sum(each.stat().st_size for each in (folder / "run").rglob("*") if each.is_file())
        joined = ["join", "run", "--", "-q", "-p", "no:cacheprovider", "--maxrandom-json=r.json"]
        _print("join", [_maxrandom(folder, joined)])
        found = json.loads((folder / "r.json").read_text())["claims"]
        assert len(found) == number
    print(f"\n{number:,} claims in {parts} parts, whose folder has {size / MIB:,.1f} MiB.")


def _print(step: str, costs: list[claims.Cost]) -> None:
    seconds, memory = sum(c.seconds for c in costs), max(c.mebibytes for c in costs)
    print(f"| {step} | {seconds:,.1f} | {memory:,.0f} |", flush=True)


def _maxrandom(folder: Path, words: list[str]) -> claims.Cost:
    with (folder / "out.txt").open("w") as out:
        command = [sys.executable, "-m", "pytest_maxrandom.cli", *words]
        process = subprocess.Popen(command, cwd=folder, stdout=out, stderr=out)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit((folder / "out.txt").read_text())
    return claims.Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / claims.MIB)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=SUBJECTS, default=[*SUBJECTS])
    parser.add_argument("--most", type=int, default=10**9, help="the largest size")
    parser.add_argument("--figures", type=Path, help="where to keep what was measured, as JSON")
    parser.add_argument("--out", type=Path, help="where to draw the figures, as SVG")
    parser.add_argument("--shards", type=int, help="cut --claims into so many parts instead")
    parser.add_argument("--claims", type=int, default=10_000)
    options = parser.parse_args()
    if options.shards:
        shards(options.shards, options.claims)
        return
    kept = options.figures
    known: dict[str, dict[str, float]] = {}
    if kept and kept.exists():
        known = json.loads(kept.read_text())
    for name in options.only:
        measure, sizes, counted = SUBJECTS[name]
        curve = known.setdefault(name, {})
        for size in sizes:
            if str(size) not in curve and size <= options.most:
                with tempfile.TemporaryDirectory() as folder:
                    curve[str(size)] = measure(size, Path(folder))
                if kept:
                    kept.write_text(json.dumps(known, indent=1))
        shown = ", ".join(f"{int(size):,}: {taken:.3g} s" for size, taken in curve.items())
        slope = exponent({int(size): taken for size, taken in curve.items()})
        print(f"{name} ({counted}): {shown}; exponent {slope:.2f}", flush=True)
    if options.out:
        found = {
            name: {int(size): taken for size, taken in known[name].items()}
            for name in SUBJECTS
            if name in known
        }
        draw(options.out, found)


if __name__ == "__main__":
    main()
