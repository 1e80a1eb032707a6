"""What the claims of a session share."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from pytest_maxrandom.claims.servers import fingerprint_of
from pytest_maxrandom.claims.views import answers_of
from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.flags.kinds.identical_models import compact, may_be_one
from pytest_maxrandom.ledger.opened import LedgerFiles
from pytest_maxrandom.sweeps.predictions import PromptPredictions, labelled
from pytest_maxrandom.sweeps.rows import Key, ModelAnswers
from pytest_maxrandom.sweeps.store import Store
from pytest_maxrandom.sweeps.sweep import Cache, stored_sweep

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from pytest_maxrandom.answers import Answers
    from pytest_maxrandom.claims.planned import PlannedClaim
    from pytest_maxrandom.ledger.withheld import Withheld
    from pytest_maxrandom.models.base import EngineName
    from pytest_maxrandom.models.registry import ModelPool
    from pytest_maxrandom.record import Arithmetic
    from pytest_maxrandom.sweeps.cluster.executor import Cluster
    from pytest_maxrandom.sweeps.executor import Scored


def results_file(path: Path, *, simulated: bool) -> Path:
    """Return the file that keeps results: simulated ones have their own file next to it."""
    return path.with_stem(f"{path.stem}-simulated") if simulated else path


@dataclass(slots=True)
class ClaimState:
    """What this process has done of a claim."""

    has_begun: bool = False
    """Whether its turn has come."""
    is_swept: bool = False
    """Whether it was swept, so that what must be computed afresh is computed once."""


@dataclass(eq=False)
class SessionState:
    """What the claims of a session share."""

    pool: ModelPool
    """Loads models."""
    results: Path
    """The file of the results store; simulated models have their own file next to it."""
    run: str
    """Names the run in ledgers; the same in all of its processes."""
    process: str
    """Names this process among those of the run."""
    engine: EngineName
    """How choices are scored; auto takes the fastest way that is exact for the model."""
    fresh: bool
    """Whether results of earlier runs are computed again."""
    no_test: bool
    """Whether held-out test sets stay closed."""
    until: str | None = None
    """all or decided, in place of what suites say."""
    collected: Sequence[PlannedClaim] = ()
    """The claims of all suites that were read, whether they are selected or not."""
    computed: Mapping[str, Arithmetic] = field(default_factory=dict)
    """By the digest of a model: what computed its results, where shards of this run did and the
    store has what they found."""
    cluster: Cluster | None = None
    """Where models are run, if not in this process."""
    ahead: set[Key] = field(default_factory=set)
    """What of the stores this run has computed before its turn came."""
    ledgers: LedgerFiles = field(default_factory=LedgerFiles)
    """What is read of ledgers."""
    withheld: Withheld | None = None
    """Where right answers are kept from a search, whose ledger shows them when it is over."""
    _claims: dict[PlannedClaim, ClaimState] = field(default_factory=dict)
    _models: dict[tuple[str, bool], dict[str, list[PlannedClaim]]] = field(default_factory=dict)
    _stores: dict[bool, Store] = field(default_factory=dict)
    _read: tuple[PlannedClaim, Mapping[int, Scored]] | None = None
    """The claim that was last looked up in the store, where that had all of its results."""
    _coded: tuple[Sequence[PromptPredictions], NDArray[np.int8]] | None = None
    """The answers that were last put into a byte each."""

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

    def cache(self, planned: PlannedClaim, *, asks: bool = True) -> Cache:
        """Return what is stored of a claim's model, as far as it is computed alike here.

        `asks` says whether a server is asked if its model is still the one that is stored.

        Raises
        ------
        ModelError
            If the model's files cannot be read, or its server is not there.
        """
        identity = self.pool.identity(planned.located)
        elsewhere = self.computed.get(identity.digest)
        return Cache(
            self.store(planned),
            identity.digest,
            elsewhere or identity.arithmetic,
            self.engine,
            own=elsewhere is not None,
            ahead=self.ahead,
            fingerprint=fingerprint_of(planned, self.pool) if asks else None,
            waits=partial(self._tell_wait, planned),
        )

    def _tell_wait(self, planned: PlannedClaim, who: str) -> None:
        self.pool.resources.tell(
            f"{planned.name} waits for {who}, which asks the model {planned.arm.name} about the "
            "same examples; it goes on when that is done"
        )

    def is_stored(self, planned: PlannedClaim) -> bool:
        """Tell whether a claim needs no model, because the store has all of its results.

        Raises
        ------
        ModelError
            If the model's files cannot be read.
        """
        if self._read is None or self._read[0] is not planned:
            jobs = planned.jobs
            known = self.cache(planned).read(jobs)
            self._read = (planned, known) if len(known) == len(jobs) else None
        return self._read is not None

    def take_stored(self, planned: PlannedClaim) -> Mapping[int, Scored] | None:
        """Return what `is_stored` has just found, by the numbers of its jobs, and forget it.

        None where another claim was looked up since.
        """
        found, self._read = self._read, None
        return found[1] if found is not None and found[0] is planned else None

    def state(self, planned: PlannedClaim) -> ClaimState:
        """Return what this process has done of a claim, which changes."""
        return self._claims.setdefault(planned, ClaimState())

    def keep_answers(self, planned: PlannedClaim, predictions: Sequence[PromptPredictions]) -> None:
        """Let claims on the same questions, in whatever process, compare their models with this.

        Open answers are not compared so: all that are wrong would be the same.
        """
        if planned.condition.task.is_open:
            return
        cache, questions = self.cache(planned, asks=False), planned.condition.questions
        codes = self._codes(planned, predictions).tobytes()
        row = ModelAnswers(
            questions, planned.model.name, cache.model_digest, cache.arithmetic.digest, codes
        )
        self.store(planned).put_answers(row)

    def other_models(
        self, planned: PlannedClaim, predictions: Sequence[PromptPredictions]
    ) -> list[Answers]:
        """Return the answers of other models that may be this one; none is computed.

        Models are others where their names differ: one name with several quantizations, adapters or
        revisions are arms of one model. Whose answers are stored depends on no selection, order or
        number of processes in the end: of two models, the one that is asked last finds the other.
        """
        if planned.condition.task.is_open:
            return []
        own, name = self._codes(planned, predictions), planned.model.name
        known = self.store(planned).answered(planned.condition.questions)
        rows = [row for row in known if len(row.codes) == own.size]
        # A copy of the model has what this one answered, before it is asked.
        digests = {self.cache(planned, asks=False).model_digest}
        if rows:
            codes = np.frombuffer(b"".join(row.codes for row in rows), dtype=np.int8)
            alike = may_be_one(own, codes.reshape(len(rows), *own.shape))
            may_be = (rows[place] for place in np.flatnonzero(alike))
            digests |= {row.model for row in may_be if row.name != name and row.is_sound}
        others: dict[tuple[str, str], Answers] = {}
        for other in self._by_digest(planned, digests):
            cache = self.cache(other, asks=False)
            key = other.model.name, cache.model_digest
            if other.model.name == name or key in others:
                continue
            jobs = other.jobs
            if (sweep := stored_sweep(jobs, cache)) is not None:
                others[key] = answers_of(other, sweep.predictions)
        return list(others.values())

    @cached_property
    def _by_questions(self) -> dict[tuple[str, bool], list[PlannedClaim]]:
        found: dict[tuple[str, bool], list[PlannedClaim]] = defaultdict(list)
        for each in self.collected:
            found[each.condition.questions, each.simulated].append(each)
        return found

    def _by_digest(self, planned: PlannedClaim, digests: set[str]) -> Iterator[PlannedClaim]:
        """Yield the claims on the same questions about models that have these digests."""
        questions = planned.condition.questions, planned.simulated
        if questions not in self._models:
            known: dict[str, list[PlannedClaim]] = {}
            self._models[questions] = known
            for other in self._by_questions[questions]:
                with suppress(ModelError):  # it has no results
                    digest = self.cache(other, asks=False).model_digest
                    known.setdefault(digest, []).append(other)
        for digest in sorted(digests):
            yield from self._models[questions].get(digest, ())

    def _codes(
        self, planned: PlannedClaim, predictions: Sequence[PromptPredictions]
    ) -> NDArray[np.int8]:
        """Return a claim's answers in a byte each, shape (t, n), prompts ordered by digest."""
        if self._coded is None or self._coded[0] is not predictions:
            ordered = sorted(predictions, key=lambda each: each.prompt.digest)
            self._coded = predictions, compact(labelled(ordered, planned.condition.labels))
        return self._coded[1]
