"""What the author of a pull request may try against the real gate, in small git repositories.

What counts is the colour of the gate's end, and the first three lines of the comment.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import pytest

from pytest_maxrandom.cli import main
from pytest_maxrandom.reports.comment import comment
from pytest_maxrandom.reports.results import load_untrusted
from tests.integration.attacks.of_data import DATA
from tests.integration.attacks.of_git import GIT
from tests.integration.attacks.of_places import PLACES
from tests.integration.attacks.of_runs import RUNS
from tests.integration.attacks.of_selection import SELECTION
from tests.integration.attacks.of_suites import SUITES
from tests.integration.attacks.of_tests import BY_HAND_TESTS
from tests.integration.jobs import SHA, keep_reports, run_comment, run_gate
from tests.unit.reports.page import words_unfolded

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.attacks.attack import Attack
    from tests.unit.ci.server import Server

ATTACKS = [*RUNS, *SELECTION, *SUITES, *PLACES, *BY_HAND_TESTS, *GIT, *DATA]
EVENT = {"pull_request": {"number": 7, "head": {"sha": SHA}}}


class Expected(Protocol):
    """What must be seen of an attack."""

    @property
    def colour(self) -> str: ...

    @property
    def lines(self) -> tuple[str, ...]: ...


@dataclass
class Seen:
    """What became of a gate."""

    code: int
    out: str
    text: str
    """The comment."""

    @property
    def lines(self) -> list[str]:
        """Those of the comment, from its headline on."""
        shown = self.text.replace("\\", "").splitlines()
        return [line for line in shown if line and not line.startswith("<!--")]

    @property
    def colour(self) -> str:
        """Whether it is red; else whether a tick stands on top."""
        signs = {"🟠": "amber", "✅": "green", "📋": "green"}
        return "red" if self.code else signs[self.lines[0].split()[1]]

    def check(self, attack: Expected) -> None:
        """Compare it with what must be seen, in few words."""
        assert len(words_unfolded(self.text)) <= 150
        assert self.colour == attack.colour, "\n".join([*self.lines[:3], self.out])
        first = self.lines[:3]
        assert len(attack.lines) <= len(first)
        usual = (*attack.lines, "[Full report]", "| result | claim")
        for line, said in zip(first, usual, strict=False):
            assert said in line, "\n".join([*first, self.out])


def gate(
    folder: Path, capfd: pytest.CaptureFixture[str], *arguments: str, **environment: str
) -> Seen:
    """Run the gate in a folder, and write its comment as the action does."""
    outputs = folder.parent / "outputs"
    outputs.write_text("")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in [name for name in os.environ if name.startswith(("GITHUB_", "CI_"))]:
            patch.delenv(name)
        for name, value in {**environment, "GITHUB_OUTPUT": str(outputs)}.items():
            patch.setenv(name, value)
        code = main(["gate", "eval_suites", *arguments])
    json = folder / "maxrandom-report" / "report.json"
    run = load_untrusted(json) if json.exists() else None
    notice = outputs.read_text().partition("notice<<")[2].split("\n")[1]
    failed = "The run failed" if code and run is None else ""
    text = comment(
        run, None, outcome=notice or failed, key="gate", report="https://github.test/runs/20"
    )
    return Seen(code, "".join(capfd.readouterr()), text)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_the_colour_of_the_gate_and_the_first_lines_of_its_comment(
    attack: Attack, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "repository"
    attack.begin(folder)
    gate(folder, capfd, *attack.arguments, **attack.environment).check(attack)


@pytest.mark.parametrize(
    "attack", [each for each in ATTACKS if each.by_action], ids=lambda attack: attack.name
)
def test_both_actions_show_the_same(attack: Attack, tmp_path: Path, forge: Server) -> None:
    folder = tmp_path / "repository"
    attack.begin(folder)
    inputs = dict(each.removeprefix("--").split("=", 1) for each in attack.arguments)
    tested = run_gate(folder, "eval_suites", environment=attack.environment, **inputs)
    keep_reports(folder)
    ended = "failure" if tested.code else "success"
    notice = tested.outputs["notice"]
    run_comment(folder, forge, EVENT, result=ended, notice=notice)
    (body,) = forge.bodies()
    Seen(tested.code, tested.log, body).check(attack)
