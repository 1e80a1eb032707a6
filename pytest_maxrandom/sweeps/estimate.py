"""What jobs will take, before they run: what the store has, tokens, forward passes, and time."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from pytest_maxrandom.models.questions import Estimate
from pytest_maxrandom.sweeps.executor import Job, LocalExecutor, questions_of
from pytest_maxrandom.sweeps.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.models.base import Model
    from pytest_maxrandom.sweeps.sweep import Cache

MOST_TEXTS = 50_000
"""Of so many texts at most tokens are counted; of more, those of some prompts are, and scaled."""
_PROBED = 3
_PATIENCE = 30.0
"""Seconds after which no further prompt is tried."""


class Probe(NamedTuple):
    """What trying some prompts took."""

    prompts: int
    examples: int
    """How many were tried, and on how many examples together."""
    estimate: Estimate
    seconds: float


def left(jobs: Sequence[Job], cache: Cache | None) -> list[Job]:
    """Return what is not stored of some jobs: each as a whole, or its rest where it is begun."""
    if cache is None:
        return list(jobs)
    known, parts = cache.read(jobs), Parts()
    begun = [parts.begin(job, cache.read) for job in jobs if job.number not in known]
    return [one.rest() if one.is_begun else one.job for one in begun if not one.is_whole]


def estimate(jobs: Sequence[Job], model: Model, most_texts: int) -> tuple[Estimate, bool]:
    """Return what some jobs take, and whether that is counted rather than scaled.

    Parameters
    ----------
    most_texts : int
        How many are turned into tokens at most, but for those of one job.

    Raises
    ------
    PromptTooLong, QuestionError
        If something cannot be asked.
    """
    if not jobs:
        return Estimate(0, 0, 0, 0), True
    first = jobs[0]
    texts = sum(each.requests for each in questions_of(first)) / max(1, len(first.examples))
    examples = sum(len(job.examples) for job in jobs)
    counted = min(len(jobs), max(1, int(most_texts * len(jobs) / max(1.0, examples * texts))))
    # Spread over all, since the first may be the shortest.
    sample = [jobs[place * len(jobs) // counted] for place in range(counted)]
    found = Estimate(0, 0, 0, 0)
    for job in sample:
        found += model.estimate(questions_of(job))
    share = examples / max(1, sum(len(job.examples) for job in sample))
    return (found, True) if counted == len(jobs) else (_scaled(found, share), False)


def probe(jobs: Sequence[Job], model: Model) -> Probe:
    """Ask some prompts, forget what was said, and return what that took.

    Raises
    ------
    SweepError
        If a prompt cannot be scored.
    """
    executor, done, seconds = LocalExecutor(lambda: model), [], 0.0
    # What a first call builds, such as kernels and caches, is no part of the time of a prompt.
    for _ in executor.run([replace(jobs[0], examples=jobs[0].examples[:1])]):
        pass
    counted = min(_PROBED, len(jobs))
    tried = (jobs[place * len(jobs) // counted] for place in range(counted))
    for job, scored in executor.run(islice(tried, counted)):
        done.append(job)
        seconds += scored.cost.seconds
        if seconds > _PATIENCE:
            break
    found, _ = estimate(done, model, MOST_TEXTS)
    return Probe(len(done), sum(len(job.examples) for job in done), found, seconds)


def seconds_of(whole: Estimate, examples: int, tried: Probe) -> float:
    """Return how long work takes: by its tokens, or where these are not known by its examples."""
    known, unit = whole.tokens, tried.estimate.tokens
    if known and unit and not whole.at_most:
        return tried.seconds * known / unit
    return tried.seconds * examples / max(1, tried.examples)


def _scaled(found: Estimate, share: float) -> Estimate:
    known = ((name, getattr(found, name)) for name in ("requests", "tokens", "apart", "forwards"))
    return replace(found, **{name: round(n * share) for name, n in known if n is not None})
