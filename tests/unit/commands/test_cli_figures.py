"""`maxrandom figures`: files and their names, and one sentence for a mistake."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from matplotlib.figure import Figure

from pytest_maxrandom.cli import main
from pytest_maxrandom.figures.panels import Figures
from pytest_maxrandom.ledger import SetLedger, Subject
from pytest_maxrandom.reports.results import dump
from pytest_maxrandom.tasks.task import Example
from tests.repositories import begin_repository
from tests.unit.reports import samples

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_maxrandom.record import ClaimRecord
    from pytest_maxrandom.reports.trend import Trend


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _results(folder: Path, *claims: ClaimRecord) -> str:
    path = folder / "r.json"
    path.write_text(dump(samples.run(*(claims or (samples.claim(),)))))
    return str(path)


def _sweeps(folder: Path, model: str) -> str:
    generator = np.random.default_rng(0)
    correct = generator.random((20, 40)) < 0.55
    path = folder / f"correct_{model}.npz"
    np.savez(
        path,
        task__1__correct=correct,
        task__1__evaluated=np.ones_like(correct),
        task__1__prompt_ids=np.arange(20),
        task__1__example_ids=np.arange(40),
        task__1__demonstration_ids=np.arange(20).reshape(20, 1),
    )
    return str(path)


def _lines(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert main(["figures", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


def _mistake(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["figures", *arguments]) == 2
    told = capsys.readouterr().err
    assert told.startswith("maxrandom figures: ")
    assert told.count("\n") == 1
    return told.removeprefix("maxrandom figures: ").rstrip("\n")


def test_all_figures_of_a_run_are_written_and_listed(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = _lines(capsys, _results(here))
    names = (
        "best_of_t", "selection", "histogram", "baseline_over_t_and_n", "p_contours", "increase",
        "normalized",
    )  # fmt: skip
    assert lines == [f"figures/{name}.{ending}" for name in names for ending in ("svg", "png")]
    assert all((here / line).stat().st_size > 1000 for line in lines)


def test_only_what_is_asked_for_is_drawn(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--out", "a/b", "--formats", "pdf", "--only", "increase", "best_of_t")
    assert _lines(capsys, _results(here), *options) == ["a/b/best_of_t.pdf", "a/b/increase.pdf"]


@pytest.mark.slow
def test_n_t_and_choices_are_enough_for_the_baseline_and_the_contours(
    capsys: pytest.CaptureFixture[str],
) -> None:
    options = ("--formats", "svg", "--choices", "2,4")
    both = ["figures/baseline_over_t_and_n.svg", "figures/p_contours.svg"]
    assert _lines(capsys, *options, "--n", "100", "--t", "200") == both
    assert _lines(capsys, *options, "--n", "5") == both
    assert _lines(capsys, *options, "--t", "30") == both[:1]


def test_a_study_has_a_row_for_each_model_and_one_for_all(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [_sweeps(here, model) for model in ("a", "b", "c")]
    options = ("--choices", "2", "--splits", "20", "--formats", "svg", "--holdout")
    assert _lines(capsys, *options, files[0]) == ["figures/holdout.svg"]
    assert _lines(capsys, *options, *files) == [
        "figures/holdout-1.svg",
        "figures/holdout-2.svg",
    ]


def test_results_and_a_study_are_drawn_together(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ("--choices", "2", "--splits", "20", "--formats", "svg", "--only", "increase")
    lines = _lines(capsys, _results(here), *options, "holdout", "--holdout", _sweeps(here, "a"))
    assert lines == ["figures/increase.svg", "figures/holdout.svg"]


def test_what_is_left_out_is_told_below_the_files(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = _results(here, samples.claim(), samples.untested())
    assert _lines(capsys, results, "--only", "increase", "--formats", "svg") == [
        "figures/increase.svg",
        "left out 1 claim without p_max: emoji_movie[OLMo-7B-4shot]",
    ]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--only", "histograms"], "did you mean histogram?"),
        (["--only", "zzz"], "found 'zzz', expected some of best_of_t, selection, "),
        (["--width", "33"], "--width: found 33, expected inches from 3.2 to 7.2"),
        (["--width", "nan"], "--width: found nan, expected inches from 3.2 to 7.2"),
        (["--formats", "jpg"], "--formats: found 'jpg', expected some of svg, png, pdf"),
        (["--n", "100"], "--n and --t are for figures without results"),
        (["--choices", "2"], "--choices is for --holdout, and for figures without results"),
        (["--only", "holdout"], "nothing to draw: holdout cannot be drawn from these inputs"),
    ],
)
def test_options_that_cannot_be_used_are_told_in_one_sentence(
    here: Path, capsys: pytest.CaptureFixture[str], options: list[str], told: str
) -> None:
    assert told in _mistake(capsys, _results(here), *options)
    assert not (here / "figures").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ([], "nothing to draw: give a file written by pytest --maxrandom-json, --holdout with"),
        (
            ["--n", "100"],
            "--choices is needed for figures without results, such as 2, or 2,4 for both",
        ),
        (["--n", "100", "--choices", "1"], "found '1', expected numbers from 2 on"),
        (["--n", "100", "--choices", "2,x"], "found '2,x', expected numbers from 2 on"),
        (["--n", "0", "--choices", "2"], "n must be at least 1, found 0"),
        (["--t", "-1", "--choices", "2"], "t must be at least 1, found -1"),
        (["no.json"], "no.json: cannot be read"),
    ],
)
def test_numbers_that_cannot_be_used_are_told_in_one_sentence(
    here: Path, capsys: pytest.CaptureFixture[str], options: list[str], told: str
) -> None:
    assert told in _mistake(capsys, *options)
    assert not (here / "figures").exists()


def test_a_run_without_numbers_is_an_error_that_names_its_claims(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _mistake(capsys, _results(here, samples.untested())) == (
        "nothing to draw: left out 1 claim without p_max: emoji_movie[OLMo-7B-4shot]"
    )


def test_a_folder_that_is_a_file_is_told(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "figures").touch()
    assert "figures" in _mistake(capsys, _results(here), "--only", "increase")


@pytest.mark.parametrize(("package", "extra"), [("matplotlib", "plots"), ("sklearn", "holdout")])
def test_without_a_package_one_sentence_says_how_to_get_it(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    package: str,
    extra: str,
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    told = _mistake(capsys, "--holdout", _sweeps(here, "a"), "--choices", "2")
    assert f'pip install "pytest-maxrandom[{extra}]"' in told


def _kept(folder: Path, name: str, day: int, **numbers: int) -> str:
    path = folder / name
    record = samples.run(samples.claim(**numbers), created=f"2026-02-{day:02d}T00:00:00Z")
    path.write_text(dump(record))
    return name


def test_the_trend_is_drawn_from_files_revisions_and_ledgers(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _kept(here, "r.json", 1)
    begin_repository(here)
    old = _kept(here, "old.json", 2, t=30)
    _kept(here, "r.json", 3, t=40)
    ledger = SetLedger(here / "suites" / "maxrandom-ledger", "run", "weather", [
        Example(f"{k}", f"question {k}", ("wet", "dry"), (0,)) for k in range(60)
    ])  # fmt: skip
    subject = Subject("demo", "d1", "nf4", 4, "mean_logprob")
    ledger.evaluated(subject, "p", 60, 31)
    ledger.look(subject, ["p"], t=1, n=60, best_correct=31)
    drawn: list[Sequence[Trend]] = []

    def figures(trends: Sequence[Trend]) -> Figures:
        drawn.append(trends)
        return Figures([("trend", Figure)])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pytest_maxrandom.figures.trend.figures", figures)
        told = _lines(capsys, "r.json", "--trend", old, "main", "suites", "--only", "trend")
    assert told == ["figures/trend.svg", "figures/trend.png"]
    ((trend,),) = drawn
    points = [(point.label, point.t) for point in trend.points]
    assert points == [("main", 20), ("old.json", 30), ("r.json", 40), ("look", 1)]


def test_a_trend_needs_several_runs_that_can_be_read(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lone = _kept(here, "r.json", 1)
    assert "trend: left out 1 claim of a single run" in _mistake(capsys, "--trend", lone)
    assert "none.json: no such file, and this folder is in no git repository" in _mistake(
        capsys, "--trend", "none.json"
    )
    assert "no such file or folder" in _mistake(capsys, "--trend", "none.jsonl")
    assert _mistake(capsys).startswith("nothing to draw: give a file")
