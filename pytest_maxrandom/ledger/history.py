"""The ledgers of a repository: as they stood at a commit, and as they stand in the work tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import GitError
from pytest_maxrandom.ledger.folder import FOLDER
from pytest_maxrandom.ledger.lines import fact, read_lines, related
from pytest_maxrandom.ledger.outlines import Outline
from pytest_maxrandom.ledger.questions import explained

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from pytest_maxrandom.host.git import Repository
    from pytest_maxrandom.ledger.fields import Row

_POINTER = b"version https://git-lfs"
"""How the file begins that git keeps in place of one of git LFS."""
COUNTED = ("prompt", "look", "opening", "feedback")
"""Kinds of lines that count for a claim."""


@dataclass(frozen=True)
class File:
    """A file of a ledger, at a commit or in the work tree."""

    path: PurePosixPath
    """From the root of the work tree."""
    data: bytes
    """What it holds."""

    @property
    def folder(self) -> PurePosixPath:
        """The ledger that it belongs to."""
        return self.path.parent

    @cached_property
    def rows(self) -> list[tuple[int, Row]]:
        """Its lines with their numbers, but those that are wrong: `verify` names these."""
        lines = read_lines(self.data)
        return [(number, found) for number, found in lines if not isinstance(found, str)]

    @cached_property
    def facts(self) -> dict[tuple[object, ...], Row]:
        """What its lines say, each with the line."""
        return {fact(row): row for _, row in self.rows}

    @cached_property
    def about(self) -> Outline:
        """What it is about, by those of its lines that say it."""
        return Outline.of_lines(self.data)

    @property
    def sets(self) -> dict[str, tuple[str, ...]]:
        """The digests of the examples of each validation set, by the set's."""
        return self.about.sets

    @cached_property
    def _claims(self) -> set[tuple[str, int]]:
        return {
            (row[name], row["shots"])  # no name of a model is a digest of one
            for _, row in self.rows
            if row["kind"] == "prompt"
            for name in ("model", "model_digest")
        }

    def counts(self, row: Row) -> bool:
        """Tell whether a row counts for one of the claims that the file holds prompts of."""
        names = {(row["model"], row["shots"]), (row["model_digest"], row["shots"])}
        return not names.isdisjoint(self._claims)


@dataclass(frozen=True)
class ClaimedSet:
    """Examples on which claims are tested that a ledger counts for."""

    folder: PurePosixPath
    """The ledger beside the suite, from the root of the work tree."""
    who: str
    """Names the suite, or the file, for a person."""
    examples: tuple[str, ...]
    """Digests of the examples."""
    questions: Mapping[str, str]
    """Those of their questions, by the example's, where they are known."""
    counts: Callable[[Row], bool]
    """Tells whether a row of a kind in `COUNTED` counts for one of the claims."""


class Commit:
    """All files of the ledger at a commit: where HEAD left a reference.

    Parameters
    ----------
    tree : Repository
        The work tree.
    ref : str
        Names the commit for a person, too.

    Attributes
    ----------
    commit : str
        The commit.
    folders : set of PurePosixPath
        Where ledgers stood.

    Raises
    ------
    GitError
        If there is no such reference, the commit's files cannot be listed, or a ledger is a
        submodule there, of which the commit has no lines.
    """

    def __init__(self, tree: Repository, ref: str) -> None:
        self.tree, self.ref, self.commit = tree, ref, tree.fork_point(ref)
        for path in tree.submodules_at(self.commit):
            if PurePosixPath(path).name == FOLDER:
                raise GitError(
                    f"{path} is a submodule at {ref}, of which git keeps no lines here, so none "
                    "can be missed; keep the ledger in the repository itself"
                )
        names = {
            PurePosixPath(path): name
            for path, name in tree.files_at(self.commit).items()
            if path.endswith(".jsonl") and PurePosixPath(path).parent.name == FOLDER
        }
        self._names = dict(sorted(names.items()))
        self.folders = {path.parent for path in self._names}

    @cached_property
    def files(self) -> list[File]:
        """The files, in the order of their paths.

        Raises
        ------
        GitError
            If git lacks their contents.
        """
        return self.files_of(self.paths)

    @property
    def paths(self) -> Collection[PurePosixPath]:
        """Where the files stood."""
        return self._names.keys()

    def files_of(self, paths: Iterable[PurePosixPath]) -> list[File]:
        """Return some of the files.

        Raises
        ------
        GitError
            If git lacks their contents.
        """
        names = {path: self._names[path] for path in paths}
        contents = self.tree.contents(names.values())
        for path, name in names.items():
            if contents[name].startswith(_POINTER):
                raise GitError(
                    f"{path} is kept by git LFS at {self.ref}, so git has none of its lines; take "
                    f"{FOLDER} out of .gitattributes, since a ledger is small"
                )
        return [File(path, contents[name]) for path, name in names.items()]

    def about(
        self, examples: Sequence[str], questions: Mapping[str, str], folder: PurePosixPath
    ) -> list[File]:
        """Return the files about a set, changed a little or not: those of a ledger, else any."""
        found = [
            file
            for file in self.files
            if related(file.sets, examples, explained([file.about], questions))
        ]
        return [file for file in found if file.folder == folder] or found


class WorkTree:
    """All files of the ledger in the work tree.

    Raises
    ------
    GitError
        If git cannot list them.
    """

    def __init__(self, tree: Repository) -> None:
        self.files = [
            File(from_root(tree, path.parent) / path.name, path.read_bytes())
            for path in tree.files(f":(glob)**/{FOLDER}/*.jsonl")
            if path.is_file()
        ]

    def lacks(self, file: File, folder: PurePosixPath | None = None) -> list[tuple[int, Row]]:
        """Return the lines of a file that stand in no ledger, or not in one, with their numbers."""
        own = [one for one in self.files if one.folder == (folder or file.folder)]
        if any(one.data.startswith(file.data) for one in own):  # only added to, as mostly
            return []
        there = self.files if folder is None else own
        known = set[tuple[object, ...]]().union(*(one.facts for one in there))
        return [(number, row) for number, row in file.rows if fact(row) not in known]

    def claimed_sets(self) -> Iterator[ClaimedSet]:
        """Yield the sets that the files are about, each with the claims that they hold."""
        for file in self.files:
            for examples in file.sets.values():
                questions = file.about.questions
                yield ClaimedSet(file.folder, str(file.path), examples, questions, file.counts)


def from_root(tree: Repository, path: Path) -> PurePosixPath:
    """Return a path from the root of the work tree on.

    Raises
    ------
    ValueError
        If it is not below it.
    """
    return PurePosixPath(path.resolve().relative_to(tree.root.resolve()).as_posix())
