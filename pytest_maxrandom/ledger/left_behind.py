"""What HEAD counts of a claim beside another suite than the claim's."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import GitError
from pytest_maxrandom.host.git import is_checkout, repository
from pytest_maxrandom.ledger.digests import example_digest
from pytest_maxrandom.ledger.history import ClaimedSet, Commit, WorkTree, from_root
from pytest_maxrandom.ledger.losses import counted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pytest_maxrandom.host.git import Repository
    from pytest_maxrandom.ledger.lines import Row, Subject
    from pytest_maxrandom.tasks.task import Example


def left_behind(
    folder: Path, examples: Sequence[Example], subject: Subject, run: str = ""
) -> list[str]:
    """Say which ledger of HEAD counts prompts of a claim, though it stands beside another suite.

    Where there is no git, or no commit yet, nothing is known.

    Parameters
    ----------
    run : str
        Names the session, in which git is asked once for all claims beside this ledger; where it
        is empty, each time.
    """
    if not is_checkout(folder):
        return []
    head = (_head if run else _head.__wrapped__)(folder, run)
    if head is None:
        return []

    def counts(row: Row) -> bool:
        same = subject.model == row.get("model") or subject.model_digest == row.get("model_digest")
        return row["kind"] == "prompt" and same and row["shots"] == subject.shots

    try:
        here = from_root(head.tree, folder)
        if head.folders <= {here}:
            return []
        claimed = ClaimedSet(here, "", tuple(map(example_digest, examples)), counts)
        files = [file for file in head.about(claimed) if file.folder != here]
        now = WorkTree(head.tree) if files else None
    except (GitError, OSError, ValueError):
        return []
    return [
        f"{file.path}, committed beside another suite, counts {counted(prompts)} on these "
        f"examples, which this t leaves out; copy that file into {here}"
        for file in files
        if now and (prompts := [row for _, row in now.lacks(file, here) if counts(row)])
    ]


@functools.lru_cache(maxsize=16)
def _head(folder: Path, run: str) -> Commit | None:
    """Return the ledgers of HEAD as a session knows it; None where git cannot tell."""
    try:
        tree = repository(folder)
        return _ledgers_at(tree, tree.commit("HEAD"))
    except (GitError, OSError):
        return None


@functools.lru_cache(maxsize=4)
def _ledgers_at(tree: Repository, commit: str) -> Commit:
    return Commit(tree, "HEAD", commit)
