"""The CSV report: one row per claim, with every number unrounded (RFC 4180).

Replicates, comparisons and contamination checks have tables of their own. The columns are the
attributes of the records and so the same for every run; those of a part of a claim stand under
its name: ``published_n``. Numbers are written with all their digits. Texts are
on one line, without hidden characters. Because spreadsheets run a text as a formula that begins
with ``=``, ``+``, ``-`` or ``@``, an apostrophe stands before it, and before one that begins with
an apostrophe.
"""

from __future__ import annotations

import csv as _csv
import io
import json
import math
from dataclasses import asdict, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

from pytest_maxrandom.record import (
    ClaimRecord,
    ComparisonRecord,
    ContaminationRecord,
    OverTasks,
    Replicate,
    ReplicatesRecord,
)
from pytest_maxrandom.reports.results import KEYS
from pytest_maxrandom.reports.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.record import RunRecord

Table: TypeAlias = Literal["claims", "replicates", "comparisons", "over_tasks", "contamination"]
TABLES: tuple[Table, ...] = get_args(Table)
"""replicates: one row for each replicate of each claim; the others: one for each record."""

_RECORDS: dict[Table, Any] = {
    "claims": ClaimRecord,
    "replicates": ReplicatesRecord,
    "comparisons": ComparisonRecord,
    "over_tasks": OverTasks,
    "contamination": ContaminationRecord,
}
_LONG = frozenset(
    (
        "correct_counts",
        "validation_ids",
        "text",
        "question",
        "answers",
        "demonstration_ids",
        "runs",
        "prompts",
        "by_replicate",
    )
)
"""What has one value for each prompt, example or replicate, or is a whole text; the JSON report
has it. The `prompts` of a claim are a part, and stay."""
_OF_REPLICATE = "replicate"
# The full-width ones mean the same to some spreadsheets.
_FORMULA = (*"=+-@'", *"\uff1d\uff0b\uff0d\uff20")


def csv(run: RunRecord, table: Table = "claims") -> str:
    """Write a table of a run as CSV with a header; what was not computed is an empty field.

    Lists of texts are joined by ``; ``, and what is no number or text is written as JSON.
    """
    names = columns(table)
    made = io.StringIO(newline="")
    writer = _csv.writer(made)
    writer.writerow(names)
    for values in _replicates(run) if table == "replicates" else _values(run, table):
        writer.writerow([_field(values.get(name)) for name in names])
    return made.getvalue()


def columns(table: Table = "claims") -> list[str]:
    """List the names of the columns, in the order of the records' attributes."""
    kind = _RECORDS[table]
    found = []
    parts = _parts(kind)
    for attribute in fields(kind):
        if part := parts.get(attribute.name):
            found += [
                f"{attribute.name}_{inner.name}"
                for inner in fields(part)
                if inner.name not in _LONG
            ]
        elif attribute.name not in _LONG:
            found.append(KEYS.get(attribute.name, attribute.name))
    if table == "replicates":
        inner_names = [each.name for each in fields(Replicate) if each.name not in _LONG]
        found += [_OF_REPLICATE, *(f"{_OF_REPLICATE}_{name}" for name in inner_names)]
    return found


@cache
def _parts(kind: Any) -> dict[str, Any]:
    """Return the attributes of a record that are records themselves, with their classes."""
    return {
        name: inner
        for name, hint in get_type_hints(kind).items()
        if get_origin(hint) is not list
        for inner in (hint, *get_args(hint))
        if is_dataclass(inner)
    }


def _values(run: RunRecord, table: Table) -> Iterator[dict[str, Any]]:
    """Yield the values of each record, by the names of their columns."""
    parts = _parts(_RECORDS[table])
    for record in getattr(run, table):
        values: dict[str, Any] = {}
        for name, value in asdict(record).items():
            if name in parts:
                values |= {f"{name}_{key}": inner for key, inner in (value or {}).items()}
            else:
                values[KEYS.get(name, name)] = value
        yield values


def _replicates(run: RunRecord) -> Iterator[dict[str, Any]]:
    """Yield the values of each replicate beside those of its claim; of a claim without any, once.

    Replicates are counted from 1, which is the claim itself.
    """
    for values in _values(run, "replicates"):
        for number, each in enumerate(values["runs"], 1):
            inner = {f"{_OF_REPLICATE}_{name}": value for name, value in each.items()}
            yield {**values, _OF_REPLICATE: number, **inner}
        if not values["runs"]:
            yield values


def _field(value: Any) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, list):
        value = "; ".join(value)
    elif isinstance(value, dict):
        value = json.dumps(value) if value else ""
    shown = visible(value)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown
