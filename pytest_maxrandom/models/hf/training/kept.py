"""The weights of trained arms on the disk, by what determines them, in a folder with a limit.

An entry is a folder that appears whole, by one renaming, so that whoever is killed leaves no half
of one. While a process uses an entry it holds a lock that others share; whoever trains or removes
one holds it alone.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.host.machine import in_use, on_shared_files
from pytest_maxrandom.models.hf.hub import file_digest
from pytest_maxrandom.models.training import Trained

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_RECORD = "trained.json"
_PART, _GONE = ".part-", ".gone-"
_FULL = (errno.ENOSPC, errno.EDQUOT)
_SAID = ("No space left", "Disk quota", "os error 28", "os error 122")
"""What libraries that are not written in Python say of a full disk."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A folder of trained weights."""

    folder: Path
    limit: int
    """Bytes that it holds at most; entries that are in use, or were just made, stay whatever they
    take."""
    tell: Callable[[str], None] = lambda sentence: None
    """Tells the user a sentence at once."""

    def read(self, key: str) -> Trained | None:
        """Return what the training found that is kept under a key; None if nothing is."""
        try:
            said = json.loads((self.folder / key / _RECORD).read_text(encoding="utf-8"))
            told = said["trained"]
            found = Trained(**{**told, "losses": tuple(told["losses"]), "from_cache": True})
            names = {path.name for path in (self.folder / key).iterdir()} - {_RECORD}
            whole = names >= set(said["files"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return found if whole else None

    def take(
        self, key: str, name: str, train: Callable[[Path], tuple[Trained, Any]], held: ExitStack
    ) -> tuple[Path, Trained]:
        """Return the folder of trained weights, which stays as long as `held`, and their record.

        They are trained where they are not kept; another process that is at it is waited for.

        Parameters
        ----------
        key : str
            What determines the weights, as a digest.
        name : str
            Of the model, for sentences.
        train : callable
            Writes weights into a folder, and returns what it found and what shall stand beside
            that.

        Raises
        ------
        ModelError
            In one sentence, of a full disk too, or as `train`.
        LockError
            If no lock can be made.
        """
        trained = False
        while True:
            with ExitStack() as stack:
                stack.enter_context(self._lock(key, name, alone=False))
                found = self.read(key)
                if found is not None and self._is_whole(key):
                    with suppress(OSError):
                        os.utime(self.folder / key / _RECORD)  # the last use
                    held.enter_context(stack.pop_all())
                    return self.folder / key, replace(found, from_cache=not trained)
            with self._lock(key, name, alone=True):
                if self.read(key) is None or not self._is_whole(key):
                    self._train(key, name, train)
                    trained = True

    def _train(self, key: str, name: str, train: Callable[[Path], tuple[Trained, Any]]) -> None:
        part = self.folder / f"{_PART}{key}"
        with self._writing(name):
            shutil.rmtree(part, ignore_errors=True)  # of a process that was killed
            if (self.folder / key).exists():
                self.tell(f"the kept weights of {name} are damaged, so they are trained again")
                shutil.rmtree(self.folder / key)
            part.mkdir(parents=True)
        try:
            with self._writing(name):
                found, beside = train(part)
                files = {path.name: file_digest(path) for path in part.iterdir()}
                record = {"trained": asdict(found), "files": files, **beside}
                (part / _RECORD).write_text(json.dumps(record, indent=1), encoding="utf-8")
                for path in part.iterdir():
                    _sync(path)
                _sync(part)
                part.rename(self.folder / key)
                _sync(self.folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)
        self._trim(key)

    def _is_whole(self, key: str) -> bool:
        """Tell whether the files of an entry are those that were written."""
        folder = self.folder / key
        try:
            said = json.loads((folder / _RECORD).read_text(encoding="utf-8"))["files"]
            return all(file_digest(folder / name) == digest for name, digest in said.items())
        except (OSError, ValueError, KeyError):
            return False

    def _trim(self, fresh: str) -> None:
        """Remove entries, from the one that was used least lately, until the rest fits."""
        entries = {
            path.name: (path / _RECORD).stat().st_mtime_ns
            for path in self.folder.iterdir()
            if (path / _RECORD).is_file() and not path.name.startswith(".")
        }
        sizes = {name: _size(self.folder / name) for name in entries}
        for name in sorted(entries, key=lambda one: entries[one]):
            if sum(sizes.values()) <= self.limit:
                break
            if name != fresh and self._remove(name):
                del sizes[name]
        for path in self.folder.iterdir():
            key = path.name.removeprefix(_PART).removeprefix(_GONE)
            if key != path.name:  # left by a process that was killed
                with suppress(TimeoutError), self._use(key, 0, alone=True):
                    shutil.rmtree(path, ignore_errors=True)

    def _remove(self, key: str) -> bool:
        """Remove an entry that nobody uses; tell whether it is gone."""
        gone = self.folder / f"{_GONE}{key}"
        try:
            with self._use(key, 0, alone=True):
                (self.folder / key).rename(gone)
                shutil.rmtree(gone, ignore_errors=True)
        except (TimeoutError, OSError):
            return False
        return True

    @contextmanager
    def _lock(self, key: str, name: str, *, alone: bool) -> Iterator[None]:
        with ExitStack() as stack:
            try:
                stack.enter_context(self._use(key, 0, alone=alone))
            except TimeoutError:
                self.tell(f"waiting for another process that trains or uses the weights of {name}")
                stack.enter_context(self._use(key, alone=alone))
            yield

    def _use(self, key: str, timeout: float = -1, *, alone: bool) -> AbstractContextManager[None]:
        """Return the lock of an entry; without a timeout it is waited for."""
        with self._writing("a trained arm"):
            self.folder.mkdir(parents=True, exist_ok=True)
        beside = self.folder if on_shared_files(self.folder) else None
        name = f"{self.folder.resolve()} {key}"
        return in_use("trained", name, timeout, alone=alone, beside=beside)

    @contextmanager
    def _writing(self, name: str) -> Iterator[None]:
        """Tell in one sentence why weights cannot be kept."""
        try:
            yield
        except ModelError:
            raise
        except Exception as error:
            full = getattr(error, "errno", None) in _FULL or any(
                text in str(error) for text in _SAID
            )
            if not full and not isinstance(error, OSError):
                raise
            reason = "the disk is full" if full else getattr(error, "strerror", "") or str(error)
            way = (
                "free space there, or remove what is in that folder (all of it can be trained "
                "again)"
                if full
                else "expected a folder that you can write to"
            )
            raise ModelError(
                f"the trained weights of {name} cannot be kept in {self.folder}: {reason}; {way}"
            ) from error


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())


def _sync(path: Path) -> None:
    """Let the disk have a file, or a folder's names, before anything relies on them."""
    if path.is_dir() and os.name == "nt":
        return
    number = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(number)
    finally:
        os.close(number)
