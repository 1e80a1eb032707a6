"""What pydantic found wrong with a suite, in sentences for whoever wrote it."""

from __future__ import annotations

import datetime as dt
import re
from collections import defaultdict
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import yaml

from pytest_maxrandom.errors import did_you_mean, dotted, quoted
from pytest_maxrandom.record.metrics import METRICS
from pytest_maxrandom.suite.base import BROKEN, NO_SURROGATES, QUANTIZATIONS, Location, Spec
from pytest_maxrandom.suite.positions import Document, no_word
from pytest_maxrandom.suite.recorded import RecordedSuiteSpec
from pytest_maxrandom.suite.schema import Part
from pytest_maxrandom.suite.spec import SuiteSpec
from pytest_maxrandom.suite.tasks import usual_format

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails


_OTHERS: dict[type[Spec], tuple[type[Spec], str]] = {
    SuiteSpec: (RecordedSuiteSpec, "of recorded results (`backend: recorded` of a model)"),
    RecordedSuiteSpec: (SuiteSpec, "whose models are run"),
}
"""The other kind of suite, and what it is about."""


def mistakes_of(
    errors: Sequence[ErrorDetails],
    document: Document,
    kind: type[Spec],
    reported: Collection[Location],
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
    explained = {path for path in at if _is_unknown(at[path][0]) and path in reported}
    left = at.keys() - parents - explained
    beside: defaultdict[Location, list[str]] = defaultdict(list)
    for path in filter(None, left):
        beside[path[:-1]].append(str(path[-1]))
    left -= {
        path
        for path in left
        if at[path][0]["type"] == "missing"
        and (
            _is_misspelled(path, beside[path[:-1]])
            or (len(beside[path[:-1]]) > 1 and _is_the_only_key(at[path][0], document))
        )
    }
    return {path: _sentence(kind, path, at[path], document) for path in left}


def worded(error: ValidationError, keys: Any, kind: type[Spec]) -> str:
    """Say in one line what is wrong with keys that stand in no file."""
    found = mistakes_of(error.errors(include_url=False), Document(keys), kind, ())
    return "; ".join(found.values())


def _is_misspelled(missing: Location, beside: Collection[str]) -> bool:
    """Tell whether a key that is missing stands there with a slip, which is told already."""
    name = str(missing[-1])
    return any(did_you_mean(key, [name]) for key in beside if key != name)


def _is_the_only_key(error: ErrorDetails, document: Document) -> bool:
    """Tell whether what is missing is all that may stand there: an unknown key says so."""
    part = _part(error, document)
    return len(Part(part.kinds, part.path[:-1]).keys) == 1


def _is_unknown(error: ErrorDetails) -> bool:
    return error["type"] == "extra_forbidden" or error["loc"][-1:] == ("[key]",)


def _sentence(
    kind: type[Spec], path: Location, alternatives: Sequence[ErrorDetails], document: Document
) -> str:
    first, name = alternatives[0], dotted(path)
    context = first["ctx"]
    if first["type"] == BROKEN:
        return f"`{name}`: {context['told']}"
    if first["type"] == "invalid_key" or (_is_unknown(first) and isinstance(path[-1], int)):
        return no_word(repr(str(path[-1])))
    if _is_unknown(first):
        return _unknown(kind, path, first, document)
    match first["type"]:
        case "missing":
            return f"the key `{name}` is missing; add {_addition(first, path, document)}"
        case "contradiction":
            return f"{name}: {context['told']}"
        case "repeated":
            return f"{name} repeats {dotted((*path[:-1], context['first']))}; remove one of the two"
    value, part = first["input"], _part(first, document)
    expected = list(dict.fromkeys(_expected(path, part, error) for error in alternatives))
    subject = f"`{name}`" if name else "a suite"
    keys = part.keys if path and first["type"] == "model_type" else []
    return (
        f"{subject}: found {_shown(value)}, expected {' or '.join(expected)}"
        + (f" (keys here: {', '.join(keys)})" if keys else "")
        + (_reason(path, value) or _hint(value, first["type"], expected) or _entry(path, value))
    )


def _addition(error: ErrorDetails, path: Location, document: Document) -> str:
    """Say what to add where a key is missing: of one with a few values, which may be meant."""
    if "union" not in error["ctx"]:
        return "it"
    (union, _), below = _around(error, "union", document)
    if below != (union.key,):
        return "it"
    usual = usual_format(error["input"]) if path[0] == "tasks" else None
    return f"`{union.key}: {usual or ' | '.join(union.names())}`"


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
    hint = f"; it belongs below {' or '.join(blocks)}" if blocks else _elsewhere(kind, path)
    value = error["input"]
    if len(path) == 1 and isinstance(value, list | dict) and (isinstance(value, list) or not hint):
        anchors = f"; a key of your own that holds anchors is called `x-{key}`"
        hint = did_you_mean(key, valid, "`{}`".format) or hint or anchors
    often = _OFTEN_CALLED.get(key.casefold())
    hint = hint or (f"; did you mean `{often}`?" if often in valid else _nearest(key, valid))
    # Keys that stand in no file are of a part alone.
    other, about = _OTHERS.get(kind, (None, ""))
    if other is not None and Part((other,), path).options:
        hint = f"; it belongs to suites {about}"
    return f"unknown key `{name}`{hint} (keys here: {', '.join(valid)})"


def _elsewhere(kind: type[Spec], path: Location) -> str:
    """Say where else in a suite a key belongs that is below a task or a model."""
    key, top = str(path[-1]), Part((kind,), ())
    if path[0] not in ("tasks", "models") or len(path) != 3:
        return ""
    if key in top.keys:
        return "; it belongs at the top of the suite, not below a task or a model"
    blocks = [f"`{block}`" for block in top.keys if block not in ("tasks", "models", "arms")
              if key in Part((kind,), (block,)).keys]  # fmt: skip
    return f"; it belongs below {' or '.join(blocks)} at the top of the suite" if blocks else ""


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


_OFTEN_CALLED = {
    "acc": "sum_logprob", "loglikelihood": "sum_logprob", "acc_norm": "char_logprob",
    **{
        called: name
        for name, defined in QUANTIZATIONS.items()
        for called in defined.also
    },
    "hf": "transformers", "huggingface": "transformers", "llama.cpp": "llama_cpp",
    "ollama": "openai", "lm_studio": "openai", "tgi": "openai", "litellm": "openai",
    "anthropic": "openai", "max": "max_random", "refresh": "revision",
}  # fmt: skip
"""What people write for a value or a key that is spelled otherwise, or nearer to another one."""
_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{0,9})?|\.[0-9]{1,9}")
_GGUF_TYPE = re.compile(r"i?q[1-8]_[0-9a-z_]+", re.IGNORECASE)


def _expected(path: Location, part: Part, error: ErrorDetails) -> str:
    kind, context, message = error["type"], error["ctx"], error["msg"]
    if kind in _NUMBERS:
        return part.number
    (union, _), below = context.get("union", ((None, None), ()))
    if kind == "literal_error" and union and below == (union.key,):
        # What a suite's own models may be, and no other part of it.
        elsewhere = union.reserved if path[:1] == ("models",) else ()
        return " or ".join(map(repr, (*union.names(), *elsewhere)))
    if kind == "literal_error":
        return str(context["expected"]).replace(", ", " or ")
    if kind not in _EXPECTED:
        return message[:1].lower() + message[1:]
    return _EXPECTED[kind].format(**context).replace(" 1 entries", " one entry")


def _hint(value: Any, kind: str, expected: Sequence[str]) -> str:
    if kind in _NUMBERS and isinstance(value, str):
        return _unquoted(value)
    if kind not in ("literal_error", "string_type"):
        return ""
    if isinstance(value, bool):
        meant = ("'yes'", "'on'") if value else ("'no'", "'off'")
        options = expected[0].split(" or ")
        possible = kind == "string_type" or any(word in options for word in meant)
        return "; YAML reads yes, no, on and off as true and false" + (
            ": put it in quotes" if possible else ""
        )
    if isinstance(value, int | float | dt.date):
        words = " or ".join(expected).split(" or ")
        possible = kind == "string_type" or repr(str(value)) in words
        possible &= not any("a number" in each for each in expected)
        return "; put it in quotes" if possible else ""
    if kind == "literal_error" and isinstance(value, str):
        options = [option.strip("'") for option in expected[0].split(" or ")]
        if "nf4" in options and _GGUF_TYPE.fullmatch(value):
            return "; GGUF files have this type: write `backend: gguf`, and no `quantization`"
        of_metrics = {
            called: name for name, metric in METRICS.usable().items() for called in metric.also
        }
        often = (of_metrics | _OFTEN_CALLED).get(value.casefold(), "")
        return f"; did you mean `{often}`?" if often in options else _nearest(value, options)
    return ""


def _unquoted(found: str) -> str:
    """Say how to write a number that stands there as a text."""
    number = found.strip().removesuffix("%")
    if not _NUMBER.fullmatch(number):
        return ""
    return "; remove the quotes" if number == found.strip() else f"; write {float(number) / 100:g}"


def _reason(path: Location, found: Any) -> str:
    """Say how to write a failure that is expected, where only that it is stands there."""
    if path[-1:] != ("xfail",) or not isinstance(found, bool):
        return ""
    return "; say why, such as `xfail: too few examples`" if found else "; remove it"


def _entry(path: Location, value: Any) -> str:
    """Say how to write a model or a task of which only the name stands there, or the file."""
    if path[:1] not in (("models",), ("tasks",)) or len(path) > 2 or not isinstance(value, str):
        return ""
    if not value.isprintable():
        return ""
    keys = {"name": value}
    if path[0] == "tasks":
        if (usual := usual_format({"path": value})) is None:
            return ""
        keys = {"name": PurePath(value).stem, "format": usual, "path": value}
    written = yaml.safe_dump(
        keys, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**6
    ).strip()
    return f"; write `{written}`" if len(path) == 2 else f"; write `[{written}]`"


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
