"""Files that somebody else wrote: opened, and read as JSON, with every mistake in its line."""

from __future__ import annotations

import gzip
import io
import json
import re
import reprlib
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import IO, TYPE_CHECKING, Any, TypeAlias, TypeVar

from pytest_maxrandom.errors import RecordedError, described, json_mistake
from pytest_maxrandom.host.data import refused
from pytest_maxrandom.host.limits import limits, too_large

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
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

_NO_UTF8 = re.compile("[\udc80-\udcff]")
"""Bytes that are not UTF-8, as Python's surrogateescape decodes them."""


class _Unpacked(gzip.GzipFile):
    """A file that unpacks to as much as it may, and no more."""

    _bytes = 0

    def read1(self, size: int = -1) -> bytes:
        return self._counted(super().read1(size))

    def read(self, size: int | None = -1) -> bytes:
        whole = size is None or size < 0
        return self._counted(super().read(limits().data_mb * 1_000_000 + 1 if whole else size))

    def _counted(self, part: bytes) -> bytes:
        self._bytes += len(part)
        if why := too_large(self._bytes):
            raise RecordedError(f"{self.name}: {why}")
        return part


@contextmanager
def opened(path: Path, newline: str) -> Iterator[IO[str]]:
    """Open a file in UTF-8, with or without a byte order mark, also with gzip (``.gz``).

    `newline` says which line ends are distinguished, as for :func:`open`.

    Raises
    ------
    RecordedError
        If it may not or cannot be read, as what is no regular file, or while it is read a byte is
        found that is not UTF-8 (with its line).
    """
    if why := refused(path, str(path)):
        raise RecordedError(why)
    binary: Callable[[Path], Any] = partial(open, mode="rb")
    if path.suffix.lower() == ".gz":
        binary = _Unpacked
    try:
        with (
            binary(path) as packed,
            io.TextIOWrapper(packed, encoding="utf-8-sig", newline=newline) as file,
        ):
            yield file
    except (OSError, EOFError) as error:
        reason = getattr(error, "strerror", None) or error
        raise RecordedError(f"{path}: cannot be read: {reason}") from error
    except UnicodeDecodeError as error:
        # Looked for again, because the decoder knows bytes of its own buffer only.
        with binary(path) as packed:
            text = packed.read().decode("utf-8-sig", "surrogateescape")
        if not (wrong := _NO_UTF8.search(text)):
            raise RecordedError(
                f"{path}: the file changed while it was being read; run this again"
            ) from error
        line = 1 + len(re.findall(r"\r\n?|\n", text[: wrong.start()]))
        called = " (Excel: CSV UTF-8)" if path.suffix.lower() == ".csv" else ""
        raise RecordedError(
            f"{path}:{line}: the byte 0x{ord(wrong[0]) - 0xDC00:02x} is not UTF-8; save the file "
            f"as UTF-8{called}, or copy it again"
        ) from error


def json_lines(
    path: Path, lines: Iterable[str], way: str, decode: Callable[[str], Any] = json.loads
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number of each line that is not blank, and the object in it (see `json_object`)."""
    for number, line in enumerate(lines, start=1):
        if not line.isspace():
            yield number, json_object(line, f"{path}:{number}", way, decode)


def json_object(
    text: Any, where: str, way: str, decode: Callable[[Any], Any] = json.loads
) -> dict[str, Any]:
    """Return the object that a text in JSON, or its bytes, stands for.

    Raises
    ------
    RecordedError
        If it stands for none; it ends with what to do then (`way`).
    """
    try:
        value = decode(text)
    except json.JSONDecodeError as error:
        raise RecordedError(f"{where}: {json_mistake(error)[1]}; {way}") from None
    except RecursionError:
        deep = "it is nested too deeply"
        raise RecordedError(f"{where}: cannot be read as JSON, because {deep}; {way}") from None
    except ValueError as error:
        raise RecordedError(f"{where}: cannot be read as JSON: {error}") from None
    if not isinstance(value, dict):
        raise RecordedError(f"{where}: found {described(value)}, expected an object; {way}")
    return value


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
