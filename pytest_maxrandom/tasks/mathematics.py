"""Answers as mathematics: whether two texts are the same formula, by the package math-verify.

It runs in a process of its own, which is ended where a comparison takes too long: an answer may be
a power of powers that nobody can compute, and no signal interrupts that.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import threading
from pathlib import Path

from pytest_maxrandom.host.limits import limits
from pytest_maxrandom.host.workers import Worker

MISSING = (
    "`math: true` needs the package math-verify, which is not installed; `pip install "
    '"pytest-maxrandom[math]"`'
)
_WORKER = Worker(Path(__file__).with_name("mathematics_worker.py"))


def is_missing() -> bool:
    """Tell whether the package is not installed."""
    return importlib.util.find_spec("math_verify") is None


@functools.lru_cache(maxsize=2**16)
def is_same(answer: str, reference: str) -> bool:
    """Tell whether an answer is a reference, as math-verify does.

    What cannot be read as mathematics is no reference, and neither is what cannot be compared
    within the time limit of patterns.
    """
    try:
        with _WORKER.asked() as (process, requests, replies):
            requests.write(json.dumps([answer, reference]).encode() + b"\n")
            requests.flush()
            replies.readline()  # it is taken up: on a busy machine to load can take seconds
            limit = threading.Timer(limits().pattern_seconds, process.kill)
            limit.start()
            try:
                reply = replies.readline()
            finally:
                limit.cancel()
            if not reply:
                raise BrokenPipeError
    except BrokenPipeError:  # it was ended
        return False
    return reply.strip() == b"1"  # of whatever line ends the system writes
