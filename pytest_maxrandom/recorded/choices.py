"""Numbers of choices for recorded sweeps whose files do not tell them."""

from __future__ import annotations

import csv
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pytest_maxrandom.errors import RecordedError

if TYPE_CHECKING:
    from pytest_maxrandom.sweeps.answers import Answers

ChoiceTable: TypeAlias = dict[tuple[str, str, int], int]
"""Number of choices by model, task and shots."""

_COLUMNS = (("model",), ("task", "dataset"), ("shots",), ("choices", "num_choices"))


def read_choices(source: str) -> int | ChoiceTable:
    """Read a number of choices, or a table of them from a CSV file.

    Parameters
    ----------
    source : str
        A whole number, or the path of a file with the columns model, task (or dataset), shots
        and choices (or num_choices).

    Raises
    ------
    RecordedError
        If it is neither, or the table contradicts itself.
    """
    if source.isdecimal():
        return _number("choices", source, 2, f"--choices {source}")
    path = Path(source)
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            return _table(path, csv.DictReader(lines, strict=True))
    except OSError as error:
        raise RecordedError(
            f"--choices {source}: neither a number nor a file that can be read "
            f"({error.strerror}); give a number such as 4, or a CSV file"
        ) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise RecordedError(f"{path}: not a CSV file in UTF-8: {error}") from error


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
            f"{sweep.path}: {sweep.claim}: the file does not tell the number of choices, and "
            f"{found}; give --choices 4, or a CSV file with model, task, shots and choices"
        )
    return replace(sweep, chances=(Fraction(1, number),) * len(sweep.examples))


def _table(path: Path, rows: csv.DictReader[str]) -> ChoiceTable:
    header = rows.fieldnames or []
    names = [next((name for name in known if name in header), None) for known in _COLUMNS]
    model, task, shots, choices = (name or "" for name in names)
    if None in names:
        missing = " or ".join(_COLUMNS[names.index(None)])
        raise RecordedError(
            f"{path}:1: no column {missing}, found {', '.join(header) or 'nothing'}; name the "
            "columns model, task, shots, choices"
        )
    table: ChoiceTable = {}
    for row in rows:
        where = f"{path}:{rows.line_num}"
        number = _number(choices, row[choices], 2, where)
        key = (row[model], row[task], _number(shots, row[shots], 0, where))
        if table.setdefault(key, number) != number:
            raise RecordedError(
                f"{where}: {number} choices for {key}, but {table[key]} in an earlier row; keep "
                "the right one"
            )
    return table


def _number(name: str, text: str | None, least: int, where: str) -> int:
    number = int(text) if text and text.isdecimal() else None
    if number is None or number < least:
        raise RecordedError(f"{where}: {name}: found {text!r}, expected a number from {least} on")
    return number
