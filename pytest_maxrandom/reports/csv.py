"""The CSV report: one row per claim, with every number unrounded (RFC 4180).

The columns are the attributes of the records and so the same for every run; those of a part of a
claim stand under its name: ``published_n``. Numbers are written with all their digits. Texts are
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
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from pytest_maxrandom.record import ClaimRecord
from pytest_maxrandom.reports.results import KEYS
from pytest_maxrandom.reports.text import visible

if TYPE_CHECKING:
    from pytest_maxrandom.record import RunRecord

_LONG = frozenset(
    ("correct_counts", "validation_ids", "text", "question", "answers", "demonstration_ids")
)
"""What has one value for each prompt or example, or is a whole text; the JSON report has it."""
# The full-width ones mean the same to some spreadsheets.
_FORMULA = (*"=+-@'", *"\uff1d\uff0b\uff0d\uff20")


def csv(run: RunRecord) -> str:
    """Write a run as CSV with a header; what was not computed is an empty field.

    Lists of texts are joined by ``; ``, and what is no number or text is written as JSON.
    """
    names = columns()
    made = io.StringIO(newline="")
    writer = _csv.writer(made)
    writer.writerow(names)
    writer.writerows(_row(claim, names) for claim in run.claims)
    return made.getvalue()


def columns() -> list[str]:
    """List the names of the columns, in the order of the records' attributes."""
    found = []
    parts = _parts()
    for attribute in fields(ClaimRecord):
        if part := parts.get(attribute.name):
            found += [
                f"{attribute.name}_{inner.name}"
                for inner in fields(part)
                if inner.name not in _LONG
            ]
        elif attribute.name not in _LONG:
            found.append(KEYS.get(attribute.name, attribute.name))
    return found


@cache
def _parts() -> dict[str, Any]:
    """Return the attributes of a claim that are records themselves, with their classes."""
    return {
        name: kind
        for name, hint in get_type_hints(ClaimRecord).items()
        for kind in (hint, *get_args(hint))
        if is_dataclass(kind)
    }


def _row(claim: ClaimRecord, names: list[str]) -> list[str]:
    values: dict[str, Any] = {}
    for name, value in asdict(claim).items():
        if name in _parts():
            values |= {f"{name}_{key}": inner for key, inner in (value or {}).items()}
        else:
            values[KEYS.get(name, name)] = value
    return [_field(values.get(name)) for name in names]


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
