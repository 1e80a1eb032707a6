"""Notes as reports say them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.reports.remarks import worded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytest_maxrandom.record import Remark
    from pytest_maxrandom.record.base import ItemRecord


def sentences(notes: Iterable[Remark]) -> tuple[str, ...]:
    """Return notes as sentences."""
    return tuple(worded(each).text for each in notes)


def noted(record: ItemRecord) -> list[str]:
    """Return the notes of a record as sentences."""
    return [*sentences(record.notes)]
