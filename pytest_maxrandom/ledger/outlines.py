"""What a file of a ledger is about, told by few of its lines: most are prompts, often a thousand.

A line is found by a word that it holds, and read only then, so that a million prompts cost seconds.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_maxrandom.ledger.fields import mistake
from pytest_maxrandom.ledger.questions import named

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from pytest_maxrandom.ledger.fields import Row

_ESCAPED = b"\\u"


def rows_with(data: bytes, *words: str) -> Iterator[Row]:
    """Yield the rows, in their order, of lines that hold one of some words.

    What is no line of a ledger is left out: who reads the whole file names it. Words are keys or
    kinds of lines; a row may have none of them, if one of its texts looks like one.
    """
    sought = [f'"{word}"'.encode() for word in words]
    if _ESCAPED in data:  # which may hide a word
        sought.append(_ESCAPED)
    places = {word: data.find(word) for word in sought}
    while (at := min((place for place in places.values() if place >= 0), default=-1)) >= 0:
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end
        try:
            row = json.loads(data[data.rfind(b"\n", 0, at) + 1 : end])
        except (ValueError, RecursionError):
            row = None
        if isinstance(row, dict) and not mistake(row):
            yield row
        places = {
            word: data.find(word, end) if 0 <= place < end else place
            for word, place in places.items()
        }


@dataclass(frozen=True, slots=True)
class Outline:
    """What a file is about; see `pytest_maxrandom.ledger.files.LedgerFile` for what is the same."""

    sets: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tasks: dict[str, str] = field(default_factory=dict)
    """What the task of each set was called."""
    questions: dict[str, str] = field(default_factory=dict)
    joins: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    undone: dict[tuple[str, str], str] = field(default_factory=dict)
    tests: dict[str, tuple[str, ...]] = field(default_factory=dict)
    opened: set[str] = field(default_factory=set)
    """Digests of test sets that it has openings of; their examples may stand in another file."""

    @classmethod
    def of_lines(cls, pieces: Iterable[bytes]) -> Outline:
        """Return the outline of what a file holds, in pieces of whole lines."""
        outline = cls()
        wanted = ("examples", "pairs", "why", "opening")
        for row in (row for data in pieces for row in rows_with(data, *wanted)):
            examples = row.get("examples", ())
            outline.questions.update(zip(examples, row.get("questions", ()), strict=False))
            if row["kind"] in ("set", "test"):
                known = outline.sets if row["kind"] == "set" else outline.tests
                known[row[row["kind"]]] = tuple(examples)
                if row["kind"] == "set":
                    outline.tasks[row["set"]] = row["task"]
            elif row["kind"] == "reworded":
                outline.joins[row["set"], row["before"]] = row["pairs"]
            elif row["kind"] == "apart":
                outline.undone[row["set"], row["before"]] = row["why"]
            elif row["kind"] == "opening":
                outline.opened.add(row["test"])
        return outline

    @property
    def names(self) -> set[str]:
        """Digests of the examples of its sets, of their questions, and of those that they became.

        A set is related to one of these only if it shares one of them.
        """
        examples = [each for one in self.sets.values() for each in one]
        pairs = [each for pairs in self.joins.values() for pair in pairs.items() for each in pair]
        return {*examples, *named(examples, self.questions), *pairs}

    @property
    def links(self) -> Iterator[Collection[str]]:
        """The names of the examples of each test set, and of each question in other words."""
        for test in self.tests.values():
            yield {*test, *named(test, self.questions)}
        for pairs in self.joins.values():
            yield from pairs.items()
