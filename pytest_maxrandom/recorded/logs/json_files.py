"""JSON that another program wrote: files, lines and their fields."""

from __future__ import annotations

import json
import reprlib
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from pytest_maxrandom.errors import RecordedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

T = TypeVar("T", dict[str, Any], list[Any], str, int, float, bool)
Object: TypeAlias = dict[str, Any]

_NAMES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}


def read_json(path: Path) -> Object:
    """Read a file that holds one object.

    Raises
    ------
    RecordedError
        If it cannot be read or holds something else.
    """
    try:
        return parse(path.read_bytes(), str(path))
    except OSError as error:
        raise RecordedError(f"{path}: cannot be read: {error.strerror}") from error


def read_lines(path: Path) -> Iterator[tuple[str, Object]]:
    """Read a file with an object in each line, together with ``file:line``.

    Raises
    ------
    RecordedError
        If it cannot be read, or a line holds something else.
    """
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    where = f"{path}:{number}"
                    yield where, parse(line, where)
    except OSError as error:
        raise RecordedError(f"{path}: cannot be read: {error.strerror}") from error


def parse(text: bytes, where: str) -> Object:
    """Read one object.

    Raises
    ------
    RecordedError
        If the text is something else.
    """
    try:
        value = json.loads(text.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise RecordedError(f"{where}: not text in UTF-8; copy the log again") from error
    except json.JSONDecodeError as error:
        raise RecordedError(
            f"{where}: not JSON from column {error.colno} on: {error.msg}; a run that was stopped "
            "leaves such a log, finish it or copy it again"
        ) from error
    except (ValueError, RecursionError) as error:
        raise RecordedError(f"{where}: cannot be read as JSON: {error}") from error
    if not isinstance(value, dict):
        raise _unexpected(where, "the content", value, "an object")
    return value


def field(data: Object, name: str, kind: type[T], where: str) -> T:
    """Return a field that must be there.

    Raises
    ------
    RecordedError
        If it is missing, null or of another kind.
    """
    value = optional(data, name, kind, where)
    if value is None:
        raise RecordedError(f"{where}: '{name}' is missing; give the log as the tool wrote it")
    return value


def optional(data: Object, name: str, kind: type[T], where: str) -> T | None:
    """Return a field, or None where it is missing or null.

    Raises
    ------
    RecordedError
        If it is of another kind; a boolean is no number, a whole number is one.
    """
    value = data.get(name)
    if value is None:
        return None
    kinds = (int, float) if kind is float else (kind,)
    if not isinstance(value, kinds) or (isinstance(value, bool) and kind is not bool):
        raise _unexpected(where, f"'{name}'", value, _NAMES[kind])
    return cast(T, value)


def _unexpected(where: str, what: str, value: object, expected: str) -> RecordedError:
    return RecordedError(
        f"{where}: {what} is {reprlib.repr(value)}, expected {expected}; give the log as the tool "
        "wrote it"
    )
