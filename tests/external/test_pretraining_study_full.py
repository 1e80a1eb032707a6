"""The full hierarchical model on the published study, at m = 100 and n = 500."""

from __future__ import annotations

import csv
import gzip
import json
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.cli import main
from pytest_maxrandom.errors import MaxRandomError
from pytest_maxrandom.studies.hierarchical import require_libraries

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_the_full_model_finds_the_published_boost(
    data_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        require_libraries()
    except MaxRandomError as error:
        pytest.skip(str(error))
    study = data_dir / "paper" / "pretrain_on_test_accuracies.csv.gz"
    with gzip.open(study, "rt", newline="") as lines:
        header, *rows = csv.reader(lines)
    cell = tmp_path / "cell.csv"
    with cell.open("w", newline="") as file:
        csv.writer(file).writerows([header, *(row for row in rows if row[:2] == ["100", "500"])])
    grouped = ["--by", "m,n", "--pool", "model", "--slices", "1"]
    arguments = ["replication", str(cell), "--compare", "extra-base", *grouped, "--full", "--json"]
    assert main(arguments) == 0
    found = json.loads(capsys.readouterr().out)["results"][0]
    full, fast = found["full"], found["effect"]
    assert full["reason"] is None
    assert full["conclusive"]
    assert full["mean"] == pytest.approx(0.263, abs=0.001)
    assert full["sd"] == pytest.approx(0.005, abs=0.0005)
    assert full["difference"] == pytest.approx(0.050, abs=0.0005)
    assert full["mean"] == pytest.approx(fast["mean"], abs=0.2 * fast["sd"])
    assert full["predictive_sd"] == pytest.approx(fast["predictive_sd"], rel=0.1)
