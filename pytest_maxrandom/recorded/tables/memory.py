"""Tables that are in memory: data frames of any library, and arrays by their names."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.tables.columns import Rows

if TYPE_CHECKING:
    from pytest_maxrandom.recorded.tables.columns import Wanted

NAMED = Path("results")
"""What messages call a table that stands in no file."""
_GRIDS = (2, 3)
"""Dimensions of an array that has a cell for each answer, or for each sample of it."""
_AS_LIST = ("to_pylist", "to_list", "tolist")
"""How columns of pyarrow, of polars and pandas, and of NumPy become lists, tried in turn."""
_PLAIN = (str, bool, int, float, type(None))
_EXPECTED = (
    "expected a data frame (pandas, polars, pyarrow), a mapping of names to columns, or a list of "
    "rows"
)


class Table:
    """The columns of a table in memory, whatever it is made of.

    Parameters
    ----------
    results : data frame, mapping or list of mappings
        With names of columns (`column_names` or `columns`) and their values by name. In a mapping,
        arrays of shape (prompts, examples) have a cell for each answer, and with a third axis one
        for each sample; arrays beside them that have one dimension have a value for each example,
        and `prompt` one for each prompt.

    Raises
    ------
    RecordedError
        If it is none, or its columns do not have the same length.
    """

    def __init__(self, results: Any) -> None:
        self._columns = _columns(results)
        lengths = {name: len(values) for name, values in self._columns.items()}
        self.count = next(iter(lengths.values()), 0)
        for name, length in lengths.items():
            if length != self.count:
                raise RecordedError(
                    f"{NAMED}: the column {name!r} has {length} values, but "
                    f"{next(iter(lengths))!r} has {self.count}; give all of them one for each row"
                )
        if not self.count:
            raise RecordedError(f"{NAMED}: there are no rows; give one for each answer")

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._columns)

    def rows(self, wanted: Wanted, constants: Mapping[str, Any] | None = None) -> Rows:
        """Return the wanted columns by role.

        Parameters
        ----------
        constants : mapping
            By roles that no column has, the value of all rows.

        Raises
        ------
        RecordedError
            If one is missing, or a cell holds what no file could.
        """
        header = [*self.header]
        for role in constants or ():
            name = wanted[role][0]
            header += [] if name in header else [name]
        rows = Rows(NAMED, None, header, wanted)
        everywhere = np.zeros(self.count, dtype=np.int64)
        for role, name in rows.names.items():
            if constants and role in constants:
                rows.add(role, [constants[role]], everywhere)
            else:
                rows.add(role, _plain(self._columns[name]))
        rows.count = self.count
        return rows


def _columns(results: Any) -> dict[str, Sequence[Any]]:
    if isinstance(results, list | tuple) and all(isinstance(row, Mapping) for row in results):
        names = dict.fromkeys(str(name) for row in results for name in row)
        return {name: [row.get(name) for row in results] for name in names}
    if isinstance(results, Mapping):
        if any(_dimensions(values) in _GRIDS for values in results.values()):
            return _of_grid({str(name): values for name, values in results.items()})
        return {str(name): _listed(values) for name, values in results.items()}
    named: Any = getattr(results, "column_names", None)
    if named is None and hasattr(results, "__getitem__") and not hasattr(results, "collect"):
        named = getattr(results, "columns", None)
    try:
        return {str(name): _listed(results[name]) for name in named}
    except (TypeError, KeyError, IndexError):
        raise RecordedError(f"{NAMED}: found {type(results).__name__}, {_EXPECTED}") from None


def _dimensions(values: Any) -> int:
    return int(getattr(values, "ndim", 1))


def _listed(values: Any) -> list[Any]:
    if (found := _dimensions(values)) != 1:
        raise RecordedError(
            f"{NAMED}: found an array of {found} dimensions, expected one, two for (prompts, "
            "examples), or a third one for samples"
        )
    for name in _AS_LIST:
        if (made := getattr(values, name, None)) is not None:
            return list(made())
    return list(values)


def _of_grid(given: Mapping[str, Any]) -> dict[str, Sequence[Any]]:
    """Write arrays of shape (prompts, examples), or with samples, with a row for each cell."""
    shapes = {name: each.shape for name, each in given.items() if _dimensions(each) in _GRIDS}
    first, shape = next(iter(shapes.items()))
    t, n, *of_samples = (int(size) for size in shape)
    k = of_samples[0] if of_samples else 1
    columns: dict[str, Sequence[Any]] = {
        "prompt": [str(place) for place in range(t) for _ in range(n * k)],
        "example": [str(place) for _ in range(t) for place in range(n) for _ in range(k)],
    }
    if of_samples:
        columns["sample"] = [str(sample) for _ in range(t * n) for sample in range(k)]
    for name, values in given.items():
        if name in shapes:
            if shapes[name] != shape:
                raise RecordedError(
                    f"{NAMED}: {name!r} has the shape {tuple(shapes[name])}, but {first!r} has "
                    f"{tuple(shape)}; give all of them the same axes"
                )
            columns[name] = values.reshape(-1).tolist()
            continue
        each = _listed(values)
        size, of = (t, "prompt") if name == "prompt" else (n, "example")
        if len(each) != size:
            raise RecordedError(
                f"{NAMED}: {name!r} has {len(each)} values, but {first!r} has the shape "
                f"{tuple(shape)}; give one for each {of}, {size}"
            )
        if name == "prompt":
            columns[name] = [cell for cell in each for _ in range(n * k)]
        else:
            columns[name] = [cell for cell in each for _ in range(k)] * t
    return columns


def _plain(values: Sequence[Any]) -> list[Any]:
    """Return cells as JSON has them: what libraries wrap taken out, and nothing as None."""
    if set(map(type, values)) <= {*_PLAIN, list}:
        return list(values)
    return [each if isinstance(each, _PLAIN) else _unwrapped(each) for each in values]


def _unwrapped(value: Any) -> Any:
    if isinstance(value, tuple | set | frozenset):
        return [*value]
    if hasattr(value, "tolist"):  # NumPy's scalars and arrays
        return value.tolist()
    return None if str(value) in ("<NA>", "NaT") else value


def constant_choices(choices: int | Sequence[str]) -> int | str:
    """Return the cell that says how many choices all questions have, or which."""
    return choices if isinstance(choices, int) else json.dumps([*choices], ensure_ascii=False)
