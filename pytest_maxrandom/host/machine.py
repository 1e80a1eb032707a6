"""A process and its machine: locks between the processes of one user, cores, and memory.

A lock is a file that the operating system holds for a process, so that it is free again when the
process ends, however it ends. The files lie in the user's part of the temporary folder, since a
checkout may be read-only; but beside the data where hosts share these, which have each a temporary
folder of their own.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import stat
import sys
import tempfile
from contextlib import contextmanager, suppress
from functools import cache
from getpass import getuser
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pytest_maxrandom.errors import LockError
from pytest_maxrandom.host.workers import variable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from threadpoolctl import ThreadpoolController

Kind = Literal["agreed", "gpu", "ledger", "store", "sweep", "trained"]

PATIENCE = 3.0
"""Seconds after which whoever waits for a lock is told for whom."""
_POLL = 0.05  # seconds
_POLICY = "OMP_WAIT_POLICY"
_SET_BY_USERS = (_POLICY, "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
_BUSY = 0.5
"""Of a core: the load of other processes from which on the cores are shared."""
_SHARED = "MAXRANDOM_SHARED_FILES"
_NETWORK = re.compile(
    r"(fuse\.)?(afs|beegfs|ceph|cifs|gfs2|glusterfs|gpfs|juicefs|lustre|mfs|moosefs|nfs4?|ocfs2|"
    r"orangefs|panfs|pvfs2|quobyte|smb3|smbfs|sshfs|wekafs)"
)
"""Types of file systems, as Linux calls them, that several hosts see at once."""
_OCTAL = re.compile(r"\\(\d{3})")
"""How a list of mounts writes blanks in names."""
_GROUP = Path("/sys/fs/cgroup")
_RESET = "5"
"""What Linux takes for "begin the peak anew"; see proc_pid_clear_refs(5)."""


_TEMPORARY = (
    "a temporary folder in which you can create a private folder (remove what is there, or set "
    "TMPDIR to another folder)"
)
_BESIDE = "a file system whose locks hold between hosts, and a folder that you can write to"


@contextmanager
def held(
    kind: Kind,
    name: str,
    timeout: float = -1,
    *,
    beside: Path | None = None,
    waits: Callable[[str], None] | None = None,
) -> Iterator[None]:
    """Hold the lock of that kind and name; no other process holds it meanwhile.

    It is not re-entrant: whoever holds it must not ask for it again.

    Parameters
    ----------
    kind : {"agreed", "gpu", "ledger", "store", "sweep", "trained"}
        What is locked.
    name : str
        Which of its kind; any text.
    timeout : float
        Seconds to wait at most; 0 does not wait, -1 waits for ever.
    beside : Path, optional
        A folder for the lock that several hosts share; none of them holds it meanwhile then.
    waits : callable, optional
        Called once, where another process has held the lock for `PATIENCE` seconds, with who that
        is ("process 12 on node-3"); `timeout` begins anew then.

    Raises
    ------
    TimeoutError
        If another process holds the lock all that time.
    LockError
        In one sentence, if the lock cannot be made.
    """
    from filelock import FileLock  # .05 s, which a collection need not pay

    path = _path(kind, name, "lock", beside)
    # A lock that is only a file would outlive a killed process.
    lock = FileLock(path, timeout, poll_interval=_POLL, fallback_to_soft=False)
    expected, holder = _BESIDE if beside else _TEMPORARY, path.with_suffix(".holder")
    with _refused(path, expected):
        try:
            lock.acquire(timeout if waits is None else PATIENCE)
        except TimeoutError:
            if waits is None:
                raise
    if waits is not None:
        if not lock.is_locked:
            waits(_written(holder) or "another process")
            with _refused(path, expected):
                lock.acquire(timeout)
        with suppress(OSError):  # it only helps whoever waits
            holder.write_text(f"process {os.getpid()} on {platform.node()}", encoding="utf-8")
    try:
        yield
    finally:
        lock.release()


@contextmanager
def in_use(
    kind: Kind, name: str, timeout: float = -1, *, alone: bool, beside: Path | None = None
) -> Iterator[None]:
    """Hold a lock that processes share, or that one holds alone while it changes what it is about.

    Parameters
    ----------
    alone : bool
        Whether no other process may use it meanwhile.
    kind, name, timeout, beside
        As of :func:`held`.

    Raises
    ------
    TimeoutError
        If other processes hold the lock all that time.
    LockError
        In one sentence, if the lock cannot be made.
    """
    from filelock import ReadWriteLock

    path = _path(kind, name, "db", beside)
    with _refused(path, _BESIDE if beside else _TEMPORARY):
        # An instance of one's own, so that models in one process wait for each other as well.
        lock = ReadWriteLock(path, is_singleton=False)
        (lock.acquire_write if alone else lock.acquire_read)(timeout)
    try:
        yield
    finally:
        if not sys.is_finalizing():  # the operating system gives it back then
            lock.release()
            lock.close()


def agreed(name: str, find: Callable[[], str]) -> str:
    """Return what was found by the first process that asked under that name.

    Raises
    ------
    LockError
        In one sentence, if nothing can be left for the others.
    """
    with held("agreed", name):
        path = _path("agreed", name, "txt")
        with _refused(path):
            if not path.is_file():
                whole = path.with_suffix(".part")  # whoever is killed leaves no half of it
                whole.write_text(find(), encoding="utf-8")
                whole.replace(path)
            return path.read_text(encoding="utf-8")


def _written(path: Path) -> str:
    """Return the one line of a file that another process may be writing; empty without any."""
    with suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="utf-8").strip()
    return ""


def _path(kind: Kind, name: str, ending: str, folder: Path | None = None) -> Path:
    digest = hashlib.sha256(name.encode(errors="surrogateescape")).hexdigest()[:32]
    return (folder or _folder()) / f"{kind}-{digest}.{ending}"


def _folder() -> Path:
    """Return the folder of the user's locks, which nobody else can write to."""
    with _refused(None):
        temporary = Path(tempfile.gettempdir())
    # What tells users apart in a folder that they share.
    user = os.getuid() if hasattr(os, "getuid") else getuser()
    folder = temporary / f"pytest-maxrandom-{user}"
    with _refused(folder):
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise LockError(_sentence(folder, "it is not a folder"))
    if hasattr(os, "getuid"):
        if status.st_uid != os.getuid():
            raise LockError(_sentence(folder, "it belongs to another user"))
        if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise LockError(_sentence(folder, "others can write to it"))
    return folder


@contextmanager
def _refused(path: Path | None, expected: str = _TEMPORARY) -> Iterator[None]:
    """Tell in one sentence why no lock can be made there."""
    try:
        yield
    except TimeoutError:
        raise
    except OSError as error:
        raise LockError(_sentence(path, error.strerror or str(error), expected)) from error


def _sentence(path: Path | None, reason: str, expected: str = _TEMPORARY) -> str:
    where = f" at {path}" if path else ""
    return f"no lock can be made{where}: {reason}; expected {expected}"


def on_shared_files(path: Path) -> bool:
    """Tell whether several hosts may see a path, which need not exist.

    What ``MAXRANDOM_SHARED_FILES`` says (yes or no), else the type of the file system, where the
    system tells it (Linux).

    Raises
    ------
    LockError
        If the variable says something else.
    """
    answer = os.environ.get(_SHARED, "")
    if answer not in ("", "yes", "no"):
        raise LockError(
            f"{_SHARED}: found {answer!r}, expected yes if several hosts share the files of suites "
            "and stores, no if they do not, or nothing to let the file system decide"
        )
    return answer == "yes" if answer else bool(_NETWORK.fullmatch(type_of_files(path)))


def type_of_files(path: Path, mounts: Path = Path("/proc/self/mounts")) -> str:
    """Return the type of the file system that holds a path; empty where that is not known."""
    try:
        lines = os.fsdecode(mounts.read_bytes()).splitlines()
        real = path.resolve()
    except OSError:
        return ""
    deepest = (0, "")
    for _, place, kind, *_ in (line.split(" ") for line in lines):
        at = Path(_OCTAL.sub(lambda code: chr(int(code[1], 8)), place))
        # Of several in one place the last one is seen.
        if real.is_relative_to(at) and len(at.parts) >= deepest[0]:
            deepest = len(at.parts), kind
    return deepest[1]


def cores() -> int:
    """Return how many cores this process may use, which its affinity may limit."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def resting_threads(workers: int = 1, library: str = "torch") -> Iterator[None]:
    """Import a library in here, and its idle threads sleep where others need the cores.

    A thread that spins while it waits keeps a core from those who would compute: beside one busy
    process on two cores a sweep then takes 2.3 times as long. Alone, spinning is up to 1.4 times
    faster, so it is left on where nobody else is at work. OpenMP reads its variable when it is
    loaded, and whoever has set one is heeded.

    Parameters
    ----------
    workers : int
        Processes of this run that share the machine.
    library : str
        The module, which brings an OpenMP of its own.
    """
    loaded = library in sys.modules
    if loaded or any(name in os.environ for name in _SET_BY_USERS) or not _shared(workers):
        yield
        return
    with variable(_POLICY, "PASSIVE"):
        yield


def _shared(workers: int) -> bool:
    if workers > 1 or os.environ.get("CI"):
        return True
    try:
        return os.getloadavg()[0] >= _BUSY
    except (AttributeError, OSError):  # not on Windows
        return False


@contextmanager
def one_thread() -> Iterator[None]:
    """Let products of matrices take one thread, whatever computes beside them.

    A verdict's products are small: on two free cores a second thread saves nothing. On cores that
    others use, each product waits until both threads were given time, and one spins meanwhile.
    """
    with _linear_algebra().limit(limits=1):
        yield


@cache
def _linear_algebra() -> ThreadpoolController:
    import numpy as np  # noqa: F401  # whose library there is to find
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def available_memory() -> int | None:
    """Return the bytes of memory that are left for this process; None where nobody tells."""
    limits = []
    with suppress(OSError, StopIteration, ValueError):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        limits.append(int(next(each for each in lines if "MemAvailable" in each).split()[1]) * 1024)
    with suppress(OSError, ValueError, KeyError):  # where a container has less; "max" if it has not
        limit, used, stat = (
            (_GROUP / f"memory.{name}").read_text(encoding="ascii")
            for name in ("max", "current", "stat")
        )
        sizes = dict(line.split() for line in stat.splitlines())
        # Pages of files are given up for whoever needs memory.
        files = int(sizes["inactive_file"]) + int(sizes["active_file"])
        limits.append(int(limit) - int(used) + files)
    return min(limits, default=None)


def forget_peak() -> None:
    """Let the peak of memory begin anew, where the system can (Linux)."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text(_RESET, encoding="ascii")


def peak_memory() -> int | None:
    """Return the most bytes of memory in use at any one time since `forget_peak`.

    Where the system cannot forget, since the process began; None where it does not tell.
    """
    with suppress(OSError, StopIteration):
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM:")).split()[1]) * 1024
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
