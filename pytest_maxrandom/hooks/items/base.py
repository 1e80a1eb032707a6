"""What all items of a suite have in common."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from pytest_maxrandom.errors import ClaimFailed, MaxRandomError, RedFlagged
from pytest_maxrandom.hooks.run import RECORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.hooks.run import ItemRecord


_COLLECTED = pytest.StashKey[list["Planned"]]()


class Planned(Protocol):
    """What is known of an item when its suite has been read."""

    @property
    def name(self) -> str:
        """Its name in test ids."""

    @property
    def line(self) -> int:
        """Its line in the suite file, from 1."""

    @property
    def marks(self) -> tuple[str, ...]:
        """Its pytest marks."""

    @property
    def xfail(self) -> str | None:
        """Why it is expected to fail."""


def collected(config: pytest.Config) -> list[Planned]:
    """Return what the suites that were read plan, to be added to; also what is not selected."""
    return config.stash.setdefault(_COLLECTED, [])


def all_sweeps(item: pytest.Item) -> list[PlannedClaim]:
    """Return what all items of the item's session run."""
    items = (each for each in item.session.items if isinstance(each, SuiteItem))
    # Claims, their replicates and comparisons share sweeps.
    return list({id(sweep): sweep for each in items for sweep in each.sweeps}.values())


class SuiteItem(pytest.Item):
    """One item of a suite, with its record.

    Attributes
    ----------
    last : bool
        Whether it needs what the other items find, and so comes after them.
    model : tuple of str or None
        What items that need the same model have in common; None where none is needed.
    sweeps : sequence of PlannedClaim
        What it runs, and the ledger counts.
    """

    last: bool = False
    model: tuple[str, ...] | None = None
    sweeps: Sequence[PlannedClaim] = ()

    def __init__(
        self, *, name: str, parent: pytest.Collector, planned: Planned, **kwargs: Any
    ) -> None:
        # Since pytest 9.2 --lf compares ids by their parts. Only an id that is read from its text
        # has the bracket as a part; one that is made from the name has not.
        super().__init__(name=name, parent=parent, nodeid=f"{parent.nodeid}::{name}", **kwargs)
        self._line = planned.line
        for mark in planned.marks:
            self.add_marker(mark)
        if planned.xfail:
            self.add_marker(
                pytest.mark.xfail(reason=planned.xfail, strict=True, raises=ClaimFailed)
            )

    @property
    def suite(self) -> str:
        """The suite file in ids and reports."""
        return self.nodeid.partition("::")[0]

    def record_as(self, record: ItemRecord) -> None:
        """Let this record travel with pytest's reports of the item."""
        self.stash[RECORDS] = [record]

    @contextmanager
    def prepared(self) -> Iterator[None]:
        """Fail in one line where what a user can mend keeps the item from being set up."""
        message = None
        try:
            yield
        except MaxRandomError as error:
            message = str(error)
        if message is not None:
            (record,) = self.stash[RECORDS]
            record.message = message
            # pytest asks repr_failure for what happens in the call only.
            raise pytest.fail.Exception(message, pytrace=False) from None

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return one line for what a user can understand and mend, and one for each red flag."""
        expected = isinstance(excinfo.value, ClaimFailed | MaxRandomError | RedFlagged)
        if expected and not self.config.getoption("fulltrace"):
            (record,) = self.stash[RECORDS]
            text = str(excinfo.value)
            flagged = isinstance(excinfo.value, RedFlagged)
            record.message = text.partition("\n")[0] if flagged else text
            return text
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Point to the item's line in the suite file."""
        return self.path, self._line - 1, self.name
