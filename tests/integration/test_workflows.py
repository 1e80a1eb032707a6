"""The workflows, the examples and the guide are right about the action, and about safety."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.integration.action_runner import commands, holds, run_steps
from tests.integration.jobs import (
    ACTION,
    FAILS,
    HOLDS,
    ROOT,
    SHA,
    job_environment,
    run_gate,
    write_claims,
)
from tests.unit.ci.server import TOKEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unit.ci.server import Server

EXAMPLE_FOR_FORKS = ROOT / ".github" / "examples" / "gate-comment.yml"
FILES = [
    ACTION,
    *(ROOT / ".github").glob("workflows/*.yml"),
    *(ROOT / ".github").glob("examples/*"),
]


def test_the_example_for_forks_comments_on_the_pull_request_of_the_event(
    workspace: Path, forge: Server
) -> None:
    (job,) = yaml.safe_load(EXAMPLE_FOR_FORKS.read_text())["jobs"].values()
    fetch, _, comment = job["steps"][-3:]
    assert (fetch["with"]["name"], fetch["with"]["path"]) == (
        "maxrandom-gate",
        "${{ runner.temp }}/hostile",
    )
    # What a fork can put into its artifact.
    write_claims(workspace, one=FAILS)
    run_gate(workspace)
    record = json.loads((workspace / "maxrandom-report" / "report.json").read_text())
    record["claims"][0] |= {"task": "@team <!-- maxrandom:other -->", "pull_request": 8}
    hostile = workspace.parent / "runner-temp" / "hostile"
    hostile.mkdir()
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
    scope = {"github": {"repository": "team/models", "token": TOKEN, "event": event}}
    assert holds(job["if"], scope)
    result = run_steps([comment], workspace, scope, job_environment(workspace, forge, event))
    assert result.code == 0, result.log
    (body,) = forge.bodies()
    assert body.startswith("<!-- maxrandom:gate -->\n")
    assert "actions/runs/5" in body


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


@pytest.mark.parametrize("example", ["gate.yml", "gate-comment.yml"])
@pytest.mark.parametrize(
    ("runs", "downloads", "found"),
    [("", [], False), ("13\n12\n11\n", ["13", "12"], True), ("13\n", ["13"], False)],
)
def test_the_base_is_the_newest_run_of_the_base_branch_that_has_a_report(
    workspace: Path, example: str, runs: str, downloads: list[str], found: bool
) -> None:
    (job,) = yaml.safe_load((ROOT / ".github" / "examples" / example).read_text())["jobs"].values()
    (step,) = (s for s in job["steps"] if s.get("name") == "Fetch the report of the base branch")
    assert step["continue-on-error"] is True
    tools = workspace.parent / "tools"
    tools.mkdir()
    (tools / "gh").write_text(FAKE_GH)
    (tools / "gh").chmod(0o755)
    head = {"head_branch": "x&state=all", "head_repository": {"owner": {"login": "someone"}}}
    github = {
        "repository": "team/models",
        "token": TOKEN,
        "event_name": "pull_request",
        "base_ref": "stable",
        "event": {"workflow_run": head, "repository": {"default_branch": "main"}},
    }
    log = workspace.parent / "gh.log"
    environment = {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "GH_LOG": str(log),
        "GH_RUNS": runs,
        "GH_BASE": "stable",
    }
    result = run_steps([step], workspace, {"github": github}, environment)
    assert result.code == 0, result.log
    asked = log.read_text().splitlines()
    assert [line.split()[2] for line in asked if line.startswith("run download")] == downloads
    (listed,) = (line for line in asked if line.startswith("run list"))
    assert "--event push --branch stable --status completed" in listed
    assert (workspace.parent / "runner-temp" / "base" / "report.json").exists() == found
    if example == "gate-comment.yml":
        assert "--raw-field head=someone:x&state=all" in asked[0]


@pytest.mark.parametrize(
    ("conclusion", "report", "said"),
    [
        ("failure", False, "The run failed and left no report; its log says why"),
        ("failure", True, "The run failed, though nothing that it tested did; its log says why"),
        ("success", True, ""),
    ],
)
def test_the_example_for_forks_says_that_a_run_failed_whatever_its_artifact_says(
    workspace: Path, forge: Server, conclusion: str, report: bool, said: str
) -> None:
    (job,) = yaml.safe_load(EXAMPLE_FOR_FORKS.read_text())["jobs"].values()
    fetch, _, comment = job["steps"][-3:]
    assert fetch["continue-on-error"] is True
    (workspace.parent / "runner-temp").mkdir()
    if report:
        write_claims(workspace, one=HOLDS)
        run_gate(workspace)
        (workspace / "maxrandom-report").rename(workspace.parent / "runner-temp" / "hostile")
    head = {"ref": "patch", "sha": SHA, "repo": {"full_name": "someone/models"}}
    forge.pulls = [{"number": 7, "state": "open", "head": head}]
    run = {
        "id": 5,
        "conclusion": conclusion,
        "head_sha": SHA,
        "head_branch": "patch",
        "head_repository": {"full_name": "someone/models"},
    }
    event = {"workflow_run": run}
    scope = {"github": {"repository": "team/models", "token": TOKEN, "event": event}}
    result = run_steps([comment], workspace, scope, job_environment(workspace, forge, event))
    assert result.code == 0, result.log
    (body,) = forge.bodies()
    assert (f"**❌ {said}**" in body) == bool(said)
    assert ("| ✅ passed<br>" in body) == report


def test_the_examples_agree_with_each_other() -> None:
    text, text_for_forks = (
        (ROOT / ".github" / "examples" / name).read_text()
        for name in ("gate.yml", "gate-comment.yml")
    )
    defaults = yaml.safe_load(ACTION.read_text(encoding="utf-8"))["inputs"]
    key = defaults["key"]["default"]
    report = Path(defaults["report"]["default"]).with_suffix(".json").name
    # `on` is true in YAML 1.1.
    assert yaml.safe_load(text_for_forks)[True]["workflow_run"]["workflows"] == [
        yaml.safe_load(text)["name"]
    ]
    for each in (text, text_for_forks):
        assert set(re.findall(r"(?<=name )maxrandom-\w+|(?<=name: )maxrandom-\w+", each)) == {
            f"maxrandom-{key}"
        }
        assert set(re.findall(r"(?:/base|/hostile)/([\w.]+\.json)", each)) == {report}
    assert f"--key={key} " in text_for_forks
    used = re.search(r"actions/gate@[0-9a-f]{40} # v([\d.]+)\n", text)
    assert used
    assert f'"pytest-maxrandom=={used[1]}"' in text_for_forks


def test_the_example_for_forks_runs_nothing_that_a_fork_wrote() -> None:
    (job,) = yaml.safe_load(EXAMPLE_FOR_FORKS.read_text())["jobs"].values()
    assert job["permissions"] == {"actions": "read", "pull-requests": "write"}
    uses = [step["uses"].partition("@")[0] for step in job["steps"] if "uses" in step]
    assert uses == ["actions/setup-python", "actions/download-artifact"]


def _steps(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        if "uses" in node or "run" in node:
            yield node
        for value in node.values():
            yield from _steps(value)
    elif isinstance(node, list):
        for value in node:
            yield from _steps(value)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_other_actions_are_pinned_and_no_script_holds_an_expression(path: Path) -> None:
    steps = list(_steps(yaml.safe_load(path.read_text(encoding="utf-8"))))
    assert steps or path.name == "gitlab-ci.yml"
    for step in steps:
        assert "${{" not in step.get("run", "")
        uses = step.get("uses", "./")
        assert uses.startswith("./") or re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", uses)


def test_the_examples_give_the_action_inputs_that_it_has() -> None:
    known = yaml.safe_load(ACTION.read_text(encoding="utf-8"))["inputs"].keys()
    used = [
        step["with"].keys()
        for path in FILES
        for step in _steps(yaml.safe_load(path.read_text(encoding="utf-8")))
        if "actions/gate" in step.get("uses", "")
    ]
    assert len(used) == 4
    assert all({"suites"} <= given <= known for given in used)


def test_the_guide_names_every_input_with_its_default() -> None:
    guide = (ROOT / "docs" / "how-to" / "gate.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([a-z-]+)` \|.*\| *(.*?) *\|$", guide, re.MULTILINE))
    inputs = yaml.safe_load(ACTION.read_text(encoding="utf-8"))["inputs"]
    assert rows.keys() == inputs.keys()
    for name, said in inputs.items():
        default = "required" if said.get("required") else said["default"]
        assert rows[name].strip("`") == ("the job's" if name == "token" else default)
    for target in re.findall(r"\]\((?!https:)([^)]+)\)", guide):
        assert (ROOT / "docs" / "how-to" / target).exists()


@pytest.mark.parametrize(("change", "code"), [("none", 0), ("line", 1), ("file", 1)])
def test_the_example_with_a_ledger_fails_where_prompts_are_left_uncounted(
    workspace: Path, change: str, code: int
) -> None:
    steps = yaml.safe_load((ROOT / ".github" / "examples" / "gate-ledger.yml").read_text())
    (step,) = (one for one in steps["jobs"]["gate"]["steps"] if one.get("id") == "ledger")
    ledger = workspace / "models" / "maxrandom-ledger"
    first, second, *_ = sorted((ROOT / "eval_suites/demo/maxrandom-ledger").glob("*.jsonl"))
    lines = first.read_text().splitlines(keepends=True)
    ledger.mkdir()
    (ledger / first.name).write_text("".join(lines[:-1]))
    commit = ["-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "--quiet", "-m", "begin"]
    for arguments in (["init", "--quiet"], ["add", "models/maxrandom-ledger"], commit):
        subprocess.run(["git", *arguments], cwd=workspace, check=True)
    if change == "line":
        (ledger / first.name).write_text("".join(lines))
    elif change == "file":
        (workspace / "deep" / "maxrandom-ledger").mkdir(parents=True)
        (workspace / "deep" / "maxrandom-ledger" / second.name).write_text(second.read_text())
    result = run_steps([step], workspace, {"github": {"repository": "team/models"}}, {})
    assert result.code == code
    assert "every line as it should be" in result.log
    titles = [where["title"] for _, where, _ in commands(result.log)]
    assert titles == (["Commit the ledger"] if code else [])


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
