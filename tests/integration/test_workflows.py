"""The workflows, the examples and the guide are right about the action, and about safety."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.integration.action_runner import holds, run_steps
from tests.integration.jobs import (
    ACTION,
    COMMENT,
    FAILS,
    HOLDS,
    ROOT,
    SHA,
    keep_reports,
    run_comment,
    run_gate,
    write_claims,
)
from tests.unit.ci.server import TOKEN, Server, serving
from tests.unit.ci.test_gitlab import GitLabServer

if TYPE_CHECKING:
    from collections.abc import Iterator


EXAMPLE_FOR_FORKS = ROOT / ".github" / "examples" / "gate-comment.yml"
EXAMPLES = sorted((ROOT / ".github" / "examples").glob("gate*.yml"))
FILES = [
    ACTION,
    COMMENT,
    *(ROOT / ".github").glob("workflows/*.yml"),
    *(ROOT / ".github").glob("examples/*"),
]


def test_the_example_for_forks_comments_on_the_pull_request_of_the_event(
    workspace: Path, forge: Server
) -> None:
    (job,) = yaml.safe_load(EXAMPLE_FOR_FORKS.read_text())["jobs"].values()
    (step,) = job["steps"]
    # What a fork can put into its artifact.
    write_claims(workspace, one=FAILS)
    run_gate(workspace)
    record = json.loads((workspace / "maxrandom-report" / "report.json").read_text())
    record["claims"][0] |= {"task": "@team <!-- maxrandom:other -->", "pull_request": 8}
    keep_reports(workspace)
    hostile = workspace.parent / "runner-temp" / "maxrandom-hostile"
    (hostile / "report.json").write_text(json.dumps(record | {"number": 8}))
    head = {"ref": "patch", "sha": SHA, "repo": {"full_name": "someone/models"}}
    forge.pulls = [{"number": 7, "state": "open", "head": head}]
    event = {
        "workflow_run": {
            "id": 5,
            "event": "pull_request",
            "conclusion": "failure",
            "head_sha": SHA,
            "head_branch": "patch",
            "head_repository": {"full_name": "someone/models"},
            "pull_requests": [],
        }
    }
    assert holds(job["if"], {"github": {"repository": "team/models", "event": event}})
    result = run_comment(workspace, forge, event, **step.get("with", {}))
    assert result.code == 0, result.log
    (body,) = forge.bodies()
    assert body.startswith("<!-- maxrandom:gate -->\n")
    assert "actions/runs/5" in body
    fetched = result.used["Fetch the reports"]
    assert (fetched["name"], fetched["run-id"]) == ("maxrandom-gate", "5")
    assert fetched["path"] == str(hostile)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, True),
        ({"conclusion": "success"}, True),
        ({"conclusion": "cancelled"}, False),
        ({"event": "push"}, False),
        ({"head_repository": {"full_name": "team/models"}}, False),
        (
            {
                "head_repository": {"full_name": "team/models"},
                "actor": {"login": "dependabot[bot]"},
            },
            True,
        ),
    ],
)
def test_the_example_for_forks_runs_for_forks_and_for_failures_too(
    changed: dict[str, Any], expected: bool
) -> None:
    (job,) = yaml.safe_load(EXAMPLE_FOR_FORKS.read_text())["jobs"].values()
    fork = {"head_repository": {"full_name": "someone/models"}}
    run = {"event": "pull_request", "conclusion": "failure", **fork, **changed}
    github = {"repository": "team/models", "event": {"workflow_run": run}}
    assert holds(job["if"], {"github": github}) == expected


FAKE_GH = """#!/bin/bash
printf '%s\\n' "$*" >> "$GH_LOG"
case "$1 $2" in
    "api --method") echo "$GH_BASE" ;;
    "run list") printf '%s' "$GH_RUNS" ;;
    "run download")
        # Without a number it takes an artifact of that name from any run, a fork's too.
        if [ "$3" != 12 ]; then exit 1; fi
        mkdir -p "$7" && echo '{}' > "$7/report.json" ;;
    *) exit 1 ;;
esac
"""


@pytest.mark.parametrize("of_fork", [False, True])
@pytest.mark.parametrize(
    ("runs", "downloads", "found"),
    [("", [], False), ("13\n12\n11\n", ["13", "12"], True), ("13\n", ["13"], False)],
)
def test_the_base_is_the_newest_run_of_the_base_branch_that_has_a_report(
    workspace: Path, of_fork: bool, runs: str, downloads: list[str], found: bool
) -> None:
    steps = yaml.safe_load(COMMENT.read_text(encoding="utf-8"))["runs"]["steps"]
    (step,) = (s for s in steps if s["name"] == "Fetch the report of the base branch")
    assert step["continue-on-error"] is True
    tools = workspace.parent / "tools"
    tools.mkdir()
    (tools / "gh").write_text(FAKE_GH)
    (tools / "gh").chmod(0o755)
    head = {"head_branch": "x&state=all", "head_repository": {"owner": {"login": "someone"}}}
    github = {
        "repository": "team/models",
        "base_ref": "" if of_fork else "stable",
        "event": {"workflow_run": head, "repository": {"default_branch": "main"}},
    }
    inputs = {"key": "gate", "workflow": "gate.yml", "token": TOKEN}
    log = workspace.parent / "gh.log"
    environment = {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "GH_LOG": str(log),
        "GH_RUNS": runs,
        "GH_BASE": "stable",
    }
    result = run_steps([step], workspace, {"github": github, "inputs": inputs}, environment)
    assert result.code == 0, result.log
    asked = log.read_text().splitlines()
    assert [line.split()[2] for line in asked if line.startswith("run download")] == downloads
    (listed,) = (line for line in asked if line.startswith("run list"))
    assert "--workflow gate.yml --event push --branch stable --status completed" in listed
    base = workspace.parent / "runner-temp" / "maxrandom-base"
    assert (base / "report.json").exists() == found
    if of_fork:
        assert "--raw-field head=someone:x&state=all" in asked[0]


@pytest.mark.parametrize(
    ("conclusion", "report", "said"),
    [
        ("failure", False, "The run failed and wrote no report; its log says why"),
        ("failure", True, "The run failed, though none of its tests did; its log says why"),
        ("success", True, ""),
    ],
)
def test_the_example_for_forks_says_that_a_run_failed_whatever_its_artifact_says(
    workspace: Path, forge: Server, conclusion: str, report: bool, said: str
) -> None:
    if report:
        write_claims(workspace, one=HOLDS)
        run_gate(workspace)
    keep_reports(workspace)
    head = {"ref": "patch", "sha": SHA, "repo": {"full_name": "someone/models"}}
    forge.pulls = [{"number": 7, "state": "open", "head": head}]
    run = {
        "id": 5,
        "conclusion": conclusion,
        "head_sha": SHA,
        "head_branch": "patch",
        "head_repository": {"full_name": "someone/models"},
    }
    result = run_comment(workspace, forge, {"workflow_run": run})
    assert result.code == 0, result.log
    (body,) = forge.bodies()
    assert (f"### ❌ maxrandom · gate: {said}\n" in body) == bool(said)
    assert ("| ✅&nbsp;passes (p_max only) |" in body) == report


def test_the_examples_agree_with_each_other() -> None:
    workflow, other = (
        yaml.safe_load((ROOT / ".github" / "examples" / name).read_text())
        for name in ("gate.yml", "gate-comment.yml")
    )
    # `on` is true in YAML 1.1.
    assert other[True]["workflow_run"]["workflows"] == [workflow["name"]]
    gate, comment = (
        yaml.safe_load(path.read_text(encoding="utf-8"))["inputs"] for path in (ACTION, COMMENT)
    )
    assert comment["workflow"]["default"] == "gate.yml"
    assert comment["key"]["default"] == gate["key"]["default"]
    report = Path(gate["report"]["default"]).with_suffix(".json").name
    assert comment["report"]["default"] == report
    pins = {
        pin
        for path in EXAMPLES
        for pin in re.findall(r"uses: \S+/pytest-maxrandom\S*@(\S+ # v\S+)", path.read_text())
    }
    assert len(pins) == 1


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_only_the_job_that_runs_no_code_of_a_pull_request_may_write(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    jobs = workflow["jobs"]
    assert set(jobs) <= {"gate", "comment"}
    for name, job in jobs.items():
        writes = {key for key, value in job["permissions"].items() if value == "write"}
        assert writes == ({"pull-requests"} if name == "comment" else set())
    (step,) = jobs["comment"]["steps"]
    assert "/.github/actions/comment@" in step["uses"]
    if "gate" in jobs:
        (used,) = (each["with"] for each in jobs["gate"]["steps"] if each.get("id") == "gate")
        said = step["with"]
        assert said.get("key", "gate") == used.get("key", "gate")
        assert said["result"] == "${{ needs.gate.result }}"
        assert said["notice"] == "${{ needs.gate.outputs.notice }}"
        assert {"pull_request", "merge_group"} <= workflow[True].keys()


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, True),
        ({"result": "failure"}, True),
        ({"result": "cancelled"}, False),
        ({"result": "skipped"}, False),
        ({"event_name": "push"}, False),
        ({"event_name": "merge_group"}, False),
        ({"actor": "dependabot[bot]"}, False),
        ({"event": {"pull_request": {"head": {"repo": {"full_name": "a/fork"}}}}}, False),
    ],
)
def test_the_second_job_comments_where_its_token_may_write(
    changed: dict[str, Any], expected: bool
) -> None:
    job = yaml.safe_load((ROOT / ".github/examples/gate.yml").read_text())["jobs"]["comment"]
    changed = dict(changed)
    needs = {"gate": {"result": changed.pop("result", "success")}}
    own = {"pull_request": {"head": {"repo": {"full_name": "team/models"}}}}
    github = {
        "repository": "team/models",
        "event_name": "pull_request",
        "actor": "robin",
        "event": own,
    }
    # After a gate that failed the condition is still asked, as it names a function of the status.
    scope = {"github": github | changed, "needs": needs}
    assert holds(job["if"], scope, failed=True) == expected


def _steps(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if "uses" in node or "run" in node:
            yield node
        for value in node.values():
            yield from _steps(value)
    elif isinstance(node, list):
        for value in node:
            yield from _steps(value)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_other_actions_are_pinned_and_no_script_holds_an_expression(path: Path) -> None:
    steps = list(_steps(yaml.safe_load(path.read_text(encoding="utf-8"))))
    assert steps or path.name == "gitlab-ci.yml"
    for step in steps:
        assert "${{" not in step.get("run", "")
        uses = step.get("uses", "./")
        assert uses.startswith("./") or re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", uses)


def test_the_examples_give_the_action_inputs_that_it_has() -> None:
    known = yaml.safe_load(ACTION.read_text(encoding="utf-8"))["inputs"].keys()
    other = yaml.safe_load(COMMENT.read_text(encoding="utf-8"))["inputs"].keys()
    used = []
    for path in FILES:
        for step in _steps(yaml.safe_load(path.read_text(encoding="utf-8"))):
            uses = step.get("uses", "")
            if "/actions/comment" in uses:
                assert step.get("with", {}).keys() <= other
            elif uses == "./" or "/pytest-maxrandom@" in uses:
                used.append(step["with"].keys())
    assert len(used) == 5
    assert all({"suites"} <= given <= known for given in used)


def test_the_guide_names_every_input_with_its_default() -> None:
    guide = (ROOT / "docs" / "how-to" / "gate.md").read_text(encoding="utf-8")
    tables = re.findall(r"^\| input \|.*\n\| -.*\n((?:\|.*\n)+)", guide, re.MULTILINE)
    for path, table in zip((ACTION, COMMENT), tables, strict=True):
        rows = dict(re.findall(r"^\| `([a-z-]+)` \|.*\| *(.*?) *\|$", table, re.MULTILINE))
        inputs = yaml.safe_load(path.read_text(encoding="utf-8"))["inputs"]
        assert rows.keys() == inputs.keys()
        for name, said in inputs.items():
            default = "required" if said.get("required") else said["default"]
            assert rows[name].strip("`") == ("the job's token" if name == "token" else default)
    for target in re.findall(r"\]\((?!https:)([^)]+)\)", guide):
        assert (ROOT / "docs" / "how-to" / target.partition("#")[0]).exists()


@pytest.mark.parametrize("report", [True, False])
def test_the_example_for_gitlab_links_its_note_to_the_page_and_to_the_job(
    workspace: Path, report: bool
) -> None:
    job = yaml.safe_load((ROOT / ".github/examples/gitlab-ci.yml").read_text())["maxrandom"]
    (script,) = job["after_script"]
    # What its artifacts hold, at the paths that they have there.
    assert job["artifacts"]["paths"] == ["maxrandom-report", "**/maxrandom-ledger/*.jsonl"]
    if report:
        write_claims(workspace, one=HOLDS)
        run_gate(workspace)
        assert (workspace / "maxrandom-report" / "report.html").is_file()
    url = "https://gitlab.test/team/models/-/jobs/9"
    with serving(GitLabServer()) as server:
        told = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "GITLAB_CI": "true",
            "GITLAB_TOKEN": TOKEN,
            "CI_API_V4_URL": f"{server.url}/api/v4",
            "CI_JOB_STATUS": "success" if report else "failed",
            "CI_JOB_URL": url,
            "CI_MERGE_REQUEST_IID": "7",
            "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
            "CI_PIPELINE_ID": "20",
            "CI_PIPELINE_URL": "https://gitlab.test/team/models/-/pipelines/20",
            "CI_PROJECT_ID": "42",
            "CI_PROJECT_URL": "https://gitlab.test/team/models",
            "no_proxy": "127.0.0.1",
        }
        subprocess.run(["bash", "-e", "-c", script], cwd=workspace, env=told, check=True)
        (note,) = server.comments
    page = f"[Full report](<{url}/artifacts/file/maxrandom-report/report.html>)"
    assert (page in note["body"]) == report
    assert ("The run failed and wrote no report" in note["body"]) != report


def test_the_pre_commit_hook_takes_the_files_that_pytest_collects(tmp_path: Path) -> None:
    from pytest_maxrandom.suite import is_suite

    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    for name in (
        "eval_suites/a.yaml",
        "eval_suites/deep/er/a.yml",
        "models/eval_suites/a.yaml",
        "a.maxrandom.yaml",
        "models/a.maxrandom.yml",
        "a.yaml",
        "my_eval_suites/a.yaml",
        "eval_suites.yaml",
        "eval_suites/a.json",
        "eval_suites/a.yaml.orig",
    ):
        taken = re.search(hook["files"], name) is not None
        assert taken == is_suite(tmp_path / name, tmp_path), name
