"""The published study of held-out splits (arXiv 2404.13020, section 5.2), from its raw data."""

from __future__ import annotations

import csv
import gzip
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pytest_maxrandom.cli import main
from pytest_maxrandom.studies.holdout import Trials, predictive_values

if TYPE_CHECKING:
    from pathlib import Path

MODELS = {
    "Llama-2-7b": "Llama-2-7b, Base model",
    "OLMo-7B": "OLMo-7B, Base model",
    "falcon-7b": "Falcon-7b, Base model",
}
FIGURES = ("accuracy", "precision", "recall", "auroc", "aupr", "auroc_F", "aupr_F")


def published_trials(data_dir: Path, model: str | None) -> Trials:
    path = data_dir / "paper" / "heldout_predictions_t200.csv.gz"
    with gzip.open(path, "rt", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if model in (None, row["Model"])]

    def column(name: str) -> Any:
        return np.array([float(row[name]) for row in rows])

    return Trials(
        above_standard=column("Above standard random on train") == 1,
        above_maximum=column("Above max random on train") == 1,
        standard_score=column("Standard random F"),
        maximum_score=column("Max random F"),
        test_above_chance=column("Above standard random on test") == 1,
    )


def published_figures(data_dir: Path) -> dict[tuple[str, str], dict[str, str]]:
    with (data_dir / "paper" / "heldout_expected.csv").open(newline="") as lines:
        return {(row["name"], row["baseline"]): row for row in csv.DictReader(lines)}


@pytest.fixture(scope="module")
def paper(data_dir: Path) -> Path:
    return data_dir / "paper"


def study(paper: Path, capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, Any]:
    files = [str(paper / f"correct_{model}.npz") for model in MODELS]
    choices = ["--choices", str(paper / "experiments.csv")]
    assert main(["holdout", *files, *choices, *options, "--json"]) == 0
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    return content


@pytest.mark.parametrize("model", MODELS.values())
def test_the_published_trials_give_the_published_figures(data_dir: Path, model: str) -> None:
    trials = published_trials(data_dir, model)
    expected = published_figures(data_dir)
    for baseline, value in predictive_values(trials).items():
        row = expected[model, baseline]
        assert len(trials) == int(row["trials"])
        assert [value.tp, value.fp, value.tn, value.fn] == [
            int(row[name]) for name in ("tp", "fp", "tn", "fn")
        ]
        for name in FIGURES:
            assert getattr(value, name) == pytest.approx(float(row[name]), abs=1e-9), name


def test_fresh_splits_give_the_published_figures(
    data_dir: Path, paper: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = study(paper, capsys, "--conventions", "paper")
    assert found["sweeps"] == 144
    expected = published_figures(data_dir)
    for model, name in MODELS.items():
        for baseline in ("standard", "maximum"):
            row = expected[name, baseline]
            mine = found["models"][model]
            assert mine["trials"] == int(row["trials"])
            share = float(row["test_above_chance_pct"]) / 100
            assert mine["test_above_chance"] == pytest.approx(share, abs=0.03)
            for figure in FIGURES:
                assert mine[baseline][figure] == pytest.approx(float(row[figure]), abs=0.03)
    trials = published_trials(data_dir, None)
    for baseline, value in predictive_values(trials).items():
        for figure in FIGURES:
            expected_total = getattr(value, figure)
            assert found["total"][baseline][figure] == pytest.approx(expected_total, abs=0.01)


def test_with_exact_counts_the_maximum_baseline_still_has_the_better_precision(
    paper: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = study(paper, capsys)
    for figures in (*found["models"].values(), found["total"]):
        standard, maximum = figures["standard"], figures["maximum"]
        assert maximum["precision"] > standard["precision"]
        assert maximum["recall"] < standard["recall"]
        assert maximum["auroc"] > standard["auroc"]
