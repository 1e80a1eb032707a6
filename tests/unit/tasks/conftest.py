"""Tasks written to a folder of the test's own, and loaded as a suite would."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_maxrandom.errors import SuiteError
from pytest_maxrandom.suite.tasks import TASKS
from pytest_maxrandom.tasks.load import load_task

if TYPE_CHECKING:
    from pytest_maxrandom.tasks import Task

SUITE = Path("suite.yaml")
LINES = {"path": 7, "format": 6, "pool": 8}


def where(*keys: str) -> tuple[Path, int]:
    """Return the line of a key of the task, or that of the key that it stands below."""
    return SUITE, LINES.get(keys[0], 5)


class Folder:
    """A current folder with one task file, `task.<format>`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self, format_: str, content: str | bytes | None, **keys: Any) -> Task:
        """Write the task file, if there is content, and load it."""
        file = self.path / f"task.{format_}"
        if content is not None:
            file.write_bytes(content if isinstance(content, bytes) else content.encode())
        keys = {"name": "t", "format": format_, "path": file.name, **keys}
        spec = TASKS.validate(keys)
        return load_task(spec, self.path, where)

    def mistakes(self, format_: str, content: str | bytes | None, **keys: Any) -> list[str]:
        """All that a user is told of a task that cannot be loaded."""
        with pytest.raises(SuiteError) as caught:
            self.load(format_, content, **keys)
        return [str(problem) for problem in caught.value.problems]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folder:
    monkeypatch.chdir(tmp_path)
    return Folder(tmp_path)
