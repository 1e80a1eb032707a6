"""Answers as mathematics: whether two texts are the same formula, by the package math-verify.

It runs in a process of its own, which is ended where a comparison takes too long: an answer may be
a power of powers that nobody can compute, and no signal interrupts that.
"""

from __future__ import annotations

import atexit
import functools
import importlib.util
import json
import subprocess
import threading
from pathlib import Path

from pytest_maxrandom.host.limits import limits
from pytest_maxrandom.host.workers import command, environment

MISSING = (
    "`math: true` needs the package math-verify, which is not installed; `pip install "
    '"pytest-maxrandom[math]"`'
)
_WORKER = Path(__file__).with_name("mathematics_worker.py")


def is_missing() -> bool:
    """Tell whether the package is not installed."""
    return importlib.util.find_spec("math_verify") is None


@functools.lru_cache(maxsize=2**16)
def is_same(answer: str, reference: str) -> bool:
    """Tell whether an answer is a reference, as math-verify does.

    What cannot be read as mathematics is no reference, and neither is what cannot be compared
    within the time limit of patterns.
    """
    return _compared.ask(answer, reference)


class _Compared:
    """A process that compares, begun when it is needed, and anew after one was ended."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()

    def ask(self, answer: str, reference: str) -> bool:
        """Return the answer to one question."""
        with self._lock:
            process = self._process or self._begin()
            assert process.stdin is not None
            assert process.stdout is not None
            limit = threading.Timer(limits().pattern_seconds, process.kill)
            limit.start()
            try:
                process.stdin.write(json.dumps([answer, reference]) + "\n")
                process.stdin.flush()
                reply = process.stdout.readline()
            except BrokenPipeError:
                reply = ""
            finally:
                limit.cancel()
            if not reply:
                self.end()
            return reply == "1\n"

    def _begin(self) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        self._process = process = subprocess.Popen(
            command(_WORKER), stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL,
            text=True, encoding="utf-8", env=environment(),
        )  # fmt: skip
        return process

    def end(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()


_compared = _Compared()
atexit.register(_compared.end)
