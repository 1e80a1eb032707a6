"""Files of text and JSON that hold tasks; in JSON repeated keys and physical lines are seen."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import Problem, SuiteError, did_you_mean, listed, quoted
from pytest_maxrandom.tasks.mistakes import Mistake, file_findings

if TYPE_CHECKING:
    from pytest_maxrandom.tasks.task import Where

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BETWEEN = re.compile(r"[\s:,]*")


def shown(path: Path) -> Path:
    """Return `path` as a reader wants it: relative to the current folder if it lies below."""
    absolute, here = path.absolute(), Path.cwd()
    return absolute.relative_to(here) if absolute.is_relative_to(here) else path


def read_file(path: str, base: Path, where: Where) -> tuple[Path, str]:
    """Return the file that `path` names, relative to the folder `base`, and its text.

    Raises
    ------
    SuiteError
        In the suite, if there is no such file; in the file, if it is no text.
    """
    try:
        file = find_file(path, base)
    except Mistake as mistake:
        raise SuiteError([Problem(*where("path"), str(mistake))]) from None
    return file, file_findings(file).require(read_text, file)


def find_file(path: str, base: Path) -> Path:
    """Return the file that `path` names, relative to the folder `base`.

    Raises
    ------
    Mistake
        If there is no such file.
    """
    file = shown(base / path)
    try:
        if file.is_file():
            return file
        if file.exists():
            raise Mistake(f"{quoted(path)} is not a file; give the file that holds the examples")
        if file.parent.is_dir():
            names = [entry.name for entry in file.parent.iterdir()]
            raise Mistake(
                f"there is no file {quoted(str(file), 200)} (paths are relative to the suite file)"
                f"{did_you_mean(file.name, names)}"
            )
        raise Mistake(
            f"there is no folder {quoted(str(file.parent), 200)} for the file "
            f"{quoted(file.name)} (paths are relative to the suite file)"
        )
    except OSError as error:
        raise Mistake(f"cannot look for {quoted(path)}: {error.strerror}") from None


def read_text(file: Path) -> str:
    """Return the text of a UTF-8 file, with its own line ends and without a byte order mark.

    Raises
    ------
    Mistake
        If the file cannot be read, is empty, or is not UTF-8 (with the line of the first bad byte).
    """
    try:
        data = file.read_bytes().removeprefix(_BYTE_ORDER_MARK)
    except OSError as error:
        raise Mistake(f"cannot read the file: {error.strerror}") from None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Mistake(
            f"the file is not UTF-8: found the byte 0x{data[error.start]:02x}; save it as UTF-8",
            line=data.count(b"\n", 0, error.start) + 1,
        ) from None
    if not text.strip():
        raise Mistake("the file is empty; a task needs examples")
    return text


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
