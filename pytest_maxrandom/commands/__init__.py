"""The commands of `maxrandom`, a module each, and what they share in what they print."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def json_text(value: object) -> str:
    """Write JSON for people and programs."""
    return json.dumps(value, indent=2)


def table(rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Write a table, a row a line.

    Parameters
    ----------
    rows : sequence
        The cells of each row, the headings among them; as many in each.
    left : int
        Columns of names, which begin below each other; figures end below each other.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place < left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
