"""Specs that one of their keys tells apart: the built-in ones, and those that packages add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar, Union

from pydantic import PlainValidator, ValidationError, WithJsonSchema

from pytest_maxrandom.errors import ExtensionError
from pytest_maxrandom.host.packages import installed, load, refuse_taken, titled
from pytest_maxrandom.suite.base import Spec, placed, told_of_package

if TYPE_CHECKING:
    from collections.abc import Mapping

S = TypeVar("S", bound=Spec)


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
    group: str = ""
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
        return [name for name in installed(self.group) if name not in (*self.specs, *self.reserved)]

    def kind(self, value: object) -> type[S] | None:
        """Return the spec that a value is of; None if it does not say.

        Raises
        ------
        ExtensionError
            If it is that of a package, and cannot be loaded, or has the name of a built-in one.
        """
        name = self._name(value)
        if not isinstance(name, str):
            return None
        if name in self.specs:
            refuse_taken(self.group, name)
        if name in self.specs or name not in self.added():
            return self.specs.get(name)
        spec = getattr(load(self.group, name), "spec", None)
        if isinstance(spec, type) and issubclass(spec, self.base):
            return spec
        raise ExtensionError(
            f"{titled(self.group, name)} has no attribute `spec` that is a subclass of "
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
            broken, found = told_of_package(error), self._name(value)
            raise ValidationError.from_exception_data(
                self.key, [{"type": broken, "loc": (self.key,), "input": found}]
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
