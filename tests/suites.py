"""Suites whose models are run, for tests that are about no others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.suite.loader import Suite, load_any_suite

if TYPE_CHECKING:
    from pathlib import Path


def load_suite(path: Path) -> Suite:
    suite = load_any_suite(path)
    assert isinstance(suite, Suite)
    return suite
