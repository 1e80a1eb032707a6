"""The rooms of the package import each other in one direction, annotations aside."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest_maxrandom

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(pytest_maxrandom.__file__).parent


def room(module: str) -> str:
    """A folder, or a module that stands beside the folders."""
    return module.split(".")[1]


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the modules of the package that are imported when code runs, also within functions."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.ImportFrom) and node.module == PACKAGE.name:
            yield from (f"{PACKAGE.name}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and str(node.module).startswith(f"{PACKAGE.name}."):
            yield str(node.module)
        yield from imported(node)


def test_no_room_imports_one_that_needs_it() -> None:
    needs: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        module = ".".join((PACKAGE.name, *path.relative_to(PACKAGE).with_suffix("").parts))
        found = {room(each) for each in imported(ast.parse(path.read_text(encoding="utf-8")))}
        needs.setdefault(room(module), set()).update(found - {room(module)})
    assert {"flags", "label_bias", "stats"} <= needs.keys()
    assert "stats" in needs["label_bias"]
    TopologicalSorter(needs).prepare()  # CycleError names the rooms
