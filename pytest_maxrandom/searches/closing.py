"""The end of a search that must see no score: the ledger shows what it found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_maxrandom.claims.counting import claim_ledger
from pytest_maxrandom.errors import SearchError
from pytest_maxrandom.ledger.withheld import Withheld
from pytest_maxrandom.searches.private import private_folder
from pytest_maxrandom.stats.search import WITHHELD

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_maxrandom.claims.planned import PlannedClaim


@dataclass(frozen=True, slots=True)
class Closed:
    """What became of one search."""

    by: str
    """Who proposed its prompts."""
    feedback: str
    ledger: Path
    """The file that shows its results now."""
    prompts: int
    """Those that it was told of."""
    results: int
    """How many of their results are new in the ledger."""
    unknown: int
    """How many are neither there nor on this machine."""


def close(planned: PlannedClaim, by: str | None = None) -> Iterator[Closed]:
    """Close the searches on the validation set of a claim, whatever model they are for.

    Parameters
    ----------
    by : str, optional
        Only those whose prompts it proposed.

    Raises
    ------
    LedgerError
        If the ledger, or what is withheld, cannot be read.
    SearchError
        If the ledger cannot be written to, or others can read what is withheld.
    """
    folder = private_folder(planned.ledger, planned.condition.example_digests)
    ledger = claim_ledger(planned, withheld=Withheld(folder))
    for name, told in ledger.own_searches.items():
        first = next(iter(told.values()))
        if first.feedback not in WITHHELD or (by is not None and first.by != by):
            continue
        before = ledger.unknown(told)
        is_open = name not in ledger.closed
        found = ledger.publish(told, [name])
        if found is None:
            raise SearchError(f"{ledger.path}: cannot be written to ({ledger.why_closed})")
        if found or is_open:
            left = before - found
            yield Closed(first.by, first.feedback, ledger.path, len(told), found, left)
