"""What is to be computed on a cluster: the jobs of one sweep, in chunks, each until it succeeds."""

from __future__ import annotations

import math
from collections import Counter, deque
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from pytest_maxrandom import errors
from pytest_maxrandom.errors import MaxRandomError, SweepError
from pytest_maxrandom.sweeps.cluster.actor import Refused, Wanted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pytest_maxrandom.sweeps.executor import Job, Scored

_MOST = 10
_CHECKED = 50
_LASTS, _EACH = 1.0, 0.02
"""Jobs of a chunk at most; those that are checked together; seconds that a chunk should last, and
more for each actor: so long that whoever leads them has the time to serve all, and so short that
little is lost with an actor."""
_TRIES = 3


@dataclass(frozen=True)
class Chunk:
    """Jobs that are sent to an actor together."""

    order: Order
    jobs: Sequence[Job]
    only_checked: bool = False
    """Whether the model is asked only whether it could answer them."""


@dataclass(eq=False)
class Order:
    """The jobs of one sweep."""

    wanted: Wanted
    """The model that computes them."""
    begin: Callable[[Sequence[Job]], None]
    """Called with jobs before they are sent; whatever counts them does so then."""
    take: Callable[[Job, Scored], None]
    """Called with each job and its answers when they are there."""
    error: MaxRandomError | None = None
    """Why no more of it is computed."""
    _source: Iterator[Job] = field(default_factory=lambda: iter(()))
    _left: int = 0
    _exhausted: bool = True
    _unchecked: deque[Job] = field(default_factory=deque)
    _checking: int = 0
    _checked: set[tuple[int, str]] = field(default_factory=set)
    _refused: dict[int, Refused] = field(default_factory=dict)
    _again: deque[Job] = field(default_factory=deque)
    _flying: dict[tuple[int, str], Job] = field(default_factory=dict)
    _failed: Counter[int] = field(default_factory=Counter)
    _seconds: float = 0.0
    _done: int = 0

    def check(self, jobs: Iterable[Job]) -> None:
        """Let the model say of jobs whether it could answer them, before any is computed."""
        new = [job for job in jobs if (job.number, job.task) not in self._checked]
        self._checked.update((job.number, job.task) for job in new)
        self._unchecked.extend(new)

    def compute(self, jobs: Iterable[Job], at_most: int) -> None:
        """Let jobs be computed; those that are under way already are not begun again.

        Parameters
        ----------
        at_most : int
            How many they are, as far as that is known.
        """
        under_way = set(self._flying)
        under_way |= {(job.number, job.task) for job in self._again}
        self._source = (job for job in jobs if (job.number, job.task) not in under_way)
        self._left, self._exhausted = at_most, at_most == 0

    @property
    def is_checked(self) -> bool:
        """Whether all is checked that is to be."""
        return not self._unchecked and not self._checking

    @property
    def is_idle(self) -> bool:
        """Whether nothing of it is under way, or will be."""
        nothing_left = self._exhausted and not self._again
        return not self._flying and (self.error is not None or nothing_left)

    @property
    def has_more(self) -> bool:
        """Whether anything of it is still to be sent, or may be when what was is checked."""
        left = not self.is_checked or self._again or not self._exhausted
        return self.error is None and bool(left)

    def next(self, actors: int, at_most: int) -> list[Chunk]:
        """Return what is to be sent next; nothing where nothing is, for now.

        All of it is counted at once, because what counts must wait for the disk.

        Parameters
        ----------
        actors : int
            How many share the work.
        at_most : int
            How many chunks they have room for.
        """
        if self.error:
            return []
        if self._unchecked:
            return list(islice(self._checks(actors), at_most))
        if self._checking or self._refused:
            return []
        try:
            parts = list(islice(self._parts(actors), at_most))
            jobs = [job for part in parts for job in part]
            if jobs:
                self.begin(jobs)
        except MaxRandomError as error:
            self.error = error
            return []
        self._flying.update(((job.number, job.task), job) for job in jobs)
        return [Chunk(self, part) for part in parts]

    def _checks(self, actors: int) -> Iterator[Chunk]:
        size = min(_CHECKED, math.ceil(len(self._unchecked) / actors))
        while self._unchecked:
            jobs = [self._unchecked.popleft() for _ in range(min(size, len(self._unchecked)))]
            self._checking += 1
            yield Chunk(self, jobs, only_checked=True)

    def _parts(self, actors: int) -> Iterator[list[Job]]:
        while jobs := self._take(self._size(actors)):
            yield jobs
        while self._again:
            # What failed is tried by itself, so that nothing else is blamed for it.
            yield [self._again.popleft()]

    def checked(self, chunk: Chunk, outcomes: Sequence[Refused | None]) -> None:
        """Take what the model says of jobs; of all refusals the first prompt's is reported."""
        self._checking -= 1
        for job, refused in zip(chunk.jobs, outcomes, strict=True):
            if refused is not None:
                self._refused[job.number] = refused
        if self.is_checked and self._refused:
            self.error = error_of(self._refused[min(self._refused)])

    def answered(self, chunk: Chunk, outcomes: Sequence[Scored | Refused]) -> bool:
        """Take what computing jobs gave; return whether the actor may be trusted with others."""
        sound = True
        for job in chunk.jobs:
            self._flying.pop((job.number, job.task), None)
        for job, scored in zip(chunk.jobs, outcomes, strict=False):
            if not isinstance(scored, Refused):
                self._done += 1
                self._seconds += scored.cost.seconds
                self.take(job, scored)
            elif scored.kind:
                self.error = self.error or error_of(scored)
            else:
                sound = False
                self._blame(job, scored.sentence)
        self._again.extend(chunk.jobs[len(outcomes) :])
        return sound

    def lost(self, chunk: Chunk, reason: str, *, blame: bool) -> None:
        """Take back what an actor had that is gone.

        Parameters
        ----------
        blame : bool
            Whether it may be a job's fault; it is not where a node went with all that it had. Of
            several jobs none is blamed: each is tried by itself, and then it is known which fails.
        """
        if chunk.only_checked:
            self._checking -= 1
            self._unchecked.extend(chunk.jobs)
            return
        for job in chunk.jobs:
            self._flying.pop((job.number, job.task), None)
        if blame and len(chunk.jobs) == 1:
            self._blame(chunk.jobs[0], reason)
        else:
            self._again.extend(chunk.jobs)

    def _blame(self, job: Job, reason: str) -> None:
        self._failed[job.number] += 1
        if self._failed[job.number] < _TRIES:
            self._again.append(job)
            return
        self.error = self.error or SweepError(
            f"prompt {job.number + 1} ({job.prompt.digest[:8]}) failed {_TRIES} times, each time "
            f"on another actor of the cluster, the last time because: {reason}"
        )

    def _take(self, size: int) -> list[Job]:
        jobs = list(islice(self._source, size))
        self._left -= len(jobs)
        self._exhausted = len(jobs) < size
        return jobs

    def _size(self, actors: int) -> int:
        """Return the size of the next chunk, smaller towards the end, so that all end together."""
        if not self._done:
            return 1
        seconds = self._seconds / self._done
        lasting = (_LASTS + _EACH * actors) / max(seconds, 1e-9)
        fair = math.ceil(max(self._left, 1) / (2 * actors))
        return max(1, min(_MOST, int(lasting), fair))


def error_of(refused: Refused) -> MaxRandomError:
    """Return the error that an actor told."""
    kinds: dict[str, type[MaxRandomError]] = {
        "PromptTooLong": errors.PromptTooLong,
        "ScoreError": errors.ScoreError,
        "ModelError": errors.ModelError,
        "ModelNotFound": errors.ModelError,
    }
    return kinds.get(refused.kind, SweepError)(refused.sentence)
