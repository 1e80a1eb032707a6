"""Run one sweep: t prompts, each with its n examples, computed or read from the store.

An executor computes; what is here keeps the order, tells the ledger, and stores.
"""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_maxrandom.errors import ModelError
from pytest_maxrandom.host.machine import held
from pytest_maxrandom.stats.seeding import digest
from pytest_maxrandom.sweeps.executor import Cost, Executor, Job, Scored, spent, total
from pytest_maxrandom.sweeps.parts import BegunPrompt, Parts
from pytest_maxrandom.sweeps.predictions import PromptPredictions, predict
from pytest_maxrandom.sweeps.rows import Key
from pytest_maxrandom.sweeps.scorers import SCORERS
from pytest_maxrandom.sweeps.several import made_one

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from pytest_maxrandom.record import Arithmetic, Fingerprint, SweepCost
    from pytest_maxrandom.sweeps.store import Store

    Progress = Callable[[int, int, int], None]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A finished sweep: what was predicted, and what it cost."""

    predictions: tuple[PromptPredictions, ...]
    engine: SweepCost
    revision: str | None = None
    """The commit of the model, where it is known."""
    tokens: int = 0
    """Tokens put through a model for it, those of stored results included."""
    full_texts: int = 0
    """(prompt, example) pairs of which a text is exactly as long as the model's context."""

    @classmethod
    def of(
        cls, predictions: tuple[PromptPredictions, ...], engine: SweepCost, costs: Sequence[Cost]
    ) -> Sweep:
        """Return a sweep of prompts, whose costs are those of computing each."""
        return cls(
            predictions,
            engine,
            next((cost.revision for cost in costs if cost.revision), None),
            sum(cost.tokens_forwarded for cost in costs),
            sum(cost.full_texts for cost in costs),
        )


@dataclass(frozen=True, slots=True)
class Cache:
    """A store, and what the results of a job depend on besides the job."""

    store: Store
    model_digest: str
    """What determines the model's numbers."""
    arithmetic: Arithmetic
    """What will compute them, as far as that is known before a model is loaded."""
    forced_engine: str = "auto"
    """The engine that the user forced, or "auto"."""
    own: bool = False
    """Whether what it has was computed for this run, by the shards of it."""
    ahead: set[Key] = field(default_factory=set)
    """Of the store: what this run has computed before its turn came."""
    fingerprint: Fingerprint | None = None
    """By what the model that answers now is known again, where it is behind an address."""
    waits: Callable[[str], None] = lambda who: None
    """Called with who that is, where another process has done the same work for some seconds."""

    def read(self, jobs: Iterable[Job], *, fresh: bool = False) -> dict[int, Scored]:
        """Return what is stored of some jobs, by their numbers.

        Parameters
        ----------
        fresh : bool
            Whether only what this run has computed is read.

        Raises
        ------
        ModelError
            If another model gave the answers, under the same name.
        """
        keys = {job.number: self._key(job) for job in jobs}
        if fresh:
            keys = {number: key for number, key in keys.items() if key in self.ahead}
        stored = self.store.get(keys.values())
        for scored in stored.values():
            self._check(scored.cost.fingerprint)
        return {number: stored[key] for number, key in keys.items() if key in stored}

    def _check(self, before: Fingerprint | None) -> None:
        """Refuse answers that another model gave."""
        if before is None or self.fingerprint is None:
            return
        if wrong := before.refusal(self.fingerprint, f"{self.store.path.name} has answers of"):
            raise ModelError(wrong)

    def write(self, job: Job, scored: Scored) -> None:
        """Store what was computed of a job."""
        self.store.put(self._key(job), scored)

    def write_ahead(self, job: Job, scored: Scored) -> None:
        """Store what was computed of a job before its turn came."""
        self.write(job, scored)
        self.ahead.add(self._key(job))

    def computed_now(self, job: Job) -> bool:
        """Tell whether what is stored of a job was computed for this run."""
        return self.own or self._key(job) in self.ahead

    def _key(self, job: Job) -> Key:
        asked = job.task, job.prompt.digest, job.stored_as
        return Key(self.model_digest, *asked, self.forced_engine, self.arithmetic.digest)

    def alone(self, jobs: Sequence[Job]) -> AbstractContextManager[None]:
        """Let no other process do the same work meanwhile; none waits where nothing is stored.

        That is all the examples together: where prompts leave out their own demonstrations, the
        examples differ from prompt to prompt, and together they are the validation set.
        """
        if not self.store.writable:
            return nullcontext()
        together = {example for job in jobs for example in job.examples}
        contents = sorted(repr(example.content) for example in together)
        name = digest(self.model_digest, *{job.scoring for job in jobs}, *contents)
        return held("sweep", name, beside=self.store.locks, waits=self.waits)


def run_sweep(
    jobs: Sequence[Job],
    executor: Executor,
    progress: Progress = lambda done, total, computed: None,
    *,
    cache: Cache | None = None,
    fresh: bool = False,
    finished: Callable[[PromptPredictions], None] = lambda predictions: None,
    begun: Mapping[int, BegunPrompt] | None = None,
    known: Mapping[int, Scored] | None = None,
) -> Sweep:
    """Score every prompt on its examples, or read what is stored of it, or of a part of it.

    Parameters
    ----------
    jobs : sequence of Job
        Those of a sweep, or some of them; see :func:`pytest_maxrandom.sweeps.executor.jobs_of`.
    executor : Executor
        Asked for nothing where the store has all results. If it computes otherwise than was
        foretold, only what was stored of its own arithmetic is read.
    progress : callable
        Called with (prompts done, prompts in all, those of the former that the store did not have)
        after each prompt, and once before the first.
    cache : Cache, optional
        Where results are read from, and each prompt's are put as soon as they are there.
    fresh : bool
        Whether results are computed even if they are stored.
    finished : callable
        Called with each prompt's predictions when they are there, whether they are new or read;
        with new ones before they are stored, so that what is stored was always told. Of a prompt
        with several samples it is called with each of them, and those before.
    begun : mapping of int to BegunPrompt, optional
        What this run has computed of prompts already, by their numbers.
    known : mapping of int to Scored, optional
        What was just read of the store; None where it is to be read.

    Raises
    ------
    PromptTooLong
        Before anything is scored.
    SweepError
        In one sentence that names prompt and example.
    ValueError
        If prompts are not written for their scorer.
    """
    check_scorers(jobs)
    known = dict(known or (cache.read(jobs, fresh=fresh) if cache else {}))
    # A model is loaded before the sweep is locked: loading waits for a GPU, and who has it may
    # wait for the sweep.
    if cache and len(known) < len(jobs) and executor.arithmetic != cache.arithmetic:
        cache = replace(cache, arithmetic=executor.arithmetic)
        known = cache.read(jobs, fresh=fresh)
    readable = None if fresh else cache
    missing = [job for job in jobs if job.number not in known]
    executor.check(missing)
    progress(0, len(jobs), 0)
    results = _Results(jobs, progress, finished, cache)
    parts, continued = Parts(), dict(begun or {})

    def left() -> Iterator[Job]:
        for job in jobs:
            stored = None if job.number in continued else known.pop(job.number, None)
            if stored is None and readable and job.number not in continued:
                # Work that overlaps with this in part has another lock.
                stored = readable.read([job]).get(job.number)
            if stored is not None:
                results.add(job, stored, reused=True)
                continue
            if job.number not in continued:
                continued[job.number] = parts.begin(job, readable.read if readable else None)
            one = continued[job.number]
            if one.is_whole:
                results.add(job, one.scored(), cost=one.spent())
            else:
                yield one.rest() if one.is_begun else job

    # Of two processes with the same work, one waits here and then reads what the other has stored.
    with cache.alone(jobs) if cache and missing else nullcontext():
        if readable and missing:
            known |= readable.read(missing)
        for job, scored in executor.run(left()):
            one = continued.pop(job.number)
            if one.is_begun:
                one.take(scored)
                results.add(one.job, one.scored(), cost=one.spent())
            else:
                results.add(job, scored)
    return results.sweep()


def check_scorers(jobs: Iterable[Job]) -> None:
    """Refuse prompts that are not written for their scorer.

    Raises
    ------
    ValueError
        If there is one.
    """
    for job in jobs:
        scorer, form = SCORERS[job.scoring], job.prompt.format
        if (scorer.states_choices, scorer.generates) != (
            form.counterfactual is not None,
            form.generation is not None,
        ):
            raise ValueError(f"the prompts are not written for the scoring {job.scoring!r}")


def stored_sweep(jobs: Sequence[Job], cache: Cache) -> Sweep | None:
    """Read a sweep of which the store has all results; None where one is missing."""
    known = cache.read(jobs)
    if len(known) < len(jobs):
        return None
    results = _Results(jobs)
    for job in jobs:
        results.add(job, known[job.number], reused=True)
    return results.sweep()


def is_stored(jobs: Sequence[Job], cache: Cache) -> bool:
    """Tell whether a sweep needs no model, because the store has all of its results."""
    return len(cache.read(jobs)) == len(jobs)


@dataclass
class _Results:
    """Takes results in any order, tells and stores them at once; shows them in order."""

    jobs: Sequence[Job]
    progress: Progress = lambda done, total, computed: None
    finished: Callable[[PromptPredictions], None] = lambda predictions: None
    cache: Cache | None = None
    _found: dict[int, tuple[PromptPredictions, Cost, SweepCost]] = field(default_factory=dict)
    _samples: dict[int, dict[int, PromptPredictions]] = field(default_factory=dict)
    """By the prompt's place, and which sample it is."""
    _computed: int = 0

    def add(
        self, job: Job, scored: Scored, *, reused: bool = False, cost: SweepCost | None = None
    ) -> None:
        """Take the result of a job."""
        own = predictions = predict(job.prompt, job.examples, scored.answers, job.scoring)
        if job.aggregate is None:
            self.finished(predictions)
        else:
            samples = self._samples.setdefault(job.place, {})
            samples[job.sample] = predictions
            if len(samples) == job.aggregate.samples:
                predictions = made_one([*samples.values()], job.aggregate)
            else:
                some = tuple(samples.values())
                predictions = replace(predictions, samples=some, aggregate=job.aggregate)
            self.finished(predictions)
        earlier = reused and not (self.cache and self.cache.computed_now(job))
        if self.cache and not reused:
            self.cache.write(job, scored)
        cost = cost or spent(scored, reused=earlier)
        self._found[job.number] = own, scored.cost, cost
        self._computed += not cost.reused
        self.progress(len(self._found), len(self.jobs), self._computed)

    def sweep(self) -> Sweep:
        """Return all of it, once every result was added."""
        scored = [self._found[job.number] for job in self.jobs]
        asked = [predictions for predictions, _, _ in scored]
        done, aggregate = tuple(asked), self.jobs[0].aggregate if self.jobs else None
        if aggregate is not None:
            done = tuple(
                made_one([own[sample] for sample in sorted(own)], aggregate)
                for _, own in sorted(self._samples.items())
            )
        margins = (margin for one in asked for margin in one.margins if 0 < margin < math.inf)
        engine = total([spent for _, _, spent in scored])
        engine = replace(engine, closest=min(margins, default=None))
        return Sweep.of(done, engine, [cost for _, cost, _ in scored])
