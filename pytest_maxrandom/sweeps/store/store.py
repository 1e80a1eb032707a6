"""The results store as a sweep sees it: once open it answers or it does not, and never raises."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, TypeVar

from pytest_maxrandom.errors import LockError
from pytest_maxrandom.host.locks import held
from pytest_maxrandom.sweeps.store import files, rows
from pytest_maxrandom.sweeps.store.files import Foreign, Unusable
from pytest_maxrandom.sweeps.store.rows import Damaged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from pytest_maxrandom.sweeps.store.rows import Key, Stored

    T = TypeVar("T")


def open_store(path: Path) -> Store:
    """Open the store at `path`, or make it; but for one that git tracks nothing is raised.

    A file that is damaged or belongs to another program is moved aside; one that a newer version
    wrote is left alone; where nothing can be opened or written, the store stays empty.
    Results of an older version are dropped. ``Store.messages`` says so.

    Raises
    ------
    StoreError
        If git tracks the file.
    """
    files.refuse_tracked(path.absolute())
    return Store(path)


class Store:
    """Results of prompts, shared by all processes that open the same file.

    Attributes
    ----------
    path : Path
        Where the file is, or would be.
    messages : list of str
        What the user must know, one sentence each.
    """

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self.messages: list[str] = []
        self._shown = path
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._writable = True
        self._open()

    @property
    def writable(self) -> bool:
        """Whether results are stored, as far as is known."""
        return self._writable and self._connection is not None

    def get(self, keys: Iterable[Key]) -> dict[Key, Stored]:
        """Return what is stored of the results that are asked for."""
        wanted = list(keys)
        try:
            found = self._try(lambda connection: rows.read(connection, wanted))
        except sqlite3.Error as error:
            self.close()
            self._tell(f"cannot be read ({error}); it is not used from now on")
            found = None
        return found or {}

    def put(self, key: Key, stored: Stored) -> None:
        """Store one prompt's results, at once and for all processes."""
        if not self._writable:
            return
        try:
            self._try(lambda connection: rows.write(connection, key, stored))
        except sqlite3.Error as error:
            self._writable = False
            self._tell(f"cannot be written to ({error}); results are not stored from now on")

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
        self._connection = None

    def _try(self, action: Callable[[sqlite3.Connection], T]) -> T | None:
        """Do something with the file; once more with a new one, if it proves to be damaged.

        Raises
        ------
        sqlite3.Error
            If the machine does not let it: the disk is full, another process holds the file.
        """
        for _ in range(2):
            if self._connection is not None and files.identity(self.path) != self._file:
                self._open()  # it was deleted or replaced, and nobody else would find what is added
            if self._connection is None:
                return None
            try:
                return action(self._connection)
            except files.FAILURES as error:
                if not files.is_damage(error):
                    raise
                self._open(damage=error)
        return None

    def _open(self, damage: Exception | None = None) -> None:
        """Open the file; if it was found damaged, move it aside before."""
        seen = self._file
        self.close()
        try:
            # One at a time, so that nobody moves aside what another has just begun.
            with held("store", str(self.path)):
                if damage is not None and files.identity(self.path) == seen:
                    self._replace(damage)
                renewed = False
                try:
                    self._connection, renewed = files.connect(self.path)
                except (Foreign, *files.FAILURES) as error:
                    if not isinstance(error, Foreign) and not files.is_damage(error):
                        raise
                    self._replace(error)
                    self._connection, _ = files.connect(self.path)
                if renewed:
                    self._tell(
                        "was written by an older pytest-maxrandom, which did not note on which "
                        "processor numbers were computed and with which versions; its results are "
                        "not used, and are computed again"
                    )
                self._file = files.identity(self.path)
        except Unusable as error:
            self._tell(f"{error}; it is left as it is, and results are not stored")
        except (sqlite3.Error, OSError) as error:
            self._open_for_reading(error)
        except (Foreign, Damaged, UnicodeDecodeError, LockError) as error:
            self._tell(f"cannot be used ({error}); results are not stored")

    def _open_for_reading(self, error: Exception) -> None:
        self._writable = False
        try:
            if not files.is_closed_to_writing(error):
                raise error
            self._connection = files.connect_for_reading(self.path)
            self._file = files.identity(self.path)
            self._tell(f"cannot be written to ({error}); it is only read")
        except (Foreign, Unusable, OSError, *files.FAILURES):
            self._tell(f"cannot be used ({error}); results are not stored")

    def _replace(self, error: Exception) -> None:
        """Move the file aside, and say why."""
        if isinstance(error, Foreign):
            why, what = "foreign", "belongs to another program"
        else:
            why, what = "damaged", f"is damaged ({error})"
        aside = files.move_aside(self.path, why)
        self._tell(f"{what}; it was moved to {aside.name}, and a new one was begun")

    def _tell(self, what: str) -> None:
        message = f"the results store {self._shown} {what}"
        if message not in self.messages:
            self.messages.append(message)
