"""Progress is for a person at a terminal, and for nobody else."""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.hooks.progress import State, Tally, text
from tests.terminals import WRITTEN, below, in_a_terminal, screens

if TYPE_CHECKING:
    from pathlib import Path

SLOW = """
import time
from pytest_maxrandom.models.mock import MockModel

ask = MockModel.ask

def slowly(self, questions):
    time.sleep(0.05)
    return ask(self, questions)

MockModel.ask = slowly
"""
TASK = """\
  - name: {name}
    format: jsonl
    path: data/task.jsonl
    append_choices: false
    assert: report
"""


@pytest.fixture
def slow(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two models, three tasks, four prompts each, at 20 prompts a second."""
    monkeypatch.delenv("COLUMNS", raising=False)  # the pseudo-terminal says how wide it is
    folder = pytester.mkdir("eval_suites")
    (folder / "data").mkdir()
    rows = [f'{{"input": "q{i}", "choices": ["Yes", "No"], "answer": {i % 2}}}' for i in range(12)]
    (folder / "data" / "task.jsonl").write_text("\n".join(rows))
    (folder / "suite.yaml").write_text(
        "models:\n  - {name: one, backend: mock}\n  - {name: two, backend: mock}\ntasks:\n"
        + "".join(TASK.format(name=name) for name in ("a", "b", "c"))
        + "prompts: {shots: 1, count: 4}\n"
    )
    pytester.makeconftest(SLOW)
    return pytester.path


@pytest.mark.parametrize("lines", [24, pytest.param(6, marks=pytest.mark.slow)])
def test_a_model_has_a_line_below_pytests_own_which_is_taken_away(slow: Path, lines: int) -> None:
    written = in_a_terminal(slow, "-v", "-p", "no:xdist", "--color=no", lines=lines)
    shown = [below(screen) for screen in screens(written, lines)][:-1]
    assert {len(each) for each in shown} == {0, 1}
    seen = " ".join(line for each in shown for line in each)
    for model in ("one", "two"):
        assert f"  {model}: 0/12 prompts" in seen
        assert re.search(rf"  {model}: \d+/12 prompts, \d+(\.\d)?/s, \d s left", seen)
    # What pytest writes stands where it would stand without.
    *_, left = screens(written, lines)
    *_, without = screens(WRITTEN.sub("", written), lines)
    assert left.display == without.display
    assert "6 passed" in left.display[left.cursor.y - 1]


@pytest.mark.slow
def test_models_on_several_workers_have_a_line_each(slow: Path) -> None:
    written = in_a_terminal(slow, "-n", "2", "--color=no")
    shown = [below(screen) for screen in screens(written)][:-1]
    assert max(map(len, shown)) == 2
    seen = " ".join(line for each in shown for line in each)
    for model in ("one", "two"):
        assert re.search(rf"  {model}: \d+/12 prompts, \d+(\.\d)?/s, \d s left", seen)
    *_, left = screens(written)
    *_, without = screens(WRITTEN.sub("", written))
    assert left.display == without.display
    assert "6 passed" in left.display[left.cursor.y - 1]


@pytest.mark.slow
def test_the_second_run_reads_all_prompts_and_has_no_rate(slow: Path) -> None:
    in_a_terminal(slow)
    seen = " ".join(line for screen in screens(in_a_terminal(slow)) for line in below(screen))
    assert "one: 0/12 prompts" in seen
    assert "/s" not in seen


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [(), ("-n", "2")])
def test_a_log_stays_quiet(slow: Path, arguments: tuple[str, ...]) -> None:
    run = [sys.executable, "-m", "pytest", *arguments]
    found = subprocess.run(run, cwd=slow, capture_output=True, text=True, check=True)
    assert "prompts" not in found.stdout + found.stderr
    assert "\033" not in found.stdout + found.stderr


def test_what_must_be_said_at_once_is_said_although_output_is_captured(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile("""
        from pytest_maxrandom.hooks.progress import say

        def test_that_waits(request):
            print("captured")
            say(request.config, "waiting for a GPU")
    """)
    result = pytester.runpytest()
    result.assert_outcomes(passed=1)
    assert "maxrandom: waiting for a GPU" in result.outlines
    assert "captured" not in result.outlines


def test_the_rate_is_that_of_prompts_that_were_computed() -> None:
    tally = Tally("m", {1: 100, 2: 50})
    tally.update(1, 0, 100, 0, now=0.0)
    tally.update(1, 80, 100, 0, now=0.0)  # out of the store
    tally.update(1, 90, 100, 10, now=5.0)
    assert text([tally.state()]) == "m: 90/150 prompts, 2.0/s, 30 s left"
    tally.update(1, 100, 100, 20, now=10.0)
    # The time between two sweeps is no time of prompts.
    tally.update(2, 0, 50, 0, now=1000.0)
    tally.update(2, 10, 50, 10, now=1005.0)
    assert text([tally.state()]) == "m: 110/150 prompts, 2.0/s, 20 s left"


def test_what_a_decided_sweep_leaves_out_is_not_left_to_do() -> None:
    tally = Tally("m", {1: 100, 2: 50})
    tally.turns = 1
    tally.update(1, 0, 100, 0, now=0.0)
    tally.update(1, 1, 100, 1, now=1.0)
    tally.end(1)
    assert text([tally.state()]) == "m: 1/51 prompts, 1.0/s, 50 s left"


def test_a_sweep_that_is_read_again_is_not_done_twice_and_further_ones_are_added() -> None:
    tally = Tally("m", {1: 4})
    for sweep, total in ((1, 4), (1, 4), (-1, 6)):
        tally.update(sweep, 0, total, 0, now=0.0)
        tally.update(sweep, total - 1, total, 0, now=0.0)
        tally.update(sweep, total, total, 0, now=0.0)
    assert text([tally.state()]) == "m: 10/10 prompts"


def test_a_sweep_that_a_cluster_has_begun_ahead_goes_on_in_its_turn() -> None:
    tally = Tally("m", {1: 100, 2: 50})
    tally.update(2, 0, 50, 0, now=0.0)
    tally.update(2, 10, 50, 0, now=0.0)  # out of the store
    tally.update(2, 40, 50, 30, now=10.0)
    assert tally.state().at_work
    assert text([tally.state()]) == "m: 40/150 prompts, 3.0/s, 37 s left"
    # Its turn reads one after the other what is there; that is neither new nor fast.
    for done in range(41):
        tally.update(2, done, 50, max(0, done - 10), now=10.0)
    assert text([tally.state()]) == "m: 40/150 prompts, 3.0/s, 37 s left"
    tally.update(2, 50, 50, 40, now=20.0)
    assert not tally.state().at_work
    assert text([tally.state()]) == "m: 50/150 prompts"


def test_processes_that_share_a_model_are_counted_together() -> None:
    one = State("m", 100, 0, 20, 20, 10.0, at_work=True)
    other = State("m", 100, 10, 30, 30, 10.0, at_work=True)
    gone = State("m", 100, -5, 5, 5, 1.0, at_work=False)
    assert text([one, other, gone]) == "m: 55/105 prompts, 5.0/s, 10 s left"


def test_rates_read_as_a_person_would_say_them() -> None:
    slow = State("m", 10, 0, 4, 4, 480.0, at_work=True)
    fast = State("m", 1000, 0, 500, 500, 4.0, at_work=True)
    assert text([slow]) == "m: 4/10 prompts, 0.5/min, 12 min 00 s left"
    assert text([fast]) == "m: 500/1000 prompts, 125/s, 4 s left"


WAITS = """
import os, pathlib, time
from pytest_maxrandom.host import machine
from pytest_maxrandom.models.mock import MockModel

machine.PATIENCE = 0.01
ask, here = MockModel.ask, pathlib.Path(__file__).parent

def when_told(self, questions):
    (here / "asked").touch()
    while os.environ.get("FIRST") and not (here / "go").exists():
        time.sleep(0.01)
    return ask(self, questions)

MockModel.ask = when_told
"""


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["-n", "2"]])
def test_a_second_run_of_the_same_prompts_says_for_whom_it_waits(
    slow: Path, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (slow / "conftest.py").write_text(WAITS)
    command = [sys.executable, "-m", "pytest", "-q", "-k", "a[one"]
    monkeypatch.setenv("FIRST", "yes")
    with subprocess.Popen([*command, "-p", "no:xdist"], cwd=slow, stdout=subprocess.PIPE) as first:
        while not (slow / "asked").exists():
            assert first.poll() is None
        monkeypatch.delenv("FIRST")
        with subprocess.Popen(
            [*command, *options], cwd=slow, stdout=subprocess.PIPE, text=True
        ) as second:
            assert second.stdout is not None
            written = [line for line in iter(second.stdout.readline, "") if release(slow, line)]
        assert first.wait() == second.returncode == 0
    said = [line for line in written if "waits for" in line]
    assert said == [
        f"maxrandom: a[one-1shot] waits for process {first.pid} on {platform.node()}, which asks "
        "the model one about the same examples; it goes on when that is done\n"
    ]
    assert "1 passed" in written[-1]


def release(folder: Path, line: str) -> bool:
    """Let the first run go on once the second one says that it waits."""
    if "waits for" in line:
        (folder / "go").touch()
    return True
