"""Published results of which only the best accuracies are known (CSV, JSONL or Parquet)."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from pytest_maxrandom.answers import Answers, Maximum
from pytest_maxrandom.errors import RecordedError, listed, quoted
from pytest_maxrandom.recorded.tables.columns import as_number, wanted_columns
from pytest_maxrandom.recorded.tables.files import read_columns
from pytest_maxrandom.recorded.tables.grid import owners
from pytest_maxrandom.suite.base import repeats

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from pathlib import Path

    from pytest_maxrandom.recorded.tables.columns import Rows
    from pytest_maxrandom.recorded.tables.grid import Meant
    from pytest_maxrandom.suite.recorded import SummaryResults

T = TypeVar("T", bound="Hashable")

_DECIMAL = re.compile(
    r"(?P<number>(\d{1,40}(\.\d{0,40})?|\.\d{1,40})(e[+-]?\d{1,2})?)\s*(?P<percent>%?)",
    re.ASCII | re.IGNORECASE,
)
_FRACTION = re.compile(r"(\d{1,40})\s*/\s*(\d{1,40})", re.ASCII)
_MOST_DIGITS = 15
"""From here on a text is a binary number written in full, and as inexact as that."""
_SINGLE, _DOUBLE = Fraction(1, 2**23), Fraction(1, 2**51)
"""What may be lost where a number below 1 is computed in single or in double precision."""


def read_summary(path: Path, spec: SummaryResults, meant: Meant) -> list[Answers]:
    """Read one result from each row.

    The best prompt's right answers are given by their number, or by its accuracy; the chance of one
    guess by itself, or by the number of choices.

    Raises
    ------
    RecordedError
        If the file cannot be read or contradicts itself.
    """
    rows = read_columns(path, wanted_columns(spec.columns, always=("n",)))
    if not {"best_correct", "accuracy"} & rows.names.keys():
        raise RecordedError(
            f"{path}: there is no column 'best_correct' and none 'accuracy', found "
            f"{listed(rows.header)}; name one of the two under `columns:`"
        )
    names, of_row = owners(rows, meant)
    for row, first in repeats(of_row[:].tolist()):
        raise rows.error(
            row,
            f"{names[of_row[row]]} already has a result in {rows.called(first)}; keep one row for "
            "each model, task and number of shots",
        )
    results = zip(
        rows.read("n", lambda text: as_number(text, 1)).of_rows(),
        _column(rows, "t", lambda text: as_number(text, 1)),
        _column(rows, "best_correct", lambda text: as_number(text, 0)),
        _column(rows, "accuracy", str),
        _column(rows, "choices", lambda text: as_number(text, 2)),
        _column(rows, "chance", chance_of),
        strict=True,
    )
    return [
        Answers.published(
            Maximum(examples, prompts, _best(rows, row, examples, correct, accuracy)),
            _chance(rows, row, number, chance),
            path=path,
            **names[of_row[row]]._asdict(),
        )
        for row, (examples, prompts, correct, accuracy, number, chance) in enumerate(results)
    ]


def _column(rows: Rows, role: str, parse: Callable[[str], T]) -> list[T | None]:
    """Return per row a value, or None where the file has none."""
    if role not in rows.names:
        return [None] * rows.count
    return rows.read(role, lambda text: parse(text) if text.strip() else None).of_rows()


def _best(rows: Rows, row: int, n: int, correct: int | None, accuracy: str | None) -> int:
    """Return the best prompt's number of right answers, however it is given."""
    if correct is not None and correct > n:
        raise rows.error(row, f"best_correct is {correct}, but n is {n}; correct one of them")
    if accuracy is None:
        if correct is None:
            raise rows.error(row, "both best_correct and accuracy are empty; give one of them")
        return correct
    try:
        counts = counts_of(accuracy, n)
    except ValueError as error:
        raise rows.error(row, f"accuracy {error}") from None
    if correct is None and len(counts) > 1:
        raise rows.error(
            row,
            f"accuracy is {quoted(accuracy)}, which could be any of {counts[0]}/{n} to "
            f"{counts[-1]}/{n}; give more digits, or best_correct",
        )
    if correct is not None and correct not in counts:
        raise rows.error(
            row,
            f"best_correct is {correct} of {n}, but accuracy is {quoted(accuracy)}; correct one of "
            "them",
        )
    return counts[0] if correct is None else correct


def _chance(rows: Rows, row: int, choices: int | None, chance: Fraction | None) -> Fraction | None:
    if choices is None:
        return chance
    if chance not in (None, Fraction(1, choices)):
        raise rows.error(row, f"choices is {choices}, but chance is {chance}; correct one of them")
    return Fraction(1, choices)


def counts_of(accuracy: str, n: int) -> range:
    """Return how many of n answers may be right, where the accuracy is published as this text.

    A decimal stands for all numbers that are rounded to it, half a unit of its last digit up and
    down; a fraction stands for itself.

    Parameters
    ----------
    accuracy : str
        Such as ``.29``, ``29 %`` or ``29/100``.
    n : int
        Number of examples, at least 1.

    Raises
    ------
    ValueError
        If it is no accuracy, or no count fits it.

    Examples
    --------
    >>> counts_of(".5", 100), counts_of(".50", 100), counts_of("50 %", 100)
    (range(45, 56), range(50, 51), range(50, 51))
    """
    value, error = _read(accuracy)
    if value - error > 1:
        raise ValueError(
            f"is {quoted(accuracy)}, expected at most 1; write 29 % or .29 where 29 of 100 is meant"
        )
    least = max(0, math.ceil((value - error) * n))
    most = min(n, math.floor((value + error) * n))
    if least > most:
        below = math.floor(value * n)
        raise ValueError(
            f"is {quoted(accuracy)}, which is no multiple of 1/{n}: the nearest are {below}/{n} "
            f"and {below + 1}/{n}; correct it or n, or give best_correct"
        )
    return range(least, most + 1)


def chance_of(text: str) -> Fraction:
    """Return the chance of one guess.

    Raises
    ------
    ValueError
        If it is no number between 0 and 1, or looks like a rounded fraction.

    Examples
    --------
    >>> chance_of("1/3"), chance_of(".25"), chance_of("20 %")
    (Fraction(1, 3), Fraction(1, 4), Fraction(1, 5))
    """
    value, error = _read(text)
    if not 0 < value < 1:
        raise ValueError(f"is {quoted(text)}, expected a number between 0 and 1 such as 1/5 or .2")
    if error <= _SINGLE:
        simple = value.limit_denominator(1000)
        return simple if abs(simple - value) <= error else value
    choices = round(1 / value)
    if value != Fraction(1, choices) and abs(value - Fraction(1, choices)) <= error:
        raise ValueError(
            f"is {quoted(text)}, which may be 1/{choices} rounded; write 1/{choices}, or "
            f"{value.numerator}/{value.denominator} if that is meant"
        )
    return value


def _read(text: str) -> tuple[Fraction, Fraction]:
    """Return a number, and by how much what it was rounded from may differ."""
    stripped = text.strip()
    if match := _FRACTION.fullmatch(stripped):
        part, whole = map(int, match.groups())
        if whole:
            return Fraction(part, whole), Fraction(0)
    match = _DECIMAL.fullmatch(stripped)
    if not match:
        raise ValueError(f"is {quoted(text)}, expected a number such as .29, 29 % or 29/100")
    _, digits, power = Decimal(match["number"]).as_tuple()
    scale = Fraction(1, 100) if match["percent"] else Fraction(1)
    value, unit = Fraction(match["number"]) * scale, Fraction(10) ** int(power) * scale
    if len(digits) < _MOST_DIGITS:
        return value, unit / 2
    single = float(np.float32(float(value))) == float(value)
    return value, max(unit / 2, _SINGLE if single else _DOUBLE)
