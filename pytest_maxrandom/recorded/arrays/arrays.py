"""The arrays of one sweep in an archive, by what they hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.errors import RecordedError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Arrays:
    """Reads arrays whose names begin alike.

    Every method raises a RecordedError where the array is missing, or is not as expected.
    """

    path: Path
    prefix: str
    content: Mapping[str, NDArray[np.generic]]

    def __contains__(self, name: str) -> bool:
        """Tell whether the archive has an array."""
        return self.prefix + name in self.content

    def error(self, name: str, message: str) -> RecordedError:
        """Return an error about an array."""
        return RecordedError(f"{self.path}: {self.prefix}{name}: {message}")

    def dimensions(self, name: str) -> int:
        """Return how many dimensions an array has."""
        return self.content[self.prefix + name].ndim

    def of_kind(self, name: str, dimensions: int, kinds: str, expected: str) -> NDArray[np.generic]:
        """Return an array with so many dimensions, of one of NumPy's kinds of types."""
        if name not in self:
            raise RecordedError(
                f"{self.path}: the array {self.prefix}{name} is missing; write it with the others"
            )
        array = self.content[self.prefix + name]
        if array.ndim != dimensions:
            raise self.error(
                name, f"found the shape {array.shape}, expected {dimensions} dimension(s)"
            )
        if array.dtype.kind not in kinds:
            raise self.error(name, f"found values of the type {array.dtype}, expected {expected}")
        return array

    def ids(self, name: str, dimensions: int) -> NDArray[np.str_]:
        """Return ids as texts."""
        return self.of_kind(name, dimensions, "iuU", "integers or text").astype(np.str_)

    def flags(self, name: str) -> NDArray[np.bool_]:
        """Return truth values, shape (t, n)."""
        return self.of_kind(name, 2, "b", "booleans").astype(np.bool_)

    def integers(self, name: str, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Return integers of this shape."""
        array = self.of_kind(name, len(shape), "iu", "integers").astype(np.int64)
        self.require(name, array.shape, shape)
        return array

    def require(self, name: str, found: tuple[int, ...], expected: tuple[int, ...]) -> None:
        """Refuse another shape."""
        if found != expected:
            raise self.error(
                name,
                f"found the shape {found}, expected {expected} as the numbers of prompt and "
                "example ids say",
            )
