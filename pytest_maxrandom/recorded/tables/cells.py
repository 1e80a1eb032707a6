"""The cells of a table: what they mean in a column of some role, and which role it can have."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import quoted
from pytest_maxrandom.recorded.tables.columns import as_id, as_list, as_number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_CORRECT = {"0": False, "0.0": False, "false": False, "1": True, "1.0": True, "true": True}


def _as_correct(text: str) -> bool:
    """Read whether an answer is right."""
    said = text.strip().casefold().replace(",", ".")  # 1,0 where a comma is the decimal sign
    if said not in _CORRECT:
        raise ValueError(
            f"is {quoted(text)}, expected 0 or 1 (or false or true), because an answer is right or "
            "wrong; numbers between stand in a column `score`"
        )
    return _CORRECT[said]


def _as_score(text: str) -> float:
    """Read how good an answer is, from 0 to 1."""
    said = text.strip().casefold().replace(",", ".")  # 0,5 where a comma is the decimal sign
    try:
        score = float(_CORRECT.get(said, said))
    except ValueError:
        score = math.nan
    if not 0 <= score <= 1:
        what = f"is {quoted(text)}" if text.strip() else "is empty"
        raise ValueError(
            f"{what}, expected a number from 0 to 1; divide marks on another scale by their range, "
            "and leave out an answer that nobody scored"
        )
    return score


def _as_prediction(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty; write a word such as 'none' where no answer could be read")
    if is_list(text):
        raise ValueError(f"is {quoted(text)}, a list, expected one label")
    return text


def _as_labels(text: str) -> frozenset[str]:
    """Read one label, or a list of labels in JSON."""
    labels = as_list(text)
    if labels == []:
        raise ValueError("is an empty list; give at least one right answer")
    return frozenset(map(as_id, [text] if labels is None else labels))


def _as_choices(text: str) -> int:
    """Read a number of choices, or count a list of them in JSON."""
    choices = as_list(text)
    try:
        return as_number(text if choices is None else str(len(choices)), 2)
    except ValueError:
        raise ValueError(
            f"is {quoted(text)}, expected a whole number from 2 on, or a list such as "
            '`["yes", "no"]`'
        ) from None


def _as_listed(text: str) -> frozenset[str] | None:
    choices = as_list(text)
    return None if choices is None else frozenset(choices)


def _as_order(text: str) -> tuple[str, ...]:
    return tuple(as_list(text) or ())


def _as_said(text: str) -> str | None:
    """Read an answer; an empty one is none."""
    return text if text.strip() else None


def _as_references(text: str) -> tuple[str, ...]:
    """Read one reference, or a list of its spellings in JSON."""
    several = as_list(text)
    if several == []:
        raise ValueError("is an empty list; give at least one reference")
    return tuple(dict.fromkeys(map(as_id, [text] if several is None else several)))


def can_be(role: str, cells: Iterable[str]) -> bool:
    """Tell whether every cell of a column can be of a role."""
    fits = _FITS.get(role)
    return fits is None or all(map(fits, cells))


def are_graded(scores: Iterable[str]) -> bool:
    """Tell whether some scores are between right and wrong."""
    return any(_reads(_as_score)(each) and 0 < _as_score(each) < 1 for each in scores)


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
    "correct": _reads(_as_correct),
    "score": _reads(_as_score),
    "shots": _reads(lambda text: as_number(text, 0)),
    "choices": _reads(lambda text: is_list(text) or as_number(text, 2)),
}

CELLS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "prompt": ("prompt", as_id),
    "example": ("example", as_id),
    "correct": ("correct", _as_correct),
    "score": ("score", _as_score),
    "judge": ("judge", str),
    "prediction": ("prediction", _as_prediction),
    "gold": ("gold", _as_labels),
    "choices": ("choices", _as_choices),
    "listed": ("choices", _as_listed),
    "order": ("choices", _as_order),
    "cluster": ("cluster", str),
    "sample": ("sample", as_id),
}
"""What is read from the column of which role, and how: a ValueError says what is wrong."""

WITHOUT_CHOICES: dict[str, tuple[str, Callable[[str], Any]]] = {
    "prediction": ("prediction", _as_said),
    "reference": ("reference", _as_references),
    "kind": ("kind", as_id),
    "input": ("input", str),
}
"""What is read from the column of which role where there are no choices, and how."""
