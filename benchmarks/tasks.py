"""Cost of `maxrandom tasks` over many tasks of lm-evaluation-harness, as a user runs it.

    python -m benchmarks.tasks [--quick] [--profile]

1,000 declarative YAML files of seven kinds (fixed labels, letters, lists in a column, templates,
mixed numbers of choices, several right answers, `multiple_input`), each with 100 documents of its
own, are written to a folder, and the command is run on it once in a process of its own. To reach:
under a minute on 2 cores.

Before a figure is printed, the answers are checked: of every 25th task n, chances, majority rate,
expected maxima and critical counts against the choices and right answers that lm-evaluation-harness
itself reads (left out, and said so, where it is not installed), and of all tasks against what was
written, with the binomial of SciPy.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import json
import os
import pstats
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import redirect_stdout
from fractions import Fraction
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Gold = tuple[list[str], set[int]]
    """Choices of a document, and which of them are right."""

DOCUMENTS = 100
SECONDS = 60.0
PROMPTS = (1, 10, 100)
CHECKED = 25
WORDS = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("n", "rt", "st", "llow")]

BASE = """\
dataset_path: json
output_type: multiple_choice
test_split: test
target_delimiter: " "
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true
"""


def text(draw: random.Random, words: int) -> str:
    return " ".join(draw.choices(WORDS, k=words))


def different(draw: random.Random, number: int) -> list[str]:
    return [f"{text(draw, draw.randint(1, 4))} {place}" for place in range(number)]


def labels(draw: random.Random) -> tuple[dict[str, Any], Gold]:
    right = int(draw.random() < 0.3)
    return {"question": text(draw, 20), "label": right}, (["no", "yes"], {right})


def letters(draw: random.Random) -> tuple[dict[str, Any], Gold]:
    right = draw.randrange(4)
    row = {"question": text(draw, 30), "choices": different(draw, 4), "answer": right}
    return row, (list("ABCD"), {right})


def listed(draw: random.Random) -> tuple[dict[str, Any], Gold]:
    choices, right = different(draw, 4), draw.randrange(4)
    return {"question": text(draw, 15), "options": choices, "gold": right}, (choices, {right})


def templates(draw: random.Random) -> tuple[dict[str, Any], Gold]:
    choices, right = different(draw, 3), draw.randrange(3)
    row = {
        "ctx": text(draw, 40),
        "endings": dict(zip("abc", choices, strict=True)),
        "key": "abc"[right],
    }
    return row, (choices, {right})


def mixed(draw: random.Random) -> tuple[dict[str, Any], Gold]:
    choices = different(draw, draw.randint(2, 5))
    right = draw.randrange(len(choices))
    row = {"question": text(draw, 15), "choices": {"text": choices}, "answer": right}
    return row, (choices, {right})


def several(draw: random.Random) -> tuple[dict[str, Any], Gold]:
    choices = different(draw, 6)
    right = sorted(draw.sample(range(6), draw.randint(1, 3)))
    return {"question": text(draw, 15), "options": choices, "gold": right}, (choices, {*right})


def inputs(draw: random.Random) -> tuple[dict[str, Any], Gold]:
    stem, choices, right = text(draw, 8), different(draw, 2), draw.randrange(2)
    row = {"stem": stem, "options": choices, "answer": right, "ending": text(draw, 6)}
    return row, ([f"{stem} {choice}" for choice in choices], {right})


KINDS: dict[str, tuple[Callable[[random.Random], tuple[dict[str, Any], Gold]], str]] = {
    "labels": (labels, 'doc_to_text: "{{question}}?\\nAnswer:"\ndoc_to_choice: ["no", "yes"]\n'
               "doc_to_target: label\n"),
    "letters": (letters, 'doc_to_text: "{{question.strip()}}\\nA. {{choices[0]}}'
                '\\nB. {{choices[1]}}\\nC. {{choices[2]}}\\nD. {{choices[3]}}\\nAnswer:"\n'
                'doc_to_choice: ["A", "B", "C", "D"]\ndoc_to_target: answer\n'),
    "listed": (listed, 'doc_to_text: "Question: {{question}}\\nAnswer:"\ndoc_to_choice: options\n'
               "doc_to_target: gold\n"),
    "templates": (templates, 'doc_to_text: "{{ctx}}"\n'
                  'doc_to_choice: "{{[endings.a, endings.b, endings.c]}}"\n'
                  "doc_to_target: \"{{['a', 'b', 'c'].index(key)}}\"\n"),
    "mixed": (mixed, 'doc_to_text: "Question: {{question}}\\nAnswer:"\n'
              'doc_to_choice: "{{choices.text}}"\ndoc_to_target: answer\n'),
    "several": (several, 'doc_to_text: "{{question}}"\ndoc_to_choice: options\n'
                "doc_to_target: gold\n"),
    "inputs": (inputs, "doc_to_text: answer\n"
               "doc_to_choice: \"{{[stem ~ ' ' ~ options[0], stem ~ ' ' ~ options[1]]}}\"\n"
               'doc_to_target: "{{ending}}"\n'),
}  # fmt: skip


def write(folder: Path, tasks: int) -> dict[str, list[Gold]]:
    """Write the tasks, and return the choices and right answers of each."""
    (folder / "_base_yaml").write_text(BASE, encoding="utf-8")
    (folder / "data").mkdir()
    written = {}
    for number in range(tasks):
        kind = list(KINDS)[number % len(KINDS)]
        make, keys = KINDS[kind]
        name, draw = f"{kind}_{number:04d}", random.Random(number)
        rows, written[name] = zip(*(make(draw) for _ in range(DOCUMENTS)), strict=True)
        data = folder / "data" / f"{name}.jsonl"
        data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        files = f"dataset_kwargs:\n  data_files:\n    test: {data}\n"
        (folder / f"{name}.yaml").write_text(
            f"task: {name}\ninclude: _base_yaml\n{files}{keys}", encoding="utf-8"
        )
    return written


def by_harness(folder: Path, name: str) -> list[Gold]:
    """Return what lm-evaluation-harness itself reads of a task."""
    os.environ["HF_DATASETS_DISABLE_PROGRESS_BARS"] = "1"
    from lm_eval.tasks import TaskManager

    manager = TaskManager(include_path=str(folder), include_defaults=False)
    task: Any = manager.load([name])["tasks"][name]
    found = []
    for document in task.eval_docs:
        gold = (task.doc_to_text if task.multiple_input else task.doc_to_target)(document)
        right = {int(each) for each in (gold if isinstance(gold, list) else [gold])}
        found.append((list(task.doc_to_choice(document)), right))
    return found


def check(told: dict[str, Any], golds: Sequence[Gold], source: str) -> None:
    """Compare one task with choices and right answers, by the binomial or a convolution."""
    kinds = Counter((len(right), len(choices)) for choices, right in golds)
    masses = np.ones(1)
    for (right, choices), many in kinds.items():
        single = stats.binom.pmf(np.arange(many + 1), many, right / choices)
        masses = np.convolve(masses, single)
    n, below = len(golds), np.concatenate(([0.0], np.cumsum(masses)))
    places = Counter(place for _, right in golds for place in right)
    shared = len({tuple(sorted(choices)) for choices, _ in golds}) == 1
    texts = Counter(choices[place] for choices, right in golds for place in right)
    chances = Counter(str(Fraction(len(right), len(choices))) for choices, right in golds)
    most = max((texts if shared else places).values())
    expected: dict[str, Any] = {"n": n, "chances": dict(chances), "correct": most}
    found = {"n": told["n"], "chances": told["chances"], "correct": told["majority"]["correct"]}
    for each in told["baselines"]:
        p_max = 1 - np.minimum(below, 1.0)[: n + 1] ** each["t"]
        passing = np.flatnonzero(p_max <= 0.05)
        expected[f"critical_{each['t']}"] = int(passing[0]) if len(passing) else None
        found[f"critical_{each['t']}"] = each["critical_count"]
        expected[f"maximum_{each['t']}"] = round(float(p_max[1:].sum()) / n, 9)
        found[f"maximum_{each['t']}"] = round(each["expected_maximum"], 9)
    if expected != found:
        raise SystemExit(f"{told['name']}: found {found}, by {source} {expected}")


def run(folder: Path) -> tuple[float, dict[str, Any]]:
    """Run the command as a user does; return the seconds and what it wrote."""
    output = folder.parent / "audit.json"
    command = [sys.executable, "-m", "pytest_maxrandom.cli", "tasks", str(folder)]
    started = time.perf_counter()
    done = subprocess.run(
        [*command, "--format", "json", "--output", str(output)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    seconds = time.perf_counter() - started
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    return seconds, json.loads(output.read_text(encoding="utf-8"))


def profile(folder: Path) -> str:
    """Return where the time goes in this process; templates are rendered in another one."""
    from pytest_maxrandom.cli import main as command

    profiler = cProfile.Profile()
    with redirect_stdout(io.StringIO()):
        profiler.runcall(command, ["tasks", str(folder), "--format", "json"])
    told = io.StringIO()
    pstats.Stats(profiler, stream=told).sort_stats("cumulative").print_stats(60)
    return told.getvalue()


def main() -> int:
    """Print the figure; 1 where it is not reached."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="100 tasks in place of 1,000")
    parser.add_argument("--profile", action="store_true", help="and where the time goes")
    options = parser.parse_args()
    tasks = 100 if options.quick else 1000
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "tasks")
        folder.mkdir()
        written = write(folder, tasks)
        seconds, told = run(folder)
        found = {task["name"]: task for task in told["tasks"]}
        if found.keys() != written.keys():
            raise SystemExit(f"{len(found)} of {len(written)} tasks were found")
        for name, golds in written.items():
            check(found[name], golds, "what was written")
        print(f"{tasks:,} tasks have the numbers of what was written")
        if find_spec("lm_eval") is None:
            print("lm-eval is not installed: its own reading was not compared")
        else:
            sample = list(written)[::CHECKED]
            for name in sample:
                check(found[name], by_harness(folder, name), "lm-evaluation-harness")
            print(f"{len(sample)} of them those of what lm-evaluation-harness reads")
        print(
            f"maxrandom tasks, {tasks:,} files of {DOCUMENTS} documents: {seconds:.1f} s "
            f"({1000 * seconds / tasks:.0f} ms each); to reach for 1,000: under {SECONDS:.0f} s"
        )
        if options.profile:
            print(profile(folder))
    return int(seconds > SECONDS)


if __name__ == "__main__":
    sys.exit(main())
