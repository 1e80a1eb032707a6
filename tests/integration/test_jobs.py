"""The jobs of the workflows run what exists, with nothing but what they install."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from itertools import pairwise
from typing import TYPE_CHECKING

import jobs as workflows
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.environments import PROJECT, ROOT, Packages, group_of, installed_by

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

JOBS = {job.name: job for job in workflows.jobs() if not job.needs_host}
OWN_LINES = ("ci/light", "ci/bayes")
"""The jobs that install without `make`, and run tests."""


def commands(job: workflows.Job) -> Iterator[tuple[list[str], dict[str, str]]]:
    """Yield the words of each command of a job, and the variables that its step sets."""
    for line in job.lines:
        for command in line.script.splitlines():
            if words := shlex.split(command, comments=True):
                yield words, line.variables


def pytest_of(job: workflows.Job) -> tuple[list[str], dict[str, str]]:
    """Return the words after ``pytest`` of the command of a job, and its variables."""
    (found,) = (
        (words[words.index("pytest") + 1 :], variables)
        for words, variables in commands(job)
        if words[:3] == ["python", "-m", "pytest"]
    )
    return found


def packages_of(job: workflows.Job) -> Packages:
    extras: set[str] = set()
    groups: set[str] = set()
    for line in job.lines:
        more_extras, more_groups = installed_by(line.script)
        extras |= more_extras
        groups |= more_groups
    return Packages.needed(extras, groups)


def left_out(packages: Packages) -> set[str]:
    """Return what a job leaves out of what the project's extras and tests ask for."""
    extras = PROJECT["project"]["optional-dependencies"].values()
    lines = [*group_of("test"), *(line for listed in extras for line in listed)]
    names: set[str] = {canonicalize_name(Requirement(line).name) for line in lines}
    return names - packages.distributions.keys() - packages.missing


def after(words: list[str], *options: str) -> list[str]:
    """Return what follows some options."""
    return [value for option, value in pairwise(words) if option in options]


def test_the_workflows_have_the_jobs_that_are_known_here() -> None:
    assert set(OWN_LINES) | set(workflows.USUAL) <= JOBS.keys()
    by_hand = {
        name
        for name, job in JOBS.items()
        if any(words[:3] == ["python", "-m", "pytest"] for words, _ in commands(job))
    }
    assert by_hand == set(OWN_LINES)


@pytest.mark.parametrize("name", JOBS)
def test_what_a_job_names_exists(name: str) -> None:
    targets = set(re.findall(r"^([\w./-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    targets |= {".venv/.ready"}
    known_extras = PROJECT["project"]["optional-dependencies"].keys()
    for words, variables in commands(JOBS[name]):
        match words:
            case ["make", *asked]:
                assert targets >= set(asked)
            case [program, "-m", "pip", "install", *_]:
                assert program in ("python", ".venv/bin/python")
                extras, groups = installed_by(shlex.join(words))
                assert extras <= known_extras
                assert all(map(group_of, groups))
        files = after(words, "--constraint", "--requirement", "--ignore")
        files += filter(re.compile(r"(tests|tools|\.ci|\.github)/[\w./-]+$").match, words)
        files += variables.get("MAXRANDOM_SKIPS", "").split(":")
        assert [file for file in files if not (ROOT / file).exists()] == []


def test_a_job_that_reads_a_list_of_skips_has_the_project_s_own() -> None:
    for name, job in JOBS.items():
        for words, variables in commands(job):
            if "pytest" in words and "MAXRANDOM_SKIPS" in variables:
                assert "tests/expected_skips.txt" in variables["MAXRANDOM_SKIPS"].split(":"), name


@pytest.mark.parametrize("name", OWN_LINES)
def test_tests_run_with_nothing_but_what_their_job_installs(name: str, tmp_path: Path) -> None:
    """Those that name a package which the job leaves out; `make jobs` runs all of them."""
    packages = packages_of(JOBS[name])
    if packages.missing:
        pytest.skip(f"{name} installs what is not installed here: {sorted(packages.missing)}")
    words, variables = pytest_of(JOBS[name])
    ignored = [ROOT / folder for folder in after(words, "--ignore")]
    files = [ROOT / word for word in words if word.endswith(".py")]
    foreign = "|".join([*left_out(packages), "lm-eval", "tiny-llama"]).replace("-", "[-_.]")
    files += [
        path
        for word in words
        if (ROOT / word).is_dir() and (ROOT / word) not in ignored
        for path in sorted((ROOT / word).rglob("test_*.py"))
        if not any(path.is_relative_to(folder) for folder in ignored)
        and re.search(rf"\b({foreign})\b", path.read_text(encoding="utf-8"))
    ]
    assert files
    environment = packages.environment(tmp_path / "environment")
    environment.add_project()
    outer = ("PYTHON", "PYTEST_", "MAXRANDOM_SKIPS")
    kept = {key: value for key, value in os.environ.items() if not key.startswith(outer)}
    done = subprocess.run(
        [environment.scripts / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *files],
        cwd=ROOT,
        env=kept | variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == pytest.ExitCode.OK, done.stdout[-4000:] + done.stderr
