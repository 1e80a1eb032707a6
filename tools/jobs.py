"""Run jobs of the workflows as they are written, each in a fresh clone with nothing installed.

    python tools/jobs.py                                   # those of `make jobs`
    python tools/jobs.py ci/light ci/bayes --python 3.13
    python tools/jobs.py --list

A job's lines run in a clone of the last commit and an environment that has pip only, with the
Python of the job's matrix, or the one that is named. A job that needs the host (its event, its
token, other actions than those that fetch the code and set Python up) is not run.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).parents[1]
USUAL = ("ci/light", "pages/build", "release/build")
"""The jobs that take minutes; `ci/test` and `ci/pythons` are `make test check` in an environment
of their own, `ci/servers` builds servers, `ci/quantized` and `ci/bayes` install gigabytes."""
_HARMLESS = ("actions/checkout@", "actions/setup-python@", "actions/upload-")
_BASH = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c")


@dataclass(frozen=True)
class Line:
    """What one step runs."""

    script: str
    variables: dict[str, str]


@dataclass(frozen=True)
class Job:
    """One job of a workflow."""

    name: str
    """The workflow's file and the job: ``ci/light``."""
    pythons: tuple[str, ...]
    lines: tuple[Line, ...]
    needs_host: bool

    @classmethod
    def read(cls, name: str, definition: dict[str, Any]) -> Job:
        """Read a job from its workflow."""
        matrix = definition.get("strategy", {}).get("matrix", {})
        steps = definition["steps"]
        uses = [step["uses"] for step in steps if "uses" in step]
        versions = [
            step["with"]["python-version"]
            for step in steps
            if step.get("uses", "").startswith("actions/setup-python@")
        ]
        lines = tuple(Line(step["run"], step.get("env", {})) for step in steps if "run" in step)
        expressions = any("${{" in value for line in lines for value in line.variables.values())
        foreign = any(not action.startswith(_HARMLESS) for action in uses)
        pythons = matrix.get("python", versions)
        return cls(name, tuple(map(str, pythons)), lines, not pythons or foreign or expressions)

    def run(self, interpreter: str) -> int:
        """Run its lines with a Python; return the exit code of the first that fails, or 0."""
        with tempfile.TemporaryDirectory(prefix="job-") as folder:
            clone, environment = Path(folder) / "clone", Path(folder) / "environment"
            subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
            if self.name == "release/build":
                _date_release(clone)
            subprocess.run([interpreter, "-m", "venv", str(environment)], check=True)
            variables = _variables(environment, Path(folder))
            for line in self.lines:
                print(f"{self.name}: {line.script.strip()}", flush=True)
                done = subprocess.run(
                    [*_BASH, line.script], cwd=clone, env=variables | line.variables, check=False
                )
                if done.returncode:
                    return done.returncode
        return 0


def jobs() -> Iterator[Job]:
    """Yield every job of the project's workflows."""
    for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")):
        for name, definition in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].items():
            yield Job.read(f"{path.stem}/{name}", definition)


def interpreter(version: str) -> str | None:
    """Return the program of a version of Python, if one is on the path that runs."""
    path = shutil.which(f"python{version}")
    if path is None:
        return None
    command = [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return path if done.stdout.strip() == version else None  # others are stand-ins for none


def _variables(environment: Path, folder: Path) -> dict[str, str]:
    """Return the variables of a runner, as far as the jobs read them."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    owner = tomllib.loads((ROOT / "publisher.toml").read_text(encoding="utf-8"))["owner"]
    foreign = ("PYTHON", "VIRTUAL_ENV", "MAXRANDOM_", "PYTEST_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    return kept | {
        "CI": "true",
        "GITHUB_REF_NAME": f"v{project['version']}",
        "GITHUB_REPOSITORY_OWNER": owner,
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "PATH": f"{environment / 'bin'}{os.pathsep}{os.environ['PATH']}",
    }


def _date_release(clone: Path) -> None:
    """Commit the date that the changelog has when a release is tagged."""
    path = clone / "CHANGELOG.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(re.sub(r"^(## \S+ - )Unreleased$", r"\g<1>2026-01-31", text, flags=re.M))
    identity = ["-c", "user.name=release", "-c", "user.email=release@localhost"]
    command = ["git", *identity, "commit", "--quiet", "--all", "--allow-empty", "-m", "Date"]
    subprocess.run(command, cwd=clone, check=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for; the exit code is 1 if a job fails."""
    known = {job.name: job for job in jobs()}
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="JOB", help="WORKFLOW/JOB")
    parser.add_argument("--python", help="version of Python, rather than each of the job's matrix")
    parser.add_argument("--list", action="store_true", help="list the jobs, and run nothing")
    options = parser.parse_args(arguments)
    if options.list:
        for job in known.values():
            print(job.name, "needs the host" if job.needs_host else ", ".join(job.pythons))
        return 0
    for name in options.names:
        if name not in known or known[name].needs_host:
            ways = ", ".join(job.name for job in known.values() if not job.needs_host)
            parser.error(f"{name} is no job that runs without its host; there are {ways}")
    outcomes: dict[str, str] = {}
    for name in options.names or USUAL:
        for version in [options.python] if options.python else known[name].pythons:
            program = interpreter(version)
            code = known[name].run(program) if program else None
            outcomes[f"{name}, Python {version}"] = (
                f"not run: no python{version} that runs is on the PATH"
                if code is None
                else f"exit code {code}"
                if code
                else "passed"
            )
    for what, outcome in outcomes.items():
        print(f"{what}: {outcome}")
    failed = any(outcome.startswith("exit code") for outcome in outcomes.values())
    return int(failed or "passed" not in outcomes.values())


if __name__ == "__main__":
    sys.exit(main())
