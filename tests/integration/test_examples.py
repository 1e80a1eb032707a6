"""The example workflows run with the wheel that is built, and nothing but what they install."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from importlib.metadata import distribution
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.environments import Environment, Packages
from tests.integration.action_runner import run_action
from tests.integration.jobs import ACTION, ROOT
from tests.repositories import begin_repository, commit

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = ROOT / ".github" / "examples"
SUITE = """\
models: [{{name: {model}, label: tiny, quantization: none}}]
tasks: [{{name: words, format: jsonl, path: words.jsonl}}]
prompts: {{shots: 1, count: 3}}
assert: report
"""


def example(name: str) -> dict[str, str]:
    """Return what an example gives the action that it uses."""
    steps = yaml.safe_load((EXAMPLES / name).read_text())["jobs"]["gate"]["steps"]
    (given,) = (step["with"] for step in steps if step.get("id") == "gate")
    return dict(given)


def variables(environment: Environment, **more: str) -> dict[str, str]:
    """Return those with which a step finds the programs of an environment first."""
    return {"PATH": f"{environment.scripts}:{os.environ['PATH']}", **more}


def environment_of(folder: Path, wheel: Path, extras: list[str], line: str) -> Environment:
    """Make an environment with what extras bring, in which a line installs the wheel."""
    packages = Packages.needed(extras)
    assert not packages.missing
    packages.distributions["pip"] = distribution("pip")
    environment = packages.environment(folder)
    # pip takes the wheel, and what is there already, for what the package index has.
    offered = variables(environment, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(wheel.parent))
    subprocess.run(["bash", "-e", "-c", line], env=os.environ | offered, check=True)
    return environment


@pytest.fixture(scope="module")
def gitlab(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Environment:
    """What the example for GitLab installs, by its own line."""
    line, _ = yaml.safe_load((EXAMPLES / "gitlab-ci.yml").read_text())["maxrandom"]["script"]
    return environment_of(tmp_path_factory.mktemp("gitlab"), wheel, ["hf"], line)


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Environment:
    """What `install: light` installs: the package without extras."""
    line = f"python -m pip install {shlex.quote(str(wheel))}"
    return environment_of(tmp_path_factory.mktemp("light"), wheel, [], line)


@pytest.fixture
def repository(workspace: Path, tiny_llama: Path) -> Path:
    """A repository with a suite of a tiny model."""
    folder = workspace / "eval_suites"
    folder.mkdir()
    rows = [{"input": f"word {i}", "choices": ["Yes", "No"], "answer": i % 2} for i in range(24)]
    (folder / "words.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "suite.yaml").write_text(SUITE.format(model=tiny_llama))
    return begin_repository(workspace)


def claims(folder: Path) -> list[dict[str, Any]]:
    record = json.loads((folder / "maxrandom-report" / "report.json").read_text())
    listed: list[dict[str, Any]] = record["claims"]
    return listed


def test_the_gate_is_green_once_its_ledger_is_committed(
    repository: Path, gitlab: Environment
) -> None:
    _, script = yaml.safe_load((EXAMPLES / "gitlab-ci.yml").read_text())["maxrandom"]["script"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GITHUB_")}
    kept |= variables(gitlab, GITLAB_CI="true")
    done = subprocess.run(["bash", "-e", "-c", script], cwd=repository, env=kept, check=False)
    assert done.returncode == 1
    commit(repository)
    given = example("gate.yml")
    assert example("gate-ledger.yml") == given
    result = run_action(
        ACTION, repository, given, environment=variables(gitlab), left_out=["Install"]
    )
    assert (result.code, result.outputs["outcome"]) == (0, "passed"), result.log
    (claim,) = claims(repository)
    assert (claim["n"], claim["t"], claim["backend"]) == (23, 3, "transformers")


def test_results_of_another_machine_are_judged_anew_without_a_model(
    workspace: Path, tiny_llama: Path, light: Environment
) -> None:
    for library in ("torch", "transformers"):
        asked = [str(light.scripts / "python"), "-c", f"import {library}"]
        assert subprocess.run(asked, capture_output=True, check=False).returncode == 1
    text = (EXAMPLES / "gate-elsewhere.yml").read_text()
    comments = "\n".join(line[2:] for line in text.splitlines() if line.startswith("# "))
    suite = "  models:" + comments.partition("models:")[2].partition("n, t, every")[0]
    (command,) = re.findall(r"^ +pytest (.*)$", comments, re.MULTILINE)
    folder = workspace / "eval_suites"
    folder.mkdir()
    rows = [{"input": f"word {i}", "choices": ["Yes", "No"], "answer": i % 2} for i in range(24)]
    (folder / "data.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "suite.yaml").write_text(
        f"models: [{{name: {tiny_llama}, quantization: none}}]\n"
        "tasks: [{name: snarks, format: jsonl, path: data.jsonl}]\n"
        "prompts: {shots: 1, count: 3}\nassert: report\n"
    )
    (workspace / "results").mkdir()
    pytest_command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    subprocess.run([*pytest_command, *shlex.split(command)], cwd=workspace, check=True)
    # Only what the example commits reaches the runner.
    shutil.rmtree(folder)
    written = textwrap.dedent(suite).replace("allenai/OLMo-7B-hf", str(tiny_llama))
    (workspace / "results" / "gate.maxrandom.yaml").write_text(written)
    given = example("gate-elsewhere.yml")
    assert given["install"] == "light"
    result = run_action(
        ACTION, workspace, given, environment=variables(light), left_out=["Install"]
    )
    assert (result.code, result.outputs["outcome"]) == (1, "failed"), result.log
    (claim,) = json.loads((workspace / "maxrandom-report" / "report.json").read_text())["claims"]
    assert (claim["n"], claim["t"], claim["backend"]) == (23, 3, "recorded")
    assert "tiny-llama" in result.summary
