"""`maxrandom comment` without a forge: the comment as text, and mistakes in one sentence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.cli import main
from pytest_maxrandom.reports.results import dump
from tests.unit.reports.page import read
from tests.unit.reports.samples import claim, run

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.record import RunRecord


@pytest.fixture(autouse=True)
def _outside_of_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in list(os.environ):
        if variable.startswith(("GITHUB_", "GH_", "CI_", "GITLAB_")):
            monkeypatch.delenv(variable)


def written(folder: Path, record: RunRecord, name: str = "results.json") -> str:
    path = folder / name
    path.write_text(dump(record), encoding="utf-8")
    return str(path)


def test_a_dry_run_prints_the_comment_and_asks_no_forge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_API_URL", "http://127.0.0.1:9")
    results = written(tmp_path, run(claim(best=38)))
    base = written(tmp_path, run(claim()), "base.json")
    assert main(["comment", results, "--base", base, "--key", "nightly", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "<!-- maxrandom:nightly -->\n\n### ❌ maxrandom · nightly: 1 of 1 claim fails"
    )
    assert "**Since the base of 2026-01-31 12:00 UTC:** 1 claim fell." in out
    assert "The full report is a file of this run." in out


def test_the_comment_can_be_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results, out = written(tmp_path, run(claim(task="動物"))), tmp_path / "comment.md"
    assert main(["comment", results, "--dry-run", "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"written to {out}\n"
    assert main(["comment", results, "--dry-run"]) == 0
    assert out.read_text(encoding="utf-8") == capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "base.json: cannot be read: No such file or directory"),
        ("{", "base.json:1: not valid JSON"),
        ({"schema_version": 2, "claims": []}, "schema version 2 is newer than 1, the newest known"),
        ({"claims": []}, "not a report of pytest-maxrandom"),
        ({"schema_version": 1, "claims": [{}]}, "is missing"),
    ],
)
def test_a_base_that_cannot_be_read_does_not_keep_the_comment_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: Any, said: str
) -> None:
    base = tmp_path / "base.json"
    if content is not None:
        base.write_text(content if isinstance(content, str) else json.dumps(content))
    results = written(tmp_path, run(claim()))
    assert main(["comment", results, "--base", str(base), "--dry-run"]) == 0
    text = read(capsys.readouterr().out).text
    assert "Nothing to compare with: " in text
    assert said in text.replace("\u200b", "")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--key a--%3E", "--key: found 'a--%3E', expected at most 64 letters"),
        ("--key x>y", "--key: found 'x>y'"),
        ("--pull-request 0 --dry-run", "--pull-request: found 0, expected 1 or more"),
        ("--untrusted --pull-request 7", "with --untrusted only the event names"),
        ("--untrusted --templates x", "with --untrusted only this package's templates are used"),
        ("--repository models", "--repository: found 'models', expected OWNER/NAME"),
        ("--repository ../x", "--repository: found '../x', expected OWNER/NAME"),
        ("--repository a/b/c", "--repository: found 'a/b/c', expected OWNER/NAME"),
        ("", "--repository OWNER/NAME is needed here: neither an argument nor the environment"),
        ("--repository a/b", "GITHUB_TOKEN is needed here"),
        ("--forge gitlab", "--repository GROUP/NAME is needed here"),
        ("--page-url javascript:x --dry-run", "the address of the report is 'javascript:x'"),
        ("--report-url javascript:x --dry-run", "the address of the report is 'javascript:x'"),
        ("--templates nowhere --dry-run", "nowhere: no such folder of templates"),
    ],
)
def test_a_mistake_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: str, said: str
) -> None:
    assert main(["comment", written(tmp_path, run(claim())), *arguments.split()]) == 2
    out, err = capsys.readouterr()
    assert said in err
    assert err.startswith("maxrandom comment: ")
    assert (out, err.count("\n")) == ("", 1)


def test_a_run_without_a_report_is_commented_on_by_its_outcome(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = written(tmp_path, run(claim()), "base.json")
    why = "pytest was ended by signal 9 @team"
    for arguments in (["--outcome", why], ["--key=gate", f"--outcome={why}", "--base", base]):
        assert main(["comment", *arguments, "--dry-run"]) == 0
        page = read(capsys.readouterr().out)
        assert page.text.replace("\u200b", "").strip().startswith(f"❌ maxrandom · gate: {why}\n")
        assert not page.tables


def test_an_outcome_stands_before_the_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = written(tmp_path, run(claim()))
    said = []
    for arguments in (["--outcome=It failed", results], [results, "--outcome", "It failed"]):
        assert main(["comment", *arguments, "--dry-run"]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert said[0].startswith(
        "<!-- maxrandom:gate -->\n\n### ❌ maxrandom · gate: It failed\n\n1 of 1 "
    )


def test_a_comment_of_nothing_is_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["comment", "--dry-run"]) == 2
    assert "found neither results nor --outcome, expected at least one" in capsys.readouterr().err


def test_results_that_cannot_be_read_are_a_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["comment", str(tmp_path / "none.json"), "--dry-run"]) == 2
    assert "none.json: cannot be read" in capsys.readouterr().err


def test_the_help_tells_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["comment", "--help"])
    assert "exit code is 0 if the comment was written, or was left alone" in " ".join(
        capsys.readouterr().out.split()
    )


def test_other_commands_load_nothing_of_this_one() -> None:
    code = (
        "import sys; from pytest_maxrandom.cli import main; "
        "main('baseline --n 100 --choices 2 --t 10'.split()); "
        "print([m for m in sys.modules if '_maxrandom.ci' in m or m in ('ssl', 'urllib.request')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
