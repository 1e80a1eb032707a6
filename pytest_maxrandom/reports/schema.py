"""The published JSON Schema of the JSON report, made from the records.

``python -m pytest_maxrandom.reports.schema`` writes ``results.schema.json`` beside this module.
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


def schema() -> dict[str, Any]:
    """Describe what :func:`pytest_maxrandom.reports.results.dump` writes (draft 2020-12).

    Every key that is written is required; later versions may write more beside them.
    """
    made = TypeAdapter(record.RunRecord).json_schema(mode="serialization")
    definitions: dict[str, Any] = made.pop("$defs")
    for name, definition in {**definitions, "RunRecord": made}.items():
        docstrings = _docstrings(getattr(record, name))
        described = {
            KEYS.get(key, key): _described(value, docstrings.get(key))
            for key, value in definition["properties"].items()
        }
        definition |= {"properties": described, "required": list(described)}
    made["properties"]["schema_version"] |= {"const": record.SCHEMA_VERSION}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **made,
        "title": "JSON report of pytest-maxrandom",
        "$defs": definitions,
    }


def dump_schema() -> str:
    """Write the schema as the text of its file."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


def _described(value: dict[str, Any], docstring: str | None) -> dict[str, Any]:
    # Pydantic's titles only repeat the keys; a report always writes its defaults.
    kept = {key: item for key, item in value.items() if key not in ("title", "default")}
    return kept if docstring is None else {**kept, "description": docstring}


def _docstrings(of: type) -> dict[str, str]:
    """Find the string below each attribute of a record."""
    found = {}
    for each in reversed(of.__mro__[:-1]):
        (node,) = ast.parse(inspect.getsource(each)).body
        assert isinstance(node, ast.ClassDef)
        for attribute, below in zip(node.body, node.body[1:], strict=False):
            match attribute, below:
                case (
                    ast.AnnAssign(target=ast.Name(id=name)),
                    ast.Expr(value=ast.Constant(value=str(text))),
                ):
                    found[name] = inspect.cleandoc(text).replace("\n", " ")
    return found


if __name__ == "__main__":
    PATH.write_text(dump_schema(), encoding="utf-8")
