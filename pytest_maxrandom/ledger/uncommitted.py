"""Prompts that a ledger counts in the work tree alone, so that no other machine knows of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.errors import GitError
from pytest_maxrandom.host.git import is_checkout, repository
from pytest_maxrandom.ledger.history import Commit, File, from_root
from pytest_maxrandom.ledger.lines import fact

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def uncommitted(folders: Iterable[Path]) -> dict[Path, int]:
    """Count the prompts of ledgers that HEAD lacks, by their folders; nothing where it lacks none.

    Where there is no git checkout, or git cannot tell, nothing is known.
    """
    numbers: dict[Path, int] = {}
    for folder in folders:
        files = sorted(folder.glob("*.jsonl"))
        if not files or not is_checkout(folder):
            continue
        try:
            tree = repository(folder)
            place = from_root(tree, folder)
            known = set[tuple[object, ...]]()
            try:
                committed = Commit(tree, "HEAD").files
            except GitError:  # there is no commit yet
                committed = []
            for file in committed:
                if file.folder == place:
                    known |= _prompts(file)
            new = set[tuple[object, ...]]()
            for path in files:
                new |= _prompts(File(place / path.name, path.read_bytes()))
        except (GitError, OSError, ValueError):
            continue
        if number := len(new - known):
            numbers[folder] = number
    return numbers


def _prompts(file: File) -> set[tuple[object, ...]]:
    """Return what a file counts; a prompt has a second line once its right answers are known."""
    rows = (row for _, row in file.rows if row["kind"] == "prompt")
    return {fact({**row, "correct": None}) for row in rows}
