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
from dataclasses import asdict, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_origin, get_type_hints

from pytest_maxrandom import record as records
from pytest_maxrandom.reports.results import KEYS
from pytest_maxrandom.reports.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_maxrandom.record import RunRecord


class _Level(NamedTuple):
    """What rows are made of: records of a run, or parts of what the level before holds."""

    held_in: str
    """The list that holds them."""
    kind: Any
    """Their class."""
    name: str = ""
    """Of a part, which its columns begin with."""


_BIAS = _Level("label_bias", records.LabelBiasRecord)
_ASKED = _Level("interactions", records.InteractionBias, "interaction")
_ALL_MODELS = _Level("best_models", records.BestModelsRecord)
_REPLICATE = _Level("runs", records.Replicate, "replicate")
_LEVELS: dict[str, tuple[_Level, ...]] = {
    "claims": (_Level("claims", records.ClaimRecord),),
    "replicates": (_Level("replicates", records.ReplicatesRecord), _REPLICATE),
    "label_bias": (_BIAS, _ASKED, _Level("labels", records.LabelRow, "label")),
    "calibrated": (_BIAS, _ASKED, _Level("calibrated", records.Calibrated, "calibrated")),
    "comparisons": (_Level("comparisons", records.ComparisonRecord),),
    "best_models": (_ALL_MODELS, _Level("models", records.ModelStanding, "model")),
    "model_pairs": (_ALL_MODELS, _Level("pairs", records.ModelPair, "pair")),
    "over_tasks": (_Level("over_tasks", records.OverTasks),),
    "contamination": (_Level("contamination", records.ContaminationRecord),),
    "contamination_over_tasks": (
        _Level("contamination_over_tasks", records.ContaminationOverTasks),
    ),
}
TABLES = tuple(_LEVELS)
"""replicates: one row for each replicate of each claim; label_bias: one for each label in each way
of asking; calibrated: one for each calibration of those, or one without any; best_models and
model_pairs: one for each model, and for each pair, of a comparison of all; the others: one for each
record."""
_LONG = (
    *("correct_counts", "validation_ids", "text", "question", "answers", "demonstration_ids"),
    *("runs", "prompts", "by_replicate", "interactions", "labels", "calibrated", "losses"),
    *("models", "pairs"),
)
"""What has one value for each prompt, example or replicate, or is a whole text; the JSON report
has it. The `prompts` of a claim are a part, and stay."""
_RED_FLAGS = "red_flags"
_SEVERITIES = ("fail", "warn")
"""Red flags have a column for each of what they do to a claim: ``red_flags_fail``."""
# The full-width ones mean the same to some spreadsheets.
_FORMULA = (*"=+-@'", *"\uff1d\uff0b\uff0d\uff20")


def csv(run: RunRecord, table: str = "claims") -> str:
    """Write a table of a run as CSV with a header; what was not computed is an empty field.

    Lists of texts are joined by ``; ``, and what is no number or text is written as JSON.
    """
    made = io.StringIO(newline="")
    writer = _csv.DictWriter(made, columns(table))
    writer.writeheader()
    for values in rows(run, table):
        writer.writerow({name: field(value) for name, value in values.items()})
    return made.getvalue()


def rows(run: RunRecord, table: str = "claims") -> list[dict[str, Any]]:
    """Return the rows of a table as they are before they are written: unrounded, None if empty."""
    return list(_rows(run, _LEVELS[table]))


def columns(table: str = "claims") -> list[str]:
    """List the names of the columns, in the order of the records' attributes."""
    return [name for level in _LEVELS[table] for name in _values(level)]


def _rows(holder: Any, levels: tuple[_Level, ...]) -> Iterator[dict[str, Any]]:
    """Yield a row for each of the innermost parts; one without them where there are none.

    Parts are counted from 1; the first replicate is the claim itself.
    """
    level, *further = levels
    for number, part in enumerate(getattr(holder, level.held_in), 1):
        values = _values(level, part, number)
        inner = list(_rows(part, tuple(further))) if further else []
        for row in inner or [{}]:
            yield values | row


def _values(level: _Level, part: Any = None, number: int = 0) -> dict[str, Any]:
    """Return the values of a part by the names of their columns; of none these alone.

    A part that has no name of its own is named by its number.
    """
    values = _of_record(level.kind, part)
    if not level.name:
        return values
    named = {
        name if name == level.name else f"{level.name}_{name}": value
        for name, value in values.items()
    }
    return {level.name: number, **named} if level is _REPLICATE else named


def _of_record(kind: Any, record: Any) -> dict[str, Any]:
    """Return the values of a record; those of a part of it stand under its name."""
    row: dict[str, Any] = {}
    for name, part in _attributes(kind).items():
        value = getattr(record, name, None)
        if part is records.Remark:
            row[name] = None if value is None else value.text
        elif part:
            row |= {f"{name}_{inner}": getattr(value, inner, None) for inner in _attributes(part)}
        elif name == _RED_FLAGS:
            for does in _SEVERITIES:
                row[f"{name}_{does}"] = [
                    f"{flag.kind}: {flag.text}" for flag in value or () if flag.severity == does
                ]
        else:
            row[KEYS.get(name, name)] = value
    return row


@cache
def _attributes(kind: Any) -> dict[str, Any]:
    """Return the attributes of a record that are written, and the classes of nested records."""
    parts: dict[str, Any] = {
        name: None
        if get_origin(hint) in (list, dict)
        else next(filter(is_dataclass, (hint, *get_args(hint))), None)
        for name, hint in get_type_hints(kind).items()
    }
    return {name: part for name, part in parts.items() if part or name not in _LONG}


def field(value: Any) -> str:
    """Write a value as a field, in which no spreadsheet sees a formula."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, list) and all(isinstance(each, str | records.Remark) for each in value):
        value = "; ".join(each.text if isinstance(each, records.Remark) else each for each in value)
    elif not isinstance(value, str):
        value = json.dumps(value, default=asdict) if value else ""
    shown = visible(value)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown
