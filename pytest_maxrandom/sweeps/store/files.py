"""The store's file: whose it is, whether it can be trusted, and where it goes if it cannot."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING
from urllib.parse import quote

from pytest_maxrandom.errors import GitError, StoreError
from pytest_maxrandom.host.git import is_checkout, repository
from pytest_maxrandom.sweeps.store.rows import Damaged
from pytest_maxrandom.sweeps.store.schema import APPLICATION, VERSION, renew, version

if TYPE_CHECKING:
    from pathlib import Path

_PATIENCE = 60.0  # seconds; a writer holds the file for milliseconds
_COMPANIONS = ("", "-wal", "-shm", "-journal")
_OF_THE_MACHINE = {
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_NOMEM,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_AUTH,
}


FAILURES = (sqlite3.Error, UnicodeDecodeError, Damaged)
"""What reading or writing the file may raise; SQLite's own messages may quote damaged bytes."""


class Foreign(Exception):
    """The file belongs to another program."""


class Unusable(Exception):
    """The file stays where it is and is not used; the text says why."""


def is_damage(error: Exception) -> bool:
    """Tell what is wrong with the file from what is wrong with the machine around it."""
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", None)
        # No code: Python could not make sense of what it read.
        return code is None or code & 0xFF not in _OF_THE_MACHINE
    return isinstance(error, Damaged | UnicodeDecodeError)


def is_closed_to_writing(error: Exception) -> bool:
    """Tell a file or folder that may not be written to from other troubles."""
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        return code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
    return isinstance(error, OSError)


def refuse_tracked(path: Path) -> None:
    """Refuse a file that git tracks: whoever commits to it can write any results.

    Git is asked in a checkout only; where it cannot say, nothing is refused.

    Raises
    ------
    StoreError
        With the way out.
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
        names = " ".join(each.relative_to(tree.root).as_posix() for each in tracked)
        raise StoreError(
            f"the results store {path} is under version control, so whoever may commit could write "
            f"its results; take it out with `git rm --cached {names}` in {tree.root} and name it "
            "in .gitignore, or name another file with --maxrandom-store"
        )


def connect(path: Path) -> tuple[sqlite3.Connection, bool]:
    """Open the file, or make it; tell whether it had results of an older version.

    Raises
    ------
    Foreign, Damaged, Unusable, sqlite3.Error, OSError
    """
    made = not path.parent.is_dir()
    path.parent.mkdir(parents=True, exist_ok=True)
    if made:
        (path.parent / ".gitignore").write_text("# Made by pytest-maxrandom.\n*\n")
    return _prepared(sqlite3.connect(path, _PATIENCE, isolation_level=None))


def connect_for_reading(path: Path) -> sqlite3.Connection:
    """Open a file in a folder that cannot be written to, where SQLite can keep no shared memory.

    Raises
    ------
    Foreign, Damaged, Unusable, sqlite3.Error
    """
    # What others write meanwhile may look damaged; the rows' checksums keep it from being used.
    address = f"file:{quote(str(path))}?immutable=1"
    connection = sqlite3.connect(address, _PATIENCE, isolation_level=None, uri=True)
    return _prepared(connection)[0]


def _prepared(connection: sqlite3.Connection) -> tuple[sqlite3.Connection, bool]:
    renewed = False
    try:
        owner = connection.execute("PRAGMA application_id").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if owner != APPLICATION and (owner or tables):
            raise Foreign
        if (found := version(connection)) > VERSION:
            raise Unusable(
                f"has the schema version {found}, which a newer pytest-maxrandom wrote, and this "
                f"one knows versions up to {VERSION}"
            )
        if found < 0:
            raise Damaged(f"its schema version is {found}")
        if found < VERSION:
            connection.execute("PRAGMA journal_mode = WAL")
            renewed = renew(connection)
        # A loss of power may undo the last prompts; it cannot damage the file.
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection, renewed


def identity(path: Path) -> tuple[int, int] | None:
    """Return what tells this file from another of the same name; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def move_aside(path: Path, why: str) -> Path:
    """Rename the file, and what SQLite keeps beside it, to a name that is not taken.

    Raises
    ------
    OSError
    """
    number = 1
    while any(_beside(path, f".{why}-{number}{end}").exists() for end in _COMPANIONS):
        number += 1
    aside = _beside(path, f".{why}-{number}")
    for end in _COMPANIONS:
        companion = _beside(path, end)
        if companion.exists():
            companion.rename(_beside(aside, end))
    return aside


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)
