"""What the claims of a session share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.sweeps.executor import jobs_of
from pytest_maxrandom.sweeps.store import Store
from pytest_maxrandom.sweeps.sweep import Cache, stored_sweep

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.models.base import EngineName
    from pytest_maxrandom.models.registry import ModelPool
    from pytest_maxrandom.record import Arithmetic
    from pytest_maxrandom.sweeps.cluster.executor import Cluster
    from pytest_maxrandom.sweeps.rows import Key
    from pytest_maxrandom.sweeps.sweep import Sweep


def results_file(path: Path, *, simulated: bool) -> Path:
    """Return the file that keeps results: simulated ones have their own file next to it."""
    return path.with_stem(f"{path.stem}-simulated") if simulated else path


@dataclass(frozen=True)
class SessionState:
    """What the claims of a session share.

    Attributes
    ----------
    pool : ModelPool
        Loads models.
    results : Path
        The file of the results store; simulated models have their own file next to it.
    run : str
        Names the run in ledgers; the same in all of its processes.
    process : str
        Names this process among those of the run.
    engine : str
        How choices are scored; auto takes the fastest way that is exact for the model.
    fresh : bool
        Whether results of earlier runs are computed again.
    no_test : bool
        Whether held-out test sets stay closed.
    until : str or None
        all or decided, in place of what suites say.
    collected : sequence of PlannedClaim
        The claims of all suites that were read, whether they are selected or not.
    computed : mapping
        By the digest of a model: what computed its results, where shards of this run did and the
        store has what they found.
    cluster : Cluster or None
        Where models are run, if not in this process.
    ahead : set of Key
        What of the stores this run has computed before its turn came.
    begun : set of int
        Ids of the planned claims whose turn has come.
    swept : set of int
        Ids of the planned claims that this process has swept, so that what must be computed afresh
        is computed once.
    """

    pool: ModelPool
    results: Path
    run: str
    process: str
    engine: EngineName
    fresh: bool
    no_test: bool
    until: str | None = None
    collected: Sequence[PlannedClaim] = ()
    computed: Mapping[str, Arithmetic] = field(default_factory=dict)
    cluster: Cluster | None = None
    swept: set[int] = field(default_factory=set)
    ahead: set[Key] = field(default_factory=set)
    begun: set[int] = field(default_factory=set)
    _stores: dict[bool, Store] = field(default_factory=dict)

    def store(self, planned: PlannedClaim) -> Store:
        """Return the store of a claim's results, opened with the first such claim.

        Raises
        ------
        StoreError
            If git tracks the file, or it is no store.
        """
        if planned.simulated not in self._stores:
            path = results_file(self.results, simulated=planned.simulated)
            self._stores[planned.simulated] = Store(path)
        return self._stores[planned.simulated]

    def stops(self, planned: PlannedClaim) -> bool:
        """Tell whether a claim's sweep is to stop when its verdict is known."""
        return (self.until or planned.suite.until) == "decided"

    def close(self) -> None:
        """Let go of the cluster, and of the stores, which are complete in one file then."""
        if self.cluster is not None:
            self.cluster.close()
        for store in self._stores.values():
            store.close()

    def cache(self, planned: PlannedClaim) -> Cache:
        """Return what is stored of a claim's model, as far as it is computed alike here.

        Raises
        ------
        ModelError
            If the model's files cannot be read.
        """
        identity = self.pool.identity(*planned.loads)
        elsewhere = self.computed.get(identity.digest)
        return Cache(
            self.store(planned),
            identity.digest,
            elsewhere or identity.arithmetic,
            self.engine,
            own=elsewhere is not None,
            ahead=self.ahead,
        )

    def other_models(self, planned: PlannedClaim) -> list[tuple[PlannedClaim, Sweep]]:
        """Return the sweeps of other models with the same prompts and examples; none is computed.

        Models are others where their names differ: one name with several quantizations, adapters or
        revisions are arms of one model. Whose answers are stored depends on no selection, order or
        number of processes in the end: of two models, the one that is asked last finds the other.
        """
        found: dict[tuple[str, str], tuple[PlannedClaim, Sweep]] = {}
        own = planned.condition.prompt_set
        for other in self.collected:
            theirs = other.condition.prompt_set
            same = theirs.validation == own.validation and set(theirs.digests) == set(own.digests)
            if other.model.name == planned.model.name or not same:
                continue
            if other.simulated != planned.simulated:
                continue
            try:
                cache = self.cache(other)
            except ModelError:  # and so it has no results
                continue
            key = other.model.name, cache.model_digest
            jobs = jobs_of(theirs.pairs, other.suite.scoring)
            if key not in found and (sweep := stored_sweep(jobs, cache)) is not None:
                found[key] = other, sweep
        return list(found.values())
