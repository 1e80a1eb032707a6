"""Where the model of a claim is run: in this process, or on a cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_maxrandom.sweeps.cluster.actor import Wanted, version
from pytest_maxrandom.sweeps.cluster.executor import Ahead, Cluster
from pytest_maxrandom.sweeps.executor import Executor, Job, LocalExecutor, Scored
from pytest_maxrandom.sweeps.parts import Parts
from pytest_maxrandom.sweeps.scorers import SCORERS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.claims.session import SessionState
    from pytest_maxrandom.models.base import Model
    from pytest_maxrandom.models.training import Trained
    from pytest_maxrandom.record import Arithmetic
    from pytest_maxrandom.sweeps.sweep import Cache, Progress

    Begin = Callable[[Sequence[Job]], None]


class Runner:
    """Runs the model of one claim."""

    def __init__(self, planned: PlannedClaim, session: SessionState) -> None:
        self._planned = planned
        self._session = session
        self._trained: Trained | None = None

    def ready(self) -> None:
        """Load the model, unless it is at hand.

        Raises
        ------
        ModelError
            If it cannot be loaded.
        ClusterError
            If no cluster answers.
        """
        if self._cluster is None:
            self._load()
        else:
            found = self._cluster.start(self._wanted())
            self._session.pool.loaded_elsewhere(self._planned.located, found)

    def executor(self, begin: Begin, *, named: bool = False) -> Executor:
        """Return what computes jobs.

        `begin` is called with jobs before they leave this process. `named` says whether they are
        those of the claim, of which some may have been computed ahead.
        """
        if self._cluster is None:
            return LocalExecutor(self._load)
        if named:
            self._session.state(self._planned).has_begun = True
        return self._cluster.executor(self._wanted(), begin, self._planned if named else None)

    def ahead(
        self, jobs: Sequence[Job], cache: Cache, begin: Begin, progress: Progress
    ) -> Ahead | None:
        """Return what of the claim's jobs can be computed before its turn; None if nothing."""
        fresh = self._session.fresh
        if self._cluster is None or self._session.state(self._planned).has_begun:
            return None
        known, parts = cache.read(jobs, fresh=fresh), Parts()

        def is_left(job: Job) -> bool:
            # What was begun in parts is finished in its turn.
            begun = not fresh and parts.begin(job, cache.read).is_begun
            return job.number not in known and not begun

        left = list(filter(is_left, jobs))
        read, computed = len(jobs) - len(left), 0

        def begun(sent: Sequence[Job]) -> None:
            if not computed:  # before that, whoever waits for its actors is not at work
                progress(0, len(jobs), 0)
                progress(read, len(jobs), 0)
            begin(sent)

        def take(job: Job, scored: Scored, found: Arithmetic) -> None:
            nonlocal computed
            replace(cache, arithmetic=found).write_ahead(job, scored)
            computed += 1
            progress(read + computed, len(jobs), computed)

        return Ahead(self._planned, self._wanted(), left, begun, take)

    def trained(self) -> Trained | None:
        """Return what the training of its model found; None where nothing is kept of it."""
        planned, pool = self._planned, self._session.pool
        if planned.training is None:
            return None
        return self._trained or pool.trained(planned.located)

    @property
    def _cluster(self) -> Cluster | None:
        """A server computes wherever it is asked from, so it needs none."""
        return None if self._planned.model.remote else self._session.cluster

    @property
    def _generates(self) -> bool:
        return SCORERS[self._planned.suite.scoring].generates

    def _wanted(self) -> Wanted:
        planned, pool = self._planned, self._session.pool
        located = planned.located
        identity = pool.identity(located)
        return Wanted(
            key=located.key,
            spec=planned.model,
            base=str(planned.base.absolute()),
            digest=identity.digest,
            foretold=identity.arithmetic,
            generates=self._generates,
            engine=self._session.engine,
            batch_tokens=pool.resources.batch_tokens,
            version=version(),
            training=planned.training,
        )

    def _load(self) -> Model:
        model = self._session.pool.get(self._planned.located, generates=self._generates)
        self._trained = model.trained
        return model
