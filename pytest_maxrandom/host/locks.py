"""Locks between the processes of one user: workers of pytest-xdist, runs in two terminals.

A lock is a file that the operating system holds for a process, so that it is free again when the
process ends, however it ends. The files lie in the user's part of the temporary folder: a checkout
may be read-only, or shared by machines.
"""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from contextlib import contextmanager
from getpass import getuser
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pytest_maxrandom.errors import LockError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Kind = Literal["agreed", "gpu", "ledger", "store", "sweep"]

_POLL = 0.05  # seconds


@contextmanager
def held(kind: Kind, name: str, timeout: float = -1) -> Iterator[None]:
    """Hold the lock of that kind and name; no other process holds it meanwhile.

    It is not re-entrant: whoever holds it must not ask for it again.

    Parameters
    ----------
    kind : {"agreed", "gpu", "ledger", "store", "sweep"}
        What is locked.
    name : str
        Which of its kind; any text.
    timeout : float
        Seconds to wait at most; 0 does not wait, -1 waits for ever.

    Raises
    ------
    TimeoutError
        If another process holds the lock all that time.
    LockError
        In one sentence, if the lock cannot be made.
    """
    from filelock import FileLock  # .05 s, which a collection need not pay

    path = _path(kind, name, "lock")
    # A lock that is only a file would outlive a killed process.
    lock = FileLock(path, timeout, poll_interval=_POLL, fallback_to_soft=False)
    try:
        lock.acquire()
    except TimeoutError:
        raise
    except OSError as error:
        raise LockError(_sentence(path, error.strerror or str(error))) from error
    try:
        yield
    finally:
        lock.release()


def agreed(name: str, find: Callable[[], str]) -> str:
    """Return what was found by the first process that asked under that name.

    Raises
    ------
    LockError
        In one sentence, if nothing can be left for the others.
    """
    with held("agreed", name):
        path = _path("agreed", name, "txt")
        try:
            if not path.is_file():
                whole = path.with_suffix(".part")  # whoever is killed leaves no half of it
                whole.write_text(find(), encoding="utf-8")
                whole.replace(path)
            return path.read_text(encoding="utf-8")
        except OSError as error:
            raise LockError(_sentence(path, error.strerror or str(error))) from error


def _path(kind: Kind, name: str, ending: str) -> Path:
    digest = hashlib.sha256(name.encode(errors="surrogateescape")).hexdigest()[:32]
    return _folder() / f"{kind}-{digest}.{ending}"


def _folder() -> Path:
    """Return the folder of the user's locks, which nobody else can write to."""
    try:
        folder = Path(tempfile.gettempdir()) / f"pytest-maxrandom-{_user()}"
    except OSError as error:  # none of the places that Python knows
        raise LockError(_sentence(None, error.strerror or str(error))) from error
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise LockError(_sentence(folder, error.strerror or str(error))) from error
    if not stat.S_ISDIR(found.st_mode):
        raise LockError(_sentence(folder, "it is no folder"))
    if hasattr(os, "getuid"):
        if found.st_uid != os.getuid():
            raise LockError(_sentence(folder, "it belongs to another user"))
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise LockError(_sentence(folder, "others can write to it"))
    return folder


def _user() -> str:
    """Return what tells users apart in a folder that they share."""
    return str(os.getuid()) if hasattr(os, "getuid") else getuser()


def _sentence(path: Path | None, reason: str) -> str:
    where = f" at {path}" if path else ""
    return (
        f"no lock can be made{where}: {reason}; expected a temporary folder in which you can make "
        "one that only you can write to (remove what is there, or set TMPDIR to another folder)"
    )
