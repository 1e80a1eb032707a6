"""Results of several arms, counted by task and replicate, in CSV files.

Long form: one row for each arm, with its name, its right answers and n. Wide form: one row with n
and a column for each arm, which holds its accuracy.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from pytest_maxrandom.errors import RecordedError, listed
from pytest_maxrandom.recorded.files import opened
from pytest_maxrandom.recorded.tables.columns import as_number
from pytest_maxrandom.recorded.tables.files import csv_records
from pytest_maxrandom.suite.arms import split_comparison

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_NOISE = 1e-9
"""By so much a quotient of two whole numbers may be off after some floating point."""


ROLES = {
    "task": "task",
    "replicate": "replicate, or else subsample",
    "n": "n",
    "arm": "arm",
    "correct": "correct",
}
"""What columns hold, and what they are called unless somebody says otherwise. A file that has no
column of arms is in wide form."""


class Result(NamedTuple):
    """Right answers of n examples."""

    correct: int
    n: int


class Unit(NamedTuple):
    """What the arms have in common: their results are paired."""

    task: str
    replicate: str
    pooled: tuple[str, ...]


class RecordedArms(NamedTuple):
    """A file's results."""

    comparisons: list[tuple[str, str]]
    """Pairs (a, b) of arms."""
    groups: dict[tuple[str, ...], dict[Unit, dict[str, Result]]]
    """By the values of the columns that tell groups apart, in the order of the file: each unit's
    results, by arm."""


def read_arms(
    path: Path,
    compare: Sequence[str],
    *,
    columns: Mapping[str, str] | None = None,
    by: Sequence[str] = (),
    pool: Sequence[str] = (),
) -> RecordedArms:
    """Read the arms that are to be compared.

    Parameters
    ----------
    path : Path
        A CSV file in UTF-8, also with gzip (``.csv.gz``).
    compare : sequence of str
        Differences of arms, such as "tuned-base".
    columns : mapping, optional
        By their roles (`ROLES`) the names of columns that are called otherwise.
    by : sequence of str
        Columns whose values make groups, analysed one by one.
    pool : sequence of str
        Columns that tell apart rows of the same task and replicate within a group.

    Raises
    ------
    RecordedError
        If it cannot be read, a comparison names no two arms, a row repeats or is incomplete, or
        an accuracy is no multiple of 1/n.
    """
    with opened(path, newline="") as file:
        records = csv_records(path, file)
        _, header = next(records, (1, []))
        table = _Table(path, header, columns or {}, by, pool, compare)
        for line, cells in records:
            table.add(line, cells)
    return table.finished()


class _Table:
    """The rows of a file, gathered as they are read."""

    def __init__(
        self,
        path: Path,
        header: list[str],
        columns: Mapping[str, str],
        by: Sequence[str],
        pool: Sequence[str],
        compare: Sequence[str],
    ) -> None:
        self.path, self.header, self.by, self.pool = path, header, by, pool
        self.compare = compare
        self.groups: dict[tuple[str, ...], dict[Unit, dict[str, Result]]] = {}
        self.lines: dict[tuple[tuple[str, ...], Unit], int] = {}
        for name in header:
            if header.count(name) > 1:
                raise self.error(1, f"several columns are named {name!r}; keep one")
        self.names = {role: columns.get(role, role) for role in ROLES}
        if "replicate" not in {*columns, *header} and "subsample" in header:
            self.names["replicate"] = "subsample"
        self.long = "arm" in columns or "arm" in header
        if not self.long:
            del self.names["arm"], self.names["correct"]
        needed = [*self.names.values(), *by, *pool]
        for name in needed:
            if name not in header:
                raise self.error(
                    1,
                    f"there is no column {name!r}, found {listed(header) or 'nothing'}; name the "
                    "columns that hold the task, the replicate, n, and in long form also the arm "
                    "and correct",
                )
        if not self.long:
            self.resolve([name for name in header if name not in needed])

    def resolve(self, arms: Sequence[str]) -> None:
        """Find the arms that are compared."""
        try:
            self.comparisons = [split_comparison(text, arms) for text in self.compare]
        except ValueError as error:
            raise RecordedError(f"{self.path}: {error}") from error
        self.arms = list(dict.fromkeys(arm for pair in self.comparisons for arm in pair))

    def error(self, line: int, message: str) -> RecordedError:
        return RecordedError(f"{self.path}:{line}: {message}")

    def add(self, line: int, cells: list[str]) -> None:
        """Take a row in."""
        row = dict(zip(self.header, cells, strict=True))
        names = self.names
        for role in ("task", "replicate", "arm"):
            if role in names and not row[names[role]].strip():
                raise self.error(line, f"{names[role]!r} is empty; give every row a value")
        group = tuple(row[name] for name in self.by)
        pooled = tuple(row[name] for name in self.pool)
        unit = Unit(row[names["task"]], row[names["replicate"]], pooled)
        n = self._count(line, names["n"], row, 1)
        if self.long:
            correct = self._count(line, names["correct"], row, 0)
            if correct > n:
                raise self.error(
                    line, f"{names['correct']!r} is {correct}, expected at most {names['n']} = {n}"
                )
            results = {row[names["arm"]]: Result(correct, n)}
        else:
            results = {arm: self._result(line, arm, row[arm], n) for arm in self.arms}
        known = self.groups.setdefault(group, {}).setdefault(unit, {})
        first = self.lines.setdefault((group, unit), line)
        for arm, result in results.items():
            if arm in known:
                raise self.error(
                    line,
                    f"task {unit.task!r}, replicate {unit.replicate!r} already has the arm {arm!r} "
                    f"(from line {first} on); keep one, or name the column that distinguishes such "
                    "rows as `--by` or `--pool`",
                )
            known[arm] = result

    def finished(self) -> RecordedArms:
        """Return all that was gathered."""
        if not self.groups:
            raise RecordedError(
                f"{self.path}: there are no rows after the header; give the results"
            )
        if self.long:
            units = (unit for group in self.groups.values() for unit in group.values())
            self.resolve(list(dict.fromkeys(arm for unit in units for arm in unit)))
        for (group, unit), line in self.lines.items():
            if missing := [arm for arm in self.arms if arm not in self.groups[group][unit]]:
                raise self.error(
                    line,
                    f"task {unit.task!r}, replicate {unit.replicate!r} has no arm {missing[0]!r}; "
                    "give every arm of each task and replicate, on the same examples",
                )
        return RecordedArms(self.comparisons, self.groups)

    def _count(self, line: int, name: str, row: dict[str, str], least: int) -> int:
        try:
            return as_number(row[name], least)
        except ValueError as error:
            raise self.error(line, f"{name!r} {error}") from None

    def _result(self, line: int, arm: str, text: str, n: int) -> Result:
        try:
            accuracy = float(text)
        except ValueError:
            accuracy = math.nan
        if not 0 <= accuracy <= 1:
            raise self.error(line, f"{arm!r} is {text!r}, expected an accuracy from 0 to 1")
        # Not cut: in floating point many an accuracy times n is a little less than the count.
        correct = round(accuracy * n)
        if abs(accuracy - correct / n) > _rounding(text, n):
            raise self.error(
                line,
                f"{arm!r} is {text}, no multiple of 1/{n}; correct the accuracy or n",
            )
        return Result(correct, n)


def _rounding(text: str, n: int) -> float:
    """By how much an accuracy written so may be off; nothing if its decimals are too few for n."""
    exponent = Decimal(text.strip()).as_tuple().exponent
    decimals = -exponent if isinstance(exponent, int) else 0
    if not len(str(n)) <= decimals < -math.log10(_NOISE):
        return _NOISE
    return 0.5 * 10.0**-decimals + _NOISE
