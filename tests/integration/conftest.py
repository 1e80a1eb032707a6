"""A repository with claims, and the forge where it lives."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from typing import TYPE_CHECKING

import pytest

from tests.integration.jobs import ROOT
from tests.unit.ci.server import Server, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the source distribution, as `python -m build` makes both."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (sources,) = folder.glob("*.tar.gz")
    with tarfile.open(sources) as archive:
        archive.extractall(folder, filter="data")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    unpacked = folder / sources.name.removesuffix(".tar.gz")
    subprocess.run([*command, "--wheel-dir", str(folder), str(unpacked)], check=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A repository with a configuration of pytest of its own, in a folder below it."""
    folder = tmp_path / "work space" / "models"
    folder.mkdir(parents=True)
    (folder / "pytest.ini").write_text("[pytest]\n")
    return folder.parent


@pytest.fixture
def forge() -> Iterator[Server]:
    """GitHub's interface, with pull request 7 of team/models."""
    with serving(Server()) as server:
        yield server
