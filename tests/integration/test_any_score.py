"""Open answers, grades and samples go every way that choices go, to the last digit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_maxrandom.cli import main
from tests.any_score import SUITES, numbers, write_suites
from tests.parts import in_one, joined
from tests.unit.reports.opened import blocks

pytestmark = pytest.mark.slow


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    write_suites(tmp_path / "eval_suites")
    return tmp_path


def by_suite(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {Path(claim["suite"]).stem: claim for claim in report["claims"]}


def test_shards_give_the_report_of_one_process(here: Path) -> None:
    alone = in_one("eval_suites")
    assert main(["shards", "eval_suites", "--into", "3", "--out", "parts"]) == 0
    for number in (1, 2, 3):
        assert main(["run-shard", "parts", str(number)]) == 0
    assert numbers(joined()["claims"]) == numbers(alone["claims"])
    claims = by_suite(alone)
    assert claims.keys() == SUITES.keys()
    assert {claim["outcome"] for claim in claims.values()} == {"passed"}
    for name in ("grades", "best"):
        assert claims[name]["best_correct"] is None
        assert 0 < claims[name]["best_accuracy"] < 1


def test_reports_figures_page_and_diff_take_them(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["-p", "no:cacheprovider", "eval_suites"]
    more = ["--maxrandom-report=r.md", "--maxrandom-html=r.html", "--maxrandom-figures=figures"]
    assert pytest.main(["--maxrandom-json=base.json", *more, *words]) == 0
    assert "figures: " in capsys.readouterr().out
    report, page = (here / "r.md").read_text(), (here / "r.html").read_text()
    for name in ("maximum of 3 scores", "pass@", "accuracy of votes of 3"):
        assert name in report, name
    cells = json.dumps(blocks(page))
    assert '"grades"' in cells
    assert '"samples"' in cells
    for file in (here / "eval_suites").glob("*.yaml"):
        file.write_text(file.read_text().replace("knows: 0.6", "knows: 0.1"))
    pytest.main(["--maxrandom-json=head.json", *words])
    assert main(["diff", "base.json", "base.json", "--assert", "not_worse_than=-0.02"]) == 0
    capsys.readouterr()
    assert main(["diff", "base.json", "head.json"]) == 1
    said = capsys.readouterr().out
    for name in SUITES:
        assert f"{name}.yaml::facts" in said
    assert f"claims fell, t grew for {len(SUITES)}" in said
