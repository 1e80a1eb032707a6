"""A suite with demonstrations from outside of its validation set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.searched import write_suite

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def suite(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two shots; 60 examples of 100."""
    monkeypatch.chdir(tmp_path)
    prompts = "shots: 2, count: 3"
    return write_suite(tmp_path / "eval_suites", prompts, examples=100, validation=60)
