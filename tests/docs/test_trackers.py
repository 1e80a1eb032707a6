"""The recipes for MLflow and Weights & Biases work with the packages themselves."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.reports.results import dump
from tests.docs.test_blocks import read
from tests.unit.reports.samples import claim, run, untested

if TYPE_CHECKING:
    from pathlib import Path


def follow(package: str, folder: Path, **settings: str) -> None:
    """Run the recipe of a package, which has ten lines, in a folder with a report."""
    (folder / "report.json").write_text(dump(run(claim(), untested())), encoding="utf-8")
    [recipe] = [block for block in read("how-to/trackers.md") if block.needs == package]
    assert len([line for line in recipe.text.splitlines() if line]) <= 10
    known = {name: value for name, value in os.environ.items() if not name.startswith("MLFLOW_")}
    done = subprocess.run(
        [sys.executable, "-c", recipe.text],
        cwd=folder,
        env={**known, "WANDB_SILENT": "true", "HOME": str(folder), **settings},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.filterwarnings("ignore")  # those of mlflow and of what it stands on
@pytest.mark.parametrize("store", ["sqlite:///mlflow.db", "file:mlruns"])
def test_mlflow_has_a_run_for_each_claim_with_its_numbers(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mlflow = pytest.importorskip("mlflow")
    monkeypatch.chdir(tmp_path)
    if store.startswith("file:"):  # the other one is where mlflow writes by itself
        monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
        follow("mlflow", tmp_path, MLFLOW_TRACKING_URI=store, MLFLOW_ALLOW_FILE_STORE="true")
    else:
        follow("mlflow", tmp_path)
    client = mlflow.MlflowClient(store)
    found = {one.info.run_name: one.data for one in client.search_runs(["0"])}
    assert found.keys() == {claim().id, untested().id}
    told = found[claim().id]
    assert told.metrics["best_accuracy"] == claim().best_accuracy
    assert (told.params["n"], told.params["t"]) == ("60", "20")
    assert told.tags["outcome"] == "passed"
    assert found[untested().id].metrics == {}


@pytest.mark.filterwarnings("ignore")  # those of what wandb stands on
def test_wandb_keeps_a_run_for_each_claim_offline(tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    follow("wandb", tmp_path)
    kept = [*(tmp_path / "wandb").glob("offline-run-*/*.wandb")]
    assert len(kept) == 2
    logged = b"".join(each.read_bytes() for each in kept)
    assert b"best_accuracy" in logged
    assert claim().id.encode() in logged
