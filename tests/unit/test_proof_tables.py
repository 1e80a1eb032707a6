"""The page of larger tables: what ran, what failed, and what has not run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from proof_tables import kept_of, page_of

if TYPE_CHECKING:
    from proof_tables import Ran

ROOT = Path(__file__).parents[2]


def test_rows_stand_in_the_order_of_the_tests_and_what_has_not_run_is_named() -> None:
    columns = "name | pass"
    ids = ["a.py::test_x[1]", "a.py::test_x[2]", "a.py::test_x[3-y]", "b.py::test_z"]
    kept: dict[str, Ran] = {
        ids[place]: {"id": ids[place], "passed": passed, "rows": [row], "commit": "c"}
        for place, passed, row in (
            (1, True, ("shares", columns, "two | .05")),
            (0, False, ("shares", columns, "one | .07")),
        )
    }
    lines = list(page_of(ids, kept))
    at = lines.index("## Shares\n")
    assert lines[at + 1 : at + 3] == [f"| {columns} |", "| --- | --- |"]
    assert lines[at + 3 : at + 5] == ["| one | .07 |", "| two | .05 |"]
    at = lines.index("## Failed\n")
    assert lines[at + 1] == "- `a.py::test_x`, 1: `1`"
    at = lines.index("## Not run\n")
    assert lines[at + 1 : at + 3] == ["- `a.py::test_x`, 1: `3-y`", "- `b.py::test_z`, 1: whole"]


@pytest.mark.slow
def test_what_a_proof_measures_is_kept_at_once_with_the_commit(tmp_path: Path) -> None:
    """By a cut of one cell, in a process of its own."""
    path, test = tmp_path / "kept.jsonl", "test_no_prompt_is_above_the_bar[constant-1-0.0-30]"
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    environ = {key: value for key, value in os.environ.items() if "PYTEST" not in key}
    environ |= {"MAXRANDOM_TABLES": str(path), "PYTHONPATH": str(ROOT)}
    environ.pop("MAXRANDOM_PROOF", None)
    subprocess.run(
        [*words, f"tests/proof/test_scores.py::{test}"], cwd=ROOT, env=environ, check=True
    )
    [(name, found)] = kept_of(path).items()
    assert name == f"tests/proof/test_scores.py::{test}"
    assert found["passed"]
    assert found["commit"]
    [(title, columns, row)] = found["rows"]
    assert title.startswith("scores at the bar")
    assert columns == "scores | rho | t | n | here | t-test | betting"
    assert row == "constant | 0.0 | 1 | 30 | .000 | .000 | .000"
