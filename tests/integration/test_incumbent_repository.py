"""A repository with an incumbent: ten pull requests of a searching program, and a colleague's.

What is read is what a stranger would read: the gate's exit code, its report and its comment, and
the ledger.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.reports.comment import comment
from pytest_maxrandom.reports.results import load
from tests.repositories import begin_repository, commit, git

if TYPE_CHECKING:
    from pathlib import Path

LEDGER = "eval_suites/maxrandom-ledger-simulated"
TODAY = 'incumbent: {{instruction: "Today: ", model: {{name: today, backend: mock, knows: 0.4}}}}'
SUITE = f"""\
models: [{{{{name: assistant, backend: mock, knows: {{knows}}}}}}]
{TODAY}
tasks:
  - {{{{name: larger, format: csv, path: larger.csv, choices: ["yes", "no"]}}}}
prompts: {{{{shots: 0, count: 5, instructions: {{instructions}}}}}}
assert: {{{{better_than: incumbent}}}}
"""
PROGRAM, EACH = 10, 5


def maxrandom(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    names = ("GITHUB_", "CI_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(names)}
    return subprocess.run(
        [sys.executable, "-m", "pytest_maxrandom.cli", *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "eval_suites").mkdir()
    rows = [f"Is {7 * i % 97} > {5 * i % 89}? ({i}),{'yn'[7 * i % 97 <= 5 * i % 89]}"
            for i in range(150)]  # fmt: skip
    text = "\n".join(["input,answer", *rows]).replace(",y", ",yes").replace(",n", ",no")
    (tmp_path / "eval_suites" / "larger.csv").write_text(text)
    (tmp_path / ".gitignore").write_text("out\n.maxrandom\n")
    write(tmp_path, 0.4, ["Nothing yet: "])
    return begin_repository(tmp_path)


def write(folder: Path, knows: float, instructions: list[str]) -> None:
    text = SUITE.format(knows=knows, instructions=json.dumps(instructions))
    (folder / "eval_suites" / "s.yaml").write_text(text)


def pull_request(folder: Path, name: str, knows: float, instructions: list[str]) -> dict[str, Any]:
    """Let the gate judge a change, and merge it if its claim passes.

    The gate itself is red all the same, since the answers are simulated. Its tries count in any
    case: git ignores the ledger of simulated models, which so is on no branch.
    """
    git(folder, "switch", "--quiet", "--create", name, "main")
    write(folder, knows, instructions)
    commit(folder)
    gate = maxrandom(
        folder, "gate", "eval_suites", "--base-ref=main", f"--report=out/{name}.md",
        "--pytest-args=-q -n 0 -p no:cacheprovider",
    )  # fmt: skip
    claim: dict[str, Any]
    [claim] = json.loads((folder / "out" / f"{name}.json").read_text())["claims"]
    passed = claim["outcome"] == "passed"
    said = "1 of 1 claim passes" if passed else "1 of 1 claim fails"
    assert said in gate.stdout.splitlines()[-1]
    git(folder, "switch", "--quiet", "main")
    if passed:
        git(folder, "merge", "--quiet", name)
    return claim


@pytest.mark.slow
def test_a_colleague_pays_for_the_tries_of_a_program_and_the_promoted_prompt_keeps_them(
    here: Path,
) -> None:
    found = [
        pull_request(here, f"program-{number}", 0.4,
                     [f"Idea {number}.{place}: " for place in range(EACH)])
        for number in range(PROGRAM)
    ]  # fmt: skip
    assert [each["t"] for each in found] == [EACH * (number + 1) for number in range(PROGRAM)]
    assert {each["outcome"] for each in found} == {"failed"}
    # Nothing is better, and yet the best of five mostly scores higher.
    assert sum(each["incumbent"]["difference"] > 0 for each in found) > PROGRAM / 2
    text = (here / "out" / f"program-{PROGRAM - 1}.md").read_text()
    assert "t = 50" in text
    assert re.search(r"(above|below|level with) the incumbent's \.", text)
    assert "**Looks:** look 10 at this claim\n" in text, "no level of looks lets it pass"
    last = load(here / "out" / f"program-{PROGRAM - 1}.json")
    assert re.search(r"best .* the incumbent's .*(must be above it|may be luck)", comment(last))

    mine = pull_request(here, "colleague", 0.85, ["Compare the two numbers: "])
    assert (mine["outcome"], mine["t"], mine["incumbent"]["of"]) == ("passed", 51, 51)
    assert "best of 51 prompts" in (here / "out" / "colleague.md").read_text()
    assert "newly passes" in comment(load(here / "out" / "colleague.json"), last)

    promoted = maxrandom(here, "promote", "out/colleague.json")
    assert "Its t, 51, goes on" in promoted.stdout + promoted.stderr
    path = here / "eval_suites" / "s.yaml"
    path.write_text(path.read_text().replace(TODAY.replace("{{", "{").replace("}}", "}"),
                                             promoted.stdout))  # fmt: skip
    commit(here)
    maxrandom(here, "gate", "eval_suites", "--base-ref=HEAD~1", "--report=out/next.md",
                      "--pytest-args=-q -n 0 -p no:cacheprovider")  # fmt: skip
    [claim] = json.loads((here / "out" / "next.json").read_text())["claims"]
    # The prompt is no better than itself, and no new try.
    assert (claim["outcome"], claim["t"], claim["incumbent"]["difference"]) == ("failed", 51, 0.0)
    shown = maxrandom(here, "ledger", "show", LEDGER).stdout
    old, new = mine["incumbent"]["digest"][:12], mine["best_prompt"]["digest"][:12]
    chain = rf"incumbent {old} of model \w{{12}} \(t up to 51\), then {new} \(t up to 51\)"
    assert re.search(chain, shown)
