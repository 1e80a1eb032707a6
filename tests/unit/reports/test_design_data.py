"""Replicates, comparisons and checks in files that programs read: CSV and JSON, also untrusted."""

from __future__ import annotations

import csv as reader
import io
import json
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.record import Arithmetic, RunRecord
from pytest_maxrandom.reports.csv import TABLES, columns, csv
from pytest_maxrandom.reports.results import dump, load, load_untrusted
from pytest_maxrandom.reports.summary import designs, records
from pytest_maxrandom.reports.wording import word
from tests.unit.reports.samples import (
    calibrated,
    claim,
    comparison,
    contamination,
    designed,
    interaction,
    label_bias,
    over_tasks,
    replicates,
    run,
)
from tests.unit.reports.test_csv import parsed
from tests.unit.reports.test_designs import many

if TYPE_CHECKING:
    from pathlib import Path


def read_csv(record: RunRecord, table: str) -> list[dict[str, str]]:
    found = list(reader.DictReader(io.StringIO(csv(record, table), newline=""), strict=True))
    assert all(row.keys() == set(columns(table)) for row in found)
    return found


@pytest.mark.parametrize("table", ["comparisons", "contamination", "over_tasks"])
def test_numbers_of_csv_parse_back(table: str) -> None:
    record = many()
    found = read_csv(record, table)
    assert len(found) == len(getattr(record, table))
    for row, each in zip(found, getattr(record, table), strict=True):
        for field in fields(each):
            if field.name in ("prompts", "by_replicate"):
                continue
            value = asdict(each)[field.name]
            assert parsed(row["assert" if field.name == "asserted" else field.name], value) == value


def test_csv_has_a_row_for_each_replicate_and_one_for_a_claim_without_any() -> None:
    record = run(replicates=[replicates(45, 30), replicates(task="f1", id="s.yaml::f1")])
    first, second, without = read_csv(record, "replicates")
    assert [first["replicate"], second["replicate"], without["replicate"]] == ["1", "2", ""]
    for row, one in zip((first, second), record.replicates[0].runs, strict=True):
        assert float(row["replicate_p_max"]) == one.p_max
        assert int(row["replicate_best_correct"]) == one.best_correct
        assert row["task"] == "weather"
        assert json.loads(row["assert"]) == {"p_max": 0.05, "in_replicates": 0.9}
    assert (without["task"], without["outcome"]) == ("f1", "error")


def test_csv_has_what_computed_a_comparison() -> None:
    cpu = Arithmetic("x86_64", "torch", {"torch": "2.8"})
    (row,) = read_csv(run(comparisons=[comparison(arithmetics=[cpu])]), "comparisons")
    assert json.loads(row["arithmetics"]) == [asdict(cpu)]


@pytest.mark.parametrize("table", TABLES)
def test_columns_of_csv_are_there_once(table: str) -> None:
    assert csv(run(), table) == ",".join(columns(table)) + "\r\n"
    assert len(set(columns(table))) == len(columns(table))


def test_the_json_report_keeps_every_record(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    made = many()
    path.write_text(dump(made), encoding="utf-8")
    for each in records(made):
        word(each)
    assert load(path) == made
    content = json.loads(path.read_text(encoding="utf-8"))
    assert content["comparisons"][0]["assert"] == {"not_worse_than": -0.02}
    assert "asserted" not in content["replicates"][0]


def test_untrusted_records_keep_their_numbers_and_lose_their_sentences(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(dump(designed(claim())))
    found = load_untrusted(path)
    assert found.comparisons[0].difference == comparison().difference
    assert found.comparisons[0].asserted == {"not_worse_than": -0.02}
    assert found.comparisons[0].changed == ""
    for each in designs(found):
        assert each.message == "the full report says what"
        assert each.notes == []


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"comparisons": [comparison(best_difference=1.5)]}, "comparisons[0].best_difference"),
        ({"comparisons": [comparison(adjusted_holm=-0.1)]}, "comparisons[0].adjusted_holm"),
        ({"contamination": [contamination(boost_p=2.0)]}, "contamination[0].boost_p"),
        ({"over_tasks": [over_tasks(low=-2.0)]}, "over_tasks[0].low"),
        ({"replicates": [replicates(45, share_passed=7.0)]}, "replicates[0].share_passed"),
        ({"label_bias": [label_bias(sweeps=-1.0)]}, "label_bias[0].sweeps"),
        (
            {"label_bias": [label_bias(interaction(0.5, 0.4, r=-1.5))]},
            "label_bias[0].interactions[0].r",
        ),
        (
            {"label_bias": [label_bias(interaction(0.5, 1.2))]},
            "label_bias[0].interactions[0].labels[1].recall",
        ),
        (
            {"label_bias": [label_bias(interaction(0.5, 0.4, calibrated=[calibrated(n=-1)]))]},
            "label_bias[0].interactions[0].calibrated[0].n",
        ),
        (
            {
                "label_bias": [
                    label_bias(interaction(0.5, 0.4, calibrated=[calibrated(prior={"A": 2.0})]))
                ]
            },
            "label_bias[0].interactions[0].calibrated[0].prior.A",
        ),
    ],
)
def test_untrusted_numbers_that_no_run_has_are_refused(
    changed: dict[str, Any], place: str, tmp_path: Path
) -> None:
    path = tmp_path / "r.json"
    path.write_text(dump(run(**changed)))
    with pytest.raises(Exception, match=": found ") as caught:
        load_untrusted(path)
    assert f"'{place}'" in str(caught.value)
