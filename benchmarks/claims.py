"""Processor time and memory of a run for each of its claims, however many there are.

    python -m benchmarks.claims [--quick] [--out FILE.svg]

10, 100 and 1,000 claims of mock models, of 3 prompts on 40 examples and of 20 prompts on 100: all
models on one task, where each claim has all others to be compared with, and one model on as many
tasks. Each suite runs twice, in one process and with two workers; the second run finds all answers
in the store. What a run of one claim takes is subtracted, so that the figures are those of a
claim. A run that takes longer than 15 minutes is cut, and its larger ones are not begun.

The package that runs is the one that PYTHONPATH names, else the installed one.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import NamedTuple

LAYOUTS = ("one task", "one model")
SHAPES = ((3, 40), (20, 100))
WORKERS = (0, 2)
MOST = 15 * 60
"""Seconds that a run may take."""
SMALL, TIMES = 10, 3
"""Up to so many claims a run is measured so often, and the least counts: start-up is most of it."""
MIB = 2**20 if sys.platform == "darwin" else 2**10
"""Units of the most memory of a process."""
COLUMNS = (
    "layout", "t", "n", "workers", "claims", "CPU s per claim", "/ that of 10", "second run",
    "second / first", "MiB",
)  # fmt: skip
BLUE, ORANGE = "#0072B2", "#D55E00"


class Case(NamedTuple):
    """What is measured: a layout of claims, t and n, and workers of pytest-xdist."""

    layout: str
    t: int
    n: int
    workers: int


class Cost(NamedTuple):
    """What a run took: seconds of processors, and the most memory of one of its processes."""

    seconds: float
    mebibytes: float


def write(folder: Path, case: Case, claims: int) -> None:
    """Write a suite of so many claims."""
    alike = case.layout == "one task"
    models = [f"model-{number}" for number in range(claims if alike else 1)]
    tasks = [f"task-{number}" for number in range(1 if alike else claims)]
    suites = folder / "eval_suites"
    suites.mkdir()
    (folder / "pytest.ini").write_text("[pytest]\n")
    for task in tasks:
        rows = [
            {"id": f"{task}-{i}", "input": f"{task}: is {i * 7919 % 1000} a good number?",
             "choices": ["Yes", "No"], "answer": ("Yes", "No")[i * 31 % 7 % 2]}
            for i in range(case.n)
        ]  # fmt: skip
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (suites / f"{task}.jsonl").write_text(text)
    suite = {
        "models": [{"backend": "mock", "name": name, "knows": 0.4} for name in models],
        "tasks": [{"name": name, "format": "jsonl", "path": f"{name}.jsonl"} for name in tasks],
        "prompts": {
            "shots": 0,
            "count": case.t,
            "instructions": [f"Instruction {number}. " for number in range(case.t)],
        },
        "assert": "report",
    }
    (suites / "suite.yaml").write_text(json.dumps(suite))


def run(folder: Path, case: Case, claims: int) -> Cost | None:
    """Run the suite, and return what it took with all its processes; None if it was cut."""
    report = folder / "r.json"
    report.unlink(missing_ok=True)
    words = ["-q", "-p", "no:cacheprovider", "--maxrandom-json=r.json", "-n", str(case.workers)]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("MAXRANDOM_")
    }
    with (folder / "out.txt").open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *words, "eval_suites"],
            cwd=folder,
            env=environment,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    clock = threading.Timer(MOST, lambda: os.killpg(process.pid, signal.SIGKILL))
    clock.start()
    _, status, used = os.wait4(process.pid, 0)
    clock.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode == -signal.SIGKILL:
        return None
    if process.returncode or len(json.loads(report.read_text())["claims"]) != claims:
        raise SystemExit((folder / "out.txt").read_text())
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / MIB)


def measured(case: Case, sizes: tuple[int, ...]) -> dict[int, tuple[Cost | None, Cost | None]]:
    """Return what the first and the second run take by the number of claims, as far as not cut."""
    found: dict[int, tuple[Cost | None, Cost | None]] = {}
    for claims in sizes:
        runs = []
        for _ in range(TIMES if claims <= SMALL else 1):
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                write(folder, case, claims)
                first = run(folder, case, claims)
                runs.append((first, first and run(folder, case, claims)))
        firsts, seconds = zip(*runs, strict=True)
        found[claims] = _least(firsts), _least(seconds)
        if None in found[claims]:
            break
    return found


def _least(costs: tuple[Cost | None, ...]) -> Cost | None:
    return None if None in costs else min(cost for cost in costs if cost)


def per_claim(found: dict[int, tuple[Cost | None, Cost | None]], claims: int, which: int) -> float:
    """Return the seconds of a claim; `which` is 0 in a first and 1 in a second run."""
    alone, cost = (found[size][which] if size in found else None for size in (1, claims))
    return (cost.seconds - alone.seconds) / (claims - 1) if cost and alone else float("nan")


def _ratio(one: float, other: float) -> str:
    """Write how many times more one is; nothing where the other is lost in what start-up varies."""
    return f"{one / other:.2f}" if other > 0 else ""


def draw(path: Path, sizes: tuple[int, ...], costs: dict[Case, dict[int, list[float]]]) -> None:
    """Write the picture as SVG, the same bytes for the same figures."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.rcParams.update({"svg.hashsalt": "maxrandom", "font.size": 9, "svg.fonttype": "none"})
    figure, panels = plt.subplots(1, 2, figsize=(7.2, 2.8), sharey=True, layout="constrained")
    figure.patch.set_facecolor("white")
    names = ("all models on one task", "one model on all tasks")
    for layout, name, axes in zip(LAYOUTS, names, panels, strict=True):
        for (t, n), (which, (line, run_name)) in itertools.product(
            SHAPES, enumerate((("-", "first run"), ("--", "second run")))
        ):
            colour, mark = ((BLUE, "o"), (ORANGE, "s"))[SHAPES.index((t, n))]
            values = [costs[Case(layout, t, n, 0)][size][which] for size in sizes]
            label = f"t = {t}, n = {n}, {run_name}"
            axes.plot(sizes, values, line, color=colour, marker=mark, markersize=4, label=label)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_title(name, fontsize=9)
        axes.set_xlabel("claims of the run")
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("CPU seconds per claim")
    panels[1].legend(frameon=False, fontsize=7)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Print the figures of each case as it is measured, and draw those of one process."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="no runs of 1,000 claims")
    parser.add_argument("--out", type=Path, help="where to draw the figures, as SVG")
    options = parser.parse_args()
    sizes = (10, 100) if options.quick else (10, 100, 1000)
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|", flush=True)
    costs: dict[Case, dict[int, list[float]]] = {}
    for layout, (t, n), workers in itertools.product(LAYOUTS, SHAPES, WORKERS):
        case = Case(layout, t, n, workers)
        found = measured(case, (1, *sizes))
        costs[case] = {size: [per_claim(found, size, which) for which in (0, 1)] for size in sizes}
        for size in sizes:
            first, second = costs[case][size]
            row = [*map(str, case), f"{size:,}"]
            if size not in found or found[size][0] is None:
                row += ["cut: over 15 minutes" if size in found else "not begun", *[""] * 4]
            else:
                memory = max(cost.mebibytes for cost in found[size] if cost)
                row += [f"{first:.3f}", _ratio(first, costs[case][sizes[0]][0])]
                row += [f"{second:.3f}", _ratio(second, first), f"{memory:,.0f}"]
            print("| " + " | ".join(row) + " |", flush=True)
    if options.out:
        draw(options.out, sizes, costs)


if __name__ == "__main__":
    main()
