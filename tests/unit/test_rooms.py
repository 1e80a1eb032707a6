"""The package is a house of few rooms, and imports run through it in one direction."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest_maxrandom

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(pytest_maxrandom.__file__).parent
MODULES = {
    ".".join((PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
        ".__init__"
    ): path
    for path in PACKAGE.rglob("*.py")
}


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the modules of the package that are imported, for annotations and in functions too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] == PACKAGE.name:
            for alias in node.names:
                below = f"{node.module}.{alias.name}"
                yield below if below in MODULES else str(node.module)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)


@cache
def needs() -> dict[str, set[str]]:
    """Return what each module imports."""
    return {
        module: set(imported(ast.parse(path.read_text(encoding="utf-8")))) - {module}
        for module, path in MODULES.items()
    }


def room(module: str) -> str:
    """A folder, or a module that stands beside the folders."""
    return module.split(".")[1] if "." in module else "the package itself"


def test_every_module_is_read() -> None:
    assert "pytest_maxrandom.stats.best_of" in needs()["pytest_maxrandom.stats.maximum"]


def test_no_room_needs_one_that_needs_it() -> None:
    rooms: dict[str, set[str]] = {}
    for module, others in needs().items():
        rooms.setdefault(room(module), set()).update(map(room, others))
    graph = {one: others - {one, "the package itself"} for one, others in rooms.items()}
    TopologicalSorter(graph).prepare()  # CycleError names the rooms


def floors() -> dict[str, int]:
    """Return the line of each room in the picture of the design, counted from the top."""
    page = (PACKAGE.parent / "docs" / "design.md").read_text(encoding="utf-8")
    drawn = page.partition("```\n")[2].partition("```")[0].splitlines()
    lines = [re.findall(r"(?:^| )([a-z]+)(?:/|\.py)", line[:30]) for line in drawn]
    return {name: number for number, names in enumerate(lines) for name in names}


def test_the_picture_in_the_design_is_what_stands() -> None:
    floor = floors()
    rooms = {room(module) for module in MODULES if module != PACKAGE.name}
    assert rooms == set(floor)
    upward = {
        (room(module), room(need))
        for module, others in needs().items()
        for need in others - {PACKAGE.name}
        if room(module) != room(need) and module != PACKAGE.name
        if floor[room(need)] <= floor[room(module)]
    }
    assert not upward


def test_no_module_needs_one_that_needs_it() -> None:
    TopologicalSorter(needs()).prepare()  # CycleError names the modules


def test_the_statistics_need_no_other_room() -> None:
    found = {
        room(each) for module in needs() if room(module) == "stats" for each in needs()[module]
    }
    assert found <= {"stats"}


def test_the_house_has_few_rooms() -> None:
    entries = [path for path in PACKAGE.iterdir() if path.name != "__pycache__"]
    assert len(entries) <= 26
