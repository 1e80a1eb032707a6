"""The CSV report: one row per claim, with every number unrounded (RFC 4180).

What is no claim has tables of its own. The columns are the attributes of the records and so the
same for every run; those of a part of a claim stand under its name: ``published_n``. Numbers are
written with all their digits. Texts are on one line, without hidden characters. Because
spreadsheets run a text as a formula that begins with ``=``, ``+``, ``-`` or ``@``, an apostrophe
stands before it, and before one that begins with an apostrophe.
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
    Calibrated,
    ClaimRecord,
    ComparisonRecord,
    ContaminationRecord,
    InteractionBias,
    LabelBiasRecord,
    LabelRow,
    OverTasks,
    Replicate,
    ReplicatesRecord,
)
from pytest_maxrandom.reports.results import KEYS
from pytest_maxrandom.reports.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.record import RunRecord

Table: TypeAlias = Literal[
    "claims",
    "replicates",
    "label_bias",
    "calibrated",
    "comparisons",
    "over_tasks",
    "contamination",
]
TABLES: tuple[Table, ...] = get_args(Table)
"""replicates: one row for each replicate of each claim; label_bias: one for each label in each way
of asking; calibrated: one for each calibration of those, or one without any; the others: one
for each record."""

_RECORDS: dict[Table, Any] = {
    "claims": ClaimRecord,
    "replicates": ReplicatesRecord,
    "label_bias": LabelBiasRecord,
    "calibrated": LabelBiasRecord,
    "comparisons": ComparisonRecord,
    "over_tasks": OverTasks,
    "contamination": ContaminationRecord,
}
_LISTS: dict[Table, str] = {"calibrated": "label_bias"}
"""Where a run keeps the records of a table that is not called so."""
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
        "remarks",
        "interactions",
        "labels",
        "calibrated",
    )
)
"""What has one value for each prompt, example or replicate, or is a whole text; the JSON report
has it. The `prompts` of a claim are a part, and stay."""
_REPLICATE = "replicate"
_ROWS: dict[str, tuple[tuple[str, str, Any], ...]] = {
    "replicates": (("runs", _REPLICATE, Replicate),),
    "label_bias": (("interactions", "interaction", InteractionBias), ("labels", "label", LabelRow)),
    "calibrated": (
        ("interactions", "interaction", InteractionBias),
        ("calibrated", "calibrated", Calibrated),
    ),
}
"""Tables with a row for each part of a record: the list that holds the parts, within the one
before, what their columns begin with, and their class."""
_RED_FLAGS = "red_flags"
_SEVERITIES = ("fail", "warn")
"""Red flags have a column for each of what they do to a claim: ``red_flags_fail``."""
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
    for values in _rows(run, table):
        writer.writerow([_field(values.get(name)) for name in names])
    return made.getvalue()


def columns(table: Table = "claims") -> list[str]:
    """List the names of the columns, in the order of the records' attributes."""
    found = [*_values(_RECORDS[table])]
    for _, prefix, part in _ROWS.get(table, ()):
        found += _of_part(prefix, part)
    return found


@cache
def _parts(kind: Any) -> dict[str, Any]:
    """Return the attributes of a record that are records themselves, with their classes."""
    return {
        name: inner
        for name, hint in get_type_hints(kind).items()
        if get_origin(hint) not in (list, dict)
        for inner in (hint, *get_args(hint))
        if is_dataclass(inner)
    }


def _values(kind: Any, record: Any = None) -> dict[str, Any]:
    """Return the values of a record, by the names of their columns; of no record these alone."""
    found: dict[str, Any] = {}
    for attribute in fields(kind):
        name = attribute.name
        value = getattr(record, name, [] if name == _RED_FLAGS else None)
        if part := _parts(kind).get(name):
            found |= _attributes(f"{name}_", part, value)
        elif name == _RED_FLAGS:
            for does in _SEVERITIES:
                told = [
                    f"{flag.kind}: {flag.text}" for flag in value or () if flag.severity == does
                ]
                found[f"{name}_{does}"] = told
        elif name not in _LONG:
            found[KEYS.get(name, name)] = value
    return found


def _of_part(prefix: str, kind: Any, part: Any = None, number: int = 0) -> dict[str, Any]:
    """Return the values of a part that has a row, which is named by a number or by itself."""
    found = _attributes(f"{prefix}_", kind, part)
    own = {_REPLICATE: number} if prefix == _REPLICATE else {}
    itself = f"{prefix}_{prefix}"
    return own | {prefix if name == itself else name: value for name, value in found.items()}


def _attributes(prefix: str, kind: Any, part: Any) -> dict[str, Any]:
    names = [each.name for each in fields(kind) if each.name not in _LONG]
    return {f"{prefix}{name}": getattr(part, name, None) for name in names}


def _rows(run: RunRecord, table: Table) -> Iterator[dict[str, Any]]:
    """Yield the values of each row: of a record, or of each of its parts beside its own."""
    for record in getattr(run, _LISTS.get(table, table)):
        yield from _unrolled(_values(_RECORDS[table], record), record, _ROWS.get(table, ()))


def _unrolled(
    values: dict[str, Any], holder: Any, parts: tuple[tuple[str, str, Any], ...]
) -> Iterator[dict[str, Any]]:
    """Yield a row for each of the innermost parts; one without them where there are none.

    Parts are counted from 1; the first replicate is the claim itself.
    """
    if not parts or not getattr(holder, parts[0][0]):
        yield values
        return
    (attribute, prefix, kind), *rest = parts
    for number, part in enumerate(getattr(holder, attribute), 1):
        yield from _unrolled(values | _of_part(prefix, kind, part, number), part, tuple(rest))


def _field(value: Any) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        value = "; ".join(value)
    elif not isinstance(value, str):
        value = json.dumps(value, default=asdict) if value else ""
    shown = visible(value)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown
