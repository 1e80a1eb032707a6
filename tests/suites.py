"""Suites whose models are run, for tests that are about no others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_maxrandom.suite.loader import Suite, load_any_suite

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_maxrandom.suite.extensions import SpecUnion


def load_suite(path: Path) -> Suite:
    suite = load_any_suite(path)
    assert isinstance(suite, Suite)
    return suite


def either(names: Iterable[str]) -> str:
    """Names as a message lists what it expects."""
    return " or ".join(map(repr, names))


def having(union: SpecUnion[Any], key: str) -> str:
    """The built-in specs that have a key, as a message lists them."""
    return " | ".join(name for name, spec in union.specs.items() if key in spec.model_fields)
