"""Actors of a Ray cluster have the parts of packages: models, scorers and what metrics read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.installed import Orders

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("ray", reason="ray is not installed")


def test_actors_answer_as_this_process_does(tmp_path: Path) -> None:
    orders = Orders.shown()
    place = orders.install(tmp_path)
    orders.suites(tmp_path)
    path = os.pathsep.join(filter(None, [str(place), os.environ.get("PYTHONPATH", "")]))
    found = []
    for executor in ("local", "ray"):
        done = subprocess.run(
            [
                *(sys.executable, "-m", "pytest", "-p", "no:xdist", "eval_suites/orders.yaml"),
                *("--maxrandom-fresh", "--maxrandom-json=r.json"),
                f"--maxrandom-executor={executor}",
            ],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": path, "RAY_USAGE_STATS_ENABLED": "0"},
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        assert "1 failed, 1 passed" in done.stdout, done.stdout + done.stderr
        claims: list[dict[str, Any]] = json.loads((tmp_path / "r.json").read_text())["claims"]
        assert {claim["engine"]["reused"] for claim in claims} == {0}
        found.append([(each["id"], each["best_score"], each["red_flags"]) for each in claims])
    assert found[0] == found[1]
