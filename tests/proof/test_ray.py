"""A cluster of several nodes gives the report of one process, whatever of it is killed."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from contextlib import chdir
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.parts import alike, in_one
from tests.proof.scale import WHOLE, scaled
from tests.ray_nodes import Nodes, nodes_in

pytest.importorskip("ray", reason="ray is not installed")
pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(os.name != "posix", reason="processes are killed by signals"),
    # What Ray opens for a cluster of this process it leaves to the end.
    pytest.mark.filterwarnings("ignore"),
]

DEMO = Path(__file__).parents[2] / "eval_suites" / "demo"
KILLS = scaled(20, 1)
PATIENCE = 900.0
_OF_RUNS = {"requests", "tokens_forwarded", "trie_nodes", "reused"}


def _run(nodes: Nodes, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "eval_suites",
         "--maxrandom-json=ray.json", "--maxrandom-store=ray.db",
         f"--maxrandom-executor=ray:{nodes.address}", *words],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def _report(process: subprocess.Popen[str]) -> dict[str, Any]:
    said, _ = process.communicate(timeout=PATIENCE)
    print(said)  # shown where the test fails
    assert Path("ray.json").exists()
    found: dict[str, Any] = json.loads(Path("ray.json").read_text())
    return found


def _ledger() -> list[dict[str, Any]]:
    return [
        row
        for file in Path("eval_suites").rglob("maxrandom-ledger*/*.jsonl")
        for row in map(json.loads, file.read_text().splitlines())
        if row["kind"] == "prompt"
    ]


def _tries(rows: list[dict[str, Any]]) -> set[tuple[str, int, str, str, int]]:
    """What the ledger counts, with the right answers."""
    keys = ("model_digest", "shots", "scoring", "prompt", "correct")
    return {tuple(row[key] for key in keys) for row in rows if row["correct"] is not None}


class Alone(NamedTuple):
    """A run in one process."""

    suites: Path
    report: dict[str, Any]
    tries: set[tuple[str, int, str, str, int]]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Alone:
    """The demo in one process; with more prompts where there are more kills."""
    folder = tmp_path_factory.mktemp("alone")
    suites, kept = folder / "eval_suites", list[dict[str, Any]]()
    shutil.copytree(DEMO, suites)
    shutil.rmtree(suites / "maxrandom-ledger")  # what it counts would not be counted again
    if WHOLE:
        suite = suites / "demo.yaml"
        suite.write_text(suite.read_text().replace("count: 10", "count: 40"))
    (folder / "pytest.ini").write_text("[pytest]\n")
    with chdir(folder):
        report = in_one("eval_suites", kept.extend)
    return Alone(suites, report, _tries(kept))


def _numbers(found: Any) -> Any:
    """Return a report without what tells how much of it an earlier run had computed."""
    if isinstance(found, dict):
        return {key: _numbers(value) for key, value in found.items() if key not in _OF_RUNS}
    return [_numbers(each) for each in found] if isinstance(found, list) else found


def _with_tries_of_others(found: list[dict[str, Any]], alone: list[dict[str, Any]]) -> None:
    """Check a figure that only informs, and set it to that of one process.

    When a claim is judged, prompts of later claims on its examples may have been begun already.
    They were tried, and the last of these claims in one process has all of them.
    """
    outcomes = [
        [(one["id"], one["outcome"], one["message"]) for one in each] for each in (found, alone)
    ]
    assert outcomes[0] == outcomes[1]
    for own, one in zip(found, alone, strict=True):
        most = max(each["tries"]["task"] for each in alone if each["task"] == one["task"])
        assert one["tries"]["task"] <= own["tries"]["task"] <= most
        own["tries"]["task"] = one["tries"]["task"]


def _compare(
    nodes: Nodes, found: dict[str, Any], alone: Alone, kills: int, *, resumed: bool
) -> None:
    same = _numbers if resumed else alike
    _with_tries_of_others(found["claims"], alone.report["claims"])
    assert found.keys() == alone.report.keys()
    for name, own in alone.report.items():
        assert same(alike({name: found[name]})) == same(alike({name: own}))
    rows = _ledger()
    assert _tries(rows) == alone.tries
    # What an actor computes was counted before, and stands there twice: begun, and with its number.
    begun = {row["prompt"] for row in rows if row["correct"] is None}
    assert begun == {row["prompt"] for row in rows}
    assert len(rows) == 2 * len(alone.tries)
    computed = Counter((each.prompt, each.task, each.scoring) for each in nodes.begun())
    assert max(computed.values()) <= kills + 1
    assert sum(computed.values()) <= len(computed) + 20 * kills


@pytest.mark.parametrize(
    "kinds",
    [["worker"], ["node"], ["controller"]] if WHOLE else [["worker", "node", "controller"]],
    ids="-".join,
)
def test_what_is_killed_changes_nothing(
    kinds: list[str], alone: Alone, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    shutil.copytree(alone.suites, "eval_suites")
    # Prompts without demonstrations also ask for the labels' base rates, which is no try.
    own = {prompt for _, shots, _, prompt, _ in alone.tries if shots}
    chance, killed = random.Random(len(kinds)), 0
    with nodes_in(tmp_path) as nodes:
        process = _run(nodes)
        for kind in kinds * KILLS:
            if not _more_is_begun(nodes, process):
                break
            nodes.hold(len(nodes.begun()) + 1)  # so it dies at any time, but never after the end
            time.sleep(chance.uniform(0, 0.2))
            if kind == "controller":
                process.kill()
                process.communicate()
                counted = {row["prompt"] for row in _ledger()}
                assert {each.prompt for each in nodes.begun()} & own <= counted
                process = _run(nodes)
            else:
                while not getattr(nodes, f"kill_{kind}")():
                    assert _more_is_begun(nodes, process)
            killed += 1
        nodes.hold(float("inf"))
        _compare(nodes, _report(process), alone, killed, resumed="controller" in kinds)
    assert killed == len(kinds) * KILLS


def _more_is_begun(nodes: Nodes, process: subprocess.Popen[str]) -> bool:
    """Wait until two more prompts have begun; return whether that is before the end."""
    seen = len(nodes.begun())
    nodes.hold(seen + 1)
    while len(nodes.begun()) < seen + 2 and process.poll() is None:
        time.sleep(0.02)
    return process.poll() is None
