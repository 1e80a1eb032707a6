"""What all items of a suite have in common, and what those of a session share."""

from __future__ import annotations

import re
from abc import abstractmethod
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from pytest_maxrandom.claims.asked import incumbent_jobs
from pytest_maxrandom.claims.counting import ClaimsOfRun
from pytest_maxrandom.claims.evaluation import Evaluation
from pytest_maxrandom.claims.planned import Planned, PlannedClaim
from pytest_maxrandom.claims.session import SessionState
from pytest_maxrandom.claims.shards import joined
from pytest_maxrandom.errors import (
    CannotTell,
    ClaimFailed,
    MaxRandomError,
    ModelError,
    RedFlagged,
)
from pytest_maxrandom.hooks.failures import raise_said
from pytest_maxrandom.hooks.options import read_settings
from pytest_maxrandom.hooks.progress import Progress, board, say
from pytest_maxrandom.hooks.run import RECORDS, run_name
from pytest_maxrandom.models.base import Resources
from pytest_maxrandom.models.registry import Backends, ModelPool
from pytest_maxrandom.record import Arithmetic, Record, Remark
from pytest_maxrandom.reports.summary import asserts
from pytest_maxrandom.sweeps.cluster.connection import address_of
from pytest_maxrandom.sweeps.cluster.executor import Ahead, Cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from pytest_maxrandom.claims.dry_run import Asked

_COLLECTED = pytest.StashKey[list[Planned]]()
_BACKENDS = pytest.StashKey[Backends]()
_STATE = pytest.StashKey[SessionState]()
_SAID = pytest.StashKey[set[str]]()
_NUMBER = re.compile(r"\d+$")


def collected(config: pytest.Config) -> list[Planned]:
    """Return what the suites that were read plan, to be added to; also what is not selected."""
    return config.stash.setdefault(_COLLECTED, [])


def backends(config: pytest.Config) -> Backends:
    """Return what finds the session's models, for the plans of its suites and for its runs."""
    if _BACKENDS not in config.stash:
        worker: dict[str, Any] = getattr(config, "workerinput", {})
        config.stash[_BACKENDS] = Backends(worker.get("testrunuid", ""))
    return config.stash[_BACKENDS]


def session_state(config: pytest.Config) -> SessionState:
    """Return what the session's items share, opened with the first of them."""
    if _STATE not in config.stash:
        settings = read_settings(config)
        worker: dict[str, Any] = getattr(config, "workerinput", {})
        process = worker.get("workerid", "main")
        resources = Resources(
            worker=int(number[0]) if (number := _NUMBER.search(process)) else 0,
            workers=worker.get("workercount", 1),
            trained_bytes=settings.trained_gb * 10**9,
            engine=settings.engine,
            batch_tokens=settings.batch_tokens,
            tell=partial(say, config),
            trained=settings.store.with_name("trained"),
            training=board(config).train,
        )
        results, computed = settings.store, dict[str, Arithmetic]()
        if settings.shards:
            results, computed = joined(settings.shards)
        cluster = None
        if settings.executor != "local":  # it is not connected with yet
            cluster = Cluster(address_of(settings.executor), tell=partial(say, config))
        config.stash[_STATE] = SessionState(
            pool=ModelPool(resources, backends(config)),
            results=results,
            run=run_name(config),
            process=process,
            engine=settings.engine,
            fresh=settings.fresh,
            no_test=settings.no_test,
            until=settings.until,
            collected=[each for each in collected(config) if isinstance(each, PlannedClaim)],
            computed=computed,
            cluster=cluster,
        )
    return config.stash[_STATE]


def drop_model(config: pytest.Config) -> None:
    """Free the memory of the model that was used last."""
    if _STATE in config.stash:
        config.stash[_STATE].pool.drop()


def close(config: pytest.Config) -> None:
    """Let go of the results stores."""
    if _STATE in config.stash:
        config.stash[_STATE].close()


class _Sweeps(NamedTuple):
    """What the items of a session run, which each of them asks for."""

    items: int
    claims: ClaimsOfRun


_SWEEPS = pytest.StashKey[_Sweeps]()


def all_sweeps(item: pytest.Item) -> ClaimsOfRun:
    """Return what all items of the item's session run."""
    items = item.session.items
    known = item.session.stash.get(_SWEEPS, None)
    if known is None or known.items != len(items):  # which a plugin may deselect or sort anew
        # Claims, their replicates and comparisons share sweeps.
        sweeps = (one for each in items if isinstance(each, SuiteItem) for one in each.sweeps)
        item.session.stash[_SWEEPS] = known = _Sweeps(len(items), ClaimsOfRun(sweeps))
    return known.claims


def _later(session: pytest.Session) -> Iterator[Callable[[], Ahead | None]]:
    """Yield what the items of a session will compute, in their order."""
    for item in session.items:
        if isinstance(item, SuiteItem) and not item.is_skipped:
            for sweep in item.sweeps:
                yield partial(item.ahead, sweep)


class SuiteItem(pytest.Item):
    """One item of a suite, with its record.

    A kind of item says what it runs (`runs`), gets at models or results (`prepare`), and fills its
    record (`judge`).

    Attributes
    ----------
    numbers : tuple of str
        Fields of its record that stand in JUnit reports.
    last : bool
        Whether it needs what the other items find, and so comes after them.
    model : tuple of str or None
        What items that need the same model have in common; None where none is needed.
    record : Record
        What is known and found of it, which travels with pytest's reports.
    sweeps : sequence of PlannedClaim
        What it runs, and the ledger counts.
    """

    numbers: tuple[str, ...] = ()
    last: bool = False
    planned: Planned
    record: Record

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
        self.complete(self.record)
        self._evaluations: dict[PlannedClaim, Evaluation] = {}
        self.sweeps = self.runs()
        first = next(iter(self.sweeps), None)
        shared = first is not None and not self.last
        self.model = first.located.key if first and shared else None
        # What recorded results take is limited when the suite is read.
        self._limits = nullcontext if first is None else first.suite.limits.in_force

    def runs(self) -> Sequence[PlannedClaim]:
        """Return what it runs, and the ledger counts; nothing where results are recorded."""
        return ()

    def evaluation(self, claim: PlannedClaim) -> Evaluation:
        """Return the evaluation of a claim that it runs; its warnings are the item's."""
        if claim not in self._evaluations:
            shared = session_state(self.config)
            if shared.cluster is not None and shared.cluster.later is None:
                shared.cluster.later = _later(self.session)
            self._evaluations[claim] = Evaluation(claim, all_sweeps(self), shared)
            self._warn_of(self._evaluations[claim].open_searches)
        return self._evaluations[claim]

    def _warn_of(self, searches: Sequence[Remark]) -> None:
        """Tell whom it will cost what before it is run, each once, and in its record."""
        from pytest_maxrandom.reports.remarks import worded
        from pytest_maxrandom.reports.text import visible

        said = self.config.stash.setdefault(_SAID, set())
        for text in (visible(worded(each).text) for each in searches):
            if text not in said:
                say(self.config, text)
                said.add(text)
        self.record.warnings = list(dict.fromkeys((*self.record.warnings, *searches)))

    def asks(self) -> list[Asked]:
        """Return what it will ask, by claim, as far as that is known before anything is asked.

        Raises
        ------
        MaxRandomError
            If it cannot be asked.
        """
        claims: list[Asked] = [(claim, self.evaluation(claim).jobs) for claim in self.sweeps]
        beside = [each for claim in self.sweeps if (each := incumbent_jobs(claim)) is not None]
        return [*claims, *beside]

    def progress(self, claim: PlannedClaim) -> Progress:
        """Return what shows how far a claim that it runs is."""
        return Progress(self.config, claim, all_sweeps(self))

    def ahead(self, claim: PlannedClaim) -> Ahead | None:
        """Return what a cluster can compute of a claim before its turn; None if nothing."""
        try:
            return self.evaluation(claim).ahead(self.progress(claim))
        except MaxRandomError:  # its turn says it
            return None

    @property
    def is_skipped(self) -> bool:
        """Whether it is known already that it will not run."""
        return bool(self.planned.missing) or self.get_closest_marker("skip") is not None

    def prepare(self) -> None:
        """Load the model, unless all answers are known."""

    @abstractmethod
    def judge(self) -> None:
        """Fill the record."""

    def junit_properties(self) -> Iterator[tuple[str, object]]:
        """Return what stands in a JUnit report: flat pairs of builtin types.

        Nothing passes there of which nothing is claimed.
        """
        is_claimed = asserts(self.record)
        return self.pairs(*(name for name in self.numbers if is_claimed or name != "passed"))

    def setup(self) -> None:
        """Skip it where results are missing; fail in one line where a user can mend the reason."""
        if reason := self.planned.missing:
            self.record.message = reason
            pytest.skip(reason)
        if self.config.option.setuponly:  # nothing is called, so no model is needed
            return
        message = None
        try:
            with self._limits():
                self.prepare()
        except ModelError as error:
            lines = {sweep.model_line for sweep in self.sweeps}
            line = f":{lines.pop()}" if len(lines) == 1 else ""
            message = f"{self.suite}{line}: {error}"
        except MaxRandomError as error:
            message = str(error)
        if message is not None:
            self.record.message = message
            # pytest asks repr_failure for what happens in the call only.
            raise pytest.fail.Exception(message, pytrace=False) from None

    def runtest(self) -> None:
        """Fill the record, tell its numbers, and fail where what is asserted does not hold."""
        from pytest_maxrandom.reports.wording import word  # collecting needs no sentence

        try:
            with self._limits():
                self.judge()
        finally:
            found = (told for each in self._evaluations.values() for told in each.warnings)
            self.record.warnings = list(dict.fromkeys((*self.record.warnings, *found)))
            word(self.record)
        self.user_properties += self.junit_properties()
        self.fail()

    def teardown(self) -> None:
        """Let go of the model; the pool keeps it while the next item needs it."""
        self._evaluations.clear()

    def complete(self, record: Record) -> None:
        """Take the record with what was found, or of what is known before."""
        self.record = record
        self.stash[RECORDS] = [record]

    def fail(self) -> None:
        """Raise what the record says."""
        raise_said(self.record)

    def pairs(self, *names: str) -> Iterator[tuple[str, object]]:
        """Yield fields of the record that have a value, by their names."""
        for name in names:
            if (value := getattr(self.record, name)) is not None:
                yield name, value

    @property
    def suite(self) -> str:
        """The suite file in ids and reports."""
        return self.nodeid.partition("::")[0]

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return one line for what a user can understand and mend, and one for each red flag."""
        expected = isinstance(excinfo.value, CannotTell | ClaimFailed | MaxRandomError | RedFlagged)
        if expected and not self.config.getoption("fulltrace"):
            text = str(excinfo.value)
            flagged = isinstance(excinfo.value, RedFlagged)
            self.record.message = text.partition("\n")[0] if flagged else text
            return text
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Point to the item's line in the suite file."""
        return self.path, self.planned.line - 1, self.name
