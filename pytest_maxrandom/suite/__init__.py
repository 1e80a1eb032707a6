"""Suites: which files they are, what they may say, and every mistake with its line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "eval_suites"


def is_suite(path: Path, root: Path) -> bool:
    """Tell whether a file is a suite: by its name, or YAML below a folder named eval_suites.

    Folders above `root` do not count, so that a checkout below such a folder is no suite.
    """
    if path.name.endswith((".maxrandom.yaml", ".maxrandom.yml")):
        return True
    folders = path.parent.relative_to(root.parent) if path.is_relative_to(root) else path.parent
    return path.suffix in (".yaml", ".yml") and FOLDER in folders.parts
