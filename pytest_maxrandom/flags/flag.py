"""What a check finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pytest_maxrandom.record.red_flags import RedFlagKind


class Flag(NamedTuple):
    """A red flag."""

    kind: RedFlagKind
    text: str
    """One sentence with what was found and what to look at."""
    mild: bool = False
    """Whether it warns where others of its kind fail by default."""
