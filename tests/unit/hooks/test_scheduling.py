"""Which worker of pytest-xdist runs what, with workers that begin and end in any order.

The schedulers are the real ones; the workers follow the protocol of pytest-xdist's and run nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from xdist.remote import Producer
from xdist.scheduler import LoadScheduling

from pytest_maxrandom.hooks.scheduling import SuiteScheduling, claim_file, model_of

if TYPE_CHECKING:
    from collections.abc import Callable

Scheduler = Any


@dataclass(eq=False)
class Worker:
    """What a scheduler knows of a worker."""

    name: str
    queue: list[int] = field(default_factory=list)
    ran: list[int] = field(default_factory=list)
    sent: list[list[int]] = field(default_factory=list)
    shutting_down: bool = False

    @property
    def gateway(self) -> SimpleNamespace:
        return SimpleNamespace(id=self.name)

    def send_runtest_some(self, indices: list[int]) -> None:
        self.sent.append(list(indices))
        self.queue += indices

    def shutdown(self) -> None:
        self.shutting_down = True

    @property
    def running(self) -> bool:
        """Whether it has a test to run: the last one waits until it is known what follows."""
        return len(self.queue) > 1 or (self.shutting_down and bool(self.queue))


def _run(
    scheduler: Scheduler,
    names: list[str],
    workers: int,
    pick: Callable[[int], int],
    crash: Callable[[], bool] = lambda: False,
) -> tuple[list[Worker], list[str]]:
    """Run the tests; return the workers, and the tests at which one crashed."""
    every = [Worker(f"gw{number}") for number in range(workers)]
    crashed: list[str] = []
    for worker in every:
        scheduler.add_node(worker)
    for worker in every:
        scheduler.add_node_collection(worker, names)
    scheduler.schedule()
    while busy := [worker for worker in every if worker.running]:
        worker = busy[pick(len(busy))]
        if crash():
            index = worker.queue[0]
            worker.queue = []
            assert scheduler.remove_node(worker) == names[index]
            crashed.append(names[index])
            every.append(Worker(f"gw{len(every)}"))
            scheduler.add_node(every[-1])
            scheduler.add_node_collection(every[-1], names)
            scheduler.schedule()
        else:
            index = worker.queue.pop(0)
            worker.ran.append(index)
            scheduler.mark_test_complete(worker, index)
        if scheduler.tests_finished:
            for other in scheduler.nodes:
                other.shutdown()
    assert not any(worker.queue for worker in every)
    assert not scheduler.has_pending
    return every, crashed


@pytest.fixture
def distributed(pytester: pytest.Pytester) -> Callable[[int], pytest.Config]:
    """The configuration of a run with so many workers."""
    made: dict[int, pytest.Config] = {}

    def configure(workers: int) -> pytest.Config:
        if workers not in made:
            made[workers] = pytester.parseconfig(f"--tx={workers}*popen", "--dist=load")
        return made[workers]

    return configure


def _scheduler(config: pytest.Config) -> Scheduler:
    return SuiteScheduling(config, Producer("test", enabled=False))


ORDINARY = st.integers(0, 30).map(lambda count: [f"test_a.py::test_{i}" for i in range(count)])
MODELS = st.lists(st.integers(1, 4), min_size=1, max_size=5).map(
    lambda sizes: [
        f"eval_suites/{i % 2}.yaml::task {i}[model {model}-nf4-{i}shot]"
        for model, size in enumerate(sizes)
        for i in range(size)
    ]
)
fixture_stays = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@fixture_stays
@given(ordinary=ORDINARY, claims=MODELS, workers=st.integers(1, 5), data=st.data())
def test_each_model_is_on_one_worker_without_a_break(
    distributed: Callable[[int], pytest.Config],
    ordinary: list[str],
    claims: list[str],
    workers: int,
    data: st.DataObject,
) -> None:
    names = [*ordinary[::2], *claims, *ordinary[1::2]]
    every, _ = _run(
        _scheduler(distributed(workers)),
        names,
        workers,
        lambda count: data.draw(st.integers(0, count - 1)),
    )
    assert sorted(index for worker in every for index in worker.ran) == list(range(len(names)))
    seen: set[str] = set()
    for worker in every:
        before = ""
        for index in worker.ran:
            model = model_of(names[index])
            assert model == before or model not in seen
            seen.add(model)
            before = model


@fixture_stays
@given(ordinary=ORDINARY, claims=MODELS, workers=st.integers(1, 4), data=st.data())
def test_a_test_that_kills_its_worker_is_not_run_again_and_all_others_are(
    distributed: Callable[[int], pytest.Config],
    ordinary: list[str],
    claims: list[str],
    workers: int,
    data: st.DataObject,
) -> None:
    names = [*claims, *ordinary]
    every, crashed = _run(
        _scheduler(distributed(workers)),
        names,
        workers,
        lambda count: data.draw(st.integers(0, count - 1)),
        lambda: data.draw(st.integers(0, 9)) == 0,
    )
    ran = [names[index] for worker in every for index in worker.ran]
    assert sorted(ran + crashed) == sorted(names)


@fixture_stays
@given(ordinary=ORDINARY, workers=st.integers(1, 4), picks=st.lists(st.integers(0, 99)))
def test_a_run_without_suites_is_scheduled_as_without_the_plugin(
    distributed: Callable[[int], pytest.Config],
    ordinary: list[str],
    workers: int,
    picks: list[int],
) -> None:
    config = distributed(workers)
    sent = []
    for scheduler in (_scheduler(config), LoadScheduling(config, Producer("x", enabled=False))):
        order = iter([*picks, *[0] * 100])
        every, _ = _run(scheduler, ordinary, workers, lambda count: next(order) % count)  # noqa: B023
        sent.append([worker.sent for worker in every])
    assert sent[0] == sent[1]


def test_a_model_waits_for_no_worker_that_is_busy(
    distributed: Callable[[int], pytest.Config],
) -> None:
    names = [f"s.maxrandom.yaml::t{i}[{model}-none-4shot]" for model in "abc" for i in range(2)]
    every, _ = _run(_scheduler(distributed(2)), names, 2, lambda count: count - 1)
    slow, fast = ({model_of(names[index]) for index in worker.ran} for worker in every)
    assert len(slow) == 1
    assert len(fast) == 2


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("snarks[olmo-nf4-4shot]", "olmo-nf4"),
        ("snarks[olmo-nf4-12shot]::label_bias", "olmo-nf4"),
        ("a [b-1shot] task::x[olmo-7b-none-0shot]", "olmo-7b-none"),
        ("snarks[my-4shot]model-nf4-4shot]", "my-4shot]model-nf4"),
        ("naïve\ntask[Modell ü-int8-0shot]", "Modell ü-int8"),
    ],
)
def test_the_model_of_a_claim_is_read_from_its_id(name: str, model: str) -> None:
    assert model_of(f"eval_suites/[x-1shot].yaml::{name}") == model


def test_claims_of_other_suites_share_the_model(
    distributed: Callable[[int], pytest.Config],
) -> None:
    names = ["a.maxrandom.yaml::t[m-nf4-4shot]", "eval_suites/b.yml::u[m-nf4-0shot]"]
    assert all(claim_file(name, distributed(2)) for name in names)
    assert len(set(map(model_of, names))) == 1


@pytest.mark.parametrize(
    "name", ["tests/test_a.py::test_b[m-nf4-4shot]", "data/a.yaml::t[m-nf4-4shot]", "tests", ""]
)
def test_other_tests_are_no_claims_whatever_their_names(
    distributed: Callable[[int], pytest.Config], name: str
) -> None:
    assert not claim_file(name, distributed(2))
