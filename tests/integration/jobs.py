"""Jobs of a repository that has the gate."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from tests.integration.action_runner import Result, run_action
from tests.unit.ci.server import TOKEN, Server

ROOT = Path(__file__).parents[2]
ACTION = ROOT / "action.yml"
COMMENT = ROOT / ".github" / "actions" / "comment" / "action.yml"

CLAIM = """
def test_{name}(maxrandom):
    maxrandom.check(best_correct={best}, n=100, t=10, chance=0.5, task="{name}", p_max=0.05)
"""
HOLDS, FAILS = 64, 63
"""Of 100 with 10 prompts, by 1 - P(Binomial(100, 1/2) < best) ** 10."""

SHA = "c0ffee" * 6 + "c0ff"


def run_gate(workspace: Path, suites: str = "models", **changed: Any) -> Result:
    """Run the action, with what is installed.

    Inputs, `github`, `environment` and the `failing` actions that it uses can be changed.
    """
    github, environment = changed.pop("github", None), changed.pop("environment", None)
    failing = changed.pop("failing", ())
    inputs = {"suites": suites, "install": "none", "python-version": "none", "cache": "no"}
    inputs |= {name.replace("_", "-"): value for name, value in changed.items()}
    return run_action(ACTION, workspace, inputs, github, environment, failing)


def run_comment(workspace: Path, forge: Server, event: dict[str, Any], **changed: Any) -> Result:
    """Run the action that comments, with what is installed, in a job that `event` began.

    Inputs and `github` can be changed.
    """
    github = {"token": TOKEN, "event": event} | changed.pop("github", {})
    environment = job_environment(workspace, forge, event) | changed.pop("environment", {})
    inputs = {"python-version": "none", "token": TOKEN, "workflow": "none"}
    inputs |= {name.replace("_", "-"): value for name, value in changed.items()}
    return run_action(COMMENT, workspace, inputs, github, environment, left_out=["Install"])


def keep_reports(workspace: Path, folder: str = "maxrandom-hostile") -> None:
    """Move what the gate wrote to where an artifact is downloaded to."""
    temp = workspace.parent / "runner-temp"
    temp.mkdir(exist_ok=True)
    shutil.rmtree(temp / folder, ignore_errors=True)
    if (workspace / "maxrandom-report").exists():
        (workspace / "maxrandom-report").rename(temp / folder)


def job_environment(workspace: Path, forge: Server, event: dict[str, Any]) -> dict[str, str]:
    """Return the environment of a job that an event began."""
    path = workspace.parent / "event.json"
    path.write_text(json.dumps(event))
    return {
        "GITHUB_API_URL": forge.url,
        "GITHUB_EVENT_PATH": str(path),
        "GITHUB_RUN_ID": "20",
        "GITHUB_SERVER_URL": "https://github.test",
        "no_proxy": "127.0.0.1",
    }


def write_claims(workspace: Path, **best: int) -> None:
    """Write claims by their number of right answers: HOLDS, FAILS."""
    text = "".join(CLAIM.format(name=name, best=value) for name, value in best.items())
    (workspace / "models" / "test_claims.py").write_text(text)
