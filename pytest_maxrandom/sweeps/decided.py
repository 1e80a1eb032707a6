"""Sweeps that stop when their verdict is known: as much of each prompt as that takes."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from pytest_maxrandom.sweeps.executor import Executor, Job, total
from pytest_maxrandom.sweeps.parts import BegunPrompt, Parts
from pytest_maxrandom.sweeps.sweep import Sweep, check_scorers, run_sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pytest_maxrandom.sweeps.predictions import PromptPredictions
    from pytest_maxrandom.sweeps.sweep import Cache, Progress

_EAGER = 0.75
"""Share of the examples that a guesser needs, on average, to make the mistakes that stop it: those
are asked at once. More would be too many too often, fewer would read the prompt too often."""


class Goal(Protocol):
    """What a sweep is to decide."""

    chance: float
    """The expected accuracy of one guesser."""

    def critical(self) -> int:
        """Return the fewest right answers that pass; it may grow while the sweep runs."""

    def is_reached(self, predictions: PromptPredictions) -> bool:
        """Tell whether a prompt with so many right answers, scored on all examples, is enough."""


@dataclass(frozen=True, slots=True)
class DecidedSweep:
    """A sweep whose verdict is known before all of its answers are."""

    sweep: Sweep
    """What was predicted: the prompts that were begun, each on the examples that it was scored
    on."""
    passes: bool
    """Whether a prompt reaches the critical count; else none can."""
    at_least: int
    at_most: int
    """Right answers of the prompt that has most, as far as they are known."""
    whole: int
    """Prompts that were scored on all of their examples."""

    @property
    def scored(self) -> int:
        """(prompt, example) pairs that were scored."""
        return sum(len(each.examples) for each in self.sweep.predictions)


def run_decided(
    jobs: Sequence[Job],
    goal: Goal,
    executor: Executor,
    progress: Progress = lambda done, total, computed: None,
    *,
    cache: Cache | None = None,
    fresh: bool = False,
    finished: Callable[[PromptPredictions], None] = lambda predictions: None,
) -> DecidedSweep | Sweep:
    """Score prompts until it is known whether one of them reaches the critical count.

    A prompt stops when it cannot reach it any more. Where one does, and that is not enough, all the
    rest is scored as well, which gives a `Sweep`.

    Parameters
    ----------
    jobs, executor, progress, cache, fresh
        As :func:`pytest_maxrandom.sweeps.sweep.run_sweep` takes them.
    finished : callable
        Called with the predictions of each prompt that is begun, as far as it is scored, before
        they are stored.

    Raises
    ------
    PromptTooLong, SweepError, ValueError
        As :func:`pytest_maxrandom.sweeps.sweep.run_sweep`.
    """
    check_scorers(jobs)
    if not cache or fresh or not is_decided(jobs, goal, cache):
        if cache:
            # As in a whole sweep: what was foretold may be another arithmetic than what computes.
            cache = replace(cache, arithmetic=executor.arithmetic)
        executor.check(jobs)
    progress(0, len(jobs), 0)
    computed = 0
    deciding = _Deciding(jobs, goal, executor, None if fresh else cache)
    with cache.alone(jobs) if cache else nullcontext():
        for number, one in enumerate(deciding.prompts(), 1):
            finished(one.predictions())
            if cache:
                for cell, scored in one.new():
                    cache.write(cell, scored)
            computed += not one.is_reused
            progress(number, len(jobs), computed)
    decided = deciding.decided()
    if decided is not None:
        return decided
    return run_sweep(
        jobs,
        executor,
        progress,
        cache=cache,
        fresh=fresh,
        finished=finished,
        begun={one.job.number: one for one in deciding.begun},
    )


def is_decided(jobs: Sequence[Job], goal: Goal, cache: Cache) -> bool:
    """Tell whether a verdict needs no model, because what is stored tells it."""
    found = _Deciding(jobs, goal, None, cache)
    try:
        for _ in found.prompts():
            pass
    except _Missing:
        return False
    return found.decided() is not None or len(cache.read(jobs)) == len(jobs)


@dataclass
class _Deciding:
    """Goes from prompt to prompt until nothing more needs to be known.

    Without an executor it raises `_Missing` where something is not stored.
    """

    jobs: Sequence[Job]
    goal: Goal
    executor: Executor | None
    readable: Cache | None
    begun: list[BegunPrompt] = field(default_factory=list)
    _parts: Parts = field(default_factory=Parts)
    _reached: bool = False
    _enough: bool = False

    def prompts(self) -> Iterator[BegunPrompt]:
        """Yield each prompt when it has been scored as far as it takes.

        As many as the executor computes at once are scored in parallel.
        """
        size = self.executor.at_once if self.executor else 1
        for start in range(0, len(self.jobs), size):
            together = [self._begin(job) for job in self.jobs[start : start + size]]
            self.begun += together
            self._score(together)
            for one in together:
                yield one
                if one.predictions().correct >= self.goal.critical():
                    self._reached = True
                    enough = one.is_whole and self.goal.is_reached(one.predictions())
                    self._enough = self._enough or enough
            if self._reached:
                return

    def decided(self) -> DecidedSweep | None:
        """Return what is known; None where all must be."""
        all_begun = len(self.begun) == len(self.jobs)
        if self._reached and not self._enough:
            return None
        if all_begun and all(one.is_whole for one in self.begun):
            return None  # nothing is left out, so all is known
        predictions = tuple(one.predictions() for one in self.begun)
        known = [each.correct for each in predictions]
        bounds = [
            right + len(one.job.examples) - len(each.examples)
            for right, one, each in zip(known, self.begun, predictions, strict=True)
        ]
        sizes = [len(job.examples) for job in self.jobs]
        critical = self.goal.critical()
        # Another process may have raised t, and with it the count that was reached.
        if self._enough and max(known) < critical:
            return None
        engine = total([one.spent() for one in self.begun])
        sweep = Sweep.of(predictions, engine, [one.scored().cost for one in self.begun])
        return DecidedSweep(
            sweep,
            passes=self._enough,
            at_least=max(known),
            at_most=max(bounds) if all_begun else max(sizes),
            whole=sum(one.is_whole for one in self.begun),
        )

    def _begin(self, job: Job) -> BegunPrompt:
        readable = self.readable
        stored = readable.read([job]).get(job.number) if readable else None
        return self._parts.begin(job, readable.read if readable else None, stored)

    def _score(self, prompts: Sequence[BegunPrompt]) -> None:
        """Score prompts until none of them can reach the critical count, but those that do."""
        begun = {one.job.number: one for one in prompts}
        while rest := [job for one in prompts if (job := self._next(one))]:
            if self.executor is None:
                raise _Missing
            for job, answers in self.executor.run(rest):
                begun[job.number].take(answers)

    def _next(self, one: BegunPrompt) -> Job | None:
        """Return what is scored next of a prompt; None where that is not needed."""
        n = len(one.job.examples)
        seen = one.predictions() if one.is_begun else None
        correct, scored = (seen.correct, len(seen.examples)) if seen else (0, 0)
        mistakes = n - self.goal.critical() + 1 - (scored - correct)
        if one.is_whole or (seen and mistakes <= 0):
            return None
        likely = math.ceil(_EAGER * mistakes / max(1 - self.goal.chance, _EAGER / n))
        return one.rest(max(mistakes, likely, 1))


class _Missing(Exception):
    """Something is not stored."""
