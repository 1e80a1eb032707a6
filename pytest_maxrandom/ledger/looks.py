"""The looks that a ledger holds, by their time: what was seen of each claim, and when."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_maxrandom.ledger.files import rows_of
from pytest_maxrandom.ledger.folder import ledger_files

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Look:
    """The best of all prompts that were tried for a claim until then.

    Attributes
    ----------
    when : str
        UTC, ISO 8601.
    beside : str
        The folder of the suites that the ledger stands beside.
    examples : str
        Digest of the validation set.
    chances : dict of str to int
        Number of its examples by the chance of one guess: {"1/2": 50}.
    t, best_correct, n : int
        Prompts that were counted; right answers of the best one, and its examples.
    """

    when: str
    beside: str
    task: str
    model: str
    model_digest: str
    quantization: str
    shots: int
    scoring: str
    examples: str
    chances: dict[str, int]
    t: int
    best_correct: int
    n: int


def looks(paths: Iterable[Path]) -> list[Look]:
    """Return the looks in ledger files, beside suites, or below folders; each once.

    Raises
    ------
    LedgerError
        If there is nothing at a path, or a file cannot be read.
    """
    found: dict[tuple[str, str], Look] = {}
    for file in dict.fromkeys(file for path in paths for file in ledger_files(path)):
        rows = list(rows_of(file))
        beside = file.absolute().parent.parent.as_posix()
        for about in (row for row in rows if row["kind"] == "set"):
            for row in (row for row in rows if row["kind"] == "look"):
                shared = {name: row[name] for name in Look.__slots__ if name in row}
                look = Look(
                    beside=beside,
                    task=about["task"],
                    examples=about["set"],
                    chances=about["chances"],
                    **shared,
                )
                name = (beside, row["look"])
                if name not in found or look.when < found[name].when:
                    found[name] = look
    return sorted(found.values(), key=lambda look: look.when)
