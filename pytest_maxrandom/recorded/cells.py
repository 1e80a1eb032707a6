"""What the cells of a column of a table must be, so that it can have a role."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_maxrandom.recorded.tables.columns import as_list, as_number
from pytest_maxrandom.recorded.tables.table import as_correct, as_score

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def can_be(role: str, cells: Iterable[str]) -> bool:
    """Tell whether every cell of a column can be of a role."""
    fits = _FITS.get(role)
    return fits is None or all(map(fits, cells))


def are_graded(scores: Iterable[str]) -> bool:
    """Tell whether some scores are between right and wrong."""
    return any(_reads(as_score)(each) and 0 < as_score(each) < 1 for each in scores)


def is_list(text: str) -> bool:
    """Tell whether a cell is a list in JSON."""
    try:
        return as_list(text) is not None
    except ValueError:
        return False


def _reads(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def fits(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    return fits


_FITS: dict[str, Callable[[str], bool]] = {
    "correct": _reads(as_correct),
    "score": _reads(as_score),
    "shots": _reads(lambda text: as_number(text, 0)),
    "choices": lambda text: is_list(text) or _reads(lambda text: as_number(text, 2))(text),
}
