"""`maxrandom report` writes each format to the screen or to a file, the same bytes."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.cli import main
from pytest_maxrandom.reports.csv import TABLES, csv as written
from pytest_maxrandom.reports.rendering import markdown
from pytest_maxrandom.reports.results import dump, load
from tests.unit.reports.opened import claims
from tests.unit.reports.samples import claim, designed, recorded, run, untested

if TYPE_CHECKING:
    from pathlib import Path


STARTS = {
    "markdown": "### ❌ maxrandom: 1 of 2 claims could not be tested",
    "disclosure": "### For a paper or a model card",
    "html": "<!doctype html>",
    "latex": "% Written by pytest-maxrandom",
    "bibtex": "@inproceedings{yauney-mimno-2024,",
    "csv": "id,suite,line,",
    "checklist": "### For a paper's checklist",
    "badge": '{\n  "schemaVersion": 1,',
    "badge-svg": "<svg",
}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    path = tmp_path / "results.json"
    path.write_text(dump(run(claim(), recorded(task="é, \n"), untested())))
    return path


@pytest.mark.parametrize("name", STARTS)
def test_each_format_is_the_same_on_the_screen_and_in_a_file(
    name: str, results: Path, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    out = tmp_path / "out"
    assert main(["report", str(results), "--format", name]) == 0
    shown = capfdbinary.readouterr().out
    assert shown.decode("utf-8").lstrip().startswith(STARTS[name])
    assert main(["report", str(results), "--format", name, "--out", str(out)]) == 0
    assert capfdbinary.readouterr().out == f"report: {out}\n".encode()
    assert out.read_bytes() == shown


def test_markdown_is_what_is_written_without_a_format(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(results)]) == 0
    text = capsys.readouterr().out
    assert text == markdown(run(claim(), recorded(task="é, \n"), untested()))


def test_csv_keeps_its_line_ends_and_its_numbers(results: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    main(["report", str(results), "--format", "csv", "--out", str(out)])
    data = out.read_bytes()
    assert data.count(b"\r\n") == data.count(b"\n") == 4
    rows = list(csv.DictReader(io.StringIO(data.decode("utf-8"), newline="")))
    known = json.loads(results.read_text())["claims"]
    for row, one in zip(rows, known, strict=True):
        for key in ("n", "t", "p_max", "best_accuracy", "max_random_baseline"):
            assert (float(row[key]) if row[key] else None) == one[key]


@pytest.mark.parametrize("table", TABLES)
def test_each_table_of_csv_can_be_asked_for(
    table: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    path = tmp_path / "designed.json"
    path.write_text(dump(designed(claim())))
    record = load(path)  # messages are worded anew when a report is read
    assert main(["report", str(path), "--format", "csv", "--table", table]) == 0
    assert capfdbinary.readouterr().out.decode("utf-8") == written(record, table)


def test_a_standalone_document_is_whole(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(results), "--format", "latex", "--standalone"]) == 0
    text = capsys.readouterr().out
    assert r"\documentclass{article}" in text
    assert text.rstrip().endswith(r"\end{document}")
    assert "@inproceedings{yauney-mimno-2024," in text


def test_templates_of_the_user_are_used(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "report.html.j2").write_text("{{ claims|length }} & more")
    arguments = ["report", str(results), "--templates", str(folder), "--format"]
    assert main([*arguments, "html"]) == 0
    assert capsys.readouterr().out == "3 & more\n"
    assert main([*arguments, "latex"]) == 2
    assert "no template here is used by the LaTeX report" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--format", "csv", "--templates", "x"],
            "--templates: --format csv uses no templates; expected markdown, disclosure, html, "
            "latex",
        ),
        (
            ["--format", "bibtex", "--templates", "x"],
            "--templates: --format bibtex uses no templates",
        ),
        (["--standalone"], "--standalone: found --format markdown, expected latex"),
        (["--upright"], "--upright: found --format markdown, expected latex"),
        (["--table", "comparisons"], "--table: found --format markdown, expected csv"),
        (["--texts", "all"], "--texts: found --format markdown, expected html"),
        (["--dataset", "a/b"], "--dataset: found --format markdown, expected hub"),
        (["--format", "hub"], "say which: maxrandom report RESULTS.json --format hub --dataset"),
        (
            ["--format", "hub", "--dataset", "a/b"],
            "found 3 claims, expected one, as a file of the hub has one value of a benchmark; "
            "choose one with --claim NAME: weather[demo-nf4-4shot], ",
        ),
        (
            ["--format", "hub", "--dataset", "a/b", "--claim", "wether[demo-nf4-4shot]"],
            "--claim wether[demo-nf4-4shot]: there is no such claim, expected one of weather[",
        ),
        (["--predictions", "p.jsonl"], "--predictions: found --format markdown, expected html"),
        (["--out", "no/such/folder/r.md"], "r.md: cannot be written: No such file or directory"),
    ],
)
def test_a_mistake_is_one_sentence(
    arguments: list[str], message: str, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(results), *arguments]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_a_predictions_file_tells_the_page_which_prompt_was_right_where(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = claim()
    path, lines = tmp_path / "r.json", tmp_path / "p.jsonl"
    path.write_text(dump(run(one)))

    def line(name: str, prompt: str, *chosen: int) -> str:
        answers = [
            {"id": f"q{place}", "chosen": each, "right": [0], "choices": 2}
            | {"log_likelihoods": [-1.0, -4.0], "tokens": [1, 2], "margin": 1.0, "labels": [0, 1]}
            for place, each in enumerate(chosen)
        ]
        common = {"schema_version": 1, "claim": name, "task": "weather", "model": "demo"}
        told = {"quantization": "nf4", "shots": 4, "scoring": "mean_logprob", "prompt": prompt}
        own = {"demonstration_ids": ["d1"], "examples": answers}
        return json.dumps(common | told | own) + "\n"

    assert one.best_prompt is not None
    best = one.best_prompt.digest
    lines.write_text(line(one.id, "a", 0, 0, 0) + line(one.id, best, 0, 1, 0))
    command = ["report", str(path), "--format", "html", "--predictions", str(lines)]
    assert main(command) == 0
    (shown,) = claims(capsys.readouterr().out)
    assert shown["cells"]["rows"] == ["111", "101"]
    assert shown["cells"]["best"] == 1  # the record's, wherever others stand
    assert [each["scores"] for each in shown["cells"]["answers"]] == [[-1.0, -2.0]] * 3
    lines.write_text(line("another", "a", 0))
    assert main(command) == 2
    assert "has no predictions of the report's claims" in capsys.readouterr().err
    lines.write_text(line(one.id, "a", 0) + line("another", "a", 0) + line(one.id, best, 0))
    assert main(command) == 2
    assert "are not consecutive" in capsys.readouterr().err


def test_a_format_that_there_is_not_is_told_with_those_that_there_are(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["report", str(results), "--format", "pdf"])
    assert "markdown" in capsys.readouterr().err
