"""Runs that train arms, in processes that are killed, interrupted, or work side by side."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.models.hf.hub import file_digest
from tests import trained_arms as world

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("accelerate", reason="the extra `training` is not installed")

STEPS = "epochs: 2, learning_rate: 0.005, batch_size: 20"
SUITE = world.suite(
    f"  extra: {{train: {{text: extra, {STEPS}}}}}\n  test: {{train: {{text: scored, {STEPS}}}}}",
    asked=f"classify: {{examples: 40, {STEPS}}}\n",
)
TRAININGS = 5
"""A head for each of three arms, and what precedes it in two of them."""
WATCHED = """\
import os, pathlib, time

from transformers import Trainer

LOG = pathlib.Path(__file__).with_name("log")
train, step = Trainer.train, Trainer.training_step
left = int(os.environ.get("WAITS_AT", 0))

def write(word):
    with LOG.open("a") as file:
        print(word, file=file)

def trained(self):
    write("begun")
    result = train(self)
    write("done")
    return result

def stepped(self, *arguments):
    global left
    left -= 1
    if left == 0:
        write("waits")
        time.sleep(600)
    return step(self, *arguments)

Trainer.train, Trainer.training_step = trained, stepped
"""
CHANGES = ("seconds", "peak_memory", "from_cache")
"""What of a training is another number each time."""


class Run:
    """A suite in a folder of its own, in which each training is written down."""

    def __init__(self, folder: Path, suite: str = SUITE) -> None:
        self.folder = folder
        (folder / "eval_suites").mkdir(parents=True)
        world.write(folder / "eval_suites", 0, world.loud(0))
        (folder / "eval_suites" / "s.yaml").write_text(suite)
        (folder / "conftest.py").write_text(WATCHED)
        (folder / "pytest.ini").write_text("[pytest]\n")

    def start(self, *options: str, waits_at: int = 0) -> subprocess.Popen[str]:
        # Sums depend on the number of threads, which several workers share.
        environ = {**os.environ, "OMP_NUM_THREADS": "1", "WAITS_AT": str(waits_at)}
        command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
        return subprocess.Popen(
            [*command, "--maxrandom-json=r.json", *options],
            cwd=self.folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True,
        )  # fmt: skip

    def finish(self, *options: str) -> dict[str, Any]:
        with self.start(*options) as process:
            said, _ = process.communicate()
        assert process.returncode == 0, said
        found: dict[str, Any] = json.loads((self.folder / "r.json").read_text())
        return found

    def stop(self, number: signal.Signals, waits_at: int) -> tuple[int, str]:
        """Send a signal in the middle of a training; return the exit code and what was said."""
        with self.start(waits_at=waits_at) as process:
            while "waits" not in self.log:
                assert process.poll() is None, process.communicate()
                time.sleep(0.02)
            process.send_signal(number)
            said, _ = process.communicate()
        return process.returncode, said

    @property
    def log(self) -> list[str]:
        path = self.folder / "log"
        return path.read_text().split() if path.exists() else []

    @property
    def weights(self) -> dict[str, str]:
        """Digests of what is kept, by what determines it."""
        kept = self.folder / ".maxrandom" / "trained"
        return {path.parent.name: file_digest(path) for path in kept.glob("*/*.safetensors")}


def _numbers(report: dict[str, Any]) -> Any:
    """Return what must be the same in each run: answers, trainings and findings."""
    claims = [
        (
            each["id"],
            each["validation_ids"],
            each["correct_counts"],
            {key: value for key, value in each["training"].items() if key not in CHANGES},
        )
        for each in report["claims"]
    ]
    (check,) = report["contamination"]
    return sorted(claims, key=str), check["boost"], check["bias"], check["finding"]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, dict[str, Any]]:
    run = Run(tmp_path_factory.mktemp("undisturbed") / "run")
    return run, run.finish()


def test_each_training_is_done_once_and_an_arm_is_one_try(
    undisturbed: tuple[Run, dict[str, Any]],
) -> None:
    run, report = undisturbed
    assert run.log == ["begun", "done"] * TRAININGS
    assert len(run.weights) == TRAININGS
    assert [each["t"] for each in report["claims"]] == [1, 1, 1]
    assert [each["tries"]["claim"] for each in report["claims"]] == [1, 1, 1]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_was_stopped_in_a_training_goes_on_with_the_same_numbers(
    undisturbed: tuple[Run, dict[str, Any]], tmp_path: Path, number: signal.Signals
) -> None:
    run = Run(tmp_path / "run")
    code, said = run.stop(number, waits_at=14)
    before = run.log
    assert before.count("begun") == before.count("done") + 1
    assert 0 < before.count("done") < TRAININGS
    if number == signal.SIGKILL:
        assert code == -signal.SIGKILL
    else:
        assert code == pytest.ExitCode.INTERRUPTED
        assert "Traceback" not in said
        assert "interrupted: 3 selected tests have no result" in said
    report = run.finish()
    assert run.log == [*before, *["begun", "done"] * (TRAININGS - before.count("done"))]
    other, expected = undisturbed
    assert _numbers(report) == _numbers(expected)
    assert run.weights == other.weights


def test_workers_train_nothing_twice_and_have_the_same_numbers(
    undisturbed: tuple[Run, dict[str, Any]], tmp_path: Path
) -> None:
    run = Run(tmp_path / "run")
    report = run.finish("-n", "2")
    assert sorted(run.log) == ["begun"] * TRAININGS + ["done"] * TRAININGS
    other, expected = undisturbed
    assert _numbers(report) == _numbers(expected)
    assert run.weights == other.weights
