"""An executor on a Ray cluster, which also computes what comes next where actors are idle."""

from __future__ import annotations

import time
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ClusterError
from pytest_maxrandom.sweeps.cluster.connection import Connection
from pytest_maxrandom.sweeps.cluster.fleet import Fleet
from pytest_maxrandom.sweeps.cluster.orders import Order

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from pytest_maxrandom.record import Arithmetic, Remark
    from pytest_maxrandom.sweeps.cluster.actor import Wanted
    from pytest_maxrandom.sweeps.executor import Job, Scored

    Begin = Callable[[Sequence[Job]], None]
    Take = Callable[[Job, Scored], None]

_NOW = "the sweep whose turn it is"
_PAUSE = 1.0
_LOOK = 5.0
_PATIENCE = 60.0
"""Seconds: of a wait after which it is seen what is new; between looks at the nodes; until the user
reads that no actor is there."""


@dataclass(frozen=True)
class Ahead:
    """What can be computed before its turn has come."""

    key: Hashable
    """Names the sweep; see :meth:`Cluster.executor`."""
    wanted: Wanted
    jobs: Sequence[Job]
    begin: Begin
    """Counts jobs that are about to be computed."""
    take: Callable[[Job, Scored, Arithmetic], None]
    """Called with a job, its answers and what computed them."""


@dataclass
class Cluster:
    """A Ray cluster and what it computes for a run; connected with when it is first needed."""

    address: str | None = None
    """Of a cluster that is there."""
    tell: Callable[[str], None] = lambda sentence: None
    """Tells the user a sentence at once."""
    later: Iterator[Callable[[], Ahead | None]] | None = None
    """What may be computed while actors are idle, in the order of the run; each call returns it, or
    None where there is nothing."""
    _fleet: Fleet | None = None
    _connection: Connection | None = None
    _refusal: str = ""
    _orders: dict[Hashable, Order] = field(default_factory=dict)
    _starting: Wanted | None = None
    _waiting: set[tuple[str, ...]] = field(default_factory=set)
    _looked: float = 0.0
    _waits: float = 0.0
    _told: int = 0

    def executor(self, wanted: Wanted, begin: Begin, key: Hashable = None) -> RayExecutor:
        """Return what computes a sweep whose turn has come.

        Parameters
        ----------
        key : hashable, optional
            Names the sweep where a part of it may have been computed ahead.
        """
        return RayExecutor(self, wanted, begin, key)

    def start(self, wanted: Wanted) -> Arithmetic:
        """Wait until a model is loaded somewhere, and return what computes it.

        Raises
        ------
        ClusterError
            If no cluster answers.
        ModelError
            If no node can load it.
        """
        self._waits = time.monotonic()
        self._starting = wanted
        try:
            while (arithmetic := self.fleet.arithmetic(wanted)) is None:
                self.fleet.check_any(wanted)
                self._make_room(wanted, ())
                self.fleet.start(wanted)
                self.pump()
        finally:
            self._starting = None
        return arithmetic

    @property
    def fleet(self) -> Fleet:
        """The actors.

        Raises
        ------
        ClusterError
            If no cluster answers; the first time that is found out counts for the run.
        """
        if self._refusal:
            raise ClusterError(self._refusal)
        if self._fleet is None:
            try:
                self._connection = Connection(self.address)
                self._fleet = Fleet(self._connection)
            except ClusterError as error:
                self._refusal = str(error)
                raise
        return self._fleet

    @property
    def warnings(self) -> list[Remark]:
        """Which nodes are not used, and why."""
        return [] if self._fleet is None else self._fleet.told

    def close(self) -> None:
        """End the actors, and leave a cluster that was there before as it was."""
        self._orders.clear()
        if self._fleet is not None:
            self._fleet.close()
        if self._connection is not None:
            self._connection.close()
        self._fleet = self._connection = None

    def adopt(self, key: Hashable, wanted: Wanted, begin: Begin, take: Take) -> Order:
        """Return the order of a sweep whose turn has come; what is under way goes on."""
        order = self._orders.pop(key, None) or Order(wanted, begin, take)
        order.begin, order.take = begin, take
        order.compute((), 0)
        return order

    @contextmanager
    def serving(self, order: Order) -> Iterator[None]:
        """Serve an order before all others."""
        self._orders = {_NOW: order, **self._orders}
        try:
            yield
        finally:
            del self._orders[_NOW]

    def pump(self) -> None:
        """Send what can be sent, and take what has come; returns soon."""
        fleet = self.fleet
        if time.monotonic() - self._looked > _LOOK:
            fleet.look_around()
            self._looked = time.monotonic()
        self._send()
        now = self._orders.get(_NOW)
        fleet.wait(0.0 if now is not None and now.is_idle else _PAUSE)
        for remark in fleet.told[self._told :]:
            self.tell("the node {node} is not used for {model}: {why}".format(**remark.values))
        self._told = len(fleet.told)
        if any(actor.arithmetic for actor in fleet.actors):
            self._waits = time.monotonic()
        elif time.monotonic() - self._waits > _PATIENCE:
            self._waits = time.monotonic() + 1e9
            self.tell("waiting for the cluster: no actor has begun yet; `ray status` shows why")

    def _send(self) -> None:
        """Give actors chunks, those of the sweep whose turn it is first."""
        before: list[Order] = []
        self._waiting.clear()
        if self._starting is not None and not self.fleet.coming(self._starting):
            return  # a node is waited for, so none is given to others
        for order in list(self._orders.values()):
            if self._serve(order, before):
                return
            before.append(order)
        while self._hungry() and (ahead := self._next_ahead()) is not None:
            if self._serve(ahead, before):
                return
            before.append(ahead)

    def _serve(self, order: Order, before: Sequence[Order]) -> bool:
        """Send what can be sent of an order; return whether it waits for a node."""
        fleet, wanted = self.fleet, order.wanted
        actors = fleet.ready(wanted)
        room = [each.room for each in actors if each.room]
        if order.is_checked and fleet.can_wait(actors):
            self._waiting.add(wanted.key)
        elif room:
            for chunk in order.next(len(actors), sum(room)):
                fleet.send(min(actors, key=lambda each: len(each.chunks)), chunk)
        if not order.has_more:
            return False
        self._make_room(wanted, before)
        fleet.start(wanted)
        return not fleet.coming(wanted)

    def _make_room(self, wanted: Wanted, before: Sequence[Order]) -> None:
        """End actors with other models that no sweep before this one waits for."""
        needed = {order.wanted.key for order in before if order.has_more}
        last = {order.wanted.key for order in before[:1]}  # its claim may have more to ask
        for actor in list(self.fleet.actors):
            key = actor.wanted.key
            idle = not actor.chunks and actor.arithmetic is not None
            if not idle or key == wanted.key or key in needed:
                continue
            if key in last and len(self.fleet.ready(actor.wanted)) == 1:
                continue
            self.fleet.stop(actor)

    def _hungry(self) -> bool:
        """Tell whether an actor could do more than is about to be sent to it."""
        return any(
            actor.room and actor.arithmetic and actor.wanted.key not in self._waiting
            for actor in self.fleet.actors
        )

    def _next_ahead(self) -> Order | None:
        for make in self.later or ():
            ahead = make()
            if ahead is None or not ahead.jobs:
                continue
            order = Order(ahead.wanted, ahead.begin, partial(self._keep, ahead))
            order.check(ahead.jobs)
            order.compute(iter(ahead.jobs), len(ahead.jobs))
            self._orders[ahead.key] = order
            return order
        return None

    def _keep(self, ahead: Ahead, job: Job, scored: Scored) -> None:
        found = self.fleet.arithmetic(ahead.wanted)
        assert found is not None
        ahead.take(job, scored, found)


class RayExecutor:
    """Computes one sweep on a cluster; see :class:`pytest_maxrandom.sweeps.executor.Executor`."""

    def __init__(self, cluster: Cluster, wanted: Wanted, begin: Begin, key: Hashable) -> None:
        self._cluster = cluster
        self._wanted = wanted
        self._come: deque[tuple[Job, Scored]] = deque()
        self._most = 0
        self._order = cluster.adopt(
            key, wanted, begin, lambda job, scored: self._come.append((job, scored))
        )

    @property
    def at_once(self) -> int:
        """Twice as many as there is room for actors, so that each has one waiting."""
        return 2 * max(1, self._cluster.fleet.places(self._wanted))

    @property
    def arithmetic(self) -> Arithmetic:
        """What computes the model on the cluster."""
        return self._cluster.start(self._wanted)

    def check(self, jobs: Iterable[Job]) -> None:
        """Refuse what cannot be asked; all actors share the work."""
        asked = list(jobs)
        self._most = len(asked)
        self._order.check(asked)
        with self._cluster.serving(self._order):
            while not self._order.is_checked and not self._order.error:
                self._pump()
        self._raise()

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Scored]]:
        """Yield each job with its answers as they come.

        What was computed ahead may come before its job is taken, and waits until then; what another
        process stored meanwhile is never taken.
        """
        come = {(job.number, job.task) for job, _ in self._come}
        taken: set[tuple[int, str]] = set()

        def new() -> Iterator[Job]:
            for job in jobs:
                taken.add(key := (job.number, job.task))
                if key not in come:
                    yield job

        source = new()
        if (first := next(source, None)) is not None:  # else all is stored, and no cluster is asked
            at_most = max(1, len(jobs) if isinstance(jobs, list) else self._most)
            self._order.compute(chain([first], source), at_most)
        with self._cluster.serving(self._order):
            while True:
                for _ in range(len(self._come)):
                    job, scored = self._come.popleft()
                    if (job.number, job.task) in taken:
                        yield job, scored
                    else:
                        self._come.append((job, scored))
                self._raise()
                if self._order.is_idle:
                    return
                self._pump()

    def _pump(self) -> None:
        self._cluster.fleet.check_any(self._wanted)
        self._cluster.pump()

    def _raise(self) -> None:
        if self._order.error:
            raise self._order.error
