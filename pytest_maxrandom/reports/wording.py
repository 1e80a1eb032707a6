"""Sentences of a record, made of its kinds and numbers: when it was judged, and when it is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.reports.flag_sentences import sentence

if TYPE_CHECKING:
    from pytest_maxrandom.record import ClaimRecord


def word(record: ClaimRecord) -> None:
    """Word a record anew; what has a sentence only keeps it."""
    for flag in record.red_flags:
        flag.text = sentence(flag)
