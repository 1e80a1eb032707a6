"""Random choices that are the same on every machine and under every version of Python."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

T = TypeVar("T")


class Stream:
    """Endless uniform whole numbers: SHA-256 of the names and a counter.

    Parameters
    ----------
    *names : str or int
        What the stream is for; other names give an independent stream.
    """

    def __init__(self, *names: str | int) -> None:
        self._seed = digest(*names)
        self._counter = 0

    def below(self, n: int) -> int:
        """Return a number of 0, ..., n - 1, uniform to within 2**-128 for every n."""
        words = 1 + (n.bit_length() + 127) // 256
        value = 0
        for _ in range(words):
            block = digest(self._seed, self._counter)
            value = value << 256 | int(block, 16)
            self._counter += 1
        return value % n

    def distinct(self, n: int) -> Iterator[int]:
        """Yield 0, ..., n - 1 in random order, in memory that grows only with what is taken."""
        moved: dict[int, int] = {}
        for i in range(n):
            j = i + self.below(n - i)
            yield moved.get(j, j)
            moved[j] = moved.pop(i, i) if j != i else i

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return the items in random order."""
        return [items[i] for i in self.distinct(len(items))]


def digest(*parts: str | int) -> str:
    """SHA-256 (hex) of the parts, which are kept apart by their lengths."""
    joined = "".join(f"{len(str(part))}:{part}" for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()
