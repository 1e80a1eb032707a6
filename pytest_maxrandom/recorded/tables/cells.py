"""What a cell of a table holds."""

from __future__ import annotations

import json
import math

from pytest_maxrandom.errors import described, quoted


def as_text(value: object) -> str:
    """Write a value as a CSV file would hold it: nothing as an empty text, a list as JSON.

    Raises
    ------
    ValueError
        If it is no text, number, truth value, list of such, or nothing.
    """
    if isinstance(value, list):
        return json.dumps([_scalar(each) for each in value], ensure_ascii=False)
    return _scalar(value)


def as_list(text: str) -> list[str] | None:
    """Return the list that a text spells in JSON, or None if it does not begin like one.

    Raises
    ------
    ValueError
        If it is no list of texts, numbers or truth values after all.
    """
    if not text.lstrip().startswith("["):
        return None
    try:
        return [_scalar(each) for each in json.loads(text, parse_float=str)]
    except (ValueError, RecursionError):
        raise ValueError(
            f'is {quoted(text)}, which begins like a list but is none in JSON, such as ["A", "B"]'
        ) from None


def as_id(text: str) -> str:
    """Return a text that names something.

    Raises
    ------
    ValueError
        If it is blank.
    """
    if not text.strip():
        raise ValueError("is empty; give every row a value")
    return text


def as_number(text: str, least: int) -> int:
    """Return a whole number.

    Raises
    ------
    ValueError
        If it is none, or below `least`.
    """
    digits = text.strip().removesuffix(".0")  # as a column of floats writes it
    number = int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 19 else -1
    if number < least:
        raise ValueError(f"is {quoted(text)}, expected a whole number from {least} on")
    return number


def _scalar(value: object) -> str:
    match value:
        case str():
            return value
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return "" if math.isnan(value) else repr(value)
        case _:
            raise ValueError(f"holds {described(value)}, expected a text or a number")
