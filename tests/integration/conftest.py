"""A repository with claims, and the forge where it lives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.unit.ci.server import Server, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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
