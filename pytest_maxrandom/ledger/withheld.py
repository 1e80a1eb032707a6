"""Right answers of prompts that are counted, kept from who searches until the search is over.

The ledger stands beside the suite, where a program that searches can read it. While it must not see
a score, the ledger's line of a prompt says that it was tried and not how many answers are right;
that stands here, in a file of the same lines outside of the repository. What is lost of it costs
scores, and never the count of a prompt.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pytest_maxrandom.ledger.files import LedgerFile, tried_of
from pytest_maxrandom.ledger.lines import line_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pytest_maxrandom.ledger.fields import Row
    from pytest_maxrandom.ledger.lines import Try

NAME = "scores.jsonl"


class Withheld(LedgerFile):
    """The lines of kind prompt that the ledger of one validation set does not have yet.

    Only the user can look into its folder; see `pytest_maxrandom.searches.private`.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / NAME)
        self._rows: dict[Try, Row] = {}

    def take(self, row: Row) -> None:
        """Add what a row says."""
        super().take(row)
        if row["kind"] == "prompt":
            self._rows[tried_of(row)] = row

    def rows(self) -> Mapping[Try, Row]:
        """Return the lines as they are now, also of other processes.

        Raises
        ------
        LedgerError
            If the file cannot be read.
        """
        self.read()
        self.check()
        return self._rows

    def put(self, row: Row) -> None:
        """Add a line, at once and for all processes.

        Raises
        ------
        LedgerError
            If a line of the file is none of a ledger.
        OSError, LockError
            If it cannot be written.
        """
        # Whoever makes a file decides who may read it.
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        self.append(lambda: [] if self.has(row) else [line_of(row)])
        self.take(row)
