"""From a suite file to its typed form; every mistake in it gets a line and a sentence."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from pytest_maxrandom.errors import Problem, SuiteError, did_you_mean, dotted, quoted
from pytest_maxrandom.suite.base import NO_SURROGATES
from pytest_maxrandom.suite.checks import contradictions, is_recorded, mixed
from pytest_maxrandom.suite.positions import Document, no_word, read
from pytest_maxrandom.suite.recorded import RecordedSuiteSpec
from pytest_maxrandom.suite.schema import Part
from pytest_maxrandom.suite.spec import SuiteSpec

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from pydantic_core import ErrorDetails

    from pytest_maxrandom.suite.base import Location, Spec
    from pytest_maxrandom.suite.tasks import TaskSpec

_OTHERS: dict[type[Spec], tuple[type[Spec], str]] = {
    SuiteSpec: (RecordedSuiteSpec, "of recorded results"),
    RecordedSuiteSpec: (SuiteSpec, "whose models are run"),
}
"""The other kind of suite, and what it is about."""

_OF_LM_EVAL = frozenset({"dataset_path", "doc_to_text", "group", "include", "output_type", "task"})
"""Keys of tasks and groups of lm-evaluation-harness, none of which a suite has."""


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    document: Document

    def line(self, *location: str | int) -> int:
        """Line of a key, such as ``("tasks", 0, "path")``, from 1."""
        return self.document.line(location)


@dataclass(frozen=True, slots=True)
class SkippedTask:
    """A task whose data are missing, and that says by `if_missing` where to get them.

    Attributes
    ----------
    line : int
        Its line in the suite file, from 1.
    reason : str
        What is missing, and where to get it.
    """

    spec: TaskSpec
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Suite(_File):
    """A suite file, read and found to be right in itself.

    Attributes
    ----------
    spec : SuiteSpec
    entries : tuple of int, optional
        Index in the file of each task of `spec`, where one of the file stands for several.
    skipped : tuple of SkippedTask, optional
        The tasks of the file whose data are missing, which `spec` lacks then.
    """

    spec: SuiteSpec
    entries: tuple[int, ...] | None = None
    skipped: tuple[SkippedTask, ...] = ()

    def entry(self, index: int) -> int:
        """Return the index in the file of a task of `spec`."""
        return index if self.entries is None else self.entries[index]

    def line(self, *location: str | int) -> int:
        """Line of a key of `spec`, from 1."""
        match location:
            case ("tasks", int(index), *keys):
                location = ("tasks", self.entry(index), *keys)
        return self.document.line(location)


@dataclass(frozen=True, slots=True)
class RecordedSuite(_File):
    """A suite file about recorded results."""

    spec: RecordedSuiteSpec


def load_any_suite(path: Path) -> Suite | RecordedSuite:
    """Read a suite file of either kind; `backend: recorded` of its models tells which.

    Raises
    ------
    SuiteError
        With all the mistakes of the file.
    """
    document = read(path)
    if _is_of_lm_eval(document.data):
        message = (
            "found a task of lm-evaluation-harness, but YAML below a folder named eval_suites must "
            "be a suite; move the task to another folder, and name it in a suite: `format: "
            "lm_eval`, `path: ../FOLDER/FILE`"
        )
        raise SuiteError([Problem(path, 1, message)])
    recorded = is_recorded(document.data)
    if mixture := mixed(document.data):
        at, message = mixture
        raise SuiteError([Problem(path, document.line(at), f"{dotted(at)}: {message}")])
    contradicting = contradictions(document.data, recorded=recorded)
    found = {at: f"{dotted(at)}: {message}" for at, message in contradicting}
    kind = RecordedSuiteSpec if recorded else SuiteSpec
    spec: SuiteSpec | RecordedSuiteSpec | None = None
    try:
        spec = kind.model_validate(document.data, context=document.data)
    except ValidationError as error:
        found |= mistakes_of(error.errors(include_url=False), document, kind, found)
    told = [*document.mistakes, *((document.line(at), message) for at, message in found.items())]
    if told or spec is None:
        raise SuiteError([Problem(path, line, message) for line, message in sorted(told)])
    if isinstance(spec, SuiteSpec):
        return Suite(path, document, spec)
    return RecordedSuite(path, document, spec)


def _is_of_lm_eval(data: object) -> bool:
    return (
        isinstance(data, dict)
        and not data.keys() & SuiteSpec.model_fields.keys()
        and not _OF_LM_EVAL.isdisjoint(data)
    )


def mistakes_of(
    errors: Sequence[ErrorDetails],
    document: Document,
    kind: type[Spec],
    told: Collection[Location],
) -> dict[Location, str]:
    """Return one sentence for each part of the document that is wrong.

    Unknown keys whose reason was reported already are left out.
    """
    if document.data is None:
        return {(): "the file is empty; a suite needs `models` and `tasks`"}
    at: defaultdict[Location, list[ErrorDetails]] = defaultdict(list)
    for error in errors:
        missing = error["type"] == "missing"
        at[document.path(error["loc"]) + (error["loc"][-1:] if missing else ())].append(error)
    # Where a list may also be a text, it is wrong as a text; its entries say what is wrong with it.
    parents = {path[:end] for path in at for end in range(len(path))}
    explained = {path for path in at if _is_unknown(at[path][0]) and path in told}
    left = at.keys() - parents - explained
    return {path: _sentence(kind, path, at[path], document) for path in left}


def _is_unknown(error: ErrorDetails) -> bool:
    return error["type"] == "extra_forbidden" or error["loc"][-1:] == ("[key]",)


def _sentence(
    kind: type[Spec], path: Location, alternatives: Sequence[ErrorDetails], document: Document
) -> str:
    first, name = alternatives[0], dotted(path)
    context = first["ctx"]
    if first["type"] == "invalid_key" or (_is_unknown(first) and isinstance(path[-1], int)):
        return no_word(repr(str(path[-1])))
    if _is_unknown(first):
        return _unknown(kind, path, first, document)
    match first["type"]:
        case "missing":
            return f"the key `{name}` is missing; add it"
        case "contradiction":
            return f"{name}: {context['told']}"
        case "repeated":
            return f"{name} repeats {dotted((*path[:-1], context['first']))}; remove one of the two"
        case "broken_extension":
            return f"`{name}`: {context['told']}"
    found, part = first["input"], _part(first, document)
    expected = list(dict.fromkeys(_expected(part, error) for error in alternatives))
    subject = f"`{name}`" if name else "a suite"
    keys = part.keys if path and first["type"] == "model_type" else []
    return (
        f"{subject}: found {_shown(found)}, expected {' or '.join(expected)}"
        + (f" (keys here: {', '.join(keys)})" if keys else "")
        + _hint(found, first["type"], expected)
    )


def _part(error: ErrorDetails, document: Document) -> Part:
    if "union" in error["ctx"]:
        (union, said), below = _around(error, "union", document)
        if said not in union.names():
            return Part(tuple(union.specs.values()), below)
    kind, below = _around(error, "spec", document)
    return Part((kind,), below)


def _around(error: ErrorDetails, name: str, document: Document) -> tuple[Any, Location]:
    """Return what the error says is around it, and where below that it is."""
    around, below = error["ctx"][name]
    whole, above = error["loc"], error["loc"][: len(error["loc"]) - len(below)]
    # A number may stand in the document for keys with values.
    return around, document.path(whole)[len(document.path(above)) :] or below


def _unknown(kind: type[Spec], path: Location, error: ErrorDetails, document: Document) -> str:
    """Say that there is no such key, and where it belongs or which was perhaps meant."""
    part, name, key = _part(error, document), dotted(path), str(path[-1])
    if "union" in error["ctx"]:
        (union, said), below = _around(error, "union", document)
        kinds = union.specs.items()
        if having := [name for name, spec in kinds if Part((spec,), below).options]:
            return (
                f"`{name}` goes with `{union.key}: {' | '.join(having)}`, but this has "
                f"`{union.key}: {said}`; remove one of the two"
            )
    above = Part(part.kinds, part.path[:-1])
    valid = above.keys
    blocks = [f"`{block}`" for block in valid
              for below in ((*above.path, block), (*above.path, block, 0))
              if key in Part(part.kinds, below).keys]  # fmt: skip
    hint = f"; it belongs below {' or '.join(blocks)}" if blocks else _nearest(key, valid)
    other, about = _OTHERS[kind]
    if Part((other,), path).options:
        hint = f"; it belongs to suites {about}"
    return f"unknown key `{name}`{hint} (keys here: {', '.join(valid)})"


_NUMBERS = {
    "int_type", "float_type", "finite_number",
    "greater_than", "greater_than_equal", "less_than", "less_than_equal",
}  # fmt: skip
_EXPECTED = {
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "model_type": "keys with values",
    "dict_type": "keys with values",
    "string_too_short": "some text",
    "string_too_long": "at most {max_length} characters",
    "string_unicode": NO_SURROGATES,
    "too_short": "at least {min_length} entries",
    "value_error": "{error}",
}
"""What the place of pydantic's error is for, by the error's type; with the error's context."""


_OFTEN_CALLED = {"4bit": "nf4", "4-bit": "nf4", "int4": "nf4", "8bit": "int8", "8-bit": "int8"}
"""What people write for a quantization, where its spelling is nearer to another one."""


def _expected(part: Part, error: ErrorDetails) -> str:
    kind, context, message = error["type"], error["ctx"], error["msg"]
    if kind in _NUMBERS:
        return part.number
    (union, _), below = context.get("union", ((None, None), ()))
    if kind == "literal_error" and union and below == (union.key,):
        return " or ".join(map(repr, (*union.names(), *union.reserved)))
    if kind == "literal_error":
        return str(context["expected"]).replace(", ", " or ")
    if kind not in _EXPECTED:
        return message[:1].lower() + message[1:]
    return _EXPECTED[kind].format(**context).replace(" 1 entries", " one entry")


def _hint(found: Any, kind: str, expected: Sequence[str]) -> str:
    if kind not in ("literal_error", "string_type"):
        return ""
    if isinstance(found, bool):
        meant = ("'yes'", "'on'") if found else ("'no'", "'off'")
        options = expected[0].split(" or ")
        possible = kind == "string_type" or any(word in options for word in meant)
        return "; YAML reads yes, no, on and off as true and false" + (
            ": put it in quotes" if possible else ""
        )
    if isinstance(found, int | float | dt.date):
        return "; put it in quotes"
    if kind == "literal_error" and isinstance(found, str):
        options = [option.strip("'") for option in expected[0].split(" or ")]
        often = _OFTEN_CALLED.get(found.casefold(), "")
        return f"; did you mean `{often}`?" if often in options else _nearest(found, options)
    return ""


def _shown(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case int() if value.bit_length() > 64:
            return "a number of more than 64 bits"
        case int() | float():
            return repr(value)
        case str():
            return quoted(value)
        case dict():
            return "keys with values" if value else "no keys"
        case list():
            return "a list" if value else "an empty list"
        case dt.date():
            return f"the date {value}"
        case _:
            return f"a value of the YAML type {type(value).__name__}"


def _nearest(word: str, options: Sequence[str]) -> str:
    return did_you_mean(word, options, "`{}`".format, cutoff=0.5)
