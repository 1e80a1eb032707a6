"""Published results of which only the best accuracies are known (CSV, JSONL or Parquet)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from pytest_maxrandom.errors import RecordedError, listed, quoted
from pytest_maxrandom.recorded.tables.accuracies import chance_of, count_of, counts_of
from pytest_maxrandom.recorded.tables.cells import as_number
from pytest_maxrandom.recorded.tables.columns import wanted_columns
from pytest_maxrandom.recorded.tables.tabular import read_columns
from pytest_maxrandom.recorded.tables.whose import owners

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from pytest_maxrandom.recorded.tables.columns import Rows
    from pytest_maxrandom.recorded.tables.whose import Owner

T = TypeVar("T", bound="Hashable")


@dataclass(frozen=True, slots=True)
class SummaryColumns:
    """Which column holds what.

    None: the column that is called like the attribute, where the file has one. An empty name: no
    column, even where one is called like the attribute.

    Attributes
    ----------
    n : str
        Number of examples.
    best_correct, accuracy : str or None
        The best prompt's number of right answers, or its accuracy; every row needs one.
    t : str or None
        Number of prompts.
    choices, chance : str or None
        Number of choices, or the chance of one guess.
    model, task, shots : str or None
        Whose result it is.
    """

    n: str = "n"
    best_correct: str | None = None
    accuracy: str | None = None
    t: str | None = None
    choices: str | None = None
    chance: str | None = None
    model: str | None = None
    task: str | None = None
    shots: str | None = None


@dataclass(frozen=True, slots=True)
class RecordedMaximum:
    """The best of t prompts on n examples; t and chance are None where the file does not tell."""

    path: Path
    line: int
    """Line of the file, from 1; in a Parquet file the row."""
    model: str
    task: str
    shots: int
    n: int
    t: int | None
    best_correct: int
    chance: Fraction | None


def read_summary(
    path: Path,
    columns: SummaryColumns = SummaryColumns(),
    *,
    model: str | None = None,
    task: str | None = None,
    shots: int | None = None,
) -> list[RecordedMaximum]:
    """Read one result from each row.

    Parameters
    ----------
    path : Path
        A ``.csv``, ``.jsonl`` or ``.parquet`` file.
    columns : SummaryColumns
        What its columns are called.
    model, task, shots : optional
        What is meant where the file has no such column; not looked at where it has one.

    Raises
    ------
    RecordedError
        If the file cannot be read or contradicts itself.
    """
    rows = read_columns(path, wanted_columns(columns, always=("n",)))
    if not {"best_correct", "accuracy"} & rows.columns.keys():
        raise RecordedError(
            f"{path}: there is no column 'best_correct' and none 'accuracy', found "
            f"{listed(rows.header)}; name the one that there is under `columns:`"
        )
    found, of_row = owners(rows, model, task, shots)
    _refuse_repeated(rows, found, of_row)
    n = rows.read("n", lambda text: as_number(text, 1))
    results = zip(
        (n.distinct[code] for code in n.codes),
        _column(rows, "t", lambda text: as_number(text, 1)),
        _column(rows, "best_correct", lambda text: as_number(text, 0)),
        _column(rows, "accuracy", str),
        _column(rows, "choices", lambda text: as_number(text, 2)),
        _column(rows, "chance", chance_of),
        strict=True,
    )
    return [
        RecordedMaximum(
            path=path,
            line=rows.place(row),
            **found[of_row[row]]._asdict(),
            n=examples,
            t=prompts,
            best_correct=_best(rows, row, examples, correct, accuracy),
            chance=_chance(rows, row, number, chance),
        )
        for row, (examples, prompts, correct, accuracy, number, chance) in enumerate(results)
    ]


def _column(rows: Rows, role: str, parse: Callable[[str], T]) -> list[T | None]:
    """Return per row a value, or None where the file has none."""
    if role not in rows.columns:
        return [None] * rows.count
    values = rows.read(role, lambda text: parse(text) if text.strip() else None)
    return [values.distinct[code] for code in values.codes]


def _refuse_repeated(rows: Rows, found: list[Owner], of_row: NDArray[np.int64]) -> None:
    first: dict[int, int] = {}
    for row, place in enumerate(of_row.tolist()):
        if first.setdefault(place, row) != row:
            raise rows.error(
                row,
                f"{found[place]} has a result in {rows.called(first[place])} already; keep one row "
                "for each model, task and number of shots",
            )


def _best(rows: Rows, row: int, n: int, correct: int | None, accuracy: str | None) -> int:
    """Return the best prompt's number of right answers, however it is given."""
    if correct is not None and correct > n:
        raise rows.error(row, f"best_correct is {correct}, but n is {n}; correct one of them")
    if accuracy is None:
        if correct is None:
            raise rows.error(row, "there is neither best_correct nor accuracy; give one of them")
        return correct
    try:
        counts = counts_of(accuracy, n) if correct is not None else [count_of(accuracy, n)]
    except ValueError as error:
        raise rows.error(row, f"accuracy {error}") from None
    if correct is not None and correct not in counts:
        raise rows.error(
            row,
            f"best_correct is {correct} of {n}, but accuracy is {quoted(accuracy)}; correct one of "
            "them",
        )
    return counts[0] if correct is None else correct


def _chance(rows: Rows, row: int, choices: int | None, chance: Fraction | None) -> Fraction | None:
    if choices is None:
        return chance
    if chance not in (None, Fraction(1, choices)):
        raise rows.error(row, f"choices is {choices}, but chance is {chance}; correct one of them")
    return Fraction(1, choices)
