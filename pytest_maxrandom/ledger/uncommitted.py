"""Prompts that a ledger counts in the work tree alone, so that no other machine knows of them."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import GitError
from pytest_maxrandom.host.git import is_checkout, repository
from pytest_maxrandom.ledger.history import Commit, file_at, from_root
from pytest_maxrandom.ledger.lines import fact

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from pytest_maxrandom.host.git import Repository
    from pytest_maxrandom.ledger.history import File


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
            number = _number(repository(folder), folder, files)
        except (GitError, OSError, ValueError):
            continue
        if number:
            numbers[folder] = number
    return numbers


def _number(tree: Repository, folder: Path, files: Iterable[Path]) -> int:
    """Count the prompts of the files of one ledger that HEAD lacks.

    Only files that differ from HEAD's have some, so that only these, and what HEAD knows of the
    same sets, are read.
    """
    place = from_root(tree, folder)
    try:
        head = Commit(tree, "HEAD")
    except GitError:  # there is no commit yet
        return len(_prompts(file_at(path, place / path.name) for path in files))
    here = {path for path in head.paths if path.parent == place}
    changed = {PurePosixPath(path) for path in tree.changed_since(head.commit)}
    unchanged = here - changed
    mine = [
        file_at(path, place / path.name) for path in files if place / path.name not in unchanged
    ]
    new = _prompts(mine)
    if not new:
        return 0
    sets = {digest for file in mine for digest in file.sets}
    known = _prompts(head.files_of(here - unchanged))
    for path in unchanged:
        file = file_at(folder / path.name, path)
        if not sets.isdisjoint(file.sets):
            known |= _prompts([file])
    return len(new - known)


def _prompts(files: Iterable[File]) -> set[tuple[object, ...]]:
    """Return what files count; a prompt has a second line once its right answers are known."""
    rows = (row for file in files for _, row in file.rows if row["kind"] == "prompt")
    return {fact({**row, "correct": None}) for row in rows}
