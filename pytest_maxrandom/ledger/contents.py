"""What one file of the ledger says, whatever the order of its lines."""

from __future__ import annotations

import functools
import json
import re
from dataclasses import dataclass
from sys import intern
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import LedgerError
from pytest_maxrandom.ledger.files import read_bytes, whole_row
from pytest_maxrandom.ledger.lines import Claim, Try, parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from pytest_maxrandom.ledger.lines import Row

_OF_SETS = re.compile(rb'"kind"\s*:\s*"(?:set|test|opening)"')

_new = tuple.__new__  # half the time of Try(...), which counts for a million lines


@dataclass(frozen=True)
class SetLine:
    """A validation set, as a file describes it.

    Attributes
    ----------
    digest : str
        Of the examples.
    examples : tuple of str
        Digests of the examples.
    """

    digest: str
    examples: tuple[str, ...]


class Contents:
    """What has been taken from one file.

    Attributes
    ----------
    sets : dict
        The validation set by its digest; in a right file there is one.
    tries : dict
        Claim to its tries.
    looks : dict
        Claim to its looks: their digests, each with the t that it counted.
    tests : dict
        Digests of the examples of a test set by its digest.
    openings : dict
        Digest of a test set to the tries that opened it.
    """

    def __init__(self) -> None:
        self.sets: dict[str, SetLine] = {}
        self.tries: dict[Claim, set[Try]] = {}
        self.looks: dict[Claim, dict[str, int]] = {}
        self.tests: dict[str, tuple[str, ...]] = {}
        self.openings: dict[str, set[Try]] = {}

    def take(self, row: Row) -> None:
        """Add what a row says; a second time adds nothing."""
        kind = row["kind"]
        if kind == "set":
            self.sets[row["set"]] = SetLine(row["set"], tuple(row["examples"]))
            return
        if kind == "test":
            self.tests[row["test"]] = tuple(row["examples"])
            return
        key = (row["model"], row["shots"])
        if kind == "look":
            self.looks.setdefault(Claim(*key), {})[row["look"]] = row["t"]
            return
        tried = _new(Try, (intern(row["model_digest"]), row["prompt"], intern(row["scoring"])))
        if kind == "opening":
            self.openings.setdefault(row["test"], set()).add(tried)
        elif key in self.tries:
            self.tries[key].add(tried)
        else:
            self.tries[Claim(*key)] = {tried}

    def take_tries(self, tries: Iterable[tuple[str, str, str]]) -> None:
        """Add what :func:`pytest_maxrandom.ledger.lines.tries` found."""
        known: dict[str, tuple[Callable[[Try], None], str, str]] = {}
        for subject, prompt, _ in tries:
            if subject not in known:
                row = json.loads(f"{{{subject}}}")
                add = self.tries.setdefault(Claim(row["model"], row["shots"]), set()).add
                known[subject] = add, intern(row["model_digest"]), intern(row["scoring"])
            add, digest, scoring = known[subject]
            add(_new(Try, (digest, prompt, scoring)))

    def has(self, row: Row) -> bool:
        """Tell whether a row would add nothing."""
        if row["kind"] == "set":
            return row["set"] in self.sets
        if row["kind"] == "test":
            return row["test"] in self.tests
        claim = Claim(row["model"], row["shots"])
        if row["kind"] == "look":
            return row["look"] in self.looks.get(claim, ())
        tried = Try(row["model_digest"], row["prompt"], row["scoring"])
        if row["kind"] == "prompt":
            return tried in self.tries.get(claim, ())
        return tried in self.openings.get(row["test"], ())

    @property
    def all_tries(self) -> set[Try]:
        """Tries of all claims."""
        return set().union(*self.tries.values())


def linked(
    found: Iterable[tuple[Claim, set[Try]]], names: set[str], digests: set[str]
) -> frozenset[Try]:
    """Return the tries of one claim: of all models of a name, and of all names of these models.

    Parameters
    ----------
    found : iterable of tuple
        Claims of one number of shots, with their tries.
    names, digests : set of str
        The model's, as far as they are known.
    """
    left, tries = list(found), set[Try]()
    names, digests = set(names), set(digests)
    while same := [
        (claim, of_claim)
        for claim, of_claim in left
        if claim.model in names or any(tried.model_digest in digests for tried in of_claim)
    ]:
        for claim, of_claim in same:
            names.add(claim.model)
            digests |= {tried.model_digest for tried in of_claim}
            tries |= of_claim
        left = [each for each in left if each not in same]
    return frozenset(tries)


def read_sets(path: Path) -> Contents:
    """Return the validation set and the openings of a file, without the many other lines.

    What is returned is shared: only read it.

    Raises
    ------
    LedgerError
        If one of these lines is wrong, or the file does not say which examples it is about.
    """
    try:
        status = path.stat()
    except OSError:
        return _read_sets(path)  # which says what is wrong
    return _unchanged(path, status.st_size, status.st_mtime_ns, status.st_ino)


@functools.lru_cache(maxsize=1024)
def _unchanged(path: Path, size: int, changed: int, number: int) -> Contents:
    """Read a file once for what size, time and inode tell apart."""
    return _read_sets(path)


def _read_sets(path: Path) -> Contents:
    data = read_bytes(path)
    contents = Contents()
    for line, raw in lines_of_sets(data):
        if raw.endswith(b"\n"):
            rows = list(parse(raw, path, line))
        else:
            row = whole_row(raw, path, line)
            rows = [] if row is None else [row]
        for row in rows:
            contents.take(row)
    if len(contents.sets) > 1:
        raise LedgerError(
            f"{path}: found lines of {len(contents.sets)} validation sets, expected one set in a "
            "file; put the lines of each set into a file of its own"
        )
    if not contents.sets and b"\n" in data:
        raise LedgerError(
            f"{path}: found no line of kind set, expected one that names the examples; restore it "
            "from version control"
        )
    return contents


def lines_of_sets(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and text of the lines of sets and openings, each once."""
    done = counted = 0
    line = 1
    words = (b'"set"', b'"test"', b'"opening"')
    for place in sorted(place for word in words for place in _places(data, word)):
        if place < done:
            continue
        start = data.rfind(b"\n", 0, place) + 1
        done = data.find(b"\n", place) + 1 or len(data)
        if _OF_SETS.search(data, start, done):
            line += data.count(b"\n", counted, start)
            counted = start
            yield line, data[start:done]


def _places(data: bytes, word: bytes) -> list[int]:
    """Return where a word stands; of a rare one this is known at once, unlike of a pattern."""
    found = []
    place = data.find(word)
    while place >= 0:
        found.append(place)
        place = data.find(word, place + 1)
    return found
