"""Every error that a user can meet, each one a clear sentence, and the words of sentences."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import csv
    from collections.abc import Callable, Collection, Iterable, Mapping

DOCUMENTATION = "https://OWNER.github.io/pytest-maxrandom/"
"""Where the documentation is published."""
KEYS = f"{DOCUMENTATION}reference/suite-keys.html"
"""The page with all keys of a suite and their defaults."""
_LONGEST = 2_000
"""Characters of a sentence about a mistake."""
_MOST = 100
"""Mistakes that one error tells."""


class MaxRandomError(Exception):
    """Base of all errors of this package but those that are an :class:`AssertionError`."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake: where it is, and one sentence on what to do about it.

    A sentence that quotes without end what is in a file loses its middle.
    """

    path: Path
    line: int | None
    message: str
    others: int = 0
    """How many mistakes it stands for that are not shown; 0 if it is one itself."""

    def __post_init__(self) -> None:
        if len(self.message) > _LONGEST:
            half = _LONGEST // 2
            shown = f"{self.message[:half]} ... {self.message[-half:]}"
            object.__setattr__(self, "message", shown)

    def __str__(self) -> str:
        where = str(self.path) if self.line is None else f"{self.path}:{self.line}"
        return f"{where}: {self.message}"


def first_of(
    problems: Iterable[Problem], most: int, hide: Callable[[str], Problem]
) -> tuple[Problem, ...]:
    """Return the first of some problems, and one that says how many are not shown.

    Parameters
    ----------
    hide : callable
        Makes the last one from its message.
    """
    found = tuple(problems)
    hidden = sum(each.others or 1 for each in found[most:])
    if not hidden:
        return found
    last = replace(hide(f"problems not shown: {hidden:,}"), others=hidden)
    return (*found[:most], last)


def where_keys_are(mistakes: Iterable[object]) -> list[str]:
    """Say where the keys of suites are described, if any of some mistakes is about a key."""
    words = ("(keys here: ", "` is missing; add ")
    about = any(word in str(mistake) for mistake in mistakes for word in words)
    return [f"all keys: {KEYS}"] if about else []


class SuiteError(MaxRandomError):
    """A suite, or a data file that it names, is wrong.

    Parameters
    ----------
    problems : iterable of Problem
        All the mistakes found, at least one, in the order of the file. The first 100 are told, and
        how many more there are.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        found = tuple(problems)
        self.problems = first_of(
            found, _MOST, lambda message: Problem(found[0].path, None, message)
        )
        super().__init__("\n".join(str(problem) for problem in self.problems))


class ExtensionError(MaxRandomError):
    """What an installed package adds cannot be used, or no package adds it."""


class SweepError(MaxRandomError):
    """A sweep cannot be run as the suite asks."""


class ModelError(SweepError):
    """A model cannot be loaded, or cannot do what the suite asks of it."""


class ModelNotFound(ModelError):
    """Keys of a suite name nothing that could be a model.

    Parameters
    ----------
    problems : mapping of str to str
        A sentence for each key, at least one.
    """

    def __init__(self, problems: Mapping[str, str]) -> None:
        self.problems = dict(problems)
        super().__init__("; ".join(self.problems.values()))


class PromptTooLong(SweepError):
    """A prompt with an example does not fit the model's context; text is never cut."""


class QuestionError(SweepError):
    """A question's text leaves nothing to score, or nothing that stands before it."""


class ScoreError(SweepError):
    """The model returned scores that cannot be compared."""


class SearchError(MaxRandomError):
    """A search asks for what would not be counted, or goes on after its end."""


class BudgetSpent(SearchError):
    """A search asks for another prompt, and has tried all that it declared."""


class LedgerError(MaxRandomError):
    """A ledger cannot be read: a line of it is none, or contradicts itself."""


class GitError(MaxRandomError):
    """Git cannot say what is asked of it: it is not there, or the history is not."""


class StoreError(MaxRandomError):
    """The results store must not be used, because its results may be anybody's."""


class ShardError(MaxRandomError):
    """A part of a run is missing, stale, or cannot be joined to the others."""


class ClusterError(MaxRandomError):
    """No cluster answers, or none of its nodes can be used."""


class LimitsError(MaxRandomError):
    """What the runner says of limits is none."""


class LockError(MaxRandomError):
    """No lock between processes can be made on this machine."""


class ReportError(MaxRandomError):
    """A report cannot be written or read: a template, or a report file, is wrong."""


class RecordedError(MaxRandomError):
    """A file of recorded predictions cannot be read, or contradicts itself."""


class ForgeError(MaxRandomError):
    """A forge (GitHub, GitLab) cannot be reached, or refuses what is asked of it."""


class ClaimFailed(AssertionError):
    """A claim does not hold; its text is one line with the numbers behind it."""


class CannotTell(AssertionError):
    """The results of a claim can neither show it nor refute it, which is no expected failure.

    Its text says why, and how to find out.
    """


class RedFlagged(AssertionError):
    """A claim has red flags that fail it, which is never the failure that was expected of it.

    Its text is why the claim does not pass, in one line, and then each red flag in a line.
    """


class RepeatedKey(ValueError):
    """An object of JSON has a key twice."""


def quoted(text: str, limit: int = 60) -> str:
    """Write a text in quotes on one line, shortened to at most `limit` characters."""
    return repr(text if len(text) <= limit else text[: limit - 3] + "...")


def listed(texts: Collection[str], limit: int = 12) -> str:
    """Write the first `limit` of some texts in quotes, and how many more there are."""
    shown = ", ".join(quoted(text) for text in list(texts)[:limit])
    return shown if len(texts) <= limit else f"{shown} and {len(texts) - limit} more"


def did_you_mean(
    word: str, options: Iterable[str], write: Callable[[str], str] = quoted, cutoff: float = 0.6
) -> str:
    """Ask for the option that is nearest to a word, to close a sentence; nothing if none is near.

    Examples
    --------
    >>> did_you_mean("Promts", ["tasks", "prompts"]), did_you_mean("x", ["tasks"])
    ("; did you mean 'prompts'?", '')
    """
    folded = {option.casefold(): option for option in options}
    near = difflib.get_close_matches(word.casefold(), folded, n=1, cutoff=cutoff)
    return f"; did you mean {write(folded[near[0]])}?" if near else ""


def nearest_file(file: Path, written: str | None = None) -> str:
    """Ask for the file nearest by name, its ending aside, to one that is not in its folder.

    Parameters
    ----------
    written : str, optional
        The path to it as it was written, for an answer that can be written in its place.
    """
    beside = PurePath(written or file.name)
    entries = sorted(file.parent.iterdir(), key=lambda entry: entry.suffix == file.suffix)
    names = {entry.stem: beside.with_name(entry.name).as_posix() for entry in entries}
    return did_you_mean(file.stem, names, lambda stem: quoted(names[stem]))


def dotted(location: Iterable[str | int]) -> str:
    """Write a place in keys and lists.

    Examples
    --------
    >>> dotted(["models", 0, "name"])
    'models[0].name'
    """
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return "".join(parts).removeprefix(".")


_IN_JSON = {
    "Expecting value": "a value is missing here: a text in double quotes, a number, a list, ...",
    "Expecting ',' delimiter": "a comma, or a closing bracket, is missing here",
    "Expecting ':' delimiter": "a colon is missing here, after the key",
    "Expecting property name": "a key in double quotes is missing here",
    "Illegal trailing comma": "this comma has nothing after it; remove it",
    "Unterminated string": "the quote that opens here is not closed",
    "Invalid control character": "a tab or a line break is in a text; write it as \\t or \\n",
    "Invalid \\": "a backslash before this character means nothing in JSON; write it twice",
    "Extra data": "the value has ended, but more text follows",
}
"""What Python says of a text that is no JSON, by how it begins, and the same in plain words."""
_IN_CSV = {
    "unexpected end of data": "a double quote is not closed",
    "field larger than field limit": "a cell is longer than 131,072 characters, as if a double "
    "quote were not closed",
    "',' expected after": "text follows after a closing double quote; write each quote within a "
    "cell twice",
    "new-line character seen": "a line ends in a carriage return alone; save the file with "
    "ordinary line ends",
}
"""The same of CSV."""


def json_mistake(error: json.JSONDecodeError) -> tuple[int, str]:
    """Return the line of what is wrong with a text in JSON, and what it is, with its column.

    The same on every Python: before 3.13, `json` points at what stands after a trailing comma.

    Examples
    --------
    >>> import json
    >>> try:
    ...     json.loads('["yes" "no"]')
    ... except json.JSONDecodeError as error:
    ...     print(json_mistake(error))
    (1, 'not valid JSON: a comma, or a closing bracket, is missing here (column 8)')
    """
    before, after = error.doc[: error.pos].rstrip(), error.doc[error.pos :].lstrip()
    if before.endswith(",") and after.startswith(("}", "]")):
        error = json.JSONDecodeError("Illegal trailing comma", error.doc, len(before) - 1)
    problem = _in_words(error.msg, _IN_JSON)
    if "missing" in problem and not after:
        problem = "the text ends too early; a bracket, a quote or a value is missing"
    return error.lineno, f"not valid JSON: {problem} (column {error.colno})"


def unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON, given to `json` as ``object_pairs_hook``.

    Raises
    ------
    RepeatedKey
        If a key stands in it twice: who reads the text may take the value that does not count.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise RepeatedKey(f"the key {quoted(twice)} appears twice; keep one")
    return found


def csv_in_words(error: csv.Error) -> str:
    """Say what is wrong with the row of a text in CSV that could not be read."""
    said = str(error)
    if said[3:].startswith(" expected after"):  # before it, what separates the cells
        said = f"','{said[3:]}"
    return f"not valid CSV in the row that starts here: {_in_words(said, _IN_CSV)}"


def _in_words(message: str, known: Mapping[str, str]) -> str:
    return next((said for begins, said in known.items() if message.startswith(begins)), message)


def described(value: object) -> str:
    """Say what a value is, in the words of JSON."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case int() | float():
            return f"the number {value}"
        case list():
            return "a list"
        case dict():
            return "an object"
        case _:
            return f"a value of type {type(value).__name__}"
