"""Counts and chances from the texts in which they were published."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np

from pytest_maxrandom.errors import quoted

_DECIMAL = re.compile(
    r"(?P<whole>\d{0,40})(\.(?P<places>\d{0,40}))?(e(?P<power>[+-]?\d{1,2}))?\s*(?P<percent>%?)",
    re.ASCII | re.IGNORECASE,
)
_FRACTION = re.compile(r"(\d{1,40})\s*/\s*(\d{1,40})", re.ASCII)
_MOST_DIGITS = 15
"""From here on a text is a binary number written in full, and as inexact as that."""
_SINGLE, _DOUBLE = Fraction(1, 2**23), Fraction(1, 2**51)
"""What may be lost where a number below 1 is computed in single or in double precision."""


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
    >>> counts_of(".5", 100), counts_of(".50", 100)
    (range(45, 56), range(50, 51))
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


def count_of(accuracy: str, n: int) -> int:
    """Return how many of n answers are right, where only one count fits (see `counts_of`).

    Raises
    ------
    ValueError
        If no count fits, or several do.

    Examples
    --------
    >>> count_of(".29", 100), count_of("33.3 %", 3), count_of("29/100", 200)
    (29, 1, 58)
    """
    counts = counts_of(accuracy, n)
    if len(counts) > 1:
        raise ValueError(
            f"is {quoted(accuracy)}, which could be any of {counts[0]}/{n} to {counts[-1]}/{n}; "
            "give more digits, or best_correct"
        )
    return counts[0]


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
            f"{value.numerator}/{value.denominator} where that is meant"
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
    if not match or not (match["whole"] or match["places"]):
        raise ValueError(f"is {quoted(text)}, expected a number such as .29, 29 % or 29/100")
    places = match["places"] or ""
    power = int(match["power"] or 0) - len(places) - (2 if match["percent"] else 0)
    digits = match["whole"] + places
    unit = Fraction(10) ** power
    value = int(digits) * unit
    return value, max(unit / 2, _lost(digits, value))


def _lost(digits: str, value: Fraction) -> Fraction:
    if len(digits.lstrip("0")) < _MOST_DIGITS:
        return Fraction(0)
    single = float(np.float32(float(value))) == float(value)
    return _SINGLE if single else _DOUBLE
