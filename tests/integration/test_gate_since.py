"""`maxrandom gate --assert`: whether anything is worse than at the base, by the base's report."""

from __future__ import annotations

import csv
import json
import os
import random
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.repositories import begin_repository, commit

if TYPE_CHECKING:
    from pathlib import Path

GATE = [sys.executable, "-m", "pytest_maxrandom.cli", "gate", "mine.maxrandom.yaml"]
SUITE = """
models:
  - {name: small, backend: recorded, results: {path: results.csv, format: table, shots: 4}}
tasks:
  - {name: sports}
"""


def answer(folder: Path, lost: float) -> None:
    """Write answers that know half of the examples, less a share that is lost."""
    draw, losing = random.Random(1), random.Random(2)
    with (folder / "results.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["prompt", "example", "prediction", "gold", "choices"])
        for prompt in range(8):
            for example in range(300):
                right = "yes" if example % 2 else "no"
                wrong = "no" if example % 2 else "yes"
                said = right if draw.random() < 0.8 else wrong
                rows.writerow(
                    [prompt, example, wrong if losing.random() < lost else said, right, 2]
                )


@pytest.fixture
def here(tmp_path: Path) -> Path:
    begin_repository(tmp_path)
    (tmp_path / "mine.maxrandom.yaml").write_text(SUITE)
    answer(tmp_path, 0.0)
    return tmp_path


def gate(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    names = ("GITHUB_", "CI_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(names)}
    return subprocess.run(
        [*GATE, "--pytest-args=-q -n 0 -p no:cacheprovider", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


ASSERT = "--assert=not_worse_than=-0.02"


def test_a_loss_since_the_report_of_the_base_is_red(here: Path) -> None:
    first = gate(here, "--report=out/report.md", ASSERT)
    assert first.returncode == 1
    assert "no base is known; name its report with --base-report" in first.stdout
    assert gate(here, "--report=out/report.md").returncode == 0
    commit(here)

    same = gate(here, "--report=out/report.md", "--base-ref=HEAD", ASSERT)
    assert same.returncode == 0, same.stdout
    assert "1 claim has the very same answers" in same.stdout

    answer(here, 0.1)
    worse = gate(here, "--report=out/report.md", "--base-ref=HEAD", ASSERT)
    assert worse.returncode == 1
    assert "1 claim is worse than HEAD" in worse.stdout
    told = json.loads((here / "out/report.json").read_text())["regressions"]
    assert [each["loss"] for each in told["claims"]] == ["worse"]
    report = (here / "out/report.md").read_text()
    assert report.startswith("### ❌ maxrandom")
    assert "🔻 **1 claim is worse than HEAD**" in report
    # The ledger counts looks at other answers, and its lines are to be committed.
    assert "commit the lines that this run added" in worse.stdout
    [ledger] = (here / "maxrandom-ledger").glob("*.jsonl")
    assert ledger.read_text().count('"kind":"look"') == 2
    commit(here)
    assert gate(here, "--report=out/report.md", "--base-ref=HEAD").returncode == 0


def test_a_report_may_stand_where_this_runs_report_will(here: Path) -> None:
    """As an artifact that was downloaded, and that no commit has."""
    assert gate(here).returncode == 0
    answer(here, 0.1)
    done = gate(here, ASSERT, "--base-report=maxrandom-report/report.json")
    assert done.returncode == 1
    assert "1 claim is worse than maxrandom-report/report.json" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--base-report=x.json"], "--base-report: found no --assert"),
        (["--assert=worse"], "--assert: found 'worse', expected not_worse_than=MARGIN"),
    ],
)
def test_what_cannot_be_asserted_is_one_sentence(
    here: Path, arguments: list[str], sentence: str
) -> None:
    done = gate(here, *arguments)
    assert done.returncode == 2
    assert sentence in done.stderr


def test_without_a_report_cannot_tell_passes_only_where_that_is_said(here: Path) -> None:
    red = gate(here, ASSERT, "--base-report=gone.json")
    assert red.returncode == 1
    assert "gone.json: no such file" in red.stdout
    green = gate(here, f"{ASSERT},cannot_tell=pass", "--base-report=gone.json")
    assert green.returncode == 0
