"""The process in which templates are rendered; it imports nothing of this package.

A template is code of whoever wrote the task: here it reaches plain data only, and has so much time
and memory. What the process that started it sends is trusted (pickle); what it gets back is not
(JSON).
"""

from __future__ import annotations

import ast
import contextlib
import datetime as dt
import faulthandler
import functools
import json
import os
import pickle
import re
import struct
import sys
from typing import Any

from jinja2 import StrictUndefined, TemplateError
from jinja2.runtime import LoopContext, Macro
from jinja2.sandbox import SandboxedEnvironment
from jinja2.utils import Namespace

CHARACTERS = 1_000_000
"""Of one rendered text, at most."""

_PLAIN = (
    str, bytes, int, float, bool, type(None), list, tuple, dict, set, range,
    dt.date, dt.time, dt.timedelta, LoopContext, Macro, Namespace,
)  # fmt: skip


class TooLong(ValueError):
    """A text is longer than allowed."""


class _Sandbox(SandboxedEnvironment):
    """Lets templates reach the public attributes of plain data, and nothing else."""

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        return isinstance(obj, _PLAIN) and super().is_safe_attribute(obj, attr, value)


def _regex_replace(string: str, pattern: str, repl: str, count: int = 0) -> str:
    return re.sub(pattern, repl, string, count=count)


def _environment() -> _Sandbox:
    sandbox = _Sandbox(undefined=StrictUndefined, keep_trailing_newline=True)
    sandbox.filters["regex_replace"] = _regex_replace
    return sandbox


class Fields:
    """The fields of a task, rendered as lm-evaluation-harness renders them.

    A text that is the name of a column stands for its value; any other one is a template. If
    answers are `numbered`, a text of digits is the number of a choice.
    """

    def __init__(self, fields: dict[str, Any], columns: list[str], *, numbered: bool) -> None:
        self._fields, self._columns, self._numbered = fields, set(columns), numbered
        self._compiled = functools.cache(_environment().from_string)

    def values(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return the value of each field for one document."""
        by_field: dict[str, Any] = {}
        for name, field in self._fields.items():
            try:
                by_field[name] = self._value(name, field, document)
            except MemoryError:
                raise
            except RecursionError:
                raise ValueError(f"`{name}`: it is nested too deeply") from None
            except TooLong as error:
                raise ValueError(f"`{name}`: {error}") from None
            except Exception as error:  # templates raise whatever their parts raise
                reason = " ".join(str(error).split()) or type(error).__name__
                if reason.endswith("is undefined"):
                    reason += f"; the columns are {', '.join(map(repr, document))}"
                line = getattr(error, "lineno", None)
                at = f", line {line}" if line else ""
                kind = "" if isinstance(error, TemplateError) else f"{type(error).__name__}: "
                raise ValueError(f"`{name}`{at}: {kind}{reason[:300]}") from None
        return by_field

    def _value(self, name: str, field: Any, document: dict[str, Any]) -> Any:
        if isinstance(field, dict):
            return list(field.values())
        if not isinstance(field, str):
            return field
        if field in self._columns:
            return document[field]
        text = self._rendered(field, document)
        if name == "doc_to_choice":
            return _literal(text)
        if name in ("doc_to_text", "doc_to_target") and text.isdigit() and self._numbered:
            return ast.literal_eval(text)
        if name == "doc_to_target" and len(text) >= 2 and text[0] == "[" and text[-1] == "]":
            with contextlib.suppress(SyntaxError, ValueError):
                return ast.literal_eval(text)
        return text

    def _rendered(self, template: str, document: dict[str, Any]) -> str:
        parts, size = [], 0
        for part in self._compiled(template).generate(document):
            size += len(part)
            if size > CHARACTERS:
                raise TooLong(f"its text is longer than {CHARACTERS:,} characters")
            parts.append(part)
        return "".join(parts)


def _literal(text: str) -> Any:
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        raise ValueError(f"it gives {text[:80]!r}, expected a list such as ['yes', 'no']") from None
    return list(value) if isinstance(value, tuple) else value


def _limit_memory(memory: int) -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    except (ImportError, ValueError, OSError):  # no limit on this system
        pass


def main(seconds: float, memory: int) -> None:
    """Answer requests until there are no more: a line of JSON for each document.

    A request ends with its first mistake.

    Parameters
    ----------
    seconds : float
        For one request, at most, even within one call of C; the process ends then.
    memory : int
        Bytes, for all that the process holds; where the system has such a limit.
    """
    _limit_memory(memory)
    requests, replies = sys.stdin.buffer, sys.stdout
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123
        while len(head := requests.read(8)) == 8:
            message = requests.read(*struct.unpack("!Q", head))
            fields, columns, numbered, documents = pickle.loads(message)
            renderer = Fields(fields, columns, numbered=numbered)
            faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
            for document in documents:
                reply, told = _reply(renderer, document)
                replies.write(reply + "\n")
                if told:
                    break
            faulthandler.cancel_dump_traceback_later()
            replies.flush()


def _reply(renderer: Fields, document: dict[str, Any]) -> tuple[str, bool]:
    """Return a line of JSON, and whether it tells a mistake."""
    try:
        return json.dumps({"values": renderer.values(document)}), False
    except MemoryError:
        return json.dumps({"mistake": "it needs too much memory"}), True
    except (TypeError, ValueError, RecursionError) as error:
        return json.dumps({"mistake": str(error)}), True


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]))
