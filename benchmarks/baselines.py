"""Speed, memory and accuracy of the maximum random baseline beside other packages, in one run.

    python -m benchmarks.baselines [--quick] [--data FOLDER]

Peers (dependency group ``bench``): max-random-baseline 0.1.1, scipy.stats.binom,
scipy.stats.poisson_binom and fast-poibin. Answers are checked against each other before anything
is timed. Every figure is the median of repeated calls that compute everything anew, in this
process, one after the other; compare the ratios, the times depend on the machine.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import subprocess
import sys
import time
import warnings
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from fast_poibin import PoiBin
from max_random_baseline import max_random_baseline, max_random_p_value
from scipy import stats

from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from pytest_maxrandom.stats.permutation import max_t_test

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ROOT = Path(__file__).resolve().parents[1]
T = 200
OURS = "pytest-maxrandom"
Chance = float | dict[int, int]


def listed(n: int, chance: Chance) -> list[float]:
    if isinstance(chance, float):
        return [chance] * n
    return [1 / m for m, size in chance.items() for _ in range(size)]


def expected_from_cdf(cdf: Any, n: int, t: int) -> float:
    return float(np.sum(1 - np.asarray(cdf)[:n] ** t)) / n


def by_ours(n: int, chance: Chance, t: int) -> float:
    return MaxRandomBaseline(n, chance, t).expected_accuracy


def by_max_random_baseline(n: int, chance: Chance, t: int) -> float:
    return float(max_random_baseline(n, chance, t))


def by_scipy_binom(n: int, chance: Chance, t: int) -> float:
    tail = stats.binom.sf(np.arange(n), n, chance)
    with np.errstate(divide="ignore"):  # log1p(-1) = -inf is the right answer
        return float(np.sum(-np.expm1(t * np.log1p(-tail)))) / n


def by_scipy_poisson_binom(n: int, chance: Chance, t: int) -> float:
    return expected_from_cdf(stats.poisson_binom(listed(n, chance)).cdf(np.arange(n)), n, t)


def by_fast_poibin(n: int, chance: Chance, t: int) -> float:
    return expected_from_cdf(PoiBin(listed(n, chance)).cdf, n, t)


PEERS: dict[str, tuple[Any, dict[str, int]]] = {
    OURS: (by_ours, {"equal": 10**9, "mixed": 10**9}),
    "max-random-baseline": (by_max_random_baseline, {"equal": 10_000, "mixed": 1000}),
    "scipy poisson_binom": (by_scipy_poisson_binom, {"equal": 10_000, "mixed": 1000}),
    "fast-poibin": (by_fast_poibin, {"equal": 10**6, "mixed": 10**6}),
    "scipy binom": (by_scipy_binom, {"equal": 10**9, "mixed": 0}),
}
"""Each peer with the largest n that it answers within seconds and a few GiB."""


def median_seconds(call: Callable[[], object], budget: float = 1.5) -> float:
    """Median of at most 25 calls, fewer (at least one) where they exceed the budget."""
    taken: list[float] = []
    while not taken or (len(taken) < 25 and sum(taken) + taken[-1] < budget):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return float(np.median(taken))


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def mixed(n: int) -> dict[int, int]:
    part = n // 4
    return {2: part, 3: part, 4: part, 5: n - 3 * part}


def speed(sizes: Sequence[int]) -> None:
    print(f"## Expected maximum, t = {T}: milliseconds (times slower than {OURS})\n")
    rows = []
    for n in sizes:
        for kind, chance in (("equal", 0.5), ("mixed", mixed(n))):
            answers = {
                name: (ask, ask(n, chance, T))
                for name, (ask, limits) in PEERS.items()
                if n <= limits[kind]
            }
            reference = answers[OURS][1]
            for name, (_, answer) in answers.items():
                if not math.isclose(answer, reference, rel_tol=1e-6):
                    raise SystemExit(f"{name} says {answer!r} for n = {n}, not {reference!r}")
            seconds = {
                name: median_seconds(partial(ask, n, chance, T))
                for name, (ask, _) in answers.items()
            }
            cells = [
                f"{1e3 * seconds[name]:.3g} ({seconds[name] / seconds[OURS]:.3g})"
                if name in seconds
                else "-"
                for name in PEERS
            ]
            rows.append([f"{n:,} {kind}", *cells])
    table(["n", *PEERS], rows)


MEMORY = """
from pathlib import Path
{imports}
status, refs = Path("/proc/self/status"), Path("/proc/self/clear_refs")
def peak():
    return int(next(l for l in status.read_text().splitlines() if l[:5] == "VmHWM").split()[1])
refs.write_text("5")  # the peak so far becomes what is held now
before = peak()
{call}
print((peak() - before) / 1024)
"""


def run_python(code: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout


def memory() -> None:
    print("## Peak memory above the imports: MiB\n")
    if not Path("/proc/self/clear_refs").exists():
        print("Skipped: needs the /proc of Linux.\n")
        return
    ours = "from pytest_maxrandom.stats.maximum import MaxRandomBaseline"
    call = "MaxRandomBaseline({n}, {chance}, 200).expected_accuracy"
    theirs = "from max_random_baseline import max_random_baseline"
    rows = [
        [f"{OURS}, n = {n:,} {kind}", ours, call.format(n=n, chance=chance)]
        for n in (10_000, 1_000_000)
        for kind, chance in (("equal", 0.5), ("mixed", mixed(n)))
    ]
    rows.append(["max-random-baseline, n = 10,000", theirs, "max_random_baseline(10000, .5, 200)"])
    table(
        ["call", "MiB"],
        [
            [name, f"{float(run_python(MEMORY.format(imports=load, call=run))):.1f}"]
            for name, load, run in rows
        ],
    )


def start_up() -> None:
    print("## From the shell: seconds above the bare interpreter\n")
    bare = median_seconds(lambda: run_python("pass"))
    code = (
        "from pytest_maxrandom.stats.sizes import baseline_for, baseline_summary; "
        "baseline_summary(baseline_for(100, 0.5, 10), 60)"
    )
    whole = median_seconds(lambda: run_python(code))
    table(["call", "seconds"], [["baseline_summary of n = 100, t = 10", f"{whole - bare:.3f}"]])


def permutations() -> None:
    print("## Permutation max-T, 9,999 permutations of 200 prompts x 200 examples: seconds\n")
    generator = np.random.default_rng(0)
    rows = []
    for choices in (2, 5):
        guesses = generator.integers(0, choices, (200, 200))
        gold = generator.integers(0, choices, 200)
        counts = np.full(200, choices)
        seconds = median_seconds(partial(max_t_test, guesses, gold, counts), 5)
        rows.append([str(choices), f"{seconds:.2f}"])
    table(["choices", "seconds"], rows)


Row = dict[str, str]


def chance_of(row: Row) -> Chance | Fraction:
    if row["kind"] != "binom":
        pairs = (pair.split(":") for pair in row["kind"].strip("{}").split(","))
        return {int(m): int(size) for m, size in pairs}
    exact = Fraction(int(row["p_num"]), int(row["p_den"]))
    return exact if row["p_kind"] == "rational" else float(exact)


def tail(name: str, n: int, chance: Any, t: int, k: int) -> float:
    """P(best of t >= k), as a careful user of each package would ask for it."""
    if name == OURS:
        return MaxRandomBaseline(n, chance, t).p_value(k)
    plain = float(chance) if isinstance(chance, Fraction) else chance
    if name == "max-random-baseline":
        return float(max_random_p_value(k / n, n, plain, t))
    if name == "scipy binom":
        single = float(stats.binom.sf(k - 1, n, plain))
    elif name == "scipy poisson_binom":
        single = float(stats.poisson_binom(listed(n, plain)).sf(k - 1))
    else:
        single = float(np.sum(PoiBin(listed(n, plain)).pmf[k:]))
    return -math.expm1(t * math.log1p(-min(single, 1 - 2**-53)))


def errors(name: str, rows: Sequence[Row], limits: Mapping[str, int]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {"E": [], "p": []}
    for row in rows:
        n, t, chance = int(row["n"]), int(row["t"]), chance_of(row)
        kind = "mixed" if isinstance(chance, dict) else "equal"
        value = Decimal(row["value"])
        expected = row["quantity"] == "Emax_over_n"
        # A rational chance such as 1/3 is no double, so packages without fractions are
        # compared where the reference was computed for the double itself.
        exact_only = isinstance(chance, Fraction) and chance != Fraction(float(chance))
        if (name != OURS and exact_only) or n > limits[kind] or value < Decimal("1e-290"):
            continue
        plain: Any = chance if name == OURS or isinstance(chance, dict) else float(chance)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if expected:
                answer = PEERS[name][0](n, plain, t)
            else:
                answer = tail(name, n, plain, t, int(row["k"]))
        gap = abs(Decimal(answer) / value - 1) if math.isfinite(answer) else Decimal("Infinity")
        found["E" if expected else "p"].append(float(gap))
    return found


def accuracy(path: Path) -> None:
    print("## Relative error against the reference values (126 digits)\n")
    if not path.is_file():
        print(f"Skipped: no {path}; name the data folder with --data or MAXRANDOM_DATA.\n")
        return
    with path.open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    limits = {name: {k: min(v, 1500) for k, v in most.items()} for name, (_, most) in PEERS.items()}
    limits[OURS] = PEERS[OURS][1]
    limits["scipy binom"] = PEERS["scipy binom"][1]
    limits["max-random-baseline"] = {"equal": 200, "mixed": 200}
    cells = []
    for name, most in limits.items():
        found = errors(name, rows, most)
        cell = [name, f"{max(most.values()):,}" if max(most.values()) < 10**9 else "all"]
        for gaps, tolerance in ((found["E"], 1e-14), (found["p"], 2e-12)):
            within = sum(gap <= tolerance for gap in gaps)
            cell += [f"{within} of {len(gaps)}", f"{max(gaps):.1e}"]
        cells.append(cell)
    table(
        ["package", "n up to", "E within 1e-14", "worst", "p >= 1e-290 within 2e-12", "worst"],
        cells,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small n only")
    parser.add_argument("--data", type=Path, help="folder with statistics/*.csv")
    arguments = parser.parse_args()
    folder = arguments.data or Path(os.environ.get("MAXRANDOM_DATA", ROOT.parent / "shared/data"))
    speed((100, 1000) if arguments.quick else (100, 1000, 10_000, 54_668, 1_000_000))
    permutations()
    start_up()
    if not arguments.quick:
        memory()
    accuracy(folder / "statistics" / "max_random_reference.csv")


if __name__ == "__main__":
    main()
