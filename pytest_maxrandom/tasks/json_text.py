"""JSON as a person wrote it: repeated keys are seen, and elements have physical lines."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from pytest_maxrandom.errors import listed
from pytest_maxrandom.tasks.findings import Mistake

_BETWEEN = re.compile(r"[\s:,]*")


class JsonObject(dict[str, Any]):
    """A JSON object that knows which keys its text repeats; a plain dict keeps the last value.

    Attributes
    ----------
    repeated : list of str
        Keys that occur more than once.
    """

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.repeated: list[str] = []
        if len(self) < len(pairs):
            self.repeated = [key for key, n in Counter(key for key, _ in pairs).items() if n > 1]

    def require_unique_keys(self) -> None:
        """Raise a mistake if a key is repeated."""
        if self.repeated:
            raise Mistake(f"keys must differ, found more than once: {listed(self.repeated)}")


def parse_json(text: str) -> Any:
    """Return the value of a JSON text, its objects as :class:`JsonObject`.

    Raises
    ------
    Mistake
        With line and column, if the text is not JSON.
    """
    try:
        return json.loads(text, object_pairs_hook=JsonObject)
    except json.JSONDecodeError as error:
        raise Mistake(f"not valid JSON: {error.msg} (column {error.colno})", error.lineno) from None
    except RecursionError:
        raise Mistake("not readable as JSON: it is nested too deeply") from None
    except ValueError:  # Python refuses to convert integers of more than 4300 digits
        raise Mistake("not readable as JSON: a number has too many digits") from None


def element_lines(text: str, key: str) -> list[int]:
    """Return the physical lines (from 1) on which the elements of an array start.

    Parameters
    ----------
    text : str
        Valid JSON, an object.
    key : str
        The object's key, occurring once, whose value is the array.
    """
    decode = json.JSONDecoder().raw_decode

    def skip(position: int) -> int:
        between = _BETWEEN.match(text, position)
        return between.end() if between else position

    position = skip(text.index("{") + 1)
    name = None
    while name != key:
        name, position = decode(text, position)
        position = skip(position)
        if name != key:
            position = skip(decode(text, position)[1])
    lines: list[int] = []
    line, counted = 1, 0
    position = skip(position + 1)
    while text[position] != "]":
        line, counted = line + text.count("\n", counted, position), position
        lines.append(line)
        position = skip(decode(text, position)[1])
    return lines
