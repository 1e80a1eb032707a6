"""Sentences with fields, and how their values are written."""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


class Writer(Formatter):
    """Fills the fields of sentences, where a colon stands before how a value is written.

    A slash there stands between what is said of one, or of what is so, and of anything else; else
    it is one of `kinds`, or a format of Python's.
    """

    def __init__(self, **kinds: Callable[[Any], str]) -> None:
        self.kinds = kinds

    def fill(self, template: str, values: Mapping[str, Any], known: str) -> str:
        """Fill a template; where it has other values, the sentence that is known stays."""
        try:
            return self.vformat(template, (), values)
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError):
            if not known:
                raise
            return known

    def format_field(self, value: Any, format_spec: str) -> str:
        """Write a value."""
        one, slash, other = format_spec.partition("/")
        if slash:
            return one if value == 1 else other
        known = self.kinds.get(format_spec)
        return str(super().format_field(value, format_spec)) if known is None else known(value)
