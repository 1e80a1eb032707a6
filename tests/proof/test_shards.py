"""Parts of a run that are killed, and parts that are run twice, give the report of one process."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pytest_maxrandom.cli import main
from tests.parts import alike, command, in_one, joined, tries
from tests.proof.scale import WHOLE

DEMO = Path(__file__).parents[2] / "eval_suites" / "demo"


def _kill_in_the_middle(number: int) -> None:
    """Kill a part as soon as its second prompt is done."""
    words = [sys.executable, "-m", "pytest_maxrandom.cli", "run-shard", "parts", str(number)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if ": 2 of " in line:
                process.send_signal(signal.SIGKILL)
                break
        process.communicate()
    assert process.returncode == -signal.SIGKILL


@pytest.mark.proof
@pytest.mark.skipif(os.name != "posix", reason="processes are killed by signals")
def test_shards_that_are_killed_and_shards_that_are_run_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    into, killed, twice = (8, (2, 5, 7), (3, 8)) if WHOLE else (2, (1,), (2,))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    shutil.copytree(DEMO, "eval_suites")
    alone = in_one("eval_suites")
    main(["shards", "eval_suites", "--into", str(into), "--out", "parts"])
    for number in killed:
        _kill_in_the_middle(number)
    missing = command("join", "parts").stderr
    for number in range(1, into + 1):
        state = "is not finished" if number in killed else "was not run"
        assert f"shard {number} {state}" in missing
    for number in (*range(1, into + 1), *twice):
        done = command("run-shard", "parts", str(number))
        assert done.returncode == 0, done.stderr
    assert alike(joined()) == alike(alone)
    tried = tries("parts")
    assert len(tried) == len(set(tried))
