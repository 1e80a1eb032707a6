"""`maxrandom gate` where the ledger was tampered with, or lacks tries: red with the reason."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.ledger import FOLDER
from tests.integration.jobs import HOLDS, run_gate, write_claims
from tests.repositories import begin_repository, commit, git
from tests.unit.ledger.common import OWN, ledger

if TYPE_CHECKING:
    from pathlib import Path

SUITE = """\
models: [{{name: {model}, label: tiny, quantization: none}}]
tasks: [{{name: words, format: jsonl, path: words.jsonl, append_choices: false}}]
prompts: {{shots: 0, count: 2, instructions: ["", "Say:\\n"]}}
assert: report
"""


@pytest.fixture
def repository(workspace: Path) -> Path:
    """A clone, on a branch of its own, of a repository with a claim that holds and a ledger."""
    origin = workspace.parent / "origin"
    shutil.copytree(workspace, origin)
    write_claims(origin, strong=HOLDS)
    made = ledger(origin / "models" / FOLDER)
    for number in range(20):
        made.evaluated(OWN, f"p{number}", 10, number % 10)
    begin_repository(origin)
    shutil.rmtree(workspace)
    git(workspace.parent, "clone", "--quiet", origin, workspace)
    git(workspace, "switch", "--quiet", "--create", "work")
    return workspace


def gate(
    folder: Path, *arguments: str, path: str | None = None, **environment: str
) -> tuple[int, str]:
    """Run the gate with what a forge tells; return its code and what it says."""
    known = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GITHUB_", "CI_MERGE_REQUEST_"))
    }
    done = subprocess.run(
        [sys.executable, "-m", "pytest_maxrandom.cli", "gate", "models", *arguments],
        cwd=folder,
        env=known | environment | ({} if path is None else {"PATH": path}),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def the_file(folder: Path) -> Path:
    (path,) = (folder / "models" / FOLDER).glob("*.jsonl")
    return path


def drop_lines(folder: Path) -> None:
    path = the_file(folder)
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:5]))


@pytest.mark.parametrize(
    "known",
    [
        {"GITHUB_BASE_REF": "main"},
        {"CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main"},
        {"CI_MERGE_REQUEST_DIFF_BASE_SHA": "HEAD~1"},
    ],
    ids=["GitHub", "GitLab", "GitLab's commit"],
)
def test_a_ledger_that_shrank_is_red_with_the_reason(
    repository: Path, known: dict[str, str]
) -> None:
    commit(repository)
    code, said = gate(repository, **known)
    assert code == 0, said
    drop_lines(repository)
    commit(repository)
    code, said = gate(repository, **known)
    assert code == 1
    last = said.splitlines()[-1]
    assert last.startswith(
        "maxrandom gate: failed: 1 of 1 claim passes on p_max only; the ledger lost what stood"
    )
    assert "and 13 more" in last
    assert sum(" is gone " in line for line in said.splitlines()[:-1]) == 16
    report = json.loads((repository / "maxrandom-report" / "report.json").read_text())
    assert [claim["outcome"] for claim in report["claims"]] == ["passed"]


def test_a_base_may_be_given_or_declined(repository: Path) -> None:
    drop_lines(repository)
    commit(repository)
    assert gate(repository)[0] == 0
    assert gate(repository, "--base-ref=origin/main")[0] == 1
    assert gate(repository, "--base-ref=none", GITHUB_BASE_REF="main")[0] == 0


def test_without_history_checkout_or_git_nothing_runs_and_nothing_passes(
    repository: Path, tmp_path: Path
) -> None:
    clone = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth=1", f"file://{repository.parent / 'origin'}", clone)
    bare = tmp_path / "bare"
    shutil.copytree(repository / "models", bare / "models")
    for folder, base, path, reason in (
        (clone, "release", None, "fetch-depth: 0"),
        (bare, "main", None, "is not in a git checkout"),
        (repository, "main", str(tmp_path), "git cannot be run"),
    ):
        code, said = gate(folder, path=path, GITHUB_BASE_REF=base)
        assert code == 2, said
        assert reason in said
        assert said.startswith("maxrandom gate: error: the suites and the ledger cannot be")
        assert not (folder / "maxrandom-report" / "report.json").exists()


def test_the_action_tells_the_reason_wherever_it_is_looked_for(repository: Path) -> None:
    shutil.rmtree(repository / "models" / FOLDER)
    commit(repository)
    base = {"GITHUB_BASE_REF": "main"}
    result = run_gate(repository, environment=base)
    assert (result.code, result.outputs["outcome"]) == (1, "failed")
    assert result.summary.startswith("**❌ The gate failed: the ledger lost what stood at")
    assert "20 prompts of tiny 4-shot" in result.summary
    assert "::error title=The gate failed" in result.log
    result = run_gate(repository, environment={"GITHUB_BASE_REF": "nowhere"})
    assert (result.code, result.outputs["outcome"]) == (2, "error")
    assert "fetch-depth: 0" in result.log
    assert "cannot be compared with their base" in result.summary
    assert run_gate(repository, environment=base, base_ref="none").code == 0


@pytest.fixture
def tried(tmp_path: Path, tiny_llama: Path) -> Path:
    """A repository whose suite runs a model that really answers, and that has no ledger yet."""
    folder = tmp_path / "tried"
    folder.mkdir()
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / ".gitignore").write_text(".maxrandom\nmaxrandom-report\n__pycache__\n.pytest_cache\n")
    (folder / "models").mkdir()
    (folder / "models" / "words.maxrandom.yaml").write_text(SUITE.format(model=tiny_llama))
    rows = [{"input": f"word {i}", "choices": ["Yes", "No"], "answer": i % 2} for i in range(12)]
    (folder / "models" / "words.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return begin_repository(folder)


def headline(folder: Path) -> str:
    return (folder / "maxrandom-report" / "report.md").read_text().splitlines()[0]


def test_tries_that_no_commit_counts_are_red_until_their_lines_are_committed(tried: Path) -> None:
    result = run_gate(tried)
    assert (result.code, result.outputs["outcome"]) == (1, "failed")
    first = result.summary.splitlines()[0]
    assert "words[tiny-none-0shot] has tries in no committed ledger" in first.replace("\\", "")
    assert "❌ maxrandom: 1 claim has tries in no committed ledger" in headline(tried)
    assert "2 prompts" in result.summary
    assert result.used["Keep the ledger to commit"]["name"] == "maxrandom-gate-ledger"
    # The commands that it says are those that make the second run pass.
    command = f"git add -- models/{FOLDER}"
    assert command in result.log
    subprocess.run(command, shell=True, cwd=tried, check=True)
    git(tried, "commit", "--quiet", "--message=Count the prompts that were tried")
    result = run_gate(tried)
    assert (result.code, result.outputs["reservations"]) == (0, "0"), result.log
    assert "Keep the ledger to commit" not in result.used
    assert headline(tried).startswith("### 📋 maxrandom: 1 result reported")
    # Whatever the tests remove from the work tree, the report tells what was tried.
    suite = tried / "models" / "words.maxrandom.yaml"
    suite.write_text(suite.read_text().replace('"Say:', '"Tell:'))
    (tried / "conftest.py").write_text(
        "import subprocess\n\n"
        "def pytest_unconfigure():\n    subprocess.run(['git', 'checkout', '--', 'models'])\n"
    )
    commit(tried)
    code, said = gate(tried)
    assert code == 1
    assert "has tries in no committed ledger" in said


def test_a_ledger_may_be_kept_without_failing_or_not_be_looked_at(tried: Path) -> None:
    code, said = gate(tried, "--ledger=artifact")
    assert code == 0, said
    assert "🟠 maxrandom: 1 claim has tries in no committed ledger" in headline(tried)
    assert f"git add -- models/{FOLDER}`" in said
    assert gate(tried, "--ledger=artifact", "--fail-on=uncounted")[0] == 1
    # A ledger that git ignores is not committed by chance.
    (tried / ".gitignore").write_text(".maxrandom\nmaxrandom-report\nmaxrandom-ledger\n")
    code, said = gate(tried)
    assert code == 1
    assert f"git add --force -- models/{FOLDER}`" in said
    assert gate(tried, "--ledger=off")[0] == 0
    assert headline(tried).startswith("### 📋")
    code, said = gate(tried, "--ledger=off", "--fail-on=uncounted")
    assert (code, said.count("\n")) == (2, 1)
    shutil.rmtree(tried / ".git")
    code, said = gate(tried)
    assert code == 1
    assert "no ledger can be committed, because this folder is in no git checkout" in said
