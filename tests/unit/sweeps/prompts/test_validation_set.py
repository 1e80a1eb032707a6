"""The validation set: a seeded subsample that is hard to disturb."""

from __future__ import annotations

import hashlib
from collections import Counter

from hypothesis import given, strategies as st
from scipy.stats import chisquare

from pytest_maxrandom.suite.tasks import ValidationSpec
from pytest_maxrandom.sweeps.prompts.sampling import validation_set
from pytest_maxrandom.tasks.task import Task
from tests.unit.sweeps.prompts.examples import example, task_of


def ids(task: Task, most: int, seed: int = 0) -> list[str]:
    return [e.id for e in validation_set(task, ValidationSpec(max_examples=most, seed=seed))]


def test_a_small_task_is_used_whole_and_in_its_order() -> None:
    assert ids(task_of(5), 5) == ids(task_of(5), 200) == ["e0", "e1", "e2", "e3", "e4"]


def test_examples_are_ranked_by_the_sha_256_of_seed_and_id() -> None:
    def rank(name: str) -> str:
        return hashlib.sha256(f"1:7{len(name)}:{name}".encode()).hexdigest()

    everything = [f"e{number}" for number in range(30)]
    kept = sorted(everything, key=rank)[:10]
    assert ids(task_of(30), 10, seed=7) == [name for name in everything if name in kept]


@given(st.permutations(range(12)), st.integers(1, 12), st.integers(0, 3))
def test_the_order_of_the_file_changes_nothing_but_the_order(
    order: list[int], most: int, seed: int
) -> None:
    task = task_of(12)
    mixed = Task("t", tuple(task.examples[place] for place in order))
    assert set(ids(mixed, most, seed)) == set(ids(task, most, seed))


@given(st.integers(0, 5), st.integers(0, 100))
def test_an_added_example_takes_at_most_its_own_place(added: int, seed: int) -> None:
    before, after = set(ids(task_of(40), 20, seed)), set(ids(task_of(40 + added), 20, seed))
    assert len(before - after) <= added
    assert all(int(name[1:]) >= 40 for name in after - before)


def test_the_contents_of_examples_do_not_change_who_is_drawn() -> None:
    changed = Task("u", tuple(example(e.id, "other", right=1) for e in task_of(40).examples))
    assert ids(changed, 20) == ids(task_of(40), 20)


def test_every_example_is_drawn_equally_often_over_seeds() -> None:
    times = Counter(name for seed in range(1500) for name in ids(task_of(10), 3, seed))
    # Draws without replacement vary less than multinomial counts, by (10 - 3)/(10 - 1).
    statistic = chisquare(list(times.values())).statistic / (7 / 9)
    assert len(times) == 10
    assert statistic < 33.7  # the 0.9999 quantile of chi-square with 9 degrees of freedom
