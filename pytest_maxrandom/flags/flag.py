"""What a check finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pytest_maxrandom.record.red_flags import RedFlagKind


class Flag(NamedTuple):
    """A red flag: its kind, and one sentence with what was found and what to look at."""

    kind: RedFlagKind
    text: str
