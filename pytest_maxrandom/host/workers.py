"""Processes in which code of others is run, and what a process sees of the environment."""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_KEPT = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TZ")
"""All that such a process gets of the environment: no keys are there."""


@contextmanager
def variable(name: str, value: str) -> Iterator[None]:
    """Set a variable of the environment, and put back what it was."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def started(script: Path, *arguments: str, **variables: str) -> subprocess.Popen[bytes]:
    """Start a script alone in a process, with the paths of this one, and with pipes to and from it.

    Nothing is imported from the working folder, and no package that this process has imported. What
    it writes to the stream of errors is dropped. `variables` of the environment are set for it
    beside the few that it keeps.
    """
    run = (
        f"import runpy, sys; sys.path[:] = {sys.path!r}; "
        f"runpy.run_path({str(script)!r}, run_name='__main__')"
    )
    return subprocess.Popen(
        [sys.executable, "-I", "-c", run, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={name: os.environ[name] for name in _KEPT if name in os.environ} | variables,
    )


class Worker:
    """A script that answers, begun when it is needed, and anew after it was ended."""

    def __init__(self, script: Path, *arguments: str) -> None:
        self._script, self._arguments = script, arguments
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        atexit.register(self.end)

    @contextmanager
    def asked(self) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes], IO[bytes]]]:
        """Yield the process, what it reads and what it writes, to one thread at a time.

        Whatever is raised meanwhile ends it: what is left in its pipes belongs to no request.
        """
        with self._lock:
            process = self._process = self._process or started(self._script, *self._arguments)
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                yield process, process.stdin, process.stdout
            except BaseException:
                self.end()
                raise

    def end(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()
