"""The ledgers of a repository: as they stood at a commit, and as they stand in the work tree."""

from __future__ import annotations

import hashlib
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

_AT_ONCE = 50
"""Files that git is asked for together: they are in memory at once."""
_POINTER = b"version https://git-lfs"
"""How the file begins that git keeps in place of one of git LFS."""
_OF_TESTS = ("test", "opening")
COUNTED = ("prompt", "look", "opening", "feedback")
"""Kinds of lines that count for a claim."""


@dataclass(frozen=True)
class File:
    """A file of a ledger, at a commit or in the work tree.

    What it holds is read where it is needed, since ledgers only grow.
    """

    path: PurePosixPath
    """From the root of the work tree."""
    name: str
    """By which git knows what it holds."""
    about: Outline
    """What it is about, by those of its lines that say it."""
    read: Callable[[], bytes]
    """Returns what it holds."""

    @property
    def folder(self) -> PurePosixPath:
        """The ledger that it belongs to."""
        return self.path.parent

    @property
    def sets(self) -> dict[str, tuple[str, ...]]:
        """The digests of the examples of each validation set, by the set's."""
        return self.about.sets

    @cached_property
    def rows(self) -> list[tuple[int, Row]]:
        """Its lines with their numbers, but those that are wrong: `verify` names these."""
        lines = read_lines(self.read())
        return [(number, found) for number, found in lines if not isinstance(found, str)]

    @cached_property
    def facts(self) -> dict[tuple[object, ...], Row]:
        """What its lines say, each with the line."""
        return {fact(row): row for _, row in self.rows}

    @cached_property
    def _claims(self) -> set[tuple[str, int]]:
        return {
            (row[name], row["shots"])  # no name of a model is a digest of one
            for _, row in self.rows
            if row["kind"] == "prompt"
            for name in ("model", "model_digest")
        }

    def beyond(self, others: Sequence[File]) -> list[tuple[int, Row]]:
        """Return the lines, with their numbers, that say what stands in none of some other files.

        What a line says of a validation set stands in a file of that set, or nowhere; a test set
        may serve the claims of several.
        """
        if any(other.name == self.name for other in others):
            return []
        left = {fact(row): (number, row) for number, row in self.rows}
        tests = {row["test"] for _, row in left.values() if row["kind"] in _OF_TESTS}
        for other in sorted(others, key=self._is_of_other_sets):
            told = other.about.opened | other.about.tests.keys()
            if not left or (self._is_of_other_sets(other) and tests.isdisjoint(told)):
                continue
            for known in other.facts:
                left.pop(known, None)
        return [*left.values()]

    def _is_of_other_sets(self, other: File) -> bool:
        return bool(self.sets and other.sets and self.sets.keys().isdisjoint(other.sets))

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

    `commit` is its digest, and the reference names it for a person.

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
        """Where ledgers stood."""

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
        wanted, found = list(paths), list[File]()
        for start in range(0, len(wanted), _AT_ONCE):
            some = wanted[start : start + _AT_ONCE]
            contents = self.tree.contents(self._names[path] for path in some)
            found += [self._file(path, contents[self._names[path]]) for path in some]
        return found

    def _file(self, path: PurePosixPath, data: bytes) -> File:
        if data.startswith(_POINTER):
            raise GitError(
                f"{path} is kept by git LFS at {self.ref}, so git has none of its lines; take "
                f"{FOLDER} out of .gitattributes, since a ledger is small"
            )
        name = self._names[path]
        return File(path, name, Outline.of_lines([data]), lambda: self.tree.contents([name])[name])

    def about(
        self, examples: Sequence[str], questions: Mapping[str, str], folder: PurePosixPath
    ) -> list[File]:
        """Return the files about a set, changed a little or not: those of a ledger, else any."""
        names = {*examples, *questions.values()}
        near = sorted({place for name in names for place in self._by_name.get(name, ())})
        found = [
            file
            for file in map(self.files.__getitem__, near)
            if related(file.sets, examples, explained([file.about], questions))
        ]
        return [file for file in found if file.folder == folder] or found

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        """The places of the files by what they are about."""
        found: dict[str, list[int]] = {}
        for place, file in enumerate(self.files):
            for name in file.about.names:
                found.setdefault(name, []).append(place)
        return found


class WorkTree:
    """All files of the ledger in the work tree.

    Raises
    ------
    GitError
        If git cannot list them.
    """

    def __init__(self, tree: Repository) -> None:
        self.files = [
            file_at(path, from_root(tree, path.parent) / path.name)
            for path in tree.files(f":(glob)**/{FOLDER}/*.jsonl")
            if path.is_file()
        ]

    def lacks(self, file: File, folder: PurePosixPath | None = None) -> list[tuple[int, Row]]:
        """Return the lines of a file that stand in no ledger, or not in one, with their numbers."""
        own = [one for one in self.files if one.folder == (folder or file.folder)]
        if any(one.name == file.name for one in own):
            return []
        data = file.read()
        own.sort(key=lambda one: one.path != file.path)
        if any(one.read().startswith(data) for one in own):  # only added to, as mostly
            return []
        return file.beyond(self.files if folder is None else own)

    def claimed_sets(self) -> Iterator[ClaimedSet]:
        """Yield the sets that the files are about, each with the claims that they hold."""
        for file in self.files:
            about = file.about
            for examples in about.sets.values():
                yield ClaimedSet(
                    file.folder, str(file.path), examples, about.questions, file.counts
                )


def file_at(path: Path, name: PurePosixPath) -> File:
    """Return a file of the work tree; `name` is from the root of the work tree.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    data = path.read_bytes()
    known = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    return File(name, known, Outline.of_lines([data]), path.read_bytes)


def from_root(tree: Repository, path: Path) -> PurePosixPath:
    """Return a path from the root of the work tree on.

    Raises
    ------
    ValueError
        If it is not below it.
    """
    return PurePosixPath(path.resolve().relative_to(tree.root.resolve()).as_posix())
