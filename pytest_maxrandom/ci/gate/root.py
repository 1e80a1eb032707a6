"""A plugin for pytest, in the gate's run only: tells what the paths in the reports start from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

VARIABLE = "MAXRANDOM_GATE_ROOT"
"""Names the file that rootdir is written to."""


def pytest_configure(config: pytest.Config) -> None:
    """Write rootdir to the file that the gate names."""
    if VARIABLE in os.environ and not hasattr(config, "workerinput"):
        Path(os.environ[VARIABLE]).write_text(str(config.rootpath), encoding="utf-8")
