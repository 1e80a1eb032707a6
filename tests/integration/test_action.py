"""The action, step by step: what it tells whom, and what it ends with."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from tests.integration.action_runner import commands
from tests.integration.jobs import (
    ACTION,
    FAILS,
    HOLDS,
    ROOT,
    run_gate,
    write_claims,
)
from tests.unit.reports.opened import blocks


def test_claims_that_hold_pass_the_gate(workspace: Path) -> None:
    write_claims(workspace, one=HOLDS, other=HOLDS)
    result = run_gate(workspace)
    assert result.code == 0
    assert result.outputs == {
        "outcome": "passed",
        "passed": "2",
        "failed": "0",
        "reservations": "0",
        "notice": "",
        "report": "maxrandom-report/report.md",
        "json": "maxrandom-report/report.json",
    }
    assert commands(result.log) == []
    report = (workspace / result.outputs["report"]).read_text(encoding="utf-8")
    assert result.summary.startswith(report)
    assert result.summary.removeprefix(report).startswith("\n**What this gate can tell.** If all")
    assert len(json.loads((workspace / result.outputs["json"]).read_text())["claims"]) == 2
    steps = ["Test the claims", "Keep the reports", "Name the page", "Keep the page"]
    assert result.ran == [*steps, "Fail if a claim does"]
    kept = result.used["Keep the reports"]
    assert kept["name"] == "maxrandom-gate"
    paths = kept["path"].split("\n")[:-1]
    assert [Path(path).suffix for path in paths] == [".md", ".json", ".xml"]
    assert all((workspace / path).is_file() for path in paths)


def test_a_claim_that_fails_is_told_everywhere_before_the_gate_fails(workspace: Path) -> None:
    write_claims(workspace, strong=HOLDS, weak=FAILS)
    result = run_gate(workspace)
    assert result.code == 1
    assert result.ran[-1] == "Fail if a claim does"
    assert (result.outputs["outcome"], result.outputs["passed"]) == ("failed", "1")
    assert result.outputs["failed"] == "1"
    ((kind, where, message),) = commands(result.log)
    assert kind == "error"
    # Lines of the file from 1, paths from the repository, not from pytest's root.
    assert where["file"] == "models/test_claims.py"
    line = (workspace / where["file"]).read_text().splitlines()[int(where["line"]) - 1]
    assert line == "def test_weak(maxrandom):"
    assert where["title"] == "test_weak fails"
    assert "best .630, needs .640 (p_max = .059; t = 10, n = 100)" in message
    assert "test_weak" in result.summary


def test_a_broken_suite_is_annotated_where_it_is_broken(workspace: Path) -> None:
    folder = workspace / "models" / "eval_suites"
    folder.mkdir()
    (folder / "bad.yaml").write_text("models:\n  - {name: m}\ntaks: []\n")
    result = run_gate(workspace)
    assert result.code == pytest.ExitCode.INTERRUPTED
    assert (result.outputs["outcome"], result.outputs["passed"]) == ("error", "0")
    found = commands(result.log)
    assert {where["file"] for _, where, _ in found} == {"models/eval_suites/bad.yaml"}
    assert any(
        where["line"] == "3" and "did you mean `tasks`?" in message for _, where, message in found
    )
    assert "1 suite could not be read" in result.summary
    assert "bad.yaml:3" in result.summary


@pytest.mark.parametrize(
    ("suites", "code", "sentence"),
    [
        (
            "models",
            5,
            "no claim was found or selected in models: suites are YAML files below a folder named",
        ),
        ("nowhere", 4, "pytest got wrong arguments, or lost the plugin ("),
    ],
)
def test_nothing_to_test_fails_with_a_sentence(
    workspace: Path, suites: str, code: int, sentence: str
) -> None:
    result = run_gate(workspace, suites)
    assert (result.code, result.outputs["outcome"]) == (code, "error")
    ((kind, _, message),) = commands(result.log)
    assert kind == "error"
    assert message.startswith(sentence)
    assert sentence.replace("*", "") in result.summary


def test_another_test_that_fails_fails_the_gate(workspace: Path) -> None:
    write_claims(workspace, strong=HOLDS)
    (workspace / "models" / "test_other.py").write_text("def test_other(): assert False\n")
    result = run_gate(workspace)
    assert (result.code, result.outputs["outcome"], result.outputs["failed"]) == (1, "failed", "0")
    why = "pytest failed, but not because of a claim; the log says why"
    assert f"1 of 1 claim passes on p_max only; {why}" in result.log
    assert result.summary.startswith(f"**❌ The gate failed: {why}**\n\n")
    ((kind, where, message),) = commands(result.log)
    assert (kind, where, message) == ("error", {"title": "The gate failed"}, why)


def test_reports_that_cannot_be_kept_change_nothing_of_the_result(workspace: Path) -> None:
    for best, code in ((HOLDS, 0), (FAILS, 1)):
        write_claims(workspace, one=best)
        result = run_gate(workspace, failing=["Keep the reports"])
        assert result.code == code
        warnings = [where["title"] for kind, where, _ in commands(result.log) if kind == "warning"]
        assert warnings == ["The reports are not kept"]


def test_pytest_that_is_killed_is_told_and_leaves_no_old_report(workspace: Path) -> None:
    write_claims(workspace, strong=HOLDS)
    assert run_gate(workspace).code == 0
    (workspace / "models" / "conftest.py").write_text(
        "import os, signal\n\n"
        "def pytest_runtest_setup():\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    result = run_gate(workspace)
    assert result.code == 128 + 9
    assert (result.outputs["outcome"], result.outputs["json"]) == ("error", "")
    assert "pytest was ended by signal 9, as when memory runs out" in result.summary
    assert "Keep the reports" not in result.used


def test_arguments_reach_pytest_as_words_and_run_nothing(workspace: Path) -> None:
    write_claims(workspace, one=HOLDS, other=FAILS)
    hostile = "$(touch pwned) `touch pwned`; touch pwned"
    result = run_gate(
        workspace, pytest_args=f"-k 'not other' -o \"addopts=\" --junit-prefix '{hostile}'"
    )
    assert (result.code, result.outputs["passed"], result.outputs["failed"]) == (0, "1", "0")
    assert hostile in (workspace / "maxrandom-report" / "report.xml").read_text()
    assert not list(workspace.rglob("pwned"))


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("suites", "'models", 'suites: found "\'models", expected words'),
        ("suites", "", "suites: found none, expected at least one file or folder"),
        ("suites", "models --co", "suites: found '--co', expected a file or folder"),
        ("suites", "$(touch pwned);\n`touch pwned`", "file or directory not found: $(touch"),
        ("pytest_args", '"', "pytest-args: found '\"', expected words (No closing quotation)"),
        ("report", "r.md\njson=evil", "report: found 'r.md\\njson=evil', expected the path"),
        ("report", "", "report: found '', expected the path of a file *.md"),
        ("report", "report.json", "report: found 'report.json', expected the path"),
    ],
)
def test_wrong_and_hostile_inputs_fail_with_a_sentence_and_run_nothing(
    workspace: Path, name: str, value: str, sentence: str
) -> None:
    write_claims(workspace, one=HOLDS)
    result = run_gate(workspace, **{name: value})
    assert result.code != 0
    assert sentence in result.log
    assert not list(workspace.rglob("*pwned*"))
    assert "evil" not in result.outputs["json"]


def test_what_suites_print_is_no_command_to_the_runner(workspace: Path) -> None:
    name = "a\\n::set-output name=code::0\\n::error::x\\n##[add-path]/evil,%0A:"
    (workspace / "models" / "test_hostile.py").write_text(
        f'def test_it(maxrandom):\n    print("{name}")\n    print("::add-mask::a")\n'
        f'    maxrandom.check(best_correct=1, n=9, t=2, chance=0.5, task="{name}", p_max=0.05)\n'
    )
    (workspace / "models" / "eval_suites").mkdir()
    (workspace / "models" / "eval_suites" / "a,%0A:b.yaml").write_text(f'"{name}": 1\n')
    result = run_gate(workspace, pytest_args="-s --continue-on-collection-errors")
    found = commands(result.log)
    assert {kind for kind, _, _ in found} == {"error"}
    assert {where["file"] for _, where, _ in found} == {
        "models/eval_suites/a,%0A:b.yaml",
        "models/test_hostile.py",
    }
    assert (result.code, result.outputs["failed"]) == (1, "1")


@pytest.mark.parametrize("install", ["", "light"])
def test_what_is_installed_by_itself_is_the_version_of_the_action(
    workspace: Path, install: str
) -> None:
    write_claims(workspace, one=HOLDS)
    dry = {"PIP_DRY_RUN": "1", "PIP_NO_DEPS": "1", "PIP_NO_BUILD_ISOLATION": "0"}
    result = run_gate(
        workspace,
        install=install,
        torch_index="none",
        environment={**dry, "PIP_NO_INDEX": "1"},
    )
    assert result.code == 0
    version = re.search(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert version
    assert f"Would install pytest-maxrandom-{version[1]}" in result.log


def test_what_is_to_be_installed_is_words_for_pip_and_nothing_runs(workspace: Path) -> None:
    name = "$(touch pwned) `touch pwned`; touch pwned"
    result = run_gate(workspace, install=f"--no-index -r '{name}'")
    assert result.code != 0
    assert f"Could not open requirements file: [Errno 2] No such file or directory: '{name}'" in (
        result.log
    )
    assert result.ran == ["Install"]
    assert not list(workspace.rglob("*pwned*"))


def test_python_is_set_up_where_a_version_is_asked_for(workspace: Path) -> None:
    write_claims(workspace, one=HOLDS)
    assert run_gate(workspace, python_version="3.13").used["Set up Python"] == {
        "python-version": "3.13"
    }


def test_torch_alone_comes_from_the_index_of_wheels_for_processors(workspace: Path) -> None:
    index = (workspace / "index").as_uri()
    result = run_gate(workspace, install="", torch_index=index, environment={"PIP_DRY_RUN": "1"})
    assert f"Looking in indexes: {index}" in result.log
    assert "torch>=2.8" in result.log
    assert "pytest-maxrandom" not in result.log


def test_packages_and_models_are_kept_by_the_suites_that_name_them(workspace: Path) -> None:
    write_claims(workspace, one=HOLDS)
    kept = run_gate(workspace, cache="yes", key="nightly").used["Keep packages and models"]
    assert kept["path"].split() == ["~/.cache/pip", "~/.cache/huggingface/hub"]
    assert re.fullmatch(r"maxrandom-Linux-nightly-[0-9a-f]{64}", kept["key"])
    assert kept["key"].startswith(kept["restore-keys"])


def test_in_a_merge_queue_the_ledger_is_compared_with_what_is_merged_into(workspace: Path) -> None:
    write_claims(workspace, one=HOLDS)
    event = {"merge_group": {"base_sha": "0123abcd"}}
    result = run_gate(workspace, github={"event_name": "merge_group", "event": event})
    # This workspace is no checkout: that the base was asked for is seen by that it has none.
    assert result.code == 2
    assert "cannot be compared with their base" in result.outputs["notice"]


def test_the_job_that_runs_the_pull_request_has_nothing_to_write_with() -> None:
    definition = yaml.safe_load(ACTION.read_text(encoding="utf-8"))
    assert "token" not in str(definition).lower().replace("tokens", "")


QUESTION = "which word is secret"


@pytest.mark.parametrize("share", [False, True])
def test_the_page_that_is_kept_has_texts_only_where_the_suite_shares_them(
    workspace: Path, tiny_llama: Path, share: bool
) -> None:
    folder = workspace / "models" / "eval_suites"
    folder.mkdir()
    rows = [
        {"input": f"{QUESTION} {i}", "choices": ["Yes", "No"], "answer": i % 2} for i in range(24)
    ]
    (folder / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "suite.yaml").write_text(
        f"models: [{{name: {tiny_llama}, quantization: none}}]\n"
        "tasks: [{name: coin, format: jsonl, path: data.jsonl}]\n"
        "prompts: {shots: 0}\nassert: report\n" + ("share: texts\n" if share else "")
    )
    result = run_gate(workspace, key="nightly")
    kept = result.used["Keep the page"]
    assert kept["archive"] == "false"
    page = Path(kept["path"])
    assert page.name == "maxrandom-nightly.html"
    text = page.read_text(encoding="utf-8")
    assert "coin" in text
    assert (QUESTION in text + json.dumps(blocks(text))) == share
