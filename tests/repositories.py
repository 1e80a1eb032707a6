"""Git repositories made on the spot, independent of what the machine's user has configured."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_WHO = ["-c", "user.name=Robin", "-c", "user.email=robin@example.org", "-c", "commit.gpgsign=false"]


def git(folder: Path, *arguments: object) -> str:
    """Run git in a folder and return what it prints."""
    environment = {name: value for name, value in os.environ.items() if name[:4] != "GIT_"}
    environment |= {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    done = subprocess.run(
        ["git", "-C", str(folder), *_WHO, *map(str, arguments)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def begin_repository(folder: Path) -> Path:
    """Make a folder a repository on the branch `main`, and commit what is in it."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    return commit(folder)


def commit(folder: Path) -> Path:
    """Commit all that is in the work tree."""
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message=work")
    return folder
