"""The JSON report: a run's records, unrounded, to be read by programs.

``results.schema.json`` next to this module describes the file.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, NoReturn

from pydantic import TypeAdapter, ValidationError

from pytest_maxrandom.errors import ReportError, dotted, json_in_words
from pytest_maxrandom.record import LISTS, SCHEMA_VERSION, RunRecord
from pytest_maxrandom.reports.wording import word

if TYPE_CHECKING:
    from pathlib import Path

KEYS = {"asserted": "assert"}
"""Attributes of a record whose key in the report is a keyword of Python."""


def dump(run: RunRecord) -> str:
    """Write a run as JSON.

    Keys stand in the order of the records' attributes; what was not computed, and a number that
    JSON cannot express, is null. The text is ASCII, so that it survives any encoding.
    """
    content = {"schema_version": run.schema_version, **asdict(run)}
    content |= {name: [_renamed(each, KEYS) for each in content[name]] for name in LISTS}
    return json.dumps(_finite(content), indent=1, allow_nan=False) + "\n"


def load(path: Path) -> RunRecord:
    """Read the file of a JSON report.

    Raises
    ------
    ReportError
        If the file cannot be read, or as `parse` does.
    """
    try:
        return parse(path.read_bytes(), path)
    except OSError as error:
        raise ReportError(f"{path}: cannot be read: {error.strerror}") from error


def parse(data: bytes, path: Path | str) -> RunRecord:
    """Read a JSON report, which messages name by its path.

    Keys that this version does not know are passed over.

    Raises
    ------
    ReportError
        If it is no JSON, was written by a newer schema, or does not hold what a report holds.
    """
    content = _read(data, path)
    version = content.get("schema_version") if isinstance(content, dict) else None
    if not isinstance(version, int) or not isinstance(content.get("claims"), list):
        raise ReportError(
            f"{path}: not a report of pytest-maxrandom, because 'schema_version' or 'claims' is "
            "missing; give a file that --maxrandom-json wrote"
        )
    if version > SCHEMA_VERSION:
        raise ReportError(
            f"{path}: schema version {version} is newer than {SCHEMA_VERSION}, the newest known "
            "here; upgrade pytest-maxrandom"
        )
    attributes = {key: attribute for attribute, key in KEYS.items()}
    lists = {
        name: [_renamed(each, attributes) if isinstance(each, dict) else each for each in found]
        for name in LISTS
        if isinstance(found := content.get(name), list)
    }
    try:
        run = TypeAdapter(RunRecord).validate_python(content | lists)
    except ValidationError as error:
        raise ReportError(f"{path}: {_first(error)}") from error
    for name in LISTS:
        for record in getattr(run, name):
            word(record)
    return run


def _read(data: bytes, path: Path | str) -> Any:
    try:
        return json.loads(data.decode("utf-8"), parse_constant=_refuse)
    except UnicodeDecodeError as error:
        raise ReportError(f"{path}: not UTF-8 text, so not a JSON report") from error
    except json.JSONDecodeError as error:
        raise ReportError(
            f"{path}:{error.lineno}: {json_in_words(error)}; expected a file that pytest "
            "--maxrandom-json wrote"
        ) from error
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{path}: not JSON: {error}") from error


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a JSON number")


def _renamed(record: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    return {names.get(key, key): value for key, value in record.items()}


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = dotted(KEYS.get(str(part), part) for part in first["loc"])
    if first["type"] == "missing":
        return f"'{where}' is missing; give a file that --maxrandom-json wrote"
    return f"'{where}': found {first['input']!r}, but {first['msg'][:1].lower()}{first['msg'][1:]}"
