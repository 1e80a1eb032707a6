"""A forge on this machine, and the command as a job runs it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.cli import main
from pytest_maxrandom.reports.results import dump
from tests.unit.ci.server import TOKEN, Server, serving
from tests.unit.reports.samples import claim, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_maxrandom.record import RunRecord


@pytest.fixture
def github() -> Iterator[Server]:
    with serving(Server()) as server:
        yield server


@dataclass
class Job:
    """A job of the workflow: its environment, its folder, and what the command did in it."""

    folder: Path
    environment: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]
    slept: list[float]
    out: str = ""
    err: str = ""

    def set(self, **variables: str | int) -> None:
        for name, value in variables.items():
            self.environment.setenv(name, str(value))

    def event(self, content: Any) -> None:
        path = self.folder / "event.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        self.set(GITHUB_EVENT_PATH=str(path))

    def results(self, record: RunRecord, name: str = "results.json") -> Path:
        path = self.folder / name
        path.write_text(dump(record), encoding="utf-8")
        return path

    def comment(self, *arguments: object, record: RunRecord | None = None) -> int:
        """Run the command; what it says is in `out` and `err`, and holds no token."""
        return self.run("comment", self.results(record or run(claim())), *arguments)

    def run(self, *arguments: object) -> int:
        code = main(list(map(str, arguments)))
        self.out, self.err = self.capsys.readouterr()
        assert TOKEN not in self.out + self.err
        assert self.err.count("\n") == (code == 2)
        return code


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Job:
    """A job of no pull request yet, outside of any forge."""
    for variable in list(os.environ):
        of_a_job = variable.startswith(("GITHUB_", "GH_", "CI_", "GITLAB_"))
        if of_a_job or variable.lower().endswith("_proxy"):
            monkeypatch.delenv(variable)
    slept: list[float] = []
    monkeypatch.setattr("pytest_maxrandom.ci.http.sleep", slept.append)
    return Job(tmp_path, monkeypatch, capsys, slept)


@pytest.fixture
def pull_request(job: Job, github: Server) -> Job:
    """A job of GitHub Actions for pull request 7, run 20."""
    job.set(
        GITHUB_ACTIONS="true",
        GITHUB_API_URL=github.url,
        GITHUB_TOKEN=TOKEN,
        GITHUB_REPOSITORY="team/models",
        GITHUB_RUN_ID=20,
        GITHUB_RUN_ATTEMPT=1,
        GITHUB_SERVER_URL="https://github.test",
    )
    job.event({"pull_request": {"number": 7, "head": {"sha": "c0ffee" * 6 + "c0ff"}}})
    return job
