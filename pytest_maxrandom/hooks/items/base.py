"""What all items of a suite have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from pytest_maxrandom.errors import ClaimFailed, MaxRandomError, RedFlagged
from pytest_maxrandom.hooks.run import RECORDS
from pytest_maxrandom.models.registry import locate
from pytest_maxrandom.reports.wording import word

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

    def record(self, node_id: str, suite: str) -> ItemRecord:
        """Return what can be said of it before it is tested."""


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

    A kind of item says what it runs (`runs`), gets at models or results (`prepare`), fills its
    record (`judge`), names the numbers that JUnit reports have (`told`), and lets go (`release`).

    Attributes
    ----------
    last : bool
        Whether it needs what the other items find, and so comes after them.
    model : tuple of str or None
        What items that need the same model have in common; None where none is needed.
    planned : Planned
        What it tests.
    record : ItemRecord
        What is known and found of it, which travels with pytest's reports.
    sweeps : sequence of PlannedClaim
        What it runs, and the ledger counts.
    """

    last: bool = False
    planned: Planned
    record: ItemRecord

    def __init__(
        self, *, name: str, parent: pytest.Collector, planned: Planned, **kwargs: Any
    ) -> None:
        # Since pytest 9.2 --lf compares ids by their parts. Only an id that is read from its text
        # has the bracket as a part; one that is made from the name has not.
        super().__init__(name=name, parent=parent, nodeid=f"{parent.nodeid}::{name}", **kwargs)
        self.planned = planned
        for mark in planned.marks:
            self.add_marker(mark)
        if planned.xfail:
            self.add_marker(
                pytest.mark.xfail(reason=planned.xfail, strict=True, raises=ClaimFailed)
            )
        self.record = planned.record(self.nodeid, self.suite)
        self.stash[RECORDS] = [self.record]
        self.sweeps = self.runs()
        first = next(iter(self.sweeps), None)
        shared = first is not None and not self.last
        self.model = locate(first.model, first.base).key if first and shared else None

    def runs(self) -> Sequence[PlannedClaim]:
        """Return what it runs, and the ledger counts; nothing where results are recorded."""
        return ()

    def prepare(self) -> None:
        """Get at the results or the model."""

    @abstractmethod
    def judge(self) -> None:
        """Fill the record."""

    def told(self) -> Iterator[tuple[str, object]]:
        """Yield what stands in a JUnit report: flat pairs of builtin types."""
        yield "passed", getattr(self.record, "passed", None)

    def release(self) -> None:
        """Let go of the model; the pool keeps it while the next item needs it."""

    def setup(self) -> None:
        """Fail in one line where what a user can mend keeps the item from being set up."""
        message = None
        try:
            self.prepare()
        except MaxRandomError as error:
            message = str(error)
        if message is not None:
            self.record.message = message
            # pytest asks repr_failure for what happens in the call only.
            raise pytest.fail.Exception(message, pytrace=False) from None

    def runtest(self) -> None:
        """Fill the record, tell its numbers, and fail where what is asserted does not hold."""
        try:
            self.judge()
        finally:
            word(self.record)
        self.user_properties += self.told()
        self.fail()

    def teardown(self) -> None:
        """Let go of what the item held."""
        self.release()

    def fail(self) -> None:
        """Raise what the record says."""
        if self.record.message:
            raise ClaimFailed(self.record.message)

    def skip_missing(self, reason: str | None) -> None:
        """Skip what cannot be judged here, if there is a reason."""
        if reason:
            self.record.message = reason
            pytest.skip(reason)

    def pairs(self, *names: str) -> Iterator[tuple[str, object]]:
        """Yield fields of the record by their names."""
        for name in names:
            yield name, getattr(self.record, name)

    @property
    def suite(self) -> str:
        """The suite file in ids and reports."""
        return self.nodeid.partition("::")[0]

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return one line for what a user can understand and mend, and one for each red flag."""
        expected = isinstance(excinfo.value, ClaimFailed | MaxRandomError | RedFlagged)
        if expected and not self.config.getoption("fulltrace"):
            text = str(excinfo.value)
            flagged = isinstance(excinfo.value, RedFlagged)
            self.record.message = text.partition("\n")[0] if flagged else text
            return text
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Point to the item's line in the suite file."""
        return self.path, self.planned.line - 1, self.name
