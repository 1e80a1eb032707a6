"""Suite files of the test's own, loaded as pytest would."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.errors import SuiteError
from tests.suites import load_suite

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.suite.loader import Suite


class SuiteText:
    """One suite file, `s.yaml`."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "s.yaml"

    def load(self, text: str | bytes) -> Suite:
        """Write the file and load it."""
        self.path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_suite(self.path)

    def mistakes(self, text: str | bytes) -> list[str]:
        """All that a user is told, each as `line: message`."""
        with pytest.raises(SuiteError) as caught:
            self.load(text)
        shown = [str(problem) for problem in caught.value.problems]
        assert all(message.startswith(f"{self.path}:") for message in shown)
        assert not any("\n" in message for message in shown)
        return [message.removeprefix(f"{self.path}:") for message in shown]


@pytest.fixture
def suite(tmp_path: Path) -> SuiteText:
    return SuiteText(tmp_path)
