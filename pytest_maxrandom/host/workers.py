"""Processes in which code of others is run: what they see of this one."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_KEPT = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TZ")
"""All that such a process gets of the environment: no keys are there."""


def command(script: Path, *arguments: str) -> list[str]:
    """Return what runs a script alone, with the paths of this process.

    Nothing is imported from the working folder, and no package that this process has imported.
    """
    run = (
        f"import runpy, sys; sys.path[:] = {sys.path!r}; "
        f"runpy.run_path({str(script)!r}, run_name='__main__')"
    )
    return [sys.executable, "-I", "-c", run, *arguments]


def environment() -> dict[str, str]:
    """Return what such a process gets of the environment."""
    return {name: os.environ[name] for name in _KEPT if name in os.environ}
