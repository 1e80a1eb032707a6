"""What a GGUF file says of itself, checked against its size before llama.cpp believes it.

Only the header is read: keys with their values, which are skipped, and a description of each
tensor. https://github.com/ggml-org/ggml/blob/master/docs/gguf.md has the format.
"""

from __future__ import annotations

import math
import re
import struct
from pathlib import Path
from typing import BinaryIO

from pytest_maxrandom.errors import quoted

_PART = re.compile(r"(.+)-(\d{5})-of-(\d{5})\.gguf")
"""How the files of a split model are called, by which llama.cpp finds them."""
_HEAD = struct.Struct("<4sIQQ")
"""How a file begins: its kind, version, and numbers of tensors and of keys."""
_SWAPPED = 1 << 16
"""Versions from here on are those of files with the bytes of numbers the other way round."""
_READ = (2, 3)
"""Versions that llama.cpp reads."""
_TENSOR, _PAIR = 24, 13
"""Bytes of a tensor's description, and of a key with its value, at least."""
_WIDTHS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Bytes of a value, by its type; a text and a list have their lengths before them."""
_TEXT, _LIST = 8, 9
_DEEPEST = 4
"""Lists within lists."""
_MOST_DIMENSIONS = 4
_LONGEST_NAME = 1 << 16
_BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34),
    9: (32, 40), 10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210),
    15: (256, 292), 16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18),
    21: (256, 110), 22: (256, 82), 23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8),
    28: (1, 8), 29: (256, 56), 30: (1, 2), 34: (256, 54), 35: (256, 66), 39: (32, 17),
    40: (64, 36), 41: (128, 18),
}  # fmt: skip
"""Weights of a block and its bytes, by the type of a tensor; of other types nothing is checked."""


def parts_of(name: str) -> list[Path]:
    """Return a file, or all parts of a model that is split."""
    path = Path(name)
    split = _PART.fullmatch(path.name)
    if split is None or not int(split[3]):
        return [path]
    stem, _, count = split.groups()
    return [
        path.with_name(f"{stem}-{number:05d}-of-{count}.gguf")
        for number in range(1, int(count) + 1)
    ]


def header_mistake(path: str) -> str:
    """Say what a header claims that its file has no bytes for; nothing if it claims none.

    llama.cpp would ask for the memory, or end the process. All parts of a model that is split are
    looked at. The words follow the first file's name.
    """
    first, *others = parts_of(path)
    if mistake := _mistake(first):
        return mistake
    told = ((part, _mistake(part)) for part in others)
    return next((f"of its part {part.name}, {wrong}" for part, wrong in told if wrong), "")


def _mistake(path: Path) -> str:
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(0)
        try:
            _Header(file, size).check()
        except _LieError as error:
            return str(error)
    return ""


class _LieError(Exception):
    """What is wrong, in words that follow a file's name."""


class _Header:
    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file, self._size = file, size

    def check(self) -> None:
        """Read it whole."""
        _, version, tensors, keys = _HEAD.unpack(self._bytes(_HEAD.size))
        if version < _SWAPPED and tensors * _TENSOR + keys * _PAIR > self._size:
            raise _LieError(
                f"its header counts {tensors:,} tensors and {keys:,} keys, for which its "
                f"{self._size:,} bytes have no room"
            )
        if version not in _READ:  # llama.cpp refuses it itself
            return
        alignment = 32
        for _ in range(keys):
            key = self._name()
            kind = self._number("I")
            if key == "general.alignment" and kind == 4:
                alignment = self._number("I")
            else:
                self._skip(kind)
        if alignment < 8 or alignment & alignment - 1:
            raise _LieError(f"its alignment is {alignment}, expected a power of 2 from 8 on")
        described = [self._tensor() for _ in range(tensors)]
        data = self._file.tell() + -self._file.tell() % alignment
        end = 0
        for name, offset, bytes_ in sorted(described, key=lambda one: one[1]):
            if offset < end:
                raise _LieError(f"its tensor {quoted(name)} begins within another")
            if data + (end := offset + bytes_) > self._size:
                raise _LieError(
                    f"its tensor {quoted(name)} ends at byte {data + end:,}, but the file has "
                    f"{self._size:,}"
                )
        names = [name for name, _, _ in described]
        if len({*names}) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise _LieError(f"its tensor {quoted(twice)} stands twice")

    def _tensor(self) -> tuple[str, int, int]:
        """Return a tensor's name, offset and bytes."""
        name = self._name()
        if (count := self._number("I")) > _MOST_DIMENSIONS:
            raise _LieError(
                f"its tensor {quoted(name)} has {count:,} dimensions, expected at most "
                f"{_MOST_DIMENSIONS}"
            )
        shape = [self._number("Q") for _ in range(count)]
        weights, bytes_ = _BLOCKS.get(self._number("I"), (1, 0))
        return name, self._number("Q"), math.prod(shape) // weights * bytes_

    def _skip(self, kind: int, depth: int = 0) -> None:
        """Go past a value."""
        if kind == _TEXT:
            self._past(self._number("Q"))
        elif kind == _LIST:
            kind, count = self._number("I"), self._number("Q")
            if width := _WIDTHS.get(kind):
                self._past(width * count)
                return
            if count > self._size or depth == _DEEPEST:
                raise _LieError("one of its keys holds more than the file")
            for _ in range(count):
                self._skip(kind, depth + 1)
        elif width := _WIDTHS.get(kind):
            self._past(width)
        else:
            raise _LieError(f"one of its keys has a value of the unknown type {kind}")

    def _name(self) -> str:
        if (length := self._number("Q")) > _LONGEST_NAME:
            raise _LieError(f"one of its names has {length:,} letters")
        return self._bytes(length).decode("utf-8", "replace")

    def _number(self, kind: str) -> int:
        number: int = struct.unpack(f"<{kind}", self._bytes(struct.calcsize(kind)))[0]
        return number

    def _past(self, count: int) -> None:
        if count > self._size - self._file.tell():
            raise _LieError("it ends within its header")
        self._file.seek(count, 1)

    def _bytes(self, count: int) -> bytes:
        if len(found := self._file.read(count)) < count:
            raise _LieError("it ends within its header")
        return found
