"""The action that comments: it says what the gate found, and believes nothing else of it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.action_runner import Result, commands
from tests.integration.jobs import (
    COMMENT,
    FAILS,
    HOLDS,
    SHA,
    keep_reports,
    run_comment,
    run_gate,
    write_claims,
)
from tests.unit.ci.server import TOKEN, Server

EVENT = {"pull_request": {"number": 7, "head": {"sha": SHA}}}


def both_jobs(workspace: Path, forge: Server, gate: str = "models", **changed: Any) -> Result:
    """Run the gate and, in a job of its own that knows only what GitHub hands over, the comment."""
    tested = run_gate(workspace, gate)
    keep_reports(workspace)
    ended = "failure" if tested.code else "success"
    notice = tested.outputs["notice"]
    return run_comment(workspace, forge, EVENT, result=ended, notice=notice, **changed)


def test_a_gate_that_is_red_for_another_reason_says_so_before_the_claims(
    workspace: Path, forge: Server
) -> None:
    write_claims(workspace, strong=HOLDS)
    (workspace / "models" / "conftest.py").write_text(
        "def pytest_sessionfinish(session):\n    session.exitstatus = 1\n"
    )
    assert both_jobs(workspace, forge).code == 0
    (body,) = forge.bodies()
    why = "The gate failed: pytest failed, but not because of a claim; the log says why"
    assert why in body
    assert body.index(why) < body.index("1 of 1 claim passes") < body.index("`strong`")


@pytest.mark.parametrize("how", ["pytest dies", "the gate cannot run"])
def test_an_earlier_comment_does_not_stand_when_there_is_no_report(
    workspace: Path, forge: Server, how: str
) -> None:
    write_claims(workspace, strong=HOLDS)
    both_jobs(workspace, forge)
    assert "✅" in forge.bodies()[0]
    suites = "models"
    if how == "pytest dies":
        (workspace / "models" / "conftest.py").write_text(
            "import os, signal\n\n"
            "def pytest_runtest_setup():\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        why = (
            "The gate could not test everything: pytest was ended by signal 9, as when memory "
            "runs out"
        )
    else:
        suites, why = "'models", "The run failed and wrote no report; its log says why"
    keep_reports(workspace)
    both_jobs(workspace, forge, suites)
    (body,) = forge.bodies()
    assert f"### ❌ maxrandom · gate: {why}\n" in body
    assert "✅" not in body


def test_a_job_that_failed_is_red_whatever_its_report_says(workspace: Path, forge: Server) -> None:
    write_claims(workspace, strong=HOLDS)
    run_gate(workspace)
    keep_reports(workspace)
    run_comment(workspace, forge, EVENT, result="failure")
    (body,) = forge.bodies()
    assert "The run failed, though none of its tests did; its log says why" in body


def test_a_hostile_notice_is_a_text(workspace: Path, forge: Server) -> None:
    write_claims(workspace, strong=HOLDS)
    run_gate(workspace)
    keep_reports(workspace)
    notice = (
        '@team <img src=x> [a](https://evil.test) "$(touch pwned)" `x` <!-- maxrandom:other -->'
    )
    result = run_comment(workspace, forge, EVENT, result="failure", notice=notice + "y" * 70_000)
    assert result.code == 0, result.log
    (body,) = forge.bodies()
    assert "<img" not in body
    assert "](https://evil.test)" not in body
    assert "<!-- maxrandom:other" not in body
    assert len(body) < 10_000
    assert not list(workspace.parent.rglob("pwned"))


def test_the_login_of_a_token_can_be_given(workspace: Path, forge: Server) -> None:
    forge.viewer, forge.writes_as = None, "app[bot]"
    write_claims(workspace, one=HOLDS)
    for how in ("created", "unchanged"):
        result = both_jobs(workspace, forge, login="app[bot]")
        assert f"{how}: https://github.test" in result.log
    assert len(forge.bodies("app[bot]")) == 1


def test_a_comment_that_cannot_be_made_is_a_warning(workspace: Path, forge: Server) -> None:
    write_claims(workspace, one=HOLDS)
    result = both_jobs(workspace, forge, environment={"GITHUB_API_URL": "http://127.0.0.1:9"})
    assert result.code == 0
    warnings = [where["title"] for kind, where, _ in commands(result.log) if kind == "warning"]
    assert warnings == ["No comment on the pull request"]


def test_the_comment_says_what_changed_since_the_base_report(
    workspace: Path, forge: Server
) -> None:
    write_claims(workspace, one=HOLDS)
    run_gate(workspace)
    keep_reports(workspace, "maxrandom-base")
    write_claims(workspace, one=FAILS)
    result = both_jobs(workspace, forge, key="nightly", workflow="gate.yml")
    assert result.code == 0, result.log
    (body,) = forge.bodies()
    assert body.startswith("<!-- maxrandom:nightly -->\n")
    assert "### ❌ maxrandom · nightly: 1 of 1 claim fails\n" in body
    assert "- ❌ `one` **newly fails**: best .630, needs .640" in body
    assert re.search(r"\*\*Since the base of [^*]+:\*\* 1 claim fell\.", body)
    assert re.search(r"❌&nbsp;fails<br>\(before: passes \(p_max only\)\) \| `one` \|", body)
    assert "created: https://github.test" in result.log
    assert TOKEN not in result.log
    assert result.used["Fetch the reports"]["name"] == "maxrandom-nightly"


FAKE_GH = """#!/bin/bash
printf '%s\\n' "$*" >> "$GH_LOG"
echo "$GH_FOUND"
"""


@pytest.mark.parametrize("found", ["31", ""])
def test_the_comment_links_to_the_page_that_github_knows_and_to_the_run(
    workspace: Path, forge: Server, found: str
) -> None:
    write_claims(workspace, one=HOLDS)
    tools = workspace.parent / "tools"
    tools.mkdir()
    (tools / "gh").write_text(FAKE_GH)
    (tools / "gh").chmod(0o755)
    log = workspace.parent / "gh.log"
    # What Python is run stands in front.
    python = tools / "python"
    python.symlink_to(sys.executable)
    environment = {"PATH": f"{tools}:/usr/bin:/bin", "GH_LOG": str(log), "GH_FOUND": found}
    both_jobs(workspace, forge, environment=environment)
    (body,) = forge.bodies()
    run = "https://github.test/team/models/actions/runs/20"
    page = f"[Full report](<{run}/artifacts/31>) · [run](<{run}>)"
    assert (page if found else f"[Full report](<{run}>)") in body
    (asked,) = log.read_text().splitlines()
    assert "repos/team/models/actions/runs/20/artifacts" in asked
    assert "name=maxrandom-gate.html" in asked


def test_the_page_is_asked_for_by_the_name_that_the_gate_gives_it(
    workspace: Path, forge: Server
) -> None:
    write_claims(workspace, one=HOLDS)
    kept = run_gate(workspace, key="nightly").used["Keep the page"]
    keep_reports(workspace)
    # Of a file that is not zipped, the artifact's name is the file's.
    assert kept["archive"] == "false"
    steps = yaml.safe_load(COMMENT.read_text(encoding="utf-8"))["runs"]["steps"]
    (find,) = (step for step in steps if step["name"] == "Find the page")
    name = Path(kept["path"]).name.replace("nightly", "$KEY")
    assert f"name={name}" in find["run"]


def test_it_runs_no_code_but_its_own_and_what_has_a_hash() -> None:
    steps = yaml.safe_load(COMMENT.read_text(encoding="utf-8"))["runs"]["steps"]
    uses = [step["uses"].partition("@")[0] for step in steps if "uses" in step]
    assert uses == ["actions/setup-python", "actions/download-artifact"]
    (install,) = (step["run"] for step in steps if step["name"] == "Install")
    assert "--require-hashes" in install
    assert "--only-binary :all:" in install
    assert "GITHUB_ACTION_PATH/requirements.txt" in install
    (comment,) = (step["run"] for step in steps if step["name"] == "Comment")
    assert "--untrusted" in comment
    assert "python -P -m" in comment  # -P: nothing is imported from the folder that it runs in
