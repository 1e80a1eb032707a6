"""`maxrandom diff`: files and git revisions, three formats, and an exit code that gates."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.cli import main
from pytest_maxrandom.errors import ReportError
from pytest_maxrandom.reports.difference import difference, markdown
from pytest_maxrandom.reports.results import dump, find, load, path_of
from tests.repositories import begin_repository, commit
from tests.unit.reports.samples import claim, run

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.record import RunRecord

GOOD, BAD = run(claim()), run(claim(best=38))


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    write(tmp_path / "good.json", GOOD)
    write(tmp_path / "bad.json", BAD)
    return tmp_path


def write(path: Path, record: RunRecord) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dump(record), encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["good.json", "bad.json"], 1),
        (["bad.json", "good.json"], 0),
        (["good.json", "good.json"], 0),
        (["good.json", "none.json"], 2),
        (["none.json", "good.json"], 2),
    ],
)
def test_the_exit_code_says_whether_anything_fell(
    here: Path, arguments: list[str], code: int
) -> None:
    assert main(["diff", *arguments]) == code


def test_each_format_is_the_same_on_the_screen_and_in_a_file(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("text", "markdown", "json"):
        assert main(["diff", "good.json", "bad.json", "--format", name]) == 1
        screen = capsys.readouterr().out
        assert main(["diff", "good.json", "bad.json", "--format", name, "--out", "out"]) == 1
        assert capsys.readouterr().out == "difference: out\n"
        assert (here / "out").read_text(encoding="utf-8") == screen
    assert json.loads(screen)["changes"][0]["kind"] == "fell"


def test_a_difference_that_cannot_be_written_is_a_mistake(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", "good.json", "bad.json", "--out", "no/such/folder"]) == 2
    assert "no/such/folder: cannot be written" in capsys.readouterr().err


def test_a_folder_is_no_report(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "results").mkdir()
    assert main(["diff", "results", "good.json"]) == 2
    assert "results: is a folder, and " in capsys.readouterr().err
    begin_repository(here)
    commit(here)
    assert main(["diff", "results", "good.json"]) == 2
    assert "results: is a folder, and " in capsys.readouterr().err


def test_a_report_of_the_first_schema_is_read(here: Path) -> None:
    """Keys that are newer are missing there, and no number is made up for them."""
    old: dict[str, Any] = json.loads(dump(GOOD))
    core = {
        "id", "suite", "line", "task", "model", "quantization", "shots", "assert", "n", "t",
        "best_correct", "best_accuracy", "standard_baseline", "max_random_baseline", "p_max",
        "verdict", "passed", "outcome",
    }  # fmt: skip
    claim_of_old = {key: value for key, value in old["claims"][0].items() if key in core}
    old["claims"] = [claim_of_old]
    kept = {key: old[key] for key in ("schema_version", "claims", "created", "versions")}
    (here / "old.json").write_text(json.dumps(kept))
    assert main(["diff", "old.json", "bad.json"]) == 1


def test_a_revision_means_the_path_of_the_other_report(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    begin_repository(here / "repo")
    write(here / "repo" / "kept" / "r.json", GOOD)
    commit(here / "repo")
    write(here / "repo" / "kept" / "r.json", BAD)
    commit(here / "repo")
    repo = here / "repo"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(repo)
        assert main(["diff", "main~1", "kept/r.json", "--format", "markdown"]) == 1
        assert main(["diff", "main~1:kept/r.json", "main"]) == 1
        assert main(["diff", "main", "main~1:kept/r.json"]) == 0
        patch.chdir(repo / "kept")
        assert main(["diff", "main~1", "r.json"]) == 1
    expected = markdown(difference("main~1", GOOD, "kept/r.json", BAD))
    assert capsys.readouterr().out.startswith(expected)


@pytest.mark.parametrize(
    ("named", "like", "said"),
    [
        ("nowhere", None, "git knows no commit nowhere"),
        ("main:none.json", None, "there is no file none.json"),
        ("main", None, "or main:PATH, the path from"),
        ("nofile.json", None, "nofile.json: no such file in"),
        ("main", "/elsewhere/r.json", "is outside"),
        ("-x", None, "expected a branch, a tag or a commit"),
        ("", None, "expected a branch, a tag or a commit"),
    ],
)
def test_what_is_no_report_is_told_in_one_sentence(
    here: Path, named: str, like: str | None, said: str
) -> None:
    begin_repository(here)
    with pytest.raises(ReportError) as told:
        find(named, None if like is None else here / like, here)
    assert said in str(told.value)
    assert "\n" not in str(told.value)
    assert "expected a file written by pytest --maxrandom-json" in str(told.value)


def test_mistyped_files_and_revisions_get_no_command_that_fetches_them(here: Path) -> None:
    begin_repository(here)
    for named in ("nofile.json", "main", "main~7"):
        with pytest.raises(ReportError) as told:
            find(named, None, here)
        assert f"{named}:{named}" not in str(told.value)
        assert "(but" not in str(told.value)


def test_outside_of_a_repository_only_files_are_found(here: Path) -> None:
    with pytest.raises(ReportError, match="no such file, and this folder is in no git repo"):
        find("main:r.json", None, here)
    assert find("good.json", None, here) == load(here / "good.json")
    assert path_of("main:r.json", here) is None


def test_a_kept_report_that_is_none_is_named_with_its_revision(here: Path) -> None:
    (here / "no.json").write_text("[1, 2]")
    begin_repository(here)
    with pytest.raises(ReportError, match=r"^main:no\.json: not a report"):
        find("main:no.json", None, here)


def test_a_file_goes_before_a_revision_of_its_name(here: Path) -> None:
    write(here / "main", replace(GOOD, created="2020-01-01T00:00:00Z"))
    begin_repository(here)
    assert find("main", here / "good.json", here).created == "2020-01-01T00:00:00Z"


def test_an_assertion_is_about_answers_and_its_words_are_checked(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["diff", "good.json", "good.json", "--assert"]
    assert main([*arguments, "not_worse_than=-0.02"]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "Nothing was compared with good.json: its report keeps no answers" in said
    assert main([*arguments, "not_worse_than=-0.02,cannot_tell=pass"]) == 0
    assert main([*arguments, "not_worse_than=0.02", "--format=json"]) == 2
    assert "a loss of up to 0.02 is -0.02" in capsys.readouterr().err


def test_plans_of_a_comparison_agree_with_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    plan = ["plan", "--regression", "--loss=0.05", "--json"]
    assert main(plan) == 0
    needed = json.loads(capsys.readouterr().out)["n_worse"]
    for power, n in needed.items():
        assert main([*plan, f"--n={n}"]) == 0
        found = json.loads(capsys.readouterr().out)["power_worse"]
        assert found == pytest.approx(float(power), abs=0.02)
    for wrong in (["--choices=4"], ["--margin=0.02"], ["--loss=0"], ["--n=9", "--t=0"]):
        assert main(["plan", "--regression", *wrong]) == 2
    assert main(["plan", "--loss=0.05", "--choices=4"]) == 2
    assert main(["plan"]) == 2
