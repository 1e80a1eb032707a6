"""What this process has of the machine: cores, and the memory that it has used."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_POLICY = "OMP_WAIT_POLICY"
_SET_BY_USERS = (_POLICY, "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
_BUSY = 0.5
"""Of a core: the load of other processes from which on the cores are shared."""
_RESET = "5"
"""What Linux takes for "begin the peak anew"; see proc_pid_clear_refs(5)."""


def cores() -> int:
    """Return how many cores this process may use, which its affinity may limit."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def resting_threads(workers: int = 1) -> Iterator[None]:
    """Import torch in here, and its idle threads sleep where others need the cores.

    A thread that spins while it waits keeps a core from those who would compute: beside one busy
    process on two cores a sweep then takes 2.3 times as long. Alone, spinning is up to 1.4 times
    faster, so it is left on where nobody else is at work. OpenMP reads its variable when it is
    loaded, and whoever has set one is heeded.

    Parameters
    ----------
    workers : int
        Processes of this run that share the machine.
    """
    loaded = "torch" in sys.modules
    if loaded or any(name in os.environ for name in _SET_BY_USERS) or not _shared(workers):
        yield
        return
    os.environ[_POLICY] = "PASSIVE"
    try:
        yield
    finally:
        del os.environ[_POLICY]


def _shared(workers: int) -> bool:
    if workers > 1 or os.environ.get("CI"):
        return True
    try:
        return os.getloadavg()[0] >= _BUSY
    except (AttributeError, OSError):  # not on Windows
        return False


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
