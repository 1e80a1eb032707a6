"""Files of ledgers that are read once, and then for what is new; of most only what it is about."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import LedgerError
from pytest_maxrandom.host.machine import on_shared_files
from pytest_maxrandom.ledger.files import LedgerFile, lines_of, unreadable, version_of
from pytest_maxrandom.ledger.folder import is_beside
from pytest_maxrandom.ledger.outlines import Outline
from pytest_maxrandom.ledger.questions import named

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

_SETTLED = 3_000_000_000
"""Nanoseconds after which a change of a folder shows in its time: some file systems count seconds
by twos."""


class LedgerFiles:
    """Files that many sets ask for: each is read once, and then what is new in it."""

    def __init__(self) -> None:
        self._known: dict[Path, LedgerFile] = {}
        self._folders: dict[Path, _Folder] = {}

    def is_shared(self, folder: Path) -> bool:
        """Tell whether several hosts may see a folder, which need not exist.

        Raises
        ------
        LockError
            As `on_shared_files`.
        """
        return self._folder(folder).is_shared

    def beside(self, folder: Path) -> Iterable[str]:
        """Return the names of the files in a folder that stand beside the first one of a set."""
        index = self._folder(folder)
        index.names()
        return index.beside

    def _folder(self, folder: Path) -> _Folder:
        if folder not in self._folders:
            self._folders[folder] = _Folder(folder)
        return self._folders[folder]

    def near(self, folder: Path, examples: Iterable[str]) -> list[LedgerFile]:
        """Return the files, as they are now, of sets that share an example with others or these.

        Of a thousand sets a claim looks at its own: what else stands in the folder is read once,
        because the examples of a file never change.

        Parameters
        ----------
        examples : iterable of str
            Digests, those of their questions as well. A set is near that shares one of them, or one
            with a set that is near.

        Raises
        ------
        LedgerError
            If one cannot be read, or does not say which examples it is about.
        """
        index, own = self._folder(folder), frozenset(examples)
        files: dict[str, LedgerFile] = {}
        names: frozenset[str] | None = None
        while names != (names := index.names()):  # again where some were united meanwhile
            index.keep(names)
            unread = index.unread(names)
            outlines = self._outlines(folder, unread)
            for name, outline in outlines.items():
                index.take(name, outline)
            gone = {*unread} - outlines.keys()
            wanted = index.near(own) - gone
            files.clear()
            while wanted:
                for name in sorted(wanted):
                    path = folder / name
                    try:
                        files[name] = self(path)
                        index.take(name, files[name])
                    except LedgerError:
                        if os.path.lexists(path):
                            raise
                        gone.add(name)
                wanted = (index.near(own) & names) - files.keys() - gone
            if not gone:
                break
            names -= gone
        near = index.near(own)
        return [files[name] for name in sorted(files) if name in near]

    def of_test(self, folder: Path, examples: Iterable[str]) -> list[LedgerFile]:
        """Return the files, as they are now, that may say anything of a test set, or one like it.

        One test set may serve many tasks, and what is said of questions in other words is said of
        whatever set has them. `examples` are digests of the test set's, those of their questions as
        well.

        Raises
        ------
        LedgerError
            If one cannot be read, or does not say which examples it is about.
        """
        outlines = self._outlines(folder, self._folder(folder).names())
        links = [link for each in outlines.values() for link in each.links]
        own = frozenset(examples)
        while more := {each for link in links if not own.isdisjoint(link) for each in link} - own:
            own |= more
        tests = {
            digest
            for each in outlines.values()
            for digest, test in each.tests.items()
            if not own.isdisjoint(test)
        }
        return [
            self(folder / name)
            for name, each in outlines.items()
            if not tests.isdisjoint(each.opened)
            or any(not own.isdisjoint(link) for link in each.links)
        ]

    def _outlines(self, folder: Path, names: Iterable[str]) -> dict[str, Outline]:
        """Return the outlines of files as they are now, by name; nothing of those that are gone.

        Raises
        ------
        LedgerError
            If one cannot be read, or does not say which examples it is about.
        """
        found: dict[str, Outline] = {}
        for name in sorted(names):
            try:
                found[name] = self.outline(folder / name)
            except LedgerError:
                if os.path.lexists(folder / name):
                    raise
        return found

    def outline(self, path: Path) -> Outline:
        """Return the outline of a file of one validation set as it is now.

        Raises
        ------
        LedgerError
            If it cannot be read, or does not say which examples it is about.
        """
        found = self._folder(path.parent).outline(path.name)
        if len(found.sets) != 1:  # all its lines tell why, or that it is empty
            self(path)
        return found

    def names(self, folder: Path) -> frozenset[str]:
        """Return what the files of a folder are called now."""
        return self._folder(folder).names()

    def examples(self, folder: Path) -> Collection[str]:
        """Return the digests of the examples of all sets of a folder, as `near` knows them.

        Those of their questions stand there, too.
        """
        return self._folders[folder].examples if folder in self._folders else ()

    def file(self, path: Path) -> LedgerFile:
        """Return a file, as it was when somebody last read it."""
        try:
            status = path.stat()
        except OSError:
            status = None
        known = self._known.get(path)
        if known is None or not known.may_begin(status):
            local = not self.is_shared(path.parent)
            known = self._known[path] = LedgerFile(path, local=local)
        return known

    def __call__(self, path: Path) -> LedgerFile:
        """Return a file of one validation set as it is now, its lines not all checked.

        It is shared: only look at it.

        Raises
        ------
        LedgerError
            If it cannot be read, or does not say which examples it is about.
        """
        file = self.file(path)
        if not file.is_as_read:
            file.read()
        file.check_set()
        return file


class _Folder:
    """Which files stand in a folder, and which of them are about an example."""

    def __init__(self, path: Path) -> None:
        self.is_shared = on_shared_files(path)
        """Whether several hosts may see it."""
        self.sets: dict[str, tuple[str, ...]] = {}
        """Digests of the examples, and of their questions, of each file by its name; of those alone
        that have some."""
        self.beside: list[str] = []
        """The names, as the folder was last listed, of files beside the first one of a set."""
        self._path = path
        self._names: dict[str, tuple[str, ...]] = {}
        self._listed: frozenset[str] = frozenset()
        self._version: tuple[int, ...] | None = None
        self._whole: frozenset[str] | None = None
        self._taken: dict[str, tuple[LedgerFile | Outline, int, int]] = {}
        self._outlines: dict[str, tuple[tuple[int, ...], Outline]] = {}
        self._last: tuple[frozenset[str], frozenset[str]] | None = None

    @property
    def examples(self) -> Collection[str]:
        """The digests by which files are found."""
        return self._names.keys()

    def names(self) -> frozenset[str]:
        """Return what the files are called now; the folder is listed where it may have changed.

        Hosts that share it may see its time late.
        """
        try:
            status = self._path.stat()
        except OSError:
            status = None
        version = None if status is None else version_of(status)
        if version is None or version != self._version:
            # What follows at once may leave the time of the folder as it is.
            settled = status is not None and time.time_ns() - status.st_mtime_ns > _SETTLED
            self._version = version if settled and not self.is_shared else None
            self._listed = frozenset(names_in(self._path))
            self.beside = [name for name in self._listed if is_beside(name)]
        return self._listed

    def outline(self, name: str) -> Outline:
        """Return the outline of a file as it is now.

        Raises
        ------
        LedgerError
            If it cannot be read.
        """
        path = self._path / name
        try:
            version = version_of(path.stat())
        except OSError as error:
            raise unreadable(path, error) from error
        if name not in self._outlines or self._outlines[name][0] != version:
            self._outlines[name] = version, Outline.of_lines(lines_of(path))
        return self._outlines[name][1]

    def unread(self, names: frozenset[str]) -> frozenset[str]:
        """Return those of some names of which it is not known what they are about."""
        if names is self._whole:
            return frozenset()
        left = names - self.sets.keys()
        self._whole = None if left else names
        return left

    def keep(self, names: frozenset[str]) -> None:
        """Forget all files but these."""
        if names is not self._whole and not self.sets.keys() <= names:
            self._whole = None
            kept = {name: examples for name, examples in self.sets.items() if name in names}
            self.sets, self._names, self._taken, self._last = {}, {}, {}, None
            for name, examples in kept.items():
                self._add(name, examples)

    def take(self, name: str, file: LedgerFile | Outline) -> None:
        """Take what a file is about, as it was just read."""
        seen = file, len(file.sets), len(file.questions)  # neither of which ever loses any
        if self._taken.get(name) == seen and not file.joins:
            return
        self._taken[name] = seen
        examples = tuple(each for one in file.sets.values() for each in one)
        examples += named(examples, file.questions) if file.questions else ()
        examples += tuple(each for pairs in file.joins.values() for each in pairs.values())
        if examples and self.sets.get(name) != examples:
            self.keep(frozenset(self.sets.keys() - {name}))
            self._add(name, examples)

    def near(self, examples: frozenset[str]) -> frozenset[str]:
        """Return the files that share an example with these, or with a file that is near.

        A claim asks several times, so the last answer is kept.
        """
        if self._last is None or self._last[0] != examples:
            self._last = examples, frozenset(self._found(examples))
        return self._last[1]

    def _found(self, examples: Iterable[str]) -> set[str]:
        paths: set[str] = set()
        waiting = [examples]
        while waiting:
            for example in waiting.pop():
                for name in self._names.get(example, ()):
                    if name not in paths:
                        paths.add(name)
                        waiting.append(self.sets[name])
        return paths

    def _add(self, name: str, examples: tuple[str, ...]) -> None:
        self.sets[name], self._last = examples, None
        for example in examples:
            names = self._names.get(example, ())
            if name not in names:
                self._names[example] = (*names, name)


def names_in(folder: Path) -> set[str]:
    """Return what the files of a ledger are called now; nothing where there is no folder.

    What stands there and is no folder is told by who writes.
    """
    try:
        with os.scandir(folder) as entries:
            return {entry.name for entry in entries if entry.name.endswith(".jsonl")}
    except (FileNotFoundError, NotADirectoryError):
        return set()
