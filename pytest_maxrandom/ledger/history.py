"""The ledgers of a repository: as they stood at a commit, and as they stand in the work tree."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pytest_maxrandom.ledger.files import FOLDER
from pytest_maxrandom.ledger.lines import fact, readable_rows, related

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pytest_maxrandom.host.git import Repository
    from pytest_maxrandom.ledger.lines import Row

    Facts = dict[tuple[object, ...], Row]

COUNTED = ("prompt", "look", "opening")
"""Kinds of lines that count for a claim."""


@dataclass(frozen=True)
class CommittedFile:
    """A file of the ledger at a commit.

    Attributes
    ----------
    path : PurePosixPath
        From the root of the work tree.
    data : bytes
        What it held.
    """

    path: PurePosixPath
    data: bytes

    @property
    def folder(self) -> PurePosixPath:
        """The ledger that it belongs to."""
        return self.path.parent

    @cached_property
    def rows(self) -> list[tuple[int, Row]]:
        """Its lines with their numbers; what was no line of a ledger there need not stand now."""
        return list(readable_rows(self.data))

    @cached_property
    def sets(self) -> dict[str, tuple[str, ...]]:
        """The digests of the examples of each validation set, by the set's."""
        return dict(_sets(self.data))


@dataclass(frozen=True)
class ClaimedSet:
    """Examples on which claims are tested that a ledger counts for.

    Attributes
    ----------
    folder : PurePosixPath
        The ledger beside the suite, from the root of the work tree.
    who : str
        Names the suite, or the file, for a person.
    examples : tuple of str
        Digests of the examples.
    counts : callable
        Tells whether a row counts for one of the claims.
    """

    folder: PurePosixPath
    who: str
    examples: tuple[str, ...]
    counts: Callable[[Row], bool]


class Commit:
    """All files of the ledger at a commit.

    Parameters
    ----------
    tree : Repository
        The work tree.
    ref : str
        Names the commit for a person.
    commit : str
        The commit.

    Attributes
    ----------
    folders : set of PurePosixPath
        Where ledgers stood.

    Raises
    ------
    GitError
        If the commit's files cannot be listed.
    """

    def __init__(self, tree: Repository, ref: str, commit: str) -> None:
        self.tree, self.ref, self.commit = tree, ref, commit
        names = {
            PurePosixPath(path): name
            for path, name in tree.files_at(commit).items()
            if path.endswith(".jsonl") and PurePosixPath(path).parent.name == FOLDER
        }
        self._names = dict(sorted(names.items()))
        self.folders = {path.parent for path in self._names}

    @cached_property
    def files(self) -> list[CommittedFile]:
        """The files, in the order of their paths.

        Raises
        ------
        GitError
            If git lacks their contents.
        """
        contents = self.tree.contents(self._names.values())
        return [CommittedFile(path, contents[name]) for path, name in self._names.items()]

    def about(self, claimed: ClaimedSet) -> list[CommittedFile]:
        """Return the files about a set, changed a little or not: those beside it, else any."""
        found = [file for file in self.files if related(file.sets, claimed.examples)]
        return [file for file in found if file.folder == claimed.folder] or found


class WorkTree:
    """The files of the ledger in the work tree, by their folders.

    Raises
    ------
    GitError
        If git cannot list them.
    """

    def __init__(self, tree: Repository) -> None:
        self._tree = tree
        self._data: dict[PurePosixPath, dict[Path, bytes]] = {}
        self._facts: dict[PurePosixPath | None, Facts] = {}
        for path in tree.files(f":(glob)**/{FOLDER}/*.jsonl"):
            if path.is_file():
                folder = from_root(tree, path.parent)
                self._data.setdefault(folder, {})[path] = path.read_bytes()

    def facts(self, folder: PurePosixPath | None = None) -> Facts:
        """Return what the lines of a ledger say; or of all ledgers as one."""
        if folder not in self._facts:
            if folder is None:
                every = [self.facts(one) for one in self._data]
                self._facts[None] = {name: row for facts in every for name, row in facts.items()}
            else:
                data = self._data.get(folder, {}).values()
                rows = (row for each in data for _, row in readable_rows(each))
                self._facts[folder] = {fact(row): row for row in rows}
        return self._facts[folder]

    def lacks(
        self, file: CommittedFile, folder: PurePosixPath | None = None
    ) -> list[tuple[int, Row]]:
        """Return the lines of a file that stand in no ledger, or not in one, with their numbers."""
        own = self._data.get(folder or file.folder, {}).values()
        if any(data.startswith(file.data) for data in own):  # only added to, as mostly
            return []
        facts = self.facts(folder)
        return [(number, row) for number, row in file.rows if fact(row) not in facts]

    def claimed_sets(self) -> Iterator[ClaimedSet]:
        """Yield the sets that the files are about, each with the claims that they hold."""
        for folder, files in self._data.items():
            for path, data in files.items():
                who = from_root(self._tree, path).as_posix()
                for _, examples in _sets(data):
                    yield ClaimedSet(folder, who, examples, _counts_like(data))


def from_root(tree: Repository, path: Path) -> PurePosixPath:
    """Return a path from the root of the work tree on.

    Raises
    ------
    ValueError
        If it is not below it.
    """
    return PurePosixPath(path.resolve().relative_to(tree.root.resolve()).as_posix())


def _sets(data: bytes) -> Iterator[tuple[str, tuple[str, ...]]]:
    for _, row in readable_rows(data, sets_only=True):
        if row["kind"] == "set":
            yield row["set"], tuple(row["examples"])


def _counts_like(data: bytes) -> Callable[[Row], bool]:
    """Return what tells whether a row counts for one of the claims of a file, read when asked."""

    @functools.cache
    def claims() -> set[tuple[str, int]]:
        return {
            (row[name], row["shots"])  # no name of a model is a digest of one
            for _, row in readable_rows(data)
            if row["kind"] == "prompt"
            for name in ("model", "model_digest")
        }

    def counts(row: Row) -> bool:
        if row["kind"] not in COUNTED:
            return False
        names = {(row["model"], row["shots"]), (row["model_digest"], row["shots"])}
        return not names.isdisjoint(claims())

    return counts
