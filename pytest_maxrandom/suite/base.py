"""What the typed forms of all suites are made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypeAlias, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    field_validator,
    model_validator,
)
from pydantic_core import (
    InitErrorDetails,
    PydanticCustomError,
    PydanticKnownError,
    core_schema,
)

from pytest_maxrandom.errors import ExtensionError
from pytest_maxrandom.host.packages import SCORERS, installed, load, noun, refuse_taken
from pytest_maxrandom.suite.documented import description

if TYPE_CHECKING:
    from collections.abc import (
        Callable,
        Collection,
        Hashable,
        Iterable,
        Iterator,
        Mapping,
        Sequence,
    )

Location: TypeAlias = tuple["str | int", ...]
Contradiction: TypeAlias = tuple[Location, str]
"""Where parts of a suite contradict each other, and one sentence of what to do about it."""

NO_SURROGATES = "text without lone surrogates"
UNLISTED = (
    "labels such as A need listed choices; remove `append_choices: false` or use `labels: text`"
)
CONTRADICTION, REPEATED, BROKEN = "contradiction", "repeated", "broken_extension"
"""Types of pydantic's errors: their contexts have a sentence, or an earlier index."""


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


def as_list(value: Any) -> Any:
    """Let one value stand for a list of one."""
    return value if isinstance(value, list) else [value]


class OneOrMore:
    """Makes a list one that a single value may stand for: ``Annotated[list[X], OneOrMore()]``."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        one, many = handler.generate_schema(get_args(source)[0]), handler(source)
        either = core_schema.union_schema([one, many])
        return core_schema.no_info_before_validator_function(
            as_list, many, json_schema_input_schema=either
        )


def repeats(values: Iterable[Hashable]) -> Iterator[tuple[int, int]]:
    """Yield (index, first index) of each value but None that stands earlier already."""
    first: dict[Hashable, int] = {}
    for index, value in enumerate(values):
        if value is not None and first.setdefault(value, index) != index:
            yield index, first[value]


def _distinct(values: list[Any]) -> list[Any]:
    _raise(
        (REPEATED, (index,), {"told": "repeats an earlier one", "first": first})
        for index, first in repeats(values)
    )
    return values


Distinct = AfterValidator(_distinct)
"""Refuses a list in which a value stands twice."""


def _raise(errors: Iterable[tuple[Any, Location, dict[str, Any]]]) -> None:
    found = [
        {"type": PydanticCustomError(kind, "{told}", context), "loc": location, "input": None}
        for kind, location, context in errors
    ]
    if found:
        raise ValidationError.from_exception_data("", found)  # type: ignore[arg-type]


def placed(
    error: ValidationError, name: str, thing: Any, among: Sequence[ValidationError] = ()
) -> ValidationError:
    """Return the error, whose mistakes say in their contexts below what they are, and where.

    What a deeper part has said of that already stays. Mistakes that are not in each of the errors
    in `among` are left out.
    """
    shared = [{(one["loc"], one["type"]) for one in each.errors()} for each in among]
    details = []
    for each in error.errors(include_url=False):
        if not all((each["loc"], each["type"]) in own for own in shared):
            continue
        context = {"told": each["msg"], name: (thing, each["loc"]), **each.get("ctx", {})}
        kind = PydanticCustomError(each["type"], "{told}", context)
        details.append(InitErrorDetails(type=kind, loc=each["loc"], input=each["input"]))
    return ValidationError.from_exception_data(error.title, details)


Shots = Annotated[int, Field(ge=0, le=1000)]


@dataclass(frozen=True, slots=True)
class QuantizationDefinition:
    """All that is known of one way to quantize weights."""

    description: str
    """What it is, for the schema of suites."""
    words: str = ""
    """To what bitsandbytes quantizes as weights are loaded; empty where it does not."""
    source: str = ""
    """The key of the paper about that."""
    bits: Literal[4, 8] | None = None
    """Of a weight as it is then."""
    dtype: str = "auto"
    """What `dtype: auto` means with it."""
    also: tuple[str, ...] = ()
    """What people write for its name in a suite."""


QUANTIZATIONS: Mapping[str, QuantizationDefinition] = {
    "none": QuantizationDefinition("not quantized"),
    "nf4": QuantizationDefinition(
        "bitsandbytes 4-bit NormalFloat, double quantization, bfloat16 compute",
        *("4-bit NormalFloat", "dettmers-2023", 4, "bfloat16"),
        also=("4bit", "4-bit", "int4"),
    ),
    "fp4": QuantizationDefinition(
        "the same with 4-bit floating point",
        *("4-bit floating point", "dettmers-2023", 4, "bfloat16"),
    ),
    # LLM.int8() computes in float16 (arXiv 2208.07339), and casts what is not.
    "int8": QuantizationDefinition(
        "bitsandbytes 8-bit integers, float16 compute",
        *("8-bit integers", "dettmers-2022", 8, "float16"),
        also=("8bit", "8-bit"),
    ),
    "stored": QuantizationDefinition(
        "as the files are already quantized (GPTQ, AWQ, compressed-tensors, torchao, bitsandbytes)"
    ),
}
"""By their names in a suite; all that is said of one anywhere stands here."""
ON_LOADING = tuple(name for name, known in QUANTIZATIONS.items() if known.bits)
FOUR_BITS = tuple(name for name, known in QUANTIZATIONS.items() if known.bits == 4)
if TYPE_CHECKING:
    Quantization: TypeAlias = str
else:
    Quantization = Literal[tuple(QUANTIZATIONS)]


def told_of_package(error: ExtensionError) -> PydanticCustomError:
    """Return an error for pydantic with what is wrong with a package."""
    return PydanticCustomError(BROKEN, "{told}", {"told": str(error)})


class PartName:
    """Makes a text the name of a part, of a built-in one or of one that a package adds.

    ``Annotated[str, PartName(SCORERS, SCORINGS)]``

    Parameters
    ----------
    group : str
        The group of entry points that adds others.
    find : callable, optional
        Returns a package's part by its name, or raises `ExtensionError`.
    described : callable, optional
        Returns the description of the key for the schema.
    """

    def __init__(
        self,
        group: str,
        built_in: Collection[str],
        find: Callable[[str], object] | None = None,
        described: Callable[[], str] | None = None,
    ) -> None:
        self._group = group
        self._built_in = built_in
        self._find = find or (lambda name: load(group, name))
        self._described = described

    def names(self) -> list[str]:
        """Return the names that there are, first the built-in ones; nothing is loaded."""
        return list(dict.fromkeys([*self._built_in, *installed(self._group)]))

    def _known(self, value: Any) -> str:
        if not isinstance(value, str) or value not in self.names():
            known = " or ".join(map(repr, self.names()))
            expected = f"{known} or a {noun(self._group)} of an installed package"
            raise PydanticKnownError("literal_error", {"expected": expected})
        try:
            if value in self._built_in:
                refuse_taken(self._group, value)
            else:
                self._find(value)
        except ExtensionError as error:
            raise told_of_package(error) from error
        return value

    def __get_pydantic_core_schema__(self, *_: Any) -> core_schema.CoreSchema:
        return core_schema.no_info_plain_validator_function(self._known)

    def __get_pydantic_json_schema__(self, *_: Any) -> dict[str, Any]:
        described = {"description": self._described()} if self._described else {}
        return {**described, "enum": self.names(), "type": "string"}


SCORINGS = (
    "mean_logprob",
    "sum_logprob",
    "char_logprob",
    "paper",
    "counterfactual",
    "generate",
    "exact_match",
    "f1",
    "classify",
)
"""The built-in ways to ask and to score; what they do is in `pytest_maxrandom.sweeps.scorers`."""
OPEN_SCORINGS = ("exact_match", "f1")
"""Those for answers that are compared with references."""
if TYPE_CHECKING:
    Scoring: TypeAlias = str
else:
    Scoring = Annotated[str, PartName(SCORERS, SCORINGS)]
Dtype = Literal["auto", "float32", "bfloat16", "float16"]


class Spec(BaseModel):
    """Base: unknown keys are errors, and nothing is converted ("5" is no number)."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Describe keys by the docstrings below them, which only a schema needs."""
        made = handler(core)
        properties = handler.resolve_ref_schema(made).get("properties", {})
        for name, field in cls.model_fields.items():
            alias = field.validation_alias
            key = alias if isinstance(alias, str) else name
            told = None if field.description else description(cls, name)
            if told and key in properties:
                properties[key]["description"] = told
        return made

    @field_validator("*", mode="before")
    @classmethod
    def _not_empty(cls, value: Any, info: ValidationInfo) -> Any:
        """Refuse a key of keys that has none: what stands below it may be lost."""
        if value is None and _has_keys(cls.model_fields[str(info.field_name)].annotation):
            raise PydanticCustomError("model_type", "empty")
        return value

    @model_validator(mode="wrap")
    @classmethod
    def _placed(cls, value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except ValidationError as error:
            raise placed(error, "spec", cls) from None

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield where parts contradict each other: the place below this spec, and a sentence."""
        return iter(())

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        _raise((CONTRADICTION, place, {"told": told}) for place, told in self.contradictions())
        return self


def _has_keys(annotation: Any) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, Spec):
        return True
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is dict:
        return parts[0] is not int
    return origin is not list and any(map(_has_keys, parts))


class NamedModel(Spec):
    """A model as a suite names it."""

    name: Name
    """The model's name in reports."""
    label: Name | None = None
    """Short name in test ids; the last part of `name` if not given."""

    @property
    def short_name(self) -> str:
        """The model's name in test ids."""
        return self.label or self.name.rstrip("/").rsplit("/", 1)[-1]

    @property
    def variant(self) -> str:
        """What test ids and reports say besides the name, such as "nf4"; empty if nothing."""
        return ""

    @property
    def test_id(self) -> str:
        """What test ids say of the model, between the task and the shots."""
        return "-".join(filter(None, (self.short_name, self.variant)))


class FormatSpec(Spec):
    """A format variant; keys that are not given keep the task's values."""

    input_prefix: Prose | None = None
    """Text before each input; the task's if not given."""
    output_prefix: Prose | None = None
    """Text before each answer; the task's if not given."""
    choice_prefix: Prose | None = None
    """Text before each listed choice; the task's if not given."""
    separator: Prose | None = None
    """Text between a demonstration and what follows it; the task's if not given."""
    append_choices: bool | None = None
    """Whether the choices are listed after the input; the task's setting if not given."""
    labels: Literal["text", "letter", "parenthesized", "number"] = "text"
    """How answers name choices: by their text; or by a label, with choices listed as "A. ...", "(A)
    ...", "1. ..." (`choice_prefix` is then a line break, if not given here)."""

    def contradictions(self) -> Iterator[Contradiction]:
        """Yield labels of choices that are not listed."""
        if self.labels != "text" and self.append_choices is False:
            yield ("append_choices",), UNLISTED
