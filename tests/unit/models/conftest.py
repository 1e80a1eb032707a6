"""Each test of models is a session of its own."""

from __future__ import annotations

import pytest

from pytest_maxrandom.models.hf import hub


@pytest.fixture(autouse=True)
def session() -> None:
    """Forget the commits that other tests meant."""
    hub.begin()
