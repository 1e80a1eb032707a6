"""Sweeps as recorded results, judged by pytest in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.proof.scale import LEVEL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.proof.guessers import Sweep


def run_pytest(folder: Path, *arguments: str) -> tuple[int, list[dict[str, Any]]]:
    """Run pytest in a folder with suites; return its exit code and the claims of its report."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--tb=no", "--no-summary", "-p", "no:cacheprovider",
         f"--maxrandom-json={report}", *arguments],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert report.is_file(), done.stdout + done.stderr
    claims: list[dict[str, Any]] = json.loads(report.read_text())["claims"]
    return done.returncode, claims


def shares(claims: Sequence[Mapping[str, Any]]) -> tuple[float, float, float]:
    """Return which share of claims has p_max, permutation_p within the level, and which passed."""
    p_max, permuted = (
        np.mean([(1 if claim[name] is None else claim[name]) <= LEVEL for claim in claims])
        for name in ("p_max", "permutation_p")
    )
    passed = np.mean([claim["passed"] is True for claim in claims])
    return float(p_max), float(permuted), float(passed)


def judge(
    folder: Path, sweeps: Sequence[Sweep], *, right_and_wrong: bool = False
) -> tuple[int, list[dict[str, Any]]]:
    """Judge each sweep by a claim of its own, all of them in one session.

    The suite claims nothing by name.

    Parameters
    ----------
    right_and_wrong : bool
        Whether the results do not tell what was answered.

    Returns
    -------
    Exit code, and the claims in the order of the sweeps.
    """
    folder.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, Any] = {}
    for number, sweep in enumerate(sweeps):
        (t, n), right = sweep.answers.shape, sweep.right
        most = max(map(len, sweep.texts))
        listed = [(*own, *[""] * (most - len(own))) for own in sweep.texts]
        said = {"answers": sweep.answers, "gold": sweep.gold, "choice_texts": np.array(listed)}
        if right_and_wrong:
            said = {
                "correct": right[np.arange(n), sweep.answers],
                "evaluated": np.ones((t, n), dtype=np.bool_),
                "choices": sweep.sizes,
            }
        arrays |= {
            f"run{number}__0__{name}": values
            for name, values in (
                ("prompt_ids", np.arange(t)),
                ("example_ids", np.arange(n)),
                *said.items(),
                ("clusters", sweep.clusters),
            )
            if values is not None
        }
    np.savez(folder / "m.npz", **arrays)
    tasks = "".join(f"- {{name: run{number}}}\n" for number in range(len(sweeps)))
    (folder / "s.maxrandom.yaml").write_text(
        "models:\n- {name: m, backend: recorded, results: {path: m.npz, format: npz}}\n"
        f"tasks:\n{tasks}"
    )
    code, claims = run_pytest(folder)
    by_task = {claim["task"]: claim for claim in claims}
    return code, [by_task[f"run{number}"] for number in range(len(sweeps))]
