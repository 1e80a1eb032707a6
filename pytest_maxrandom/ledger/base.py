"""What stood in the repository before a change: at the commit that a session is compared with."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import GitError
from pytest_maxrandom.host.git import is_checkout, repository
from pytest_maxrandom.ledger.folder import FOLDER
from pytest_maxrandom.ledger.history import from_root

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path, PurePosixPath

    from pytest_maxrandom.host.git import Repository

BASE = "MAXRANDOM_BASE"
"""Environment variable: the branch or commit that a change is compared with; `maxrandom gate` sets
it for its tests."""
_USUAL = "refs/remotes/origin/HEAD"


@dataclass(frozen=True)
class Base:
    """What a folder with suites held at a commit that HEAD comes from."""

    tree: Repository
    commit: str
    folder: PurePosixPath
    """From the root of the work tree."""

    @cached_property
    def files(self) -> Mapping[str, str]:
        """The regular files of the commit: path from the root to the object's name.

        Raises
        ------
        GitError
            If git cannot list them.
        """
        return self.tree.files_at(self.commit)

    @cached_property
    def ledger(self) -> frozenset[str]:
        """What the files of the ledger in this folder were called."""
        start = (self.folder / FOLDER).as_posix() + "/"
        return frozenset(path.removeprefix(start) for path in self.files if path.startswith(start))


def bases(folder: Path) -> tuple[Base, ...]:
    """Return what a folder held before a change, as far as git knows; the earliest first.

    That is the point where HEAD left what `BASE` names. Where it is not set, it is the point where
    HEAD left the default branch of `origin`, and HEAD itself.
    """
    if not is_checkout(folder):
        return ()
    try:
        tree = repository(folder)
        here = from_root(tree, folder)
        if said := os.environ.get(BASE):
            commits = [tree.fork_point(said)]
        else:
            commits = [tree.commit("HEAD")]
            with suppress(GitError):
                commits.insert(0, tree.fork_point(_USUAL))
        found = tuple(Base(tree, commit, here) for commit in dict.fromkeys(commits))
        for one in found:
            one.files  # noqa: B018 - asked here, so that what git lacks is lacking for all
    except (GitError, OSError, ValueError):
        return ()
    return found
