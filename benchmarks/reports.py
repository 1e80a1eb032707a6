"""Cost of the reports of a run with many claims, by the number of claims.

    python -m benchmarks.reports [--claims NUMBER ...]

Recorded answers of as many claims (three prompts, 40 questions; a third of the models knows some)
are judged by pytest in a process of its own, which writes its JSON report. Each format is then
written of that report, and the report is compared with itself; seconds are those of the processor,
medians of three. The exponent is the slope of their logarithms from the first number to the last:
1 where the cost of a claim is constant, and less where what all claims share weighs.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_maxrandom.reports.changes import changes
from pytest_maxrandom.reports.comment import comment
from pytest_maxrandom.reports.formats import FORMATS
from pytest_maxrandom.reports.results import load

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_maxrandom.record import RunRecord

WAYS: Mapping[str, Callable[[RunRecord], object]] = {
    **{name: FORMATS[name] for name in ("markdown", "html", "latex", "csv")},
    "comment": comment,
    "changes": lambda run: changes(run, run),
}
TASKS, PROMPTS, EXAMPLES, ROUNDS = 10, 3, 40, 3


def report(folder: Path, claims: int) -> RunRecord:
    """Judge so many claims, and return their run."""
    folder.mkdir()
    draw = random.Random(0)
    names = [f"m{number}" for number in range(claims // TASKS)]
    with (folder / "answers.csv").open("w", encoding="utf-8") as file:
        file.write("model,task,shots,prompt,example,prediction,gold,choices\n")
        for place in range(claims * PROMPTS * EXAMPLES):
            rest, example = divmod(place, EXAMPLES)
            rest, prompt = divmod(rest, PROMPTS)
            model, task = divmod(rest, TASKS)
            gold, other = ("yes", "no") if example % 2 else ("no", "yes")
            said = gold if draw.random() < (0.5 if (model + task) % 3 else 0.85) else other
            file.write(f"{names[model]},t{task},0,p{prompt},e{example},{said},{gold},2\n")
    lines = [
        "models:",
        *(
            f"- {{name: {name}, backend: recorded, results: {{path: answers.csv, format: table}}}}"
            for name in names
        ),
        "tasks:",
        *(f"- {{name: t{task}}}" for task in range(TASKS)),
    ]
    (folder / "s.maxrandom.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", folder, "--maxrandom-json", folder / "r.json"]
    done = subprocess.run([str(each) for each in command], check=False, capture_output=True)
    assert done.returncode in (0, 1), done.stdout.decode()
    run = load(folder / "r.json")
    assert len(run.claims) == claims
    return run


def seconds(write: Callable[[], object]) -> float:
    """Return the median seconds of the processor that something takes."""
    found = []
    for _ in range(ROUNDS):
        start = time.process_time()
        write()
        found.append(time.process_time() - start)
    return statistics.median(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--claims", type=int, nargs="+", default=[10, 100, 1000])
    numbers = sorted(set(parser.parse_args().claims))
    if len(numbers) < 2 or numbers[0] < TASKS:
        parser.error(f"--claims: expected two numbers or more, each a multiple of {TASKS}")
    taken: dict[str, list[float]] = {}
    sizes: dict[str, list[int]] = {}
    for claims in numbers:
        with tempfile.TemporaryDirectory() as name:
            run = report(Path(name) / "suite", claims)
        for way, write in WAYS.items():
            text = write(run)
            sizes.setdefault(way, []).append(len(text) if isinstance(text, str) else 0)
            taken.setdefault(way, []).append(seconds(partial(write, run)))
    print(f"{'':12}{''.join(f'{claims:>10,}' for claims in numbers)}  exponent  bytes a claim")
    for way, found in taken.items():
        slope = math.log(found[-1] / found[0]) / math.log(numbers[-1] / numbers[0])
        shown = "".join(f"{each:>9.3f}s" for each in found)
        print(f"{way:12}{shown}  {slope:>8.2f}  {sizes[way][-1] / numbers[-1]:>13,.0f}")


if __name__ == "__main__":
    main()
