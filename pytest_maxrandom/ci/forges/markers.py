"""How a comment is known again: by what stands, unseen, on its first lines.

``<!-- maxrandom:KEY -->`` names the comment; ``<!-- maxrandom:run=12 attempt=1 -->`` the run whose
numbers it shows. Both count at the very beginning only, where no text from data can stand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_STAMP = re.compile(r"\s*<!-- maxrandom:run=(\d{1,18}) attempt=(\d{1,18}) -->", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Stamp:
    """Which run a comment is of; a later run is the greater one."""

    run: int
    attempt: int


def check_key(key: str) -> str:
    """Return the key.

    Raises
    ------
    ValueError
        If it could not stand in a marker.
    """
    if not _KEY.fullmatch(key):
        raise ValueError(
            f"--key: found {key[:80]!r}, expected at most 64 letters, digits, dots, underscores "
            "and hyphens, beginning with a letter or a digit"
        )
    return key


def head(key: str, stamp: Stamp | None) -> str:
    """Write what stands in front of a comment's text."""
    run = f"<!-- maxrandom:run={stamp.run} attempt={stamp.attempt} -->\n" if stamp else ""
    return f"{_marker(key)}\n{run}\n"


def is_ours(body: str, key: str) -> bool:
    """Say whether a comment begins with the marker of this key."""
    return body.lstrip().startswith(_marker(key))


def stamp_of(body: str, key: str) -> Stamp | None:
    """Read which run a comment of this key is of."""
    rest = body.lstrip().removeprefix(_marker(key))
    match = _STAMP.match(rest)
    return Stamp(int(match[1]), int(match[2])) if match else None


def _marker(key: str) -> str:
    return f"<!-- maxrandom:{key} -->"
