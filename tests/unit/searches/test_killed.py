"""Searches whose process is killed (SIGKILL): nothing is counted twice, and no count is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom import search
from tests.searched import lines
from tests.targets import some

if TYPE_CHECKING:
    from pytest_maxrandom.stats.search import Feedback

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")

KILLED = """
import os, signal
from pytest_maxrandom.ledger.set_ledger import SetLedger
from pytest_maxrandom.ledger.withheld import Withheld

def killed(of, name, calls, before):
    done = getattr(of, name)
    def counted(*given, **named):
        calls[0] -= 1
        if before and not calls[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        found = done(*given, **named)
        if not calls[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        return found
    setattr(of, name, counted)
"""
MOMENTS = {
    "counted, without a score": "killed(Withheld, 'put', [3], True)",
    "with a score, not stored": "killed(Withheld, 'put', [3], False)",
    "stored, without a reply": "killed(SetLedger, 'add_reply', [3], True)",
    "before the reply arrives": "killed(SetLedger, 'add_reply', [3], False)",
}
"""When the third prompt kills the search."""
SEARCH = """
from pytest_maxrandom import search
with search({suite!r}, model="knows", feedback={feedback!r}, budget=6, by="killed") as tries:
    ids = sorted(tries.demonstrations)
    for step in range(6):
        print(tries.try_prompt(f"Try {{step}}. ", ids[step : step + 2]), flush=True)
"""
OPTUNA = """
import optuna
from pytest_maxrandom import search
from pytest_maxrandom.searches.optuna import objective
with search({suite!r}, model="knows", feedback={feedback!r}, budget=6, by="killed") as tries:
    ids = sorted(tries.demonstrations)
    def suggest(trial):
        step = trial.suggest_int("step", 0, 20)
        return {{"instruction": f"Try {{step}}. ", "demonstrations": ids[step : step + 2]}}
    study = optuna.create_study(
        study_name="killed", storage="sqlite:///study.db", load_if_exists=True,
        direction="maximize", sampler=optuna.samplers.RandomSampler(seed=3),
    )
    study.optimize(objective(tries, suggest), n_trials=30)
    print(tries.t, study.best_value)
"""


def run(suite: Path, program: str, feedback: Feedback, kill: str = "") -> list[str]:
    """Run a program in a process of its own; it must be killed where it says so."""
    text = (KILLED + kill if kill else "") + program.format(suite=str(suite), feedback=feedback)
    done = subprocess.run(
        [sys.executable, "-c", text],
        cwd=suite.parents[1],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == (-signal.SIGKILL if kill else 0), done.stderr
    return done.stdout.splitlines()


WITHHELD: tuple[Feedback, ...] = ("none", "accept", "improved")
TOLD: tuple[Feedback, ...] = ("score", "answers")
CASES: dict[str, tuple[Feedback, str]] = {
    f"{feedback}, {moment}": (feedback, killed)
    for place, (moment, killed) in enumerate(MOMENTS.items())
    for feedback in WITHHELD + TOLD[: 2 * (place > 1)]
}


@pytest.mark.parametrize("case", some(CASES, ["accept, counted, without a score"]))
def test_a_search_that_is_killed_goes_on(suite: Path, case: str) -> None:
    feedback, killed = CASES[case]
    first = run(suite, SEARCH, feedback, killed)
    assert len(first) == 2
    # The third was counted before it was killed, and no score of it that must not be seen.
    shown = [row["correct"] is not None for row in lines(suite, "prompt")]
    assert shown == [feedback not in WITHHELD] * 3
    then = run(suite, SEARCH, feedback)
    assert then[:2] == first
    assert len(lines(suite, "prompt")) == len(lines(suite, "feedback")) == 6
    with search(suite, model="knows", feedback=feedback, budget=6, by="killed") as tries:
        record = tries.verdict()
        assert (record.t, tries.publish()) == (6, 5 * (feedback in WITHHELD))
    right = {row["prompt"]: row["correct"] for row in lines(suite, "prompt") if row["correct"]}
    best, told = -1, []
    for row in lines(suite, "feedback"):
        told.append(right[row["prompt"]] > best and feedback != "none")
        best = max(best, right[row["prompt"]])
    if feedback == "accept":
        assert then == [str(better) for better in told]
    if feedback != "answers":  # only its test set decides
        assert record.best_correct == best
    assert [row["accepted"] for row in lines(suite, "feedback")] == told


@pytest.mark.slow
@pytest.mark.parametrize("feedback", ["accept", "improved"])
def test_a_study_that_is_killed_goes_on(suite: Path, feedback: Feedback) -> None:
    pytest.importorskip("optuna")
    run(suite, OPTUNA, feedback, MOMENTS["stored, without a reply"])
    assert len(lines(suite, "prompt")) == 3
    assert len(lines(suite, "feedback")) == 2
    [said] = run(suite, OPTUNA, feedback)
    assert said.startswith("6 ")
    assert len(lines(suite, "feedback")) == 6
    assert len({row["prompt"] for row in lines(suite, "prompt")}) == 6
