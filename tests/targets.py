"""Which tests belong to ``make test`` and which to ``make check``: each to one of them.

``make test`` is what one runs before a change is sent: each law once, in minutes. ``make
check`` has what takes longer: whole folders, and single tests with the mark ``slow``. Without
``--target``, pytest runs what it is told to run, as ever.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

TESTS = Path(__file__).parent
CHECKED = {
    "docs": "what the documentation shows, run",
    "external": "published data and results",
    "integration": "the package built and installed, actions, gates, clusters of Ray, real logs",
    "page": "the page and the site in a real browser",
    "proof": "cuts of the proofs of what a green run means",
}
"""The folders of ``make check``, and what they need the time for."""
MARK = "slow"
WHY_SLOW = "training, larger simulations, servers and processes of their own"


def target_of(path: Path, marks: Iterable[str]) -> str:
    """Return the target of a test, by its file and its marks."""
    folder = path.relative_to(TESTS).parts[0] if path.is_relative_to(TESTS) else ""
    return "check" if folder in CHECKED or MARK in marks else "test"


def some(values: Iterable[str], chosen: Iterable[str]) -> list[object]:
    """Return the parameters of a test of which ``make test`` runs the chosen ones."""
    kept = {*chosen}
    return [
        value if value in kept else pytest.param(value, marks=getattr(pytest.mark, MARK))
        for value in values
    ]


def _chosen(config: pytest.Config) -> str | None:
    chosen: str | None = config.getoption("target")
    return chosen


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--target",
        choices=["test", "check"],
        help="run only the tests of `make test`, or those that it leaves to `make check`",
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Spare ``make test`` the reading of folders of which it runs nothing."""
    if _chosen(config) != "test" or collection_path.parent != TESTS:
        return None
    return True if collection_path.name in CHECKED else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if _chosen(config) is None:
        return
    others = [
        item
        for item in items
        if target_of(item.path, (mark.name for mark in item.iter_markers())) != _chosen(config)
    ]
    if others:
        left_out = set(others)
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=others)


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say what is left out, and why."""
    if _chosen(config) is None:
        return []
    if _chosen(config) == "check":
        return ["make check: what `make test` leaves out; nothing else is run here"]
    return [
        "make test: left to `make check` are",
        *(f"  tests/{folder}: {why}" for folder, why in CHECKED.items()),
        f"  tests marked {MARK}: {WHY_SLOW}",
    ]
