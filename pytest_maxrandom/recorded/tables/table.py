"""Tidy tables: one row for each answer of a prompt to an example (CSV, JSONL or Parquet)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.errors import RecordedError, did_you_mean, listed, quoted
from pytest_maxrandom.recorded.tables.columns import wanted_columns
from pytest_maxrandom.recorded.tables.sweeps import Table
from pytest_maxrandom.recorded.tables.tabular import read_columns
from pytest_maxrandom.recorded.tables.whose import owners

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_maxrandom.sweeps.answers import Answers


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column holds what.

    None: the column that is called like the attribute, where the file has one. An empty name: no
    column, even where one is called like the attribute.

    Attributes
    ----------
    prompt, example : str
        Ids.
    correct : str
        0 or 1, false or true. May be missing (if not renamed) where `prediction` and `gold` are
        there.
    prediction, gold : str or None
        Labels: what was answered, and what is right (a list where several are; in CSV as JSON).
    choices : str or None
        How many choices the example has, or a list of them: right answers are shuffled among
        examples that list the same.
    model, task, shots : str or None
        Which sweep a row belongs to.
    cluster : str or None
        What examples share that belong together, such as their passage.
    """

    prompt: str = "prompt_id"
    example: str = "example_id"
    correct: str = "correct"
    prediction: str | None = None
    gold: str | None = None
    choices: str | None = None
    model: str | None = None
    task: str | None = None
    shots: str | None = None
    cluster: str | None = None


def read_table(
    path: Path,
    columns: Columns = Columns(),
    *,
    model: str | None = None,
    task: str | None = None,
    shots: int | None = None,
    ragged: bool = False,
) -> list[Answers]:
    """Read the sweeps of a table, in the order of their first rows.

    Parameters
    ----------
    path : Path
        A ``.csv``, ``.jsonl`` or ``.parquet`` file.
    columns : Columns
        What its columns are called.
    model, task, shots : optional
        What is meant where the file has no such column; not looked at where it has one.
    ragged : bool
        Whether prompts may have been scored on different numbers of examples (each leaves its own
        demonstrations out). If not, different numbers are an error: the run was cut short.

    Raises
    ------
    RecordedError
        If the file cannot be read or contradicts itself.

    Notes
    -----
    Labels are the texts of `prediction` and `gold` of a sweep, numbers before other texts; there
    may be more of them than choices. With `choices`, the chance of one guess is the number of
    gold labels (1 where none are given) over that of choices. Where all examples have two choices
    and two answers were given, those that are right follow from `prediction` and `correct`.
    """
    rows = read_columns(path, wanted_columns(columns, always=("prompt", "example")))
    if "correct" not in rows.columns and not {"prediction", "gold"} <= rows.columns.keys():
        raise RecordedError(
            f"{path}: there is no column {quoted(columns.correct)} for `columns: correct:`, and "
            "not both of prediction and gold, from which it would follow; found "
            f"{listed(rows.header)}{did_you_mean(columns.correct, rows.header)}"
        )
    table = Table(rows)
    found, of_row = owners(rows, model, task, shots)
    # A stable sort of small integers takes linear time.
    small = of_row.astype(np.uint16) if len(found) < 1 << 16 else of_row
    ends = np.cumsum(np.bincount(of_row))[:-1]
    members = np.split(np.argsort(small, kind="stable"), ends)
    return [
        table.sweep(owner, chosen, ragged=ragged)
        for owner, chosen in zip(found, members, strict=True)
    ]
