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


def follow(package: str, folder: Path) -> None:
    """Run the recipe of a package in a folder with a report."""
    (folder / "report.json").write_text(dump(run(claim(), untested())), encoding="utf-8")
    [recipe] = [block for block in read("how-to/trackers.md") if block.needs == package]
    environ = {**os.environ, "WANDB_SILENT": "true", "HOME": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", recipe.text],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.filterwarnings("ignore")  # those of mlflow and of what it stands on
def test_mlflow_has_a_run_for_each_claim_with_its_numbers(tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow")
    pytest.importorskip("sqlalchemy")  # mlflow-skinny comes without it
    follow("mlflow", tmp_path)
    client = mlflow.MlflowClient(f"sqlite:///{tmp_path}/mlflow.db")
    found = {one.info.run_name: one.data for one in client.search_runs(["0"])}
    assert found.keys() == {claim().id, untested().id}
    told = found[claim().id]
    assert told.metrics["best_accuracy"] == claim().best_accuracy
    assert (told.params["n"], told.params["t"]) == ("60", "20")
    assert told.tags["outcome"] == "passed"
    assert found[untested().id].metrics == {}


def test_wandb_keeps_a_run_for_each_claim_offline(tmp_path: Path) -> None:
    pytest.importorskip("wandb")
    follow("wandb", tmp_path)
    kept = [*(tmp_path / "wandb").glob("offline-run-*/*.wandb")]
    assert len(kept) == 2
    logged = b"".join(each.read_bytes() for each in kept)
    assert b"best_accuracy" in logged
    assert claim().id.encode() in logged
