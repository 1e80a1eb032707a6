"""What one file of the ledger says, whatever the order of its lines."""

from __future__ import annotations

import json
from dataclasses import dataclass
from sys import intern
from typing import TYPE_CHECKING

from pytest_maxrandom.ledger.lines import Claim, Try

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pytest_maxrandom.ledger.lines import Row


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
