"""Reading data: files and JSON, all mistakes collected, and what tasks must hold."""

from __future__ import annotations

import codecs
import json
import math
import os
import re
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from pytest_maxrandom.errors import (
    Problem,
    SuiteError,
    described,
    first_of,
    json_mistake,
    listed,
    nearest_file,
    quoted,
)
from pytest_maxrandom.host.data import reading, refused

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from pytest_maxrandom.tasks.task import Where

P = ParamSpec("P")
T = TypeVar("T")

MOST_SHOWN = 20
MOST_ALIKE = 3
UNPAIRED = re.compile("[\ud800-\udfff]")
"""Half of a surrogate pair, which JSON can spell and UTF-8 cannot."""
HALF_A_PAIR = "it holds half of a surrogate pair"


class Mistake(Exception):
    """One thing that is wrong, said in one sentence; it becomes a problem in :class:`Findings`."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


@dataclass(eq=False)
class Findings:
    """The problems found so far in one source of examples."""

    locate: Callable[[int | None, str], Problem]
    """Makes the problem from a place (None: the source as a whole) and a message."""
    name: Callable[[int], str]
    """What a message calls a place, for example "line 3"."""
    _problems: list[Problem] = field(default_factory=list, init=False)

    def add(self, place: int | None, message: str) -> None:
        """Note a problem."""
        self._problems.append(self.locate(place, message))

    def attempt(
        self, place: int | None, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T | None:
        """Call `function`; where it raises a mistake, note it and return None."""
        try:
            return function(*args, **kwargs)
        except Mistake as mistake:
            self.add(mistake.line if place is None else place, str(mistake))
            return None

    def require(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `function`; a mistake there is the end, as nothing more can be read."""
        try:
            return function(*args, **kwargs)
        except Mistake as mistake:
            raise self.error(str(mistake), mistake.line) from None

    def raise_any(self) -> None:
        """Raise what was found.

        Raises
        ------
        SuiteError
            If there is any problem; the message has the first 20, and how many more there are.
        """
        if self._problems:
            raise self._error()

    def error(self, message: str, place: int | None = None) -> SuiteError:
        """Return the error for a problem after which nothing more can be read."""
        self.add(place, message)
        return self._error()

    def _error(self) -> SuiteError:
        in_order = _joined(sorted(self._problems, key=lambda problem: problem.line or 0))
        return SuiteError(
            first_of(in_order, MOST_SHOWN, lambda message: self.locate(None, message))
        )


def _joined(problems: list[Problem]) -> list[Problem]:
    """Say once what is wrong in the same words on several lines."""
    numbers = Counter((problem.path, problem.message) for problem in problems)
    first = {(problem.path, problem.message): problem for problem in reversed(problems)}
    joined = []
    for problem in problems:
        place = problem.path, problem.message
        if numbers[place] <= MOST_ALIKE:
            joined.append(problem)
        elif first[place] is problem:
            said = f"{problem.message} (the same in {numbers[place]:,} rows; this is the first)"
            joined.append(replace(problem, message=said))
    return joined


def file_findings(path: Path) -> Findings:
    """Return findings in a text file, whose places are its physical lines, from 1."""
    return Findings(lambda line, message: Problem(path, line, message), lambda line: f"line {line}")


def as_text(value: object, what: str, expected: str = "a text or a whole number") -> str:
    """Return `value` as text: a string, or a whole number as it is written.

    Raises
    ------
    Mistake
        For anything else: how a fraction, true or null is written is for the data to say.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    hint = "; store it as text" if isinstance(value, bool | float) else ""
    raise Mistake(f"{what} must be {expected}, found {described(value)}{hint}")


def as_reference(value: object) -> str:
    """Return a reference as text: a number as it is written, and nothing that is empty or NaN."""
    if type(value) is float:
        text = "" if math.isnan(value) else repr(value)
    else:
        text = as_text(value, "a reference", "a text or a number")
    if not text.strip():
        raise Mistake("a reference is empty; give the right answer, or leave the row out")
    return text


def as_id(value: object) -> str:
    """Return an example's id: a text that is not empty, or a whole number."""
    text = as_text(value, "an id")
    if not text:
        raise Mistake("an id must not be empty")
    return text


def as_cluster(value: object, column: str) -> str:
    """Return the name of an example's cluster: a text that is not empty, or a whole number."""
    if value in (None, ""):
        raise Mistake(
            f"there is no cluster in {quoted(column)}, but with `columns: cluster:` every example "
            "needs one; give an unrelated example a cluster of its own"
        )
    return as_text(value, f"the cluster in {quoted(column)}")


def shown(path: Path) -> Path:
    """Return `path` as a reader wants it: relative to the current folder if it lies below."""
    absolute, here = path.absolute(), Path.cwd()
    if ".." in path.parts:
        flat = Path(os.path.normpath(absolute))
        if flat.parent.resolve() == absolute.parent.resolve():  # no symbolic link is in between
            absolute = flat
    return absolute.relative_to(here) if absolute.is_relative_to(here) else path


@contextmanager
def quoting_own(base: Path) -> Iterator[None]:
    """Read data for a suite in a folder; what lies outside of its repository is not quoted.

    Raises
    ------
    SuiteError
        What is raised meanwhile: its places alone, where its messages might quote such data.
    """
    with reading(base) as found:
        try:
            yield
        except SuiteError as error:
            if found.quotable:
                raise
            told = (
                "there is a mistake here; it is not told, because data outside of the repository "
                "are not quoted; `maxrandom tasks FILE` tells it"
            )
            problems = (replace(problem, message=told) for problem in error.problems)
            raise SuiteError(dict.fromkeys(problems)) from None


def read_file(path: str, base: Path, where: Where, holds: str = "examples") -> tuple[Path, str]:
    """Return the file that `path` names, relative to the folder `base`, and its text.

    It is UTF-8, with its own line ends and without a byte order mark. `holds` is what it should
    have, as messages call it.

    Raises
    ------
    SuiteError
        In the suite, if there is no such file; in the file, if it is no text (with the line of the
        first bad byte).
    """
    file = shown(base / path)
    try:
        missing = refused(file, path) or _missing(path, file, holds)
    except OSError as error:
        missing = f"cannot access {quoted(path)}: {error.strerror}"
    if missing:
        raise SuiteError([Problem(*where("path"), missing)])
    return file, file_findings(file).require(_text_of, file, holds)


def named_in(key: str, columns: Collection[str], where: Where | None) -> str:
    """Say which line of a suite names a column, to close a sentence; nothing where none does.

    The key is one such as ``input`` or ``columns: input``; `columns` are those that the suite has.
    """
    role = key.removeprefix("columns: ")
    if where is None or (key != role and role not in columns):
        return ""
    file, line = where(*key.split(": "))
    return "" if line is None else f" (named in {file.name}:{line})"


def _missing(path: str, file: Path, holds: str) -> str:
    """Say that there is no such file, and what there is; nothing if there is."""
    if file.is_file():
        return ""
    if file.exists():
        return f"{quoted(path)} is not a file; give the file that holds the {holds}"
    if file.parent.is_dir():
        return (
            f"there is no file {quoted(str(file), 200)} (paths are relative to the suite file)"
            f"{nearest_file(file, path)}"
        )
    return (
        f"there is no folder {quoted(str(file.parent), 200)} for the file "
        f"{quoted(file.name)} (paths are relative to the suite file)"
    )


def _text_of(file: Path, holds: str) -> str:
    try:
        data = file.read_bytes().removeprefix(codecs.BOM_UTF8)
        text = data.decode("utf-8")
    except OSError as error:
        raise Mistake(f"cannot read the file: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise Mistake(
            f"the file is not UTF-8: found the byte 0x{data[error.start]:02x}; save it as UTF-8",
            line=data.count(b"\n", 0, error.start) + 1,
        ) from None
    if not text.strip():
        raise Mistake(f"the file is empty; expected {holds}")
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
        self.repeated = [key for key, n in Counter(key for key, _ in pairs).items() if n > 1]


def as_object(value: object, what: str, line: int | None = None) -> JsonObject:
    """Return `value` as a JSON object whose keys differ.

    Raises
    ------
    Mistake
        If it is none; at that line, if it is given.
    """
    if not isinstance(value, JsonObject):
        raise Mistake(f"{what} must be a JSON object in braces, found {described(value)}", line)
    if value.repeated:
        raise Mistake(
            f"keys must differ, but these appear more than once: {listed(value.repeated)}"
        )
    return value


def parse_json(
    text: str, objects: type[dict[str, Any]] = JsonObject, line: int | None = None
) -> Any:
    """Return the value of a JSON text, its objects as :class:`JsonObject` or plain ones.

    Raises
    ------
    Mistake
        With line and column, if the text is not JSON; at that line of a file, if it is given.
    """
    try:
        return json.loads(text, object_pairs_hook=objects)
    except json.JSONDecodeError as error:
        place, problem = json_mistake(error)
        raise Mistake(problem, line or place) from None
    except RecursionError:
        raise Mistake("cannot be read as JSON, because it is nested too deeply", line) from None
    except ValueError:  # Python refuses to convert integers of more than 4300 digits
        told = "cannot be read as JSON, because a number has too many digits"
        raise Mistake(told, line) from None
