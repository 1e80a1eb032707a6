"""The JSON Schema of suite files, for editors, made from the specs.

``python -m pytest_maxrandom.suite.schema`` writes ``schema.json`` beside this module.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic.json_schema import models_json_schema

from pytest_maxrandom.suite.models import DEFAULT, ArmSpec, ModelSpec, arm_spec, known_specs
from pytest_maxrandom.suite.recorded import RecordedSuiteSpec
from pytest_maxrandom.suite.spec import SuiteSpec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_maxrandom.suite.base import Spec

    Kinds = tuple[tuple[str, type[ModelSpec]], ...]
    Node = dict[str, Any]

PATH = Path(__file__).with_name("schema.json")


def schema() -> Node:
    """Describe a suite file (JSON Schema, draft 2020-12). The dictionary is shared: only read it.

    It says of keys, types and ranges what the specs say; what a schema cannot say, such as parts
    that contradict each other, only loading a suite finds. Of the backends that are not built in it
    has those that were loaded, and allows any other.
    """
    return _made(tuple(known_specs().items()))[1]


@functools.cache
def _made(backends: Kinds) -> tuple[dict[Any, Node], Node]:
    """Return references to the specs, and the schema with them."""
    models = dict(backends)
    arms = [arm_spec(kind) for kind in models.values()]
    kinds: list[type[Spec]] = [SuiteSpec, RecordedSuiteSpec, ModelSpec, ArmSpec]
    kinds += [*models.values(), *arms]
    found, made = models_json_schema([(kind, "validation") for kind in dict.fromkeys(kinds)])
    references = {kind: node for (kind, _), node in found.items()}
    defs = {name: _described(definition) for name, definition in made["$defs"].items()}

    def define(kind: type[Spec], node: Node) -> None:
        defs[references[kind]["$ref"].rsplit("/", 1)[-1]] = node

    def defined(kind: type[Spec]) -> Node:
        return defs[references[kind]["$ref"].rsplit("/", 1)[-1]]

    for name, kind in models.items():
        node = defined(kind)
        chosen = {**node["properties"]["backend"], "const": name}
        required = node["required"] if name == DEFAULT else [*node["required"], "backend"]
        define(kind, {**node, "properties": {**node["properties"], "backend": chosen},
                      "required": list(dict.fromkeys(required))})  # fmt: skip
    other = {
        "properties": {"backend": {"not": {"enum": [*models, "recorded"]}}},
        "required": ["name", "backend"],
    }
    define(ModelSpec, {"anyOf": [*(references[kind] for kind in models.values()), other]})
    define(ArmSpec, {**defined(ArmSpec), "additionalProperties": True})
    known = {"additionalProperties": {"anyOf": [references[arm] for arm in arms]}}
    define(
        SuiteSpec,
        {
            **defined(SuiteSpec),
            "if": {"properties": {"models": {"contains": other}}},
            "else": {"properties": {"arms": known}},
        },
    )
    return references, {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:pytest-maxrandom:suite",
        "title": "Suite of pytest-maxrandom",
        "anyOf": [references[SuiteSpec], references[RecordedSuiteSpec]],
        "$defs": defs,
    }


def dump_schema() -> str:
    """Return the schema as the text of its file."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


def keys_below(kind: type[Spec], path: Sequence[str | int]) -> list[str]:
    """Return the keys that a suite of a kind may have at `path`, such as ``("tasks", 0)``."""
    named = _branch(_part(kind, path), "properties").get("properties", {})
    return [key for key, node in named.items() if not node.get("deprecated")]


def keys_within(kind: type[Spec], path: Sequence[str | int]) -> list[str]:
    """Return the keys of what is at `path`, a block or a list of them."""
    entries = _branch(_part(kind, path), "items").get("items", {})
    return keys_below(kind, path) + list(_branch(entries, "properties").get("properties", {}))


def number_at(kind: type[Spec], path: Sequence[str | int]) -> str:
    """Say in words which numbers a suite of a kind may have at `path`."""
    options = _options(_part(kind, path))
    node = next(option for option in options if option.get("type") in ("integer", "number"))
    noun = "a whole number" if node["type"] == "integer" else "a number"
    if "minimum" in node and "maximum" in node:
        return f"{noun} from {_written(node['minimum'])} to {_written(node['maximum'])}"
    bounds = (
        ("of at least", "minimum"),
        ("above", "exclusiveMinimum"),
        ("at most", "maximum"),
        ("below", "exclusiveMaximum"),
    )
    said = [f"{word} {_written(node[key])}" for word, key in bounds if key in node]
    return " ".join((noun, " and ".join(said)))


def is_key_of(kind: type[Spec], path: Sequence[str | int]) -> bool:
    """Tell whether a suite of a kind may have a key at `path`."""
    return all(
        isinstance(key, int) or key in keys_below(kind, path[:place])
        for place, key in enumerate(path)
    )


def _written(bound: float) -> str:
    return str(int(bound)) if bound == int(bound) else f"{bound:f}".rstrip("0")


def _described(definition: Node) -> Node:
    """Drop the titles of properties, which repeat their keys, and put descriptions on one line."""
    properties = {
        key: {
            name: value.replace("\n", " ") if name == "description" else value
            for name, value in node.items()
            if name != "title"
        }
        for key, node in definition["properties"].items()
    }
    return {**definition, "properties": properties}


def _reference(kind: type[Spec]) -> Node:
    return _made(tuple(known_specs().items()))[0][kind]


def _part(kind: type[Spec], path: Sequence[str | int]) -> Node:
    here = _reference(kind)
    for part in path:
        if isinstance(part, int):
            here = _branch(here, "items")["items"]
        else:
            named = _branch(here, "properties").get("properties", {})
            # Names that the suite chooses itself are no properties.
            here = named.get(part) or _branch(here, "additionalProperties")["additionalProperties"]
    return here


def _options(node: Node) -> Iterator[Node]:
    """Yield a part of the schema and all its alternatives."""
    yield node
    for option in node.get("anyOf", ()):
        yield from _options(option)


def _branch(node: Node, key: str) -> Node:
    """Follow references and alternatives to the part of the schema that has `key`."""
    if "$ref" in node:
        node = schema()["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    for option in node.get("anyOf", ()):
        inner = _branch(option, key)
        if key in inner:
            return inner
    return node


if __name__ == "__main__":
    PATH.write_text(dump_schema(), encoding="utf-8")
