"""Arrays of NumPy archives: read within limits, and checked where they are used."""

from __future__ import annotations

import math
import zipfile
import zlib
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.host.limits import too_large

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from numpy.lib.npyio import NpzFile
    from numpy.typing import ArrayLike, NDArray

_MOST_CHOICES = 1_000_000
"""Numbers from here on are no choices, but were never filled in."""

_PIECE = 2**17
"""Labels that are read at a time."""

_TYPES: dict[str, tuple[type[np.generic], str]] = {
    "iuU": (np.str_, "integers or text"),
    "iu": (np.int64, "integers"),
    "b": (np.bool_, "booleans"),
    "f": (np.float64, "floats"),
    "U": (np.str_, "text"),
}
"""By NumPy's kinds of types: what arrays of them are read as, and what a message calls them."""

_NUMBERED = ": number the choices of an example from 0, and give their texts as `choice_texts`"
"""What to write in place of the texts of choices."""


def content_of(path: Path) -> dict[str, NDArray[Any]]:
    """Return all arrays of an archive, by their names.

    Raises
    ------
    RecordedError
        If it cannot be read, is none, takes too much memory, or holds what is no array of numbers
        or texts.
    """
    try:
        with path.open("rb") as file:
            if not zipfile.is_zipfile(file):
                raise RecordedError(f"{path}: not an .npz archive; write it with numpy.savez")
        _check_sizes(path)
        with np.load(path, allow_pickle=False) as archive:
            return {name: _read(archive, name, path) for name in archive}
    except OSError as error:
        raise RecordedError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise RecordedError(f"{path}: a damaged .npz archive: {error}; copy it again") from error


def _check_sizes(path: Path) -> None:
    """Refuse an archive that takes more memory than it may, or than it has content for."""
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if why := too_large(sum(member.file_size for member in members)):
            raise RecordedError(f"{path}: {why}")
        for member in members:
            with archive.open(member) as file:
                name = member.filename.removesuffix(".npy")
                try:
                    shape, _, dtype = _header(file)
                except (OSError, EOFError, zipfile.BadZipFile, zlib.error):
                    raise
                except Exception as error:  # whatever its tokens and types make of the text
                    raise RecordedError(
                        f"{path}: {name}: the header is damaged; write it with numpy.savez"
                    ) from error
                claimed = math.prod(shape) * dtype.itemsize
                if not dtype.hasobject and claimed > member.file_size:
                    raise RecordedError(
                        f"{path}: {name}: the header claims {claimed:,} bytes, but the file has "
                        f"{member.file_size:,}; write it with numpy.savez"
                    )


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read the shape of an array, whether its columns come first, and its type."""
    first = npy.read_magic(file)[0] == 1
    return (npy.read_array_header_1_0 if first else npy.read_array_header_2_0)(file)


def _read(archive: NpzFile, name: str, path: Path) -> NDArray[Any]:
    member, members = f"{name}.npy", archive.zip
    if members is not None and name.endswith("answers") and member in members.namelist():
        with members.open(member) as file:
            shape, by_column, dtype = _header(file)
            if dtype.kind in "iu":
                labels = _labels(file, math.prod(shape), dtype)
                return labels.reshape(shape[::-1]).T if by_column else labels.reshape(shape)
    try:
        return archive[name]
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise RecordedError(
            f"{path}: {name}: found Python objects, which could run code and are not read; save it "
            "as numbers, booleans or text (numpy.asarray(..., dtype=str))"
        ) from error


def _labels(file: IO[bytes], size: int, dtype: np.dtype[Any]) -> NDArray[np.signedinteger[Any]]:
    """Read labels in pieces, into as few bytes as they take: often one of eight."""
    codes: NDArray[np.signedinteger[Any]] = np.empty(size, dtype=np.int8)
    for start in range(0, size, _PIECE):
        count = min(_PIECE, size - start)
        read = np.frombuffer(file.read(count * dtype.itemsize), dtype=dtype, count=count)
        part = read.astype(np.int64)
        bounds = part.min(), part.max()
        needed = np.result_type(codes, *(np.min_scalar_type(min(each, ~each)) for each in bounds))
        codes = codes.astype(needed, copy=False)
        codes[start : start + count] = part
    return codes


@dataclass(slots=True)
class Arrays:
    """The arrays of one sweep: those whose names begin alike.

    Every method raises a RecordedError where an array is not as expected.
    """

    path: Path
    prefix: str
    content: Mapping[str, NDArray[Any]]
    prompts: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()

    def __contains__(self, name: str) -> bool:
        return self.prefix + name in self.content

    def error(self, name: str, message: str) -> RecordedError:
        """Return an error about an array."""
        return RecordedError(f"{self.path}: {self.prefix}{name}: {message}")

    def read(self, name: str, kinds: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
        """Return an array of one of NumPy's kinds of types; None in the shape is any length."""
        if name not in self:
            raise RecordedError(
                f"{self.path}: the array {self.prefix}{name} is missing; write it with the others"
            )
        array = self.content[self.prefix + name]
        if array.ndim != len(shape):
            raise self.error(
                name,
                f"found the shape {array.shape}, expected {len(shape)} "
                f"dimension{'s' * (len(shape) != 1)}",
            )
        kind, expected = _TYPES[kinds]
        if array.dtype.kind not in kinds:
            ways = _NUMBERED * (array.dtype.kind == "U" and name in ("answers", "gold"))
            raise self.error(
                name, f"found values of the type {array.dtype}, expected {expected}{ways}"
            )
        known = tuple(length for length in shape if length is not None)
        if array.shape[: len(known)] != known:
            raise self.error(
                name,
                f"found the shape {array.shape[: len(known)]}, expected {known} from the numbers "
                "of prompt ids and example ids",
            )
        # Labels have been read into as few bytes as they take.
        return array if name == "answers" else array.astype(kind, copy=False)

    def refuse(
        self,
        name: str,
        wrong: ArrayLike,
        found: Callable[[tuple[int, ...]], object],
        expected: str,
        choices: NDArray[np.int64] | None = None,
    ) -> None:
        """Refuse an array at the first place, of an example or a prompt and one, that is wrong.

        Where numbers of choices are given, they are what it contradicts.
        """
        for place in map(tuple, np.argwhere(wrong)[:1].tolist()):
            cell = f"example {self.examples[place[-1]]!r}"
            if len(place) > 1:
                cell = f"prompt {self.prompts[place[0]]!r} and {cell}"
            if choices is not None:
                cell += f", which has the choices 0 to {choices[place[-1]] - 1}"
            raise self.error(name, f"found {found(place)} for {cell}{expected}")

    def ids(self, name: str) -> tuple[str, ...]:
        """Return ids as texts, at least one."""
        ids = tuple(self.read(name, "iuU", (None,)).tolist())
        if not ids:
            raise self.error(name, "holds no id; give a sweep")
        return ids

    def numbers(
        self, name: str, shape: tuple[int, ...], least: int
    ) -> NDArray[np.signedinteger[Any]] | None:
        """Return numbers that can be those of choices; None where there is no such array."""
        if name not in self:
            return None
        numbers = self.read(name, "iu", shape)
        wrong: ArrayLike = False
        if not least <= numbers.min() <= numbers.max() < _MOST_CHOICES:
            wrong = (numbers < least) | (numbers >= _MOST_CHOICES)
        expected = f", expected a number from {least} on (below {_MOST_CHOICES})"
        expected += "; leave out examples whose right answer is not known" * (name == "gold")
        self.refuse(name, wrong, numbers.__getitem__, expected)
        return numbers

    def flags(self, name: str, computed: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
        """Return truth values as they are given, as they follow from the answers, or as both."""
        if computed is not None and name not in self:
            return computed
        given = self.read(name, "b", (len(self.prompts), len(self.examples)))
        if computed is not None:
            expected = ", but the answer says otherwise; write all arrays from the same run"
            self.refuse(name, given != computed, given.__getitem__, expected)
        return given


def by_sample(arrays: Arrays) -> tuple[Arrays, int]:
    """Return arrays in which each sample is as if it were a prompt, and how many there are."""
    cells = {
        name: arrays.content[arrays.prefix + name]
        for name in ("correct", "answers", "evaluated", "scores")
        if name in arrays
    }
    for name, array in cells.items():
        if array.ndim > 3:
            raise arrays.error(
                name,
                f"found the shape {array.shape}, expected 2 dimensions, or a third one for samples",
            )
    sizes = {name: array.shape[2] for name, array in cells.items() if array.ndim == 3}
    if not sizes:
        return arrays, 1
    (first, k), *others = sizes.items()
    for name, other in others:
        if other != k:
            raise arrays.error(
                name,
                f"found {other} samples on its third axis, but {first} has {k}; write both "
                "from the same run",
            )
    if not k:
        raise arrays.error(first, "found no sample on its third axis; give at least one")
    if "log_likelihoods" in arrays:
        raise arrays.error(
            "log_likelihoods",
            "belong to single answers, but there are several samples of each; leave them out",
        )
    content = dict(arrays.content)
    for name in ("prompt_ids", "demonstration_ids"):
        if name in arrays:
            content[arrays.prefix + name] = np.repeat(content[arrays.prefix + name], k, axis=0)
    for name, array in cells.items():
        if array.ndim == 3:
            flat = array.transpose(0, 2, 1).reshape(-1, array.shape[1])
        else:
            flat = np.repeat(array, k, axis=0)
        content[arrays.prefix + name] = flat
    return replace(arrays, content=content), k
