"""Figures are drawn as the command draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from pytest_maxrandom.figures import style

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def style_of_figures() -> Iterator[None]:
    with style.applied():
        yield
