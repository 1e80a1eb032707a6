"""JSON that another program wrote: files, lines and their fields."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.files import json_lines, json_object, opened

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

T = TypeVar("T", dict[str, Any], list[Any], str, int, float, bool)
Object: TypeAlias = dict[str, Any]

_WAY = "an interrupted run leaves such a log, so finish the run or copy the log again"

_NAMES: dict[type, str] = {
    dict: "an object",
    list: "a list",
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}


@dataclass(frozen=True, slots=True)
class Fields:
    """An object of JSON, and where it stands: a file, or ``file:line``.

    A field is named by the keys that lead to it. The methods raise a RecordedError where it, or an
    object on the way, is of another kind; a boolean is no number, a whole number is one.
    """

    where: str
    data: Object

    def error(self, message: str) -> RecordedError:
        """Return an error that says where it is."""
        return RecordedError(f"{self.where}: {message}")

    def find(self, kind: type[T], *keys: str) -> T | None:
        """Return a field, or None where it is missing or null."""
        value: Any = self.data
        for place, key in enumerate(keys, start=1):
            value = value.get(key)
            if value is None:
                return None
            expected = kind if place == len(keys) else dict
            kinds = (int, float) if expected is float else (expected,)
            if not isinstance(value, kinds) or (isinstance(value, bool) and expected is not bool):
                raise self.error(
                    f"{_path(keys[:place])} is {reprlib.repr(value)}, expected {_NAMES[expected]}; "
                    "give the log as the tool wrote it"
                )
        return value  # type: ignore[no-any-return]

    def need(self, kind: type[T], *keys: str) -> T:
        """Return a field that must be there."""
        value = self.find(kind, *keys)
        if value is None:
            raise self.error(f"{_path(keys)} is missing; give the log as the tool wrote it")
        return value

    def object(self, *keys: str) -> Object:
        """Return an object, an empty one where it is missing or null."""
        return self.find(dict, *keys) or {}


def _path(keys: tuple[str, ...]) -> str:
    return ": ".join([*keys[:-1], f"'{keys[-1]}'"])


def read_json(path: Path) -> Fields:
    """Read a file that holds one object.

    Raises
    ------
    RecordedError
        If it cannot be read or holds something else.
    """
    with opened(path, newline="") as file:
        return parse(file.read(), str(path))


def read_lines(path: Path) -> Iterator[Fields]:
    """Read a file with an object in each line.

    Raises
    ------
    RecordedError
        If it cannot be read, or a line holds something else.
    """
    with opened(path, newline="\n") as file:
        for number, line in json_lines(path, file, _WAY):
            yield Fields(f"{path}:{number}", line)


def parse(text: str | bytes, where: str) -> Fields:
    """Read one object."""
    return Fields(where, json_object(text, where, _WAY))
