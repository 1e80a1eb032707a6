"""The published JSON Schemas of the JSON report and of `maxrandom tasks`, made from the records.

``python -m pytest_maxrandom.reports.schema`` writes ``results.schema.json`` and
``tasks.schema.json`` next to this module.
"""

from __future__ import annotations

import ast
import inspect
import json
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from pytest_maxrandom import record
from pytest_maxrandom.reports.results import KEYS

PATH = Path(__file__).with_name("results.schema.json")
TASKS_PATH = Path(__file__).with_name("tasks.schema.json")


def schema() -> dict[str, Any]:
    """Describe what :func:`pytest_maxrandom.reports.results.dump` writes (draft 2020-12).

    Every key that is written is required; later versions may write more keys.
    """
    made = _schema(record.RunRecord, "JSON report of pytest-maxrandom")
    made["properties"]["schema_version"] |= {"const": record.SCHEMA_VERSION}
    return made


def tasks_schema() -> dict[str, Any]:
    """Describe in the same way what ``maxrandom tasks --format json`` writes."""
    made = _schema(record.TaskAudit, "Tasks and their chance, by maxrandom tasks")
    made["properties"]["audit_version"] |= {"const": record.AUDIT_VERSION}
    return made


def _schema(kind: type, title: str) -> dict[str, Any]:
    made = TypeAdapter(kind).json_schema(mode="serialization")
    definitions: dict[str, Any] = made.pop("$defs")
    for name, definition in {**definitions, kind.__name__: made}.items():
        docstrings = _docstrings(getattr(record, name))
        described = {
            KEYS.get(key, key): _described(value, docstrings.get(key))
            for key, value in definition["properties"].items()
        }
        definition |= {"properties": described, "required": list(described)}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **made,
        "title": title,
        "$defs": definitions,
    }


def dump_schema(described: dict[str, Any] | None = None) -> str:
    """Write a schema, that of the JSON report if none is given, as the text of its file."""
    return json.dumps(described or schema(), indent=1, ensure_ascii=False) + "\n"


def _described(value: dict[str, Any], docstring: str | None) -> dict[str, Any]:
    # Pydantic's titles only repeat the keys; a report always writes its defaults.
    kept = {key: item for key, item in value.items() if key not in ("title", "default")}
    return kept if docstring is None else {**kept, "description": docstring}


def _docstrings(of: type) -> dict[str, str]:
    """Find the string below each attribute of a record."""
    docstrings = {}
    for each in reversed(of.__mro__[:-1]):
        (node,) = ast.parse(inspect.getsource(each)).body
        assert isinstance(node, ast.ClassDef)
        for attribute, below in zip(node.body, node.body[1:], strict=False):
            match attribute, below:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ):
                    docstrings[name] = inspect.cleandoc(text).replace("\n", " ")
    return docstrings


if __name__ == "__main__":
    PATH.write_text(dump_schema(), encoding="utf-8")
    TASKS_PATH.write_text(dump_schema(tasks_schema()), encoding="utf-8")
