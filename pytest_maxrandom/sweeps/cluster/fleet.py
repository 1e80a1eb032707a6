"""The actors of a cluster: on which nodes, with which model, and which of them is gone."""

from __future__ import annotations

import math
from collections import Counter, deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.record import Arithmetic, Remark
from pytest_maxrandom.sweeps.cluster.actor import ModelActor, Refused, Wanted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pytest_maxrandom.sweeps.cluster.connection import Connection, Node
    from pytest_maxrandom.sweeps.cluster.orders import Chunk

SLOTS = "maxrandom"
"""The resource by which a node says how many actors it takes, where that is not its GPUs."""
_STARTS = 3
_NODE_DIED = "node has died"
"""How Ray says that it was not the actor's fault."""
_AHEAD = 2
_TOGETHER = 8
"""Chunks that an actor has: one that it computes and one that waits, so that it never does. Actors
that are sent theirs together, where none has nothing to do."""


@dataclass(eq=False)
class Actor:
    """An actor, as the process that leads knows it."""

    handle: Any
    node: Node
    wanted: Wanted
    shape: dict[str, float]
    """What it takes of its node's resources."""
    arithmetic: Arithmetic | None = None
    """What computes its model; None before that is loaded."""
    chunks: deque[Chunk] = field(default_factory=deque)
    """What was sent to it, the oldest first."""

    @property
    def room(self) -> int:
        """How many chunks it can be sent."""
        return _AHEAD - len(self.chunks)


class Fleet:
    """All actors of a run.

    Attributes
    ----------
    actors : list of Actor
        Those that live, or are about to.
    told : list of Remark
        Which nodes are not used, and why.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._ray = connection.ray
        # Actors die with the process that leads.
        self._class = self._ray.remote(max_restarts=0, max_task_retries=0)(ModelActor)
        self._nodes: dict[str, Node] = {}
        self._full: set[tuple[str, ...]] = set()  # models for which no node has room now
        self._unfit: dict[tuple[str, ...], dict[str, str]] = {}
        self._deaths: Counter[tuple[tuple[str, ...], str]] = Counter()
        self._arithmetic: dict[tuple[str, ...], Arithmetic] = {}
        self._under_way: dict[Any, tuple[Actor, Chunk | None]] = {}
        self.actors: list[Actor] = []
        self.told: list[Remark] = []
        self.look_around()

    def look_around(self) -> None:
        """See which nodes have come and gone."""
        seen = self._connection.nodes()
        if seen.keys() != self._nodes.keys():
            self._full.clear()
        self._nodes = {id_: self._nodes.get(id_, node) for id_, node in seen.items()}

    def arithmetic(self, wanted: Wanted) -> Arithmetic | None:
        """Return what computes a model; None before the first of its actors is there."""
        return self._arithmetic.get(wanted.key)

    def ready(self, wanted: Wanted) -> list[Actor]:
        """Return the actors that can be asked."""
        known = self.arithmetic(wanted)
        same = (each for each in self.actors if each.wanted.key == wanted.key)
        return [each for each in same if known is not None and each.arithmetic == known]

    def can_wait(self, actors: Sequence[Actor]) -> bool:
        """Tell whether all have enough to do until more of them have room, and are served at once.

        Whatever is sent is counted before, which takes as long for one as for many.
        """
        with_room = sum(1 for each in actors if each.room)
        together = min(_TOGETHER, math.ceil(len(actors) / 2))
        return with_room < together and all(each.chunks for each in actors)

    def coming(self, wanted: Wanted) -> bool:
        """Tell whether any actor has a model, or loads it."""
        return any(each.wanted.key == wanted.key for each in self.actors)

    def places(self, wanted: Wanted) -> int:
        """Return how many actors with a model the whole cluster has room for."""
        fit = self._fit(wanted)
        return sum(_rooms(node.resources, self._shape(wanted, node)) for node in fit)

    def start(self, wanted: Wanted) -> None:
        """Start an actor wherever there is room for one."""
        if wanted.key in self._full:
            return
        taken: dict[str, Counter[str]] = {}
        for actor in self.actors:
            taken.setdefault(actor.node.id, Counter()).update(actor.shape)
        for node in self._fit(wanted):
            shape = self._shape(wanted, node)
            gone = taken.get(node.id, Counter())
            free = {name: count - gone[name] for name, count in node.resources.items()}
            for _ in range(_rooms(free, shape)):
                self._start(wanted, node, shape)
        self._full.add(wanted.key)

    def check_any(self, wanted: Wanted) -> None:
        """Refuse a model that no node can load.

        Raises
        ------
        ModelError
            In one sentence, with each node's reason.
        """
        if self.coming(wanted) or self.places(wanted):
            return
        self.look_around()
        if self.places(wanted):
            return
        reasons = dict(self._unfit.get(wanted.key, {}))
        reasons |= {node.name: node.odd for node in self._nodes.values() if node.odd}
        if len(set(reasons.values())) == 1:
            raise ModelError(f"{next(iter(reasons.values()))} (on all nodes of the cluster)")
        none = "none has a processor or GPU that `ray start` gave to actors"
        each = "; ".join(f"{name}: {why}" for name, why in reasons.items()) or none
        raise ModelError(f"no node of the cluster can run {wanted.spec.name}: {each}")

    def stop(self, actor: Actor) -> None:
        """End an actor that has nothing to do; its node has room for another then."""
        self.actors.remove(actor)
        self._full.clear()
        self._under_way = {ref: at for ref, at in self._under_way.items() if at[0] is not actor}
        with suppress(Exception):  # it may have died just now
            self._ray.kill(actor.handle)

    def send(self, actor: Actor, chunk: Chunk) -> None:
        """Send an actor a chunk."""
        method = actor.handle.check if chunk.only_checked else actor.handle.run
        actor.chunks.append(chunk)
        self._under_way[method.remote(list(chunk.jobs))] = actor, chunk

    def wait(self, seconds: float) -> None:
        """Wait until anything has come, and give it to its order."""
        if not self._under_way:
            return
        refs = list(self._under_way)
        come, _ = self._ray.wait(refs, num_returns=1, timeout=seconds)
        if come and len(refs) > 1:
            come, _ = self._ray.wait(refs, num_returns=len(refs), timeout=0)
        for ref in come:
            if ref in self._under_way:  # an actor that was just lost took others with it
                self._take(ref)

    def close(self) -> None:
        """End all actors."""
        for actor in list(self.actors):
            self.stop(actor)

    def _take(self, ref: Any) -> None:
        actor, chunk = self._under_way.pop(ref)
        try:
            reply = self._ray.get(ref)
        except self._ray.exceptions.RayActorError as error:
            self._lose(actor, _reason(error))
            return
        except Exception as error:  # code that cannot be imported there, what cannot be sent
            reply = Refused("", _reason(error))
        if chunk is None:
            self._started(actor, reply)
        elif isinstance(reply, Refused):
            self._lose(actor, reply.sentence)
        elif chunk.only_checked:
            actor.chunks.remove(chunk)
            chunk.order.checked(chunk, reply)
        else:
            actor.chunks.remove(chunk)
            if not chunk.order.answered(chunk, reply):
                self._lose(actor, "another prompt failed there", blame=False)

    def _lose(self, actor: Actor, reason: str, *, blame: bool = True) -> None:
        """Take back what an actor had; of that only the oldest chunk was computed."""
        self.look_around()
        known = actor.node.id in self._nodes and _NODE_DIED not in reason
        gone = not (known and actor.node.answers())
        if actor.arithmetic is None and not gone:
            died = actor.wanted.key, actor.node.id
            self._deaths[died] += 1
            if self._deaths[died] == _STARTS:
                self._refuse(
                    actor.node,
                    actor.wanted,
                    f"its process died {_STARTS} times as it loaded: {reason}",
                )
        self.stop(actor)
        for place, chunk in enumerate(actor.chunks):
            chunk.order.lost(chunk, reason, blame=blame and not gone and place == 0)

    def _started(self, actor: Actor, arithmetic: Arithmetic | Refused) -> None:
        """Use an actor whose model is loaded, if it computes as the others do."""
        if isinstance(arithmetic, Refused):
            self._refuse(actor.node, actor.wanted, arithmetic.sentence)
            self.stop(actor)
            return
        actor.arithmetic = arithmetic
        wanted, key = actor.wanted, actor.wanted.key
        if key not in self._arithmetic:
            self._agree(wanted)
        known = self._arithmetic.get(key)
        if known is None:
            return
        for other in [one for one in self.actors if one.wanted.key == key and one.arithmetic]:
            if other.arithmetic != known:
                assert other.arithmetic is not None
                self._refuse(
                    other.node,
                    wanted,
                    f"it computes otherwise than the others ({other.arithmetic.shown}, not "
                    f"{known.shown}), and its numbers would differ in rounding",
                )
                other.node.odd = "it computes otherwise than the others"
                self.stop(other)

    def _agree(self, wanted: Wanted) -> None:
        """Settle what computes a model: what most of the actors that load it tell."""
        own = [each.arithmetic for each in self.actors if each.wanted.key == wanted.key]
        found = Counter(each.digest for each in own if each is not None)
        by_digest = {each.digest: each for each in own if each is not None}
        first = wanted.foretold.digest
        digest, most = max(found.items(), key=lambda one: (one[1], one[0] == first, one[0]))
        if 2 * most > len(own) or None not in own:
            self._arithmetic[wanted.key] = by_digest[digest]

    def _refuse(self, node: Node, wanted: Wanted, why: str) -> None:
        """Use a node no more for a model, and say so."""
        unfit = self._unfit.setdefault(wanted.key, {})
        if node.name in unfit:
            return
        unfit[node.name] = why
        self.told.append(
            Remark("node_not_used", {"node": node.name, "model": wanted.spec.name, "why": why})
        )

    def _fit(self, wanted: Wanted) -> Iterator[Node]:
        """Yield the nodes that may run a model; where some have GPUs for it, only these."""
        unfit = self._unfit.get(wanted.key, {})
        able = [each for each in self._nodes.values() if not each.odd and each.name not in unfit]
        on_gpus = [each for each in able if "GPU" in self._shape(wanted, each)]
        if on_gpus and wanted.key not in self._arithmetic:
            for node in able:
                if node not in on_gpus:
                    self._refuse(node, wanted, "it has no GPU, and others have")
            able = on_gpus
        yield from able

    def _shape(self, wanted: Wanted, node: Node) -> dict[str, float]:
        """Return what an actor takes: an accelerator, or where there is none the processors."""
        spec, cpus = wanted.spec, node.resources.get("CPU", 0.0)
        if spec.simulated:
            return {"CPU": 1.0}
        if slots := node.resources.get(SLOTS, 0.0):
            gpus = node.resources.get("GPU", 0.0) / slots
            return {SLOTS: 1.0, "CPU": cpus // slots, **({"GPU": gpus} if gpus else {})}
        gpus = node.resources.get("GPU", 0.0)
        kind, _, number = str(getattr(spec, "device", "auto")).partition(":")
        if gpus and kind in ("auto", "cuda"):
            several = getattr(spec, "device_map", None) is not None or number
            return {"GPU": gpus if several else 1.0, "CPU": 1.0 if cpus >= gpus else 0.0}
        return {"CPU": max(cpus, 1.0)}

    def _start(self, wanted: Wanted, node: Node, shape: dict[str, float]) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        further = {name: count for name, count in shape.items() if name not in ("CPU", "GPU")}
        options: dict[str, Any] = {
            "num_cpus": shape.get("CPU", 0.0),
            "num_gpus": shape.get("GPU", 0.0),
            "resources": further,
            "scheduling_strategy": NodeAffinitySchedulingStrategy(node.id, soft=False),
        }
        handle = self._class.options(**options).remote()
        actor = Actor(handle, node, wanted, shape)
        self.actors.append(actor)
        self._under_way[handle.start.remote(wanted)] = actor, None


def _rooms(free: dict[str, float], shape: dict[str, float]) -> int:
    """Return how many actors there is room for, at least 0."""
    return max(0, min(int(free.get(name, 0.0) // count) for name, count in shape.items() if count))


def _reason(error: Exception) -> str:
    """Return what Ray says in one line, without the rows of a table that begins it."""
    lines = [line.strip() for line in str(error).splitlines()]
    told = [line for line in lines if line and ":" not in line.partition(" ")[0]]
    return " ".join(told or lines or [type(error).__name__])[:400]
