"""What the typed forms of all suites are made of."""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationInfo,
    field_validator,
)
from pydantic_core import PydanticCustomError

NO_SURROGATES = "text without lone surrogates"


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(NO_SURROGATES) from None
    if "\0" in text:
        raise ValueError("text without NUL characters")
    return text


def _name(text: str) -> str:
    if not text.isprintable() or text != text.strip():
        raise ValueError("printable characters on one line, with no space at either end")
    return text


def _mark(text: str) -> str:
    if not text.isidentifier():
        raise ValueError("the name of a pytest mark, such as slow")
    return text


Seed = Annotated[int, Field(ge=0, lt=2**63)]
Probability = Annotated[float, Field(gt=0, lt=1)]
Prose = Annotated[str, AfterValidator(_encodable)]
Text = Annotated[str, Field(min_length=1), AfterValidator(_encodable)]
Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_name)]
Mark = Annotated[str, AfterValidator(_mark)]


def listed(value: Any) -> Any:
    """Let one value stand for a list of one."""
    return value if isinstance(value, list) else [value]


Shots = Annotated[int, Field(ge=0, le=1000)]
Quantization = Literal["none", "nf4", "fp4", "int8"]
Dtype = Literal["auto", "float32", "bfloat16", "float16"]


class Spec(BaseModel):
    """Base: unknown keys are errors, and nothing is converted ("5" is no number)."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True
    )

    @field_validator("*", mode="before")
    @classmethod
    def _not_empty(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse a key of keys that has none: what stands below it may be lost."""
        if value is None and _has_keys(cls.model_fields[str(info.field_name)].annotation):
            raise PydanticCustomError("model_type", "empty")
        return value


def _has_keys(annotation: Any) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, Spec):
        return True
    return get_origin(annotation) not in (list, dict) and any(map(_has_keys, get_args(annotation)))


class FormatSpec(Spec):
    """A format variant: whatever is not given stays as the task has it."""

    input_prefix: Prose | None = None
    output_prefix: Prose | None = None
    choice_prefix: Prose | None = None
    separator: Prose | None = None
    append_choices: bool | None = None
    labels: Literal["text", "letter", "parenthesized", "number"] = "text"
    """How choices are named: by their text; or listed as "A. ...", "(A) ...", "1. ..." and
    answered with the label (`choice_prefix` is then a line's end, if not given here)."""
