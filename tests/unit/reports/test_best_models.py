"""A comparison of all models says in every report which may be the best, and what luck is worth."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.reports.best_models import among_best, luck_of_models, told_orders
from pytest_maxrandom.reports.changes import changes
from pytest_maxrandom.reports.csv import csv as written
from pytest_maxrandom.reports.rendering import disclosure, latex, markdown
from pytest_maxrandom.reports.results import dump, load
from pytest_maxrandom.reports.terminal import summary
from pytest_maxrandom.reports.wording import failure
from tests.unit.reports.opened import html
from tests.unit.reports.samples import best_models, run

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.record import RunRecord

SET = "large and medium cannot be told from the best (2 of 3)"


@pytest.fixture
def told() -> RunRecord:
    return run(best_models=[best_models()])


def test_every_report_names_the_models_that_may_be_the_best(told: RunRecord) -> None:
    assert latex(told).count("may be the best") == 2
    for write in (markdown, html, latex, disclosure):
        text = " ".join(write(told).split())
        assert SET in text
        assert "Holm" in text
        assert ".691" in text, "the luck of having three models"
    lines = [line.text for line in summary(told, 100)]
    rows = [line.split() for line in lines if line.startswith("fails")]
    assert [row[-2] for row in rows] == ["large", "medium", "small"]
    assert [" ".join(row[4:6]) for row in rows] == ["may be", "may be", "is not"]


def test_tables_have_a_row_for_each_model_and_for_each_pair(told: RunRecord) -> None:
    rows = [*csv.DictReader(io.StringIO(written(told, "best_models")))]
    assert [row["model_name"] for row in rows] == ["large", "medium", "small"]
    assert [row["model_among_best"] for row in rows] == ["true", "true", "false"]
    pairs = [*csv.DictReader(io.StringIO(written(told, "model_pairs")))]
    assert [(row["pair_first"], row["pair_second"]) for row in pairs] == [
        ("large", "medium"), ("large", "small"), ("medium", "small"),
    ]  # fmt: skip


def test_the_json_report_is_read_as_it_was_written(told: RunRecord, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(dump(told))
    (found,), (record,) = load(path).best_models, told.best_models
    assert (found.models, found.pairs) == (record.models, record.pairs)


def test_it_says_why_what_is_claimed_does_not_hold() -> None:
    assert failure(best_models()) == (
        "large (.850) cannot be told from medium (the p-value that medium is not the best = .213, "
        "needed .05; n = 60, 3 models): use more examples"
    )
    assert failure(best_models(asserted={"best": "small"})) == (
        "small is not the best: .600, large .850 (p of not being the best = .0012; n = 60, 3 "
        "models)"
    )
    assert failure(best_models(models=[], message="the arm 'x' has no results")) == (
        "the arm 'x' has no results"
    )


def test_what_is_told_of_few_models() -> None:
    record = best_models()
    alone = best_models(models=[*record.models[:1], *record.models[2:]])
    assert among_best(alone) == "large is the best of 2"
    assert told_orders(record) == ("2 of 3 pairs are told, at .05 for all of them together (Holm)")
    assert luck_of_models(best_models(max_random_baseline=None)) == ""
    assert among_best(best_models(models=[])) == told_orders(best_models(pairs=[])) == ""


def test_a_comparison_of_two_runs_says_what_changed(told: RunRecord) -> None:
    now = best_models()
    now.models[1].among_best = False
    found = changes(run(best_models=[now]), told)
    assert "among the best from large, medium to large" in str(found)
