"""The rows of one sweep as a grid of prompts and examples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from pytest_maxrandom.errors import RecordedError, quoted
from pytest_maxrandom.recorded.tables.whose import by_first_row

if TYPE_CHECKING:
    from collections.abc import Hashable

    from numpy.typing import NDArray

    from pytest_maxrandom.recorded.tables.columns import Rows, Values
    from pytest_maxrandom.recorded.tables.whose import Owner

T = TypeVar("T", bound="Hashable")
S = TypeVar("S", bound=np.generic)

_FEW_CELLS = 10_000_000
"""Up to here a grid is made, whatever part of it is filled."""
_SPARSEST = 20
"""Cells for each row, beyond which the columns cannot be those of prompts and examples."""


class Grid:
    """Where each row stands.

    Parameters
    ----------
    rows : Rows
        The whole file.
    owner : Owner
        Whose sweep it is, for messages.
    members : ndarray of int
        The sweep's rows, ascending.
    prompt, example : Values of str
        Ids of all rows.

    Attributes
    ----------
    prompts, examples : tuple of str
        Ids, in the order of their first rows; t and n of them.
    example : ndarray of int
        Per row the place of its example.

    Raises
    ------
    RecordedError
        If two rows stand in one place.
    """

    def __init__(
        self,
        rows: Rows,
        owner: Owner,
        members: NDArray[np.int64],
        prompt: Values[str],
        example: Values[str],
    ) -> None:
        self._rows = rows
        self._owner = owner
        self._members = members
        self.prompts, self._prompt_firsts, self._prompt = self._of_rows(prompt)
        self.examples, self._example_firsts, self.example = self._of_rows(example)
        cells = len(self.prompts) * len(self.examples)
        if cells > max(_FEW_CELLS, _SPARSEST * len(members)):
            raise RecordedError(
                f"{rows.path}: {owner}: found {len(self.prompts)} prompts and "
                f"{len(self.examples)} examples in {len(members)} rows; name the columns that hold "
                "the ids of prompts and of examples"
            )
        self._place = self._prompt * len(self.examples) + self.example
        self._refuse_repeated()

    def _refuse_repeated(self) -> None:
        rows = np.arange(len(self._place))
        last = np.zeros(len(self.prompts) * len(self.examples), dtype=np.int64)
        last[self._place] = rows
        earlier = np.flatnonzero(last[self._place] != rows)
        if len(earlier):
            first = earlier[0]
            again = first + 1 + np.argmax(self._place[first + 1 :] == self._place[first])
            raise self.error(
                again,
                f"prompt {quoted(self.prompts[self._prompt[first]])} has an answer to example "
                f"{quoted(self.examples[self.example[first]])} in {self.called(first)} already; "
                "keep one row for each prompt and example",
            )

    def error(self, member: int | np.integer[Any], message: str) -> RecordedError:
        """Return an error at one of the sweep's rows."""
        return self._rows.error(int(self._members[member]), f"{self._owner}: {message}")

    def called(self, member: int | np.integer[Any]) -> str:
        """Return what a message calls one of the sweep's rows."""
        return self._rows.called(int(self._members[member]))

    def sizes(self, *, ragged: bool) -> tuple[int, int]:
        """Return the least and the greatest number of examples of a prompt.

        Raises
        ------
        RecordedError
            If they differ and may not.
        """
        sizes = np.bincount(self._prompt)
        least, most = int(sizes.min()), int(sizes.max())
        if least < most and not ragged:
            short, long = int(sizes.argmin()), int(sizes.argmax())
            raise self.error(
                self._prompt_firsts[short],
                f"prompt {quoted(self.prompts[short])} was scored on {least} examples, but prompt "
                f"{quoted(self.prompts[long])} on {most}, as in a run that was cut short; finish "
                "it, or say `ragged: true` if each prompt leaves out its own demonstrations",
            )
        return least, most

    def of_rows(self, values: Values[T]) -> tuple[list[T], NDArray[np.int64]]:
        """Return the distinct values of the sweep's rows, and per row the place of its own."""
        distinct, _, places = self._of_rows(values)
        return list(distinct), places

    def _of_rows(
        self, values: Values[T]
    ) -> tuple[tuple[T, ...], NDArray[np.int64], NDArray[np.int64]]:
        """Return distinct values, the first row of each, and per row the place of its own."""
        codes = values.codes[self._members]
        firsts, places = by_first_row(codes, len(values.distinct))
        return tuple(values.distinct[code] for code in codes[firsts]), firsts, places

    def of_examples(self, values: Values[T]) -> list[T]:
        """Return a value for each example.

        Raises
        ------
        RecordedError
            If two rows of an example do not agree.
        """
        codes = values.codes[self._members]
        expected = codes[self._example_firsts]
        other = codes != expected[self.example]
        if other.any():
            at = int(np.argmax(other))
            example = self.example[at]
            first = self._example_firsts[example]
            raise self.error(
                at,
                f"{values.role} of example {quoted(self.examples[example])} is "
                f"{shown(values.distinct[codes[at]])}, but {shown(values.distinct[codes[first]])} "
                f"in {self.called(first)}; give all rows of an example the same",
            )
        return [values.distinct[code] for code in expected]

    def example_error(self, example: int, message: str) -> RecordedError:
        """Return an error at the first row of an example."""
        about = f"example {quoted(self.examples[example])} {message}"
        return self.error(self._example_firsts[example], about)

    def filled(self, values: NDArray[S], empty: Any) -> NDArray[S]:
        """Put a value for each row in its place, shape (t, n)."""
        cells = np.full(len(self.prompts) * len(self.examples), empty, dtype=values.dtype)
        cells[self._place] = values
        return cells.reshape(len(self.prompts), len(self.examples))


def shown(value: object) -> str:
    """Write a value for a message: a number, a text, or the texts of a set."""
    if isinstance(value, frozenset):
        return " and ".join(quoted(text) for text in sorted(value))
    return quoted(value) if isinstance(value, str) else str(value)
