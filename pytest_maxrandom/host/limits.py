"""How much what comes from outside may take: seconds, bytes and levels, and who may raise that.

The runner's variable ``MAXRANDOM_LIMITS`` says what is usual on a machine, and a suite's `limits`
what it needs besides. Under ``maxrandom gate`` a suite may ask for less than is usual, never for
more: it comes with a pull request.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import LimitsError, listed, quoted
from pytest_maxrandom.host.data import boundary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

VARIABLE = "MAXRANDOM_LIMITS"
"""Environment variable of the runner: ``data_mb=2000, pattern_seconds=30``."""


def _limit(usual: int, told: str, most: int = 1_000_000) -> int:
    """Describe a limit: what is usual, what it is about, and the most that anybody may say."""
    return field(default=usual, metadata={"told": told, "most": most})


@dataclass(frozen=True, slots=True)
class Limits:
    """What files, servers, templates, patterns and functions of others may take of this machine.

    The key `limits` of suites has the same names, ranges and descriptions.
    """

    data_mb: int = _limit(
        512,
        "MB (10^6 bytes) to which an archive, a compressed file or a Parquet file of data may "
        "unpack.",
    )
    download_mb: int = _limit(
        2000,
        "MB that a dataset of the hub, or data at an address, may take to download, as the hub or "
        "the server states it. What was downloaded before does not count.",
    )
    answer_mb: int = _limit(
        64, "MB of a server's answer, unpacked. Its deadline is the model's `timeout`."
    )
    answer_depth: int = _limit(100, "Levels of lists and objects in a server's answer.", most=500)
    pattern_seconds: int = _limit(
        10, "Seconds of the processor that `generation: pattern` may take for one answer."
    )
    template_seconds: int = _limit(
        20, "Seconds in which the chat template of a model writes what stands around a message."
    )
    function_seconds: int = _limit(
        1800,
        "Seconds in which the Python functions of a task of lm-evaluation-harness, or of all tasks "
        "of a group, make their documents, twice.",
    )


USUAL = Limits()
"""Where neither the runner nor a suite says another."""
MOST: dict[str, int] = {each.name: each.metadata["most"] for each in fields(Limits)}
"""What either may say; Python itself reads no deeper answer safely."""
_in_force: list[Limits] = []
"""Those of the suite that is read or tested, last; threads that ask a server see them, too."""


def usual() -> Limits:
    """Return what is usual on this machine.

    Raises
    ------
    LimitsError
        If the runner's variable says something else than limits.
    """
    return _stated(os.environ.get(VARIABLE, ""))


@cache
def _stated(text: str) -> Limits:
    numbers: dict[str, int] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, number = (word.strip() for word in part.partition("="))
        whole = int(number[:9]) if number.isdecimal() and number.isascii() else 0
        if not 0 < whole <= MOST.get(name, 0):
            raise LimitsError(
                f"the variable {VARIABLE} has {quoted(part)}, expected NAME=NUMBER with one of "
                f"{listed(MOST)} and a whole number above 0"
                + (f" and at most {MOST[name]:,}" if name in MOST else "")
            )
        numbers[name] = whole
    return replace(USUAL, **numbers)


def limits() -> Limits:
    """Return what is in force: what a suite says, else what is usual on this machine."""
    return _in_force[-1] if _in_force else usual()


def refused(numbers: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Yield limits that a suite of a gate may not raise so far, and why; none for a person."""
    most = usual()
    for name, number in numbers.items():
        if number > getattr(most, name) and boundary() is not None:
            yield (
                name,
                f"found {number:,}, expected at most {getattr(most, name):,} under `maxrandom "
                f"gate`; lower it, or let the workflow set {VARIABLE}={name}={number}",
            )


@contextmanager
def in_force(numbers: Mapping[str, int]) -> Iterator[None]:
    """Let what a suite says hold until the block ends."""
    _in_force.append(replace(usual(), **numbers))
    try:
        yield
    finally:
        _in_force.pop()


def too_large(bytes_: int) -> str:
    """Say that a file unpacks to more than it may; nothing if it does not."""
    if bytes_ <= (most := limits().data_mb) * 1_000_000:
        return ""
    return f"it unpacks to more than {most:,} MB; if it should, {raised('data_mb')}"


def raised(name: str) -> str:
    """Say how a limit is raised, to close a sentence."""
    if boundary() is not None:  # which refuses a suite that asks for more
        return f"let the workflow set {VARIABLE}={name}=..."
    return f"raise `limits: {name}` in the suite, or set {VARIABLE}={name}=... on this machine"
