"""What a data file's columns seem to hold, for a first suite: input, answer and choices."""

from __future__ import annotations

import csv
import io
import json
import shlex
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import Problem, SuiteError, did_you_mean, listed
from pytest_maxrandom.suite.tasks import CsvSpec, JsonlSpec
from pytest_maxrandom.tasks.reading import file_findings
from pytest_maxrandom.tasks.rows import RowReader, columns_of, holds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.tasks.found import FoundTask

_MOST_CHOICES = 10
_ROLES = ("input", "choices", "answer")


def completed(found: FoundTask) -> FoundTask:
    """Return a task with the distinct answers of its rows as choices, where it has none.

    Raises
    ------
    SuiteError
        If columns are missing that nobody named: with the options that name them.
    """
    spec = found.spec
    if not isinstance(spec, CsvSpec | JsonlSpec):
        return found
    rows = _rows(found.base / Path(spec.path).expanduser(), spec.format)
    header = [*dict.fromkeys(column for row in rows for column in columns_of(row))]
    missing = {
        key.removeprefix("columns: "): column
        for column, key in RowReader(spec).wanted.items()
        if not any(holds(name, column) for name in header)
    }
    place = 1 if spec.format == "csv" else None
    if not spec.columns.model_fields_set.isdisjoint(missing):
        RowReader(spec).check_header(header, file_findings(found.path), place)
    if not rows or not missing or len(header) == 1:
        return found  # its own reader says what is wrong
    free = [column for column in header if column not in RowReader(spec).wanted]
    guessed: dict[str, str] = {}
    if "choices" in missing and (lists := [name for name in free if _holds_lists(rows, name)]):
        guessed["choices"] = lists[0]
    answer = spec.columns.answer
    if "answer" in missing:
        few = [name for name in free if name not in guessed.values() and _distinct(rows, name)]
        few.sort(key=lambda name: (len(_distinct(rows, name)), name))
        named_so = (name for name in few if did_you_mean(name, ["answer", "label"]))
        if answer := next(chain(named_so, few), ""):
            guessed["answer"] = answer
    texts = [name for name in free if name not in guessed.values()]
    if "input" in missing and texts:
        guessed["input"] = max(texts, key=lambda name: sum(len(_text(row, name)) for row in rows))
    choices = _distinct(rows, answer) if answer else []
    others = [name for name in free if name not in guessed.values()]
    if len(others) >= len(choices) and all(len(choice) == 1 for choice in choices):
        choices = []  # letters or numbers that seem to name a choice in a column of its own
    if choices and "choices" not in guessed:
        missing.pop("choices", None)
    if not missing:
        return replace(found, spec=spec.model_copy(update={"choices": choices}))
    named = [role for role in _ROLES if role in missing]
    noun, verb, them = ("columns", "are", "them") if named[1:] else ("column", "is", "it")
    flags = [
        f"--set {shlex.quote(f'columns.{role}=' + guessed.get(role, 'COLUMN'))}" for role in named
    ]
    told = (
        f"the {noun} {listed([missing[role] for role in named])} {verb} missing; found "
        f"{listed(header)}; name {them}: {' '.join(flags)}"
    )
    if "choices" in missing and "choices" not in guessed:
        told += (
            " (or one column for each choice: --set columns.choices='[COLUMN, COLUMN]'; or the "
            "same choices for all rows: --set choices='[TEXT, TEXT]')"
        )
    raise SuiteError([Problem(found.path, place, told)])


def _rows(file: Path, form: str) -> list[dict[str, Any]]:
    """Return the rows of a file that is as it should be; else none."""
    try:
        text = file.read_text(encoding="utf-8-sig")
        if form == "csv":
            return [row for row in csv.DictReader(io.StringIO(text, newline="")) if None not in row]
        rows = [json.loads(line) for line in text.split("\n") if line.strip()]
    except (OSError, ValueError, RecursionError, csv.Error):
        return []
    return rows if all(isinstance(row, dict) for row in rows) else []


def _holds_lists(rows: Sequence[dict[str, Any]], column: str) -> bool:
    values = [row.get(column) for row in rows]
    return all(
        isinstance(value, list) or (isinstance(value, str) and value.lstrip().startswith("["))
        for value in values
    )


def _distinct(rows: Sequence[dict[str, Any]], column: str) -> list[str]:
    """Return the few texts that stand in a column again and again, sorted; else none."""
    values = [row.get(column) for row in rows]
    texts = {value for value in values if isinstance(value, str) and value.strip()}
    usable = all(isinstance(value, str) and value.strip() for value in values)
    few = 2 <= len(texts) <= _MOST_CHOICES and len(texts) < len(values)
    return sorted(texts) if usable and few and not _holds_lists(rows, column) else []


def _text(row: dict[str, Any], column: str) -> str:
    value = row.get(column)
    return value if isinstance(value, str) else ""
