"""The results store: what models said of prompts, kept so that nothing is computed twice.

It is a cache. Whatever happens to its file, only time is lost: what cannot be trusted is not used,
and what cannot be written is computed again by the next run.
"""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, TypeVar

from pytest_maxrandom.errors import GitError, LockError, StoreError
from pytest_maxrandom.host.git import is_checkout, repository
from pytest_maxrandom.host.machine import held, on_shared_files
from pytest_maxrandom.record import Remark
from pytest_maxrandom.sweeps.rows import (
    TABLE,
    read,
    read_answers,
    read_proposals,
    write,
    write_answers,
    write_proposal,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from pytest_maxrandom.sweeps.executor import Scored
    from pytest_maxrandom.sweeps.rows import Key, ModelAnswers

    T = TypeVar("T")

_APPLICATION = 0x4D785264
"""``application_id`` of the file's header ("MxRd"), which distinguishes it from other databases."""

_PATIENCE = 60.0  # seconds; a writer holds the file for milliseconds
_MOST_KEPT = 2**26  # bytes of what models answered, besides those to the last questions
_COMPANIONS = ("", "-wal", "-shm", "-journal")
# SQLite's own messages may quote damaged bytes.
_FAILURES = (sqlite3.Error, UnicodeDecodeError)


class Store:
    """Results of prompts, shared by all processes that open the same file.

    Once open it answers or it does not, and never raises. A file that is damaged is moved aside;
    where nothing can be opened or written, the store stays empty, and `messages` says why.

    Parameters
    ----------
    path : Path
        The file; it is made where there is none.
    shared : bool
        Whether several hosts may see the file, also where its file system does not tell so.
        SQLite's write-ahead log, with which readers and a writer do not wait for each other, needs
        memory that they share.

    Attributes
    ----------
    locks : Path or None
        The folder of locks between whoever opens the file; None if one host does.
    messages : list of Remark
        What the user must know.

    Raises
    ------
    StoreError
        If git tracks the file, or it is no store.
    """

    def __init__(self, path: Path, *, shared: bool = False) -> None:
        self.path = path.absolute()
        self._shared = shared or on_shared_files(self.path)
        self.locks = self.path.parent if self._shared else None
        self.messages: list[Remark] = []
        self._shown = path
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._answered: dict[str, tuple[int, dict[tuple[str, ...], ModelAnswers]]] = {}
        self._kept = 0
        self._writable = True
        _refuse_tracked(self.path)
        self._open()

    @property
    def writable(self) -> bool:
        """Whether results are stored, as far as is known."""
        return self._writable and self._connection is not None

    def get(self, keys: Iterable[Key]) -> dict[Key, Scored]:
        """Return what is stored of the results that are asked for."""
        wanted = list(keys)
        return self._read(lambda connection: read(connection, wanted)) or {}

    def put(self, key: Key, scored: Scored) -> None:
        """Store one prompt's results, at once and for all processes."""
        self._write(lambda connection: write(connection, key, scored))

    def remember(self, search: str, prompt: str, proposal: str) -> None:
        """Keep of what a prompt of a search is made, so that it can be made again."""
        self._write(lambda connection: write_proposal(connection, search, prompt, proposal))

    def remembered(self, search: str) -> dict[str, str]:
        """Return of what the prompts of a search are made, by their digests."""
        return self._read(lambda connection: read_proposals(connection, search)) or {}

    def put_answers(self, answers: ModelAnswers) -> None:
        """Keep what a model answered, so that other models can be compared with it."""
        known = self._answers_to(answers.questions).get(answers.who)
        if known is None or known.codes != answers.codes or not known.is_sound:
            self._write(lambda connection: write_answers(connection, answers))

    def answered(self, questions: str) -> list[ModelAnswers]:
        """Return what models answered to questions, which are named by their digest.

        Whether a row is what was written is left to who needs it; see `ModelAnswers.is_sound`.
        """
        return [*self._answers_to(questions).values()]

    def _answers_to(self, questions: str) -> dict[tuple[str, ...], ModelAnswers]:
        """Return what `answered` does, by models: each row is read once, as far as it is kept."""
        since, known = self._answered.pop(questions, (0, {}))
        found = self._read(
            lambda connection: read_answers(connection, questions, since if self._kept else 0)
        )
        if not self._kept:  # another file was put in its place
            since, known = 0, {}
        for row, answers in found or ():
            since, known[answers.who] = max(since, row), answers
            self._kept += len(answers.codes)
        while self._kept > _MOST_KEPT and self._answered:
            _, dropped = self._answered.pop(next(iter(self._answered)))
            self._kept -= sum(len(answers.codes) for answers in dropped.values())
        self._answered[questions] = since, known
        return known

    def _read(self, action: Callable[[sqlite3.Connection], T]) -> T | None:
        """Read; where that cannot be, the store stays empty."""
        try:
            return self._try(action)
        except (sqlite3.Error, StoreError) as error:
            self.close()
            self._tell("store_unreadable", error)
            return None

    def _write(self, action: Callable[[sqlite3.Connection], None]) -> None:
        """Write; where that cannot be, nothing is written from then on."""
        if not self._writable:
            return
        try:
            self._try(action)
        except (sqlite3.Error, StoreError) as error:
            self._writable = False
            self._tell("store_closed", error)

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
        StoreError
            If another program's file was put in its place.
        """
        for _ in range(2):
            if self._connection is not None and self._identity() != self._file:
                self._open()  # it was deleted or replaced, and nobody else would find what is added
            if self._connection is None:
                return None
            try:
                return action(self._connection)
            except _FAILURES as error:
                if not _is_damage(error):
                    raise
                self._open(damage=error)
        return None

    def _open(self, damage: Exception | None = None) -> None:
        """Open the file; if it was found damaged, move it aside before."""
        opened = self._file
        self.close()
        self._answered.clear()
        self._kept = 0
        try:
            # One at a time, so that nobody moves aside what another has just begun.
            if self.locks:
                _make_folder(self.locks)
            # Hosts may know the folder by other names.
            name = self.path.name if self.locks else str(self.path)
            with held("store", name, beside=self.locks):
                if damage is not None and self._identity() == opened:
                    self._move_aside(damage)
                try:
                    self._connection = _connect(self.path, shared=self._shared)
                except _FAILURES as error:
                    if not _is_damage(error):
                        raise
                    self._move_aside(error)
                    self._connection = _connect(self.path, shared=self._shared)
                self._file = self._identity()
        except (*_FAILURES, OSError, LockError) as error:
            self._writable = False
            try:
                refused = self.locks and isinstance(error, LockError)
                if not (refused or _is_closed_to_writing(error)):
                    raise
                self._connection = _connect(self.path, read_only=True)
            except (*_FAILURES, OSError, LockError):
                self._tell("store_unusable", error)
            else:
                self._file = self._identity()
                self._tell("store_read_only", error)

    def _identity(self) -> tuple[int, int] | None:
        """Return what tells this file from another of the same name; None where there is none."""
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _move_aside(self, damage: Exception) -> None:
        """Rename the file, and what SQLite keeps beside it, to a name that is not taken."""
        number, name = 1, self.path.name
        while any(self.path.with_name(f"{name}.damaged-{number}{c}").exists() for c in _COMPANIONS):
            number += 1
        aside = f"{name}.damaged-{number}"
        for companion in _COMPANIONS:
            part = self.path.with_name(name + companion)
            if part.exists():
                part.rename(part.with_name(aside + companion))
        self._tell("store_damaged", damage, aside=aside)

    def _tell(self, kind: str, error: Exception, **further: str) -> None:
        message = Remark(kind, {"file": str(self._shown), "why": str(error), **further})
        if message not in self.messages:
            self.messages.append(message)


def _refuse_tracked(path: Path) -> None:
    """Refuse a file that git tracks: whoever commits to it can write any results.

    Git is asked in a checkout only; where it cannot say, nothing is refused.
    """
    if not is_checkout(path.parent):
        return
    try:
        tree = repository(path.parent)
        place = path.resolve().relative_to(tree.root.resolve()).as_posix()
        tracked = tree.files(*(f":(literal){place}{end}" for end in _COMPANIONS), untracked=False)
    except (GitError, OSError, ValueError):
        return
    if tracked:
        names = " ".join(name.relative_to(tree.root).as_posix() for name in tracked)
        raise StoreError(
            f"the results store {path} is under version control, so anyone who can commit could "
            f"change its results; remove it with `git rm --cached {names}` in {tree.root} and add "
            "it to .gitignore, or name another file with --maxrandom-store"
        )


def _is_damage(error: Exception) -> bool:
    """Tell what is wrong with the file from what is wrong with the machine around it."""
    # SQLITE_ERROR: a table has other columns, or Python cannot make sense of what it read.
    return not isinstance(error, sqlite3.OperationalError) or _code(error) == sqlite3.SQLITE_ERROR


def _is_closed_to_writing(error: Exception) -> bool:
    closed = _code(error) in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
    return closed if isinstance(error, sqlite3.Error) else isinstance(error, OSError)


def _code(error: BaseException) -> int:
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _connect(path: Path, *, read_only: bool = False, shared: bool = False) -> sqlite3.Connection:
    """Open the file, or make it.

    A file in a folder that cannot be written to is read without shared memory. What others write
    meanwhile may look damaged; the rows' checksums keep it from being used.
    """
    if not read_only:
        _make_folder(path.parent)
    address = f"{path.as_uri()}?immutable=1" if read_only else str(path)
    connection = sqlite3.connect(
        address,
        timeout=_PATIENCE,
        isolation_level=None,
        uri=read_only,
        check_same_thread=False,  # searches are asked by many threads, one at a time
    )
    try:
        logged = shared and _has_log(path)
        if logged:  # one that other hosts cannot see; so it is read without shared memory
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        owner = connection.execute("PRAGMA application_id").fetchone()[0]
        empty = not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if owner != _APPLICATION and (owner or not empty):
            raise _foreign(path)
        if owner != _APPLICATION:
            connection.execute(f"PRAGMA application_id = {_APPLICATION}")
            if not shared:
                connection.execute("PRAGMA journal_mode = WAL")
        if logged:
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("PRAGMA locking_mode = NORMAL")
        connection.execute(TABLE)
        # A loss of power may undo the last prompts; it cannot damage the file, which without the
        # log it could unless each is on the disk.
        connection.execute(f"PRAGMA synchronous = {'FULL' if shared else 'NORMAL'}")
    except BaseException as error:
        connection.close()
        if _code(error) == sqlite3.SQLITE_NOTADB:
            raise _foreign(path) from error
        raise
    return connection


def _make_folder(folder: Path) -> None:
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / ".gitignore").write_text("# Made by pytest-maxrandom.\n*\n")


def _has_log(path: Path) -> bool:
    """Tell whether a database that is there uses a write-ahead log: byte 18 of its header."""
    with path.open("rb") as file:
        return file.read(19)[18:] == b"\2"


def _foreign(path: Path) -> StoreError:
    return StoreError(
        f"{path} is not a results store of pytest-maxrandom, and was not changed; remove it, or "
        "name another file with --maxrandom-store"
    )
