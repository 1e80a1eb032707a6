"""Processor time and memory of a run for each of its claims, however many there are.

    python -m benchmarks.claims [--quick] [--layout ...] [--t ...] [--workers ...] [--claims ...]
                                [--figures FILE.json] [--out FILE.svg]

10, 100 and 1,000 claims of mock models, of 3 prompts on 40 examples and of 20 prompts on 100: all
models on one task, where each claim has all others to be compared with, and one model on as many
tasks. Each suite runs twice, in one process and with two workers; the second run finds all answers
in the store. What a run of one claim takes is subtracted, so that the figures are those of a
claim. A run that takes longer than 15 minutes is cut, and its larger ones are not begun.

The options choose a part of that. With --figures what was measured is kept in a file, and is not
measured again, so that all of it can be measured in parts; --out draws whatever is known by then.
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
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

LAYOUTS = ("one task", "one model")
SHAPES = ((3, 40), (20, 100))
NAMES = {"one task": "models on one task", "one model": "a model on tasks"}
WORKERS = (0, 2)
SIZES = (10, 100, 1000)
MOST = 15 * 60
"""Seconds that a run may take."""
SMALL, TIMES = 10, 5
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


Runs: TypeAlias = tuple[Cost | None, Cost | None]
"""What a first and a second run took; None for one that was cut."""


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


def measured(case: Case, claims: int) -> Runs:
    """Return what the first and the second run take; None where one was cut."""
    runs = []
    for _ in range(TIMES if claims <= SMALL else 1):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write(folder, case, claims)
            first = run(folder, case, claims)
            runs.append((first, first and run(folder, case, claims)))
    firsts, seconds = zip(*runs, strict=True)
    return _least(firsts), _least(seconds)


def _least(costs: tuple[Cost | None, ...]) -> Cost | None:
    return None if None in costs else min(cost for cost in costs if cost)


def per_claim(found: Mapping[int, Runs], claims: int, which: int) -> float:
    """Return the seconds of a claim; `which` is 0 in a first and 1 in a second run."""
    alone, cost = (found[size][which] if size in found else None for size in (1, claims))
    return (cost.seconds - alone.seconds) / (claims - 1) if cost and alone else float("nan")


class Figures:
    """What was measured, kept in a file if one is named."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.known: dict[Case, dict[int, Runs]] = {}
        kept = json.loads(path.read_text()) if path and path.exists() else []
        for *case, claims, runs in kept:
            costs = [Cost(*each) if each else None for each in runs]
            self.known.setdefault(Case(*case), {})[claims] = costs[0], costs[1]

    def of(self, case: Case, claims: int) -> Runs:
        """Return what runs take, measured if that is not known."""
        found = self.known.setdefault(case, {})
        if claims not in found:
            found[claims] = measured(case, claims)
            if self._path:
                rows = [(*one, size, runs) for one, of in self.known.items()
                        for size, runs in of.items()]  # fmt: skip
                self._path.write_text("[\n" + ",\n".join(map(json.dumps, rows)) + "\n]\n")
        return found[claims]


def _ratio(one: float, other: float) -> str:
    """Write how many times more one is; nothing where the other is lost in what start-up varies."""
    return f"{one / other:.2f}" if other > 0 else ""


def draw(path: Path, known: Mapping[Case, Mapping[int, Runs]]) -> None:
    """Write the picture as SVG, the same bytes for the same figures."""
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.rcParams.update({"svg.hashsalt": "maxrandom", "font.size": 9, "svg.fonttype": "none"})
    rows = [each for each in LAYOUTS if any(case.layout == each for case in known)]
    columns = [each for each in SHAPES if any(case[1:3] == each for case in known)]
    figure, panels = plt.subplots(
        len(rows), len(columns), figsize=(7.2, 2.8 * len(rows)), layout="constrained", squeeze=False
    )
    figure.patch.set_facecolor("white")
    for (layout, shape), axes in zip(itertools.product(rows, columns), panels.flat, strict=True):
        for workers, colour, mark in ((0, BLUE, "o"), (2, ORANGE, "s")):
            found = known.get(Case(layout, *shape, workers), {})
            sizes = [size for size in sorted(found) if size > 1 and None not in found[size]]
            for which, (line, told) in enumerate((("-", "first run"), ("--", "from the store"))):
                values = [1000 * per_claim(found, size, which) for size in sizes]
                label = f"{told}, {'two workers' if workers else 'one process'}"
                axes.plot(sizes, values, line, color=colour, marker=mark, markersize=4, label=label)
        axes.set(xscale="log", ylim=(0, None), xlabel="claims of the run")
        axes.set_xticks(SIZES, [f"{size:,}" for size in SIZES])
        axes.minorticks_off()
        axes.set_title(f"{NAMES[layout]}, t = {shape[0]}, n = {shape[1]}", fontsize=9)
        axes.spines[["top", "right"]].set_visible(False)
    for of_row in panels:
        of_row[0].set_ylabel("CPU milliseconds per claim")
    panels[0, -1].legend(frameon=False, fontsize=7)
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    """Print the figures of each case as it is measured, and draw them."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help="no runs of 1,000 claims")
    parser.add_argument("--layout", nargs="*", choices=LAYOUTS, default=LAYOUTS)
    parser.add_argument("--t", nargs="*", type=int, default=[t for t, _ in SHAPES])
    parser.add_argument("--workers", nargs="*", type=int, choices=WORKERS, default=WORKERS)
    parser.add_argument("--claims", nargs="*", type=int, default=SIZES)
    parser.add_argument("--figures", type=Path, help="where to keep what was measured, as JSON")
    parser.add_argument("--out", type=Path, help="where to draw the figures, as SVG")
    options = parser.parse_args()
    sizes = [size for size in options.claims if size < max(SIZES) or not options.quick]
    shapes = [shape for shape in SHAPES if shape[0] in options.t]
    figures = Figures(options.figures)
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|", flush=True)
    for layout, (t, n), workers in itertools.product(options.layout, shapes, options.workers):
        case, cut = Case(layout, t, n, workers), False
        for size in (1, *sizes):
            row = [*map(str, case), f"{size:,}"]
            if cut or None in figures.of(case, size):
                row += ["not begun" if cut else "cut: over 15 minutes", *[""] * 4]
                cut = True
            elif size > 1:
                found = figures.known[case]
                first, second = (per_claim(found, size, which) for which in (0, 1))
                memory = max(cost.mebibytes for cost in found[size] if cost)
                row += [f"{first:.4f}", _ratio(first, per_claim(found, sizes[0], 0))]
                row += [f"{second:.4f}", _ratio(second, first), f"{memory:,.0f}"]
            if size > 1:
                print("| " + " | ".join(row) + " |", flush=True)
    if options.out:
        draw(options.out, figures.known)


if __name__ == "__main__":
    main()
