"""The JSON Schema of suite files, for editors, made from the specs.

``python -m pytest_maxrandom.suite.schema`` writes ``schema.json`` next to this module.
"""

from __future__ import annotations

import copy
import functools
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic.json_schema import models_json_schema

from pytest_maxrandom.errors import KEYS
from pytest_maxrandom.host.packages import entries, none_installed
from pytest_maxrandom.suite.arms import ArmSpec, arm_spec
from pytest_maxrandom.suite.models import MODELS
from pytest_maxrandom.suite.recorded import RESULTS, RecordedSuiteSpec
from pytest_maxrandom.suite.spec import SuiteSpec
from pytest_maxrandom.suite.tasks import TASKS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.metadata import EntryPoint

    from pytest_maxrandom.suite.base import Location, Spec
    from pytest_maxrandom.suite.extensions import SpecUnion

    Node = dict[str, Any]

PATH = Path(__file__).with_name("schema.json")


def installed_schema() -> Node:
    """Describe a suite file, with what installed packages add.

    Raises
    ------
    ExtensionError
        If the specs of a package cannot be loaded.
    """
    return _schema()


@functools.cache
def schema() -> Node:
    """Describe a suite file (JSON Schema, draft 2020-12), whatever packages are installed.

    It says of keys, types and ranges what the specs say; what a schema cannot say, such as parts
    that contradict each other, only loading a suite finds. It allows any backend and any format by
    a name that is not built in. The dictionary is shared: only read it.
    """
    with none_installed():
        return _schema()


def _schema() -> Node:
    unions: tuple[SpecUnion[Any], ...] = (MODELS, TASKS, RESULTS)
    packages: dict[SpecUnion[Any], dict[str, type[Spec]]] = {
        union: {name: kind for name in union.added() if (kind := union.kind({union.key: name}))}
        for union in unions
    }
    arms = [arm_spec(kind) for kind in (*MODELS.specs.values(), *packages[MODELS].values())]
    added = [(union, name, kind) for union in unions for name, kind in packages[union].items()]
    kinds: list[type[Spec]] = [
        SuiteSpec,
        RecordedSuiteSpec,
        ArmSpec,
        *arms,
        *(kind for _, _, kind in added),
    ]
    found, made = models_json_schema([(kind, "validation") for kind in kinds])
    references = {kind: node for (kind, _), node in found.items()}
    defs = {name: _described(definition) for name, definition in made["$defs"].items()}

    def defined(kind: type[Spec]) -> Node:
        return defs[references[kind]["$ref"].rsplit("/", 1)[-1]]

    suite = defined(SuiteSpec)
    for spec in (SuiteSpec, RecordedSuiteSpec):
        own = "Anything that the suite keeps for itself, such as anchors for the keys below."
        defined(spec)["patternProperties"] = {"^x-": {"description": own}}
    recorded = defs["RecordedModelSpec"]["properties"]["results"]
    for union, part in (
        (MODELS, suite["properties"]["models"]["items"]),
        (TASKS, suite["properties"]["tasks"]["items"]),
        (RESULTS, recorded),
    ):
        options = part["anyOf"]
        any_other = copy.deepcopy(options.pop())  # it is the same in all schemas
        any_other["properties"][union.key]["not"]["enum"] += packages[union]
        options += [*(references[kind] for kind in packages[union].values()), any_other]
    for union, name, kind in added:
        node, key = defined(kind), union.key
        node["properties"][key] = {**node["properties"][key], "const": name}
        node["required"] = list(dict.fromkeys([*node["required"], key]))
    # Which keys an arm may have depends on the backend.
    defined(ArmSpec)["additionalProperties"] = True
    known = {"backend": {"enum": [*MODELS.specs, *packages[MODELS]]}}
    suite["if"] = {"properties": {"models": {"items": {"properties": known}}}}
    of_arm = {"additionalProperties": {"anyOf": [references[arm] for arm in arms]}}
    suite["then"] = {"properties": {"arms": of_arm}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:pytest-maxrandom:suite",
        "title": "Suite of pytest-maxrandom",
        "description": f"All keys and their defaults, as a page: {KEYS}",
        "anyOf": [references[SuiteSpec], references[RecordedSuiteSpec]],
        "$defs": defs,
    }


def dump_schema(made: Node | None = None) -> str:
    """Return a schema, if not given that of what is built in, as the text of a file."""
    return json.dumps(made or schema(), indent=1, ensure_ascii=False) + "\n"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a suite: a place below a spec, or below any of several that may be meant."""

    kinds: tuple[type[Spec], ...]
    path: Location

    @property
    def keys(self) -> list[str]:
        """The keys that may stand here."""
        return list(
            dict.fromkeys(key for each in self.options for key in each.get("properties", {}))
        )

    @property
    def number(self) -> str:
        """Which numbers may stand here, in words."""
        node = next(each for each in self.options if each.get("type") in ("integer", "number"))
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
        return " ".join(filter(None, (noun, " and ".join(said))))

    @property
    def options(self) -> list[Node]:
        """What may stand here, each alternative; nothing if there is no such part."""
        return [option for kind in self.kinds for option in self._options_of(kind)]

    def _options_of(self, kind: type[Spec]) -> list[Node]:
        options = list(_options(_schema_of(kind, entries()), kind))
        for part in self.path:
            if isinstance(part, int):
                inner = [each["items"] for each in options if "items" in each]
            else:
                parts = [each.get("properties", {}) for each in options]
                inner = [each[part] for each in parts if part in each]
                # Names that the suite chooses itself are no properties.
                names = [each.get("additionalProperties") for each in options]
                inner = inner or [each for each in names if isinstance(each, dict)]
            options = [option for node in inner for option in _options(node, kind)]
        return options


@functools.cache
def _schema_of(kind: type[Spec], _: tuple[EntryPoint, ...]) -> Node:
    return kind.model_json_schema()


def _options(node: Node, kind: type[Spec]) -> Iterator[Node]:
    """Yield a part of the schema and all its alternatives."""
    if "$ref" in node:
        node = _schema_of(kind, entries())["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    yield node
    for option in node.get("anyOf", ()):
        yield from _options(option, kind)


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


if __name__ == "__main__":
    PATH.write_text(dump_schema(), encoding="utf-8")
