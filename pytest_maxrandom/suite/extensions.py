"""Backends and formats that installed packages add, and specs that one of their keys tells apart.

A package adds one by an entry point, whose name is what a suite says::

    [project.entry-points."pytest_maxrandom.sources"]
    parquet = "my_package.parquet:ParquetSource"
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar, Union

from pydantic import PlainValidator, ValidationError, WithJsonSchema
from pydantic_core import PydanticCustomError

from pytest_maxrandom.errors import ExtensionError
from pytest_maxrandom.suite.base import Spec, placed

if TYPE_CHECKING:
    from collections.abc import Mapping

SOURCES = "pytest_maxrandom.sources"
BACKENDS = "pytest_maxrandom.backends"
BROKEN = "broken_extension"
"""The type of pydantic's error where an extension cannot be loaded."""

S = TypeVar("S", bound=Spec)


def installed(group: str) -> dict[str, list[EntryPoint]]:
    """Return what installed packages add to a group, by name; nothing is loaded for it."""
    found: dict[str, list[EntryPoint]] = {}
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        if entry not in found.setdefault(entry.name, []):
            found[entry.name].append(entry)
    return found


@functools.cache
def load(group: str, name: str) -> Any:
    """Load what a package adds to a group; a class is called, so that an instance is given.

    Raises
    ------
    ExtensionError
        If there is none of this name, or it cannot be loaded.
    """
    entries = installed(group).get(name, [])
    noun = group.rpartition(".")[-1].removesuffix("s")
    if len(entries) != 1:
        packages = " and ".join(_package(entry) for entry in entries)
        raise ExtensionError(
            f"several packages add the {noun} {name!r}: {packages}; uninstall all but one of them"
            if entries
            else f"no installed package adds the {noun} {name!r}; install the one that does"
        )
    (entry,) = entries
    try:
        loaded = entry.load()
        return loaded() if isinstance(loaded, type) else loaded
    except Exception as error:  # whatever the code of a package raises
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ExtensionError(
            f"the {noun} {name!r} of {_package(entry)} cannot be loaded from {entry.value} "
            f"({reason}); repair or uninstall the package"
        ) from error


def _package(entry: EntryPoint) -> str:
    return "an unnamed package" if entry.dist is None else f"{entry.dist.name} {entry.dist.version}"


@dataclass(frozen=True, eq=False)
class SpecUnion(Generic[S]):
    """Specs of which the value of one key says which is meant, with those that packages add."""

    key: str
    """The key that tells them apart."""
    specs: Mapping[str, type[S]]
    """The built-in ones, by the value of the key."""
    base: type[S]
    """What they, and all that packages add, are subclasses of."""
    default: str | None = None
    """The value where the key is not given."""
    group: str | None = None
    """The group of entry points that adds others; what these load has an attribute `spec`."""
    reserved: tuple[str, ...] = ()
    """Values that mean something else, and are no name of an extension."""

    @property
    def validator(self) -> PlainValidator:
        """What makes an annotation this union: ``Annotated[Base, UNION.validator]``."""
        named: dict[str, Any] = {"type": "string", "not": {"enum": [*self.specs, *self.reserved]}}
        of_package = {"type": "object", "properties": {self.key: named}, "required": [self.key]}
        kinds: tuple[Any, ...] = tuple(self.specs.values())
        if self.group:
            kinds += (Annotated[dict[str, Any], WithJsonSchema(of_package)],)
        return PlainValidator(self.validate, json_schema_input_type=Union[kinds])  # noqa: UP007

    def names(self) -> list[str]:
        """Return the values that the key may have: first the built-in ones."""
        return [*self.specs, *self.added()]

    def added(self) -> list[str]:
        """Return the values that packages add; nothing of them is loaded."""
        others = installed(self.group) if self.group else {}
        return [name for name in others if name not in (*self.specs, *self.reserved)]

    def kind(self, value: object) -> type[S] | None:
        """Return the spec that a value is of; None if it does not say.

        Raises
        ------
        ExtensionError
            If it is that of a package, and cannot be loaded.
        """
        name = self._name(value)
        if not isinstance(name, str):
            return None
        if name in self.specs or self.group is None or name not in self.added():
            return self.specs.get(name)
        spec = getattr(load(self.group, name), "spec", None)
        if isinstance(spec, type) and issubclass(spec, self.base):
            return spec
        (entry,) = installed(self.group)[name]
        raise ExtensionError(
            f"{entry.value} of {_package(entry)} has no attribute `spec` that is a subclass of "
            f"{self.base.__module__}.{self.base.__name__}; repair or uninstall the package"
        )

    def _name(self, value: object) -> Any:
        return value.get(self.key, self.default) if isinstance(value, dict) else self.default

    def validate(self, value: Any) -> Any:
        """Return the typed form of a value; what is one already stays."""
        if isinstance(value, Spec):
            return value
        try:
            kind = self.kind(value)
        except ExtensionError as error:
            broken = PydanticCustomError(BROKEN, "{told}", {"told": str(error)})
            raise ValidationError.from_exception_data(
                self.key, [{"type": broken, "loc": (self.key,), "input": value[self.key]}]
            ) from error
        if isinstance(value, dict) and kind:
            # A key that says nothing may stand with any of the specs.
            others = set().union(*map(_keys, self.specs.values())) - _keys(kind)
            silent = {
                key for key in others & value.keys() if value[key] is None or value[key] is False
            }
            value = {key: value[key] for key in value if key not in silent}
        failed = []
        for spec in [kind] if kind else self.specs.values():
            try:
                return spec.model_validate(value)
            except ValidationError as error:
                failed.append(error)
        # If it does not say which it is, only mistakes common to all of them are reported.
        raise placed(failed[0], "union", (self, self._name(value)), failed) from None


def _keys(spec: type[Spec]) -> set[str]:
    return {field.alias or name for name, field in spec.model_fields.items()}
