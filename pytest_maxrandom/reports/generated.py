"""How answers were generated and read, and what stood around prompts, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.errors import listed
from pytest_maxrandom.notation import count
from pytest_maxrandom.reports.text import clauses

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord


def generated(claim: ClaimRecord) -> str:
    """Say how answers were generated and read, and how many of them could not be."""
    how = claim.generated
    if how is None:
        return ""
    stops = "what begins the next question"
    if how.stop is not None:
        stops = listed(list(map(repr, how.stop)))
    unread = how.unreadable + how.cut + how.refused
    return clauses(
        f"at most {count(how.max_tokens)} tokens"
        + (f", which end at {stops}" if how.stop is None or how.stop else ""),
        f"temperature {how.temperature:g}"
        + (" (the likeliest token each time)" if how.temperature == 0 else ""),
        how.pattern and f"read is what the first group of {how.pattern!r} finds",
        how.answers
        and f"no choice could be read in {count(unread)} of {count(how.answers)} answers"
        + (
            f" ({count(how.unreadable)} that name none or several, {count(how.cut)} cut, "
            f"{count(how.refused)} refused)"
            if unread
            else ""
        ),
    )


def chatted(record: ClaimRecord) -> str:
    """Say what stood around each prompt, where prompts are messages."""
    engine = record.engine
    if engine is None:
        return ""
    if engine.chat is not None:
        before, after = engine.chat
        around = f"{before!r} before, {after!r} after"
        return f"each prompt is a message in the model's template: {around}"
    if engine.engine == "chat":
        return "each prompt is a message; the server puts it into its own template"
    return ""
