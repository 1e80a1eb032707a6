"""Every job of a sweep is computed, whatever fails meanwhile, and none is blamed for others."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from pytest_maxrandom.errors import LedgerError, PromptTooLong, ScoreError, SweepError
from pytest_maxrandom.models.questions import Answer
from pytest_maxrandom.record import Arithmetic
from pytest_maxrandom.suite.models import MockSpec
from pytest_maxrandom.sweeps.cluster.actor import Refused, Wanted
from pytest_maxrandom.sweeps.cluster.executor import Cluster, RayExecutor
from pytest_maxrandom.sweeps.cluster.orders import Chunk, Order
from pytest_maxrandom.sweeps.executor import Cost, Job, Scored, jobs_of
from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt
from pytest_maxrandom.tasks.task import Example, Layout

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pytest_maxrandom.sweeps.cluster.fleet import Fleet

_EXAMPLES = [Example(f"e{i}", f"question {i}", ("Yes", "No"), (i % 2,)) for i in range(4)]
_FORM = Format(Layout(append_choices=False))
_PROMPTS = [
    Prompt((Example(f"d{i}", f"shown {i}", ("Yes", "No"), (0,)),), _FORM) for i in range(60)
]
JOBS = jobs_of([(prompt, _EXAMPLES) for prompt in _PROMPTS], "sum_logprob")
_ARITHMETIC = Arithmetic("", "", {})
_WANTED = Wanted(("m",), MockSpec(name="m"), ".", "", _ARITHMETIC, False, "auto", None, "1")
_SCORED = Scored(
    ((Answer((-1.0, -2.0), (1, 1)),),),
    Cost("", "", "", None, None, 0, 0, 0.001, _ARITHMETIC),
)


class Kept:
    """What an order counted and took."""

    def __init__(self) -> None:
        self.begun: Counter[int] = Counter()
        self.taken: Counter[int] = Counter()
        self.times = 0
        self.order = Order(_WANTED, self._begin, self._take)

    def _begin(self, jobs: Iterable[Job]) -> None:
        self.begun.update(job.number for job in jobs)
        self.times += 1

    def _take(self, job: Job, scored: Scored) -> None:
        assert self.begun[job.number] > self.taken[job.number]
        self.taken[job.number] += 1


def _next(order: Order, actors: int) -> Chunk | None:
    return next(iter(order.next(actors, 1)), None)


def _all(chunk: Chunk) -> list[Scored | Refused]:
    return [_SCORED] * len(chunk.jobs)


def test_all_is_computed_once_in_chunks_that_grow_and_end_small() -> None:
    kept = Kept()
    kept.order.compute(iter(JOBS), len(JOBS))
    sizes = []
    while chunk := _next(kept.order, 2):
        sizes.append(len(chunk.jobs))
        assert kept.order.answered(chunk, _all(chunk))
    assert kept.order.is_idle
    assert kept.taken == Counter(range(60))
    assert sizes[0] == 1
    assert max(sizes) == 10
    assert sizes[-1] == 1


def test_what_is_sent_to_several_actors_is_counted_at_once() -> None:
    kept = Kept()
    kept.order.compute(iter(JOBS), len(JOBS))
    first = _next(kept.order, 2)
    assert first is not None
    kept.order.answered(first, _all(first))
    assert kept.times == 1
    chunks = kept.order.next(2, 3)
    assert len(chunks) == 3
    assert kept.times == 2
    sent = [job.number for chunk in chunks for job in chunk.jobs]
    assert kept.begun == Counter([0, *sent])
    assert sent == list(range(1, 1 + len(sent)))


def test_slow_prompts_are_sent_one_by_one() -> None:
    kept = Kept()
    kept.order.compute(iter(JOBS), len(JOBS))
    slow = replace(_SCORED, cost=replace(_SCORED.cost, seconds=3.0))
    for _ in range(10):
        chunk = _next(kept.order, 1)
        assert chunk is not None
        assert len(chunk.jobs) == 1
        kept.order.answered(chunk, [slow])


@pytest.mark.parametrize("seed", range(20))
def test_what_is_lost_by_chance_is_computed_again_until_all_is_there(seed: int) -> None:
    chance, kept = random.Random(seed), Kept()
    kept.order.compute(iter(JOBS), len(JOBS))
    under_way: list[Chunk] = []
    while not kept.order.is_idle:
        while len(under_way) < 4 and (chunk := _next(kept.order, 2)):
            under_way.append(chunk)
        chunk = under_way.pop(chance.randrange(len(under_way)))
        if chance.random() < 0.3:  # nodes may go as often as they will
            kept.order.lost(chunk, "the node has died", blame=False)
        else:
            kept.order.answered(chunk, _all(chunk))
    assert kept.order.error is None
    assert kept.taken == Counter(range(60))


def test_a_prompt_that_fails_three_times_is_an_error_and_its_neighbours_are_not() -> None:
    kept, deaths = Kept(), []
    kept.order.compute(iter(JOBS), len(JOBS))
    while chunk := _next(kept.order, 2):
        if any(job.number == 33 for job in chunk.jobs):
            deaths.append(len(chunk.jobs))
            kept.order.lost(chunk, "its process died", blame=True)
        else:
            kept.order.answered(chunk, _all(chunk))
    # Where others died with it, it is not known whose fault that is.
    assert deaths[0] > 1
    assert deaths[1:] == [1, 1, 1]
    assert isinstance(kept.order.error, SweepError)
    said = str(kept.order.error)
    assert said.startswith(f"prompt 34 ({JOBS[33].prompt.digest[:8]}) failed 3 times")
    assert said.endswith("its process died")
    assert kept.taken == Counter(set(range(60)) - {33})


def test_what_an_actor_did_not_come_to_is_blamed_for_nothing() -> None:
    kept = Kept()
    kept.order.compute(iter(JOBS), len(JOBS))
    seen = 0
    while chunk := _next(kept.order, 2):
        if len(chunk.jobs) > 3 and seen < 5:
            seen += 1
            sound = kept.order.answered(chunk, [_SCORED, Refused("", "CUDA error")])
            assert not sound
        else:
            kept.order.answered(chunk, _all(chunk))
    assert seen == 5
    assert kept.order.error is None
    assert kept.taken == Counter(range(60))


def test_what_the_model_refuses_is_said_once_and_of_the_first_prompt() -> None:
    kept = Kept()
    kept.order.check(JOBS)
    kept.order.compute(iter(JOBS), len(JOBS))
    chunks = []
    while chunk := _next(kept.order, 4):
        assert chunk.only_checked
        chunks.append(chunk)
    assert sum(len(chunk.jobs) for chunk in chunks) == 60
    for chunk in reversed(chunks):
        long = [Refused("PromptTooLong", f"prompt {job.number}") for job in chunk.jobs]
        kept.order.checked(chunk, [None if one.sentence == "prompt 0" else one for one in long])
    assert isinstance(kept.order.error, PromptTooLong)
    assert str(kept.order.error) == "prompt 1"
    assert not kept.begun


def test_nothing_is_computed_before_all_is_checked_and_nothing_is_checked_twice() -> None:
    kept = Kept()
    kept.order.check(JOBS)
    kept.order.check(JOBS[:10])
    kept.order.compute(iter(JOBS), len(JOBS))
    first = _next(kept.order, 1)
    assert first is not None
    assert kept.order.has_more
    kept.order.lost(first, "gone", blame=True)
    checked: Counter[int] = Counter()
    while (chunk := _next(kept.order, 1)) and chunk.only_checked:
        checked.update(job.number for job in chunk.jobs)
        kept.order.checked(chunk, [None] * len(chunk.jobs))
    assert checked == Counter(range(60))
    assert chunk is not None
    assert kept.begun


def test_a_sweep_that_is_being_checked_keeps_its_actors() -> None:
    kept = Kept()
    kept.order.check(JOBS[:1])
    kept.order.compute((), 0)
    chunk = _next(kept.order, 1)
    assert chunk is not None
    assert _next(kept.order, 1) is None
    assert kept.order.has_more
    kept.order.checked(chunk, [None])
    assert not kept.order.has_more


def test_what_the_model_says_against_a_prompt_ends_the_sweep_at_once() -> None:
    kept = Kept()
    kept.order.compute(iter(JOBS), len(JOBS))
    chunk = _next(kept.order, 1)
    assert chunk is not None
    assert kept.order.answered(chunk, [Refused("ScoreError", "prompt 1: no number")])
    assert isinstance(kept.order.error, ScoreError)
    assert _next(kept.order, 1) is None
    assert kept.order.is_idle


def test_nothing_is_sent_that_could_not_be_counted() -> None:
    def refuse(jobs: Iterable[Job]) -> None:
        raise LedgerError("it cannot be read")

    order = Order(_WANTED, refuse, lambda job, scored: None)
    order.compute(iter(JOBS), len(JOBS))
    assert _next(order, 1) is None
    assert isinstance(order.error, LedgerError)


def test_a_sweep_whose_turn_comes_does_not_begin_again_what_is_under_way() -> None:
    kept = Kept()
    kept.order.compute(iter(JOBS[:10]), 10)
    flying = _next(kept.order, 1)
    assert flying is not None
    kept.order.compute(iter(JOBS), len(JOBS))
    while chunk := _next(kept.order, 1):
        kept.order.answered(chunk, _all(chunk))
    assert not kept.order.is_idle
    kept.order.answered(flying, _all(flying))
    assert kept.order.is_idle
    assert kept.taken == Counter(range(60))


class _OneActor(Cluster):
    """A cluster with an actor that has two chunks already, and answers one at each turn."""

    def __init__(self, chunks: list[Chunk]) -> None:
        super().__init__()
        self.chunks = chunks

    @property
    def fleet(self) -> Fleet:
        return cast("Fleet", SimpleNamespace(check_any=lambda wanted: None))

    def pump(self) -> None:
        (order,) = self._orders.values()
        while len(self.chunks) < 2 and (chunk := _next(order, 1)):
            self.chunks.append(chunk)
        if self.chunks:
            chunk = self.chunks.pop(0)
            assert chunk.order.answered(chunk, _all(chunk))


def test_a_sweep_that_is_stored_asks_no_cluster() -> None:
    executor = Cluster("127.0.0.1:1").executor(_WANTED, Kept()._begin)
    executor.check([])
    assert list(executor.run(iter(()))) == []


@pytest.mark.parametrize("early", [0, 1, 2])
@pytest.mark.parametrize("stored", [set(), {0}, {1}, {0, 1, 5}])
def test_what_was_computed_ahead_waits_until_its_job_is_taken(early: int, stored: set[int]) -> None:
    """`early` of two chunks are answered after the claim's turn has come, and before it asks."""
    kept = Kept()
    kept.order.compute(iter(JOBS), len(JOBS))
    chunks = [chunk for chunk in (_next(kept.order, 1), _next(kept.order, 1)) if chunk]
    cluster = _OneActor(list(chunks))
    cluster._orders["claim"] = kept.order
    begun = kept.begun
    executor = RayExecutor(cluster, _WANTED, kept._begin, "claim")
    for chunk in chunks[:early]:
        assert chunk.order.answered(chunk, _all(chunk))
        cluster.chunks.remove(chunk)
    taken: set[int] = set()

    def source() -> Iterator[Job]:
        for job in JOBS:
            if job.number not in stored:  # by another process, meanwhile
                taken.add(job.number)
                yield job

    found = []
    for job, _ in executor.run(source()):
        assert job.number in taken
        found.append(job.number)
    assert sorted(found) == sorted(set(range(60)) - stored)
    assert max(begun.values()) == 1
