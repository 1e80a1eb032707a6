"""Numbers of choices for recorded sweeps whose files do not tell them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pytest_maxrandom.errors import RecordedError
from pytest_maxrandom.recorded.tables.columns import as_number
from pytest_maxrandom.recorded.tables.files import read_columns

if TYPE_CHECKING:
    from pytest_maxrandom.answers import Answers

ChoiceTable: TypeAlias = dict[tuple[str, str, int], int]
"""Number of choices by model, task and shots."""

_COLUMNS = (("model",), ("task", "dataset"), ("shots",), ("choices", "num_choices"))


def read_choices(source: str) -> int | ChoiceTable:
    """Read a number of choices, or a table of them.

    Parameters
    ----------
    source : str
        A whole number, or the path of a table (such as a CSV file) with the columns model, task
        (or dataset), shots and choices (or num_choices).

    Raises
    ------
    RecordedError
        If it is neither, or the table contradicts itself.
    """
    path, table = Path(source), ChoiceTable()
    if source.isdecimal():
        try:
            return as_number(source, 2)
        except ValueError as error:
            raise RecordedError(f"--choices {error}") from error
    if not path.is_file():
        raise RecordedError(
            f"--choices {source}: found neither a number nor a readable file; give a number such "
            "as 4, or a CSV file"
        )
    rows = read_columns(path, {name: (name, False) for names in _COLUMNS for name in names})
    found = [next((name for name in names if name in rows.names), "") for names in _COLUMNS]
    if "" in found:
        raise RecordedError(
            f"{path}: no column {' or '.join(_COLUMNS[found.index('')])}, found "
            f"{', '.join(rows.header)}; name the columns model, task, shots, choices"
        )
    columns = [
        rows.read(name, str if least is None else partial(as_number, least=least))
        for name, least in zip(found, (None, None, 0, 2), strict=True)
    ]
    for row in range(rows.count):
        *key, number = (column.distinct[column.codes[row]] for column in columns)
        if table.setdefault((key[0], key[1], key[2]), number) != number:
            raise rows.error(
                row,
                f"{number} choices for {tuple(key)}, but {table[key[0], key[1], key[2]]} in an "
                "earlier row; keep the correct one",
            )
    return table


def with_choices(sweep: Answers, choices: int | ChoiceTable | None) -> Answers:
    """Give a sweep its chances, unless its file told them.

    Raises
    ------
    RecordedError
        If nobody tells them.
    """
    if sweep.chances is not None:
        return sweep
    key = (sweep.model, sweep.task, sweep.shots)
    number = choices.get(key) if isinstance(choices, dict) else choices
    if number is None:
        found = "--choices was not given" if choices is None else f"--choices has no row {key}"
        raise RecordedError(
            f"{sweep.path}: {sweep.claim}: the file does not give the number of choices, and "
            f"{found}; give --choices 4, or a CSV file with the columns model, task, shots and "
            "choices"
        )
    return replace(sweep, chances=(Fraction(1, number),) * len(sweep.examples))
