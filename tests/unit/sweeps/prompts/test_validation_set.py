"""The validation set: a seeded subsample that is hard to disturb."""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter

import pytest
from hypothesis import given, strategies as st
from scipy.stats import chisquare

from pytest_maxrandom.suite.prompts import PromptsSpec
from pytest_maxrandom.suite.tasks import ValidationSpec
from pytest_maxrandom.sweeps.prompts.sampling import NoPrompts, draw_prompts, validation_set
from pytest_maxrandom.tasks.task import Task
from tests.notes import sentences
from tests.unit.sweeps.prompts.examples import draw, example, task_of


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


def clustered(size: int, each: int) -> Task:
    """Return a task in clusters of so many examples that stand apart in its file."""
    task, many = task_of(size), size // each
    return Task(
        "t",
        tuple(
            dataclasses.replace(example, cluster=f"p{place % many}")
            for place, example in enumerate(task.examples)
        ),
    )


def chosen(task: Task, most: int, seed: int = 0) -> list[str | None]:
    spec = ValidationSpec(max_examples=most, seed=seed)
    return [example.cluster for example in validation_set(task, spec)]


@pytest.mark.parametrize("seed", range(5))
def test_a_subsample_holds_whole_clusters(seed: int) -> None:
    found = chosen(clustered(80, 4), 30, seed)
    assert len(found) == 28
    assert {found.count(cluster) for cluster in found} == {4}


def test_seeds_draw_other_clusters_and_the_order_of_the_file_does_not() -> None:
    task = clustered(80, 4)
    turned = Task("t", task.examples[::-1])
    assert set(chosen(task, 20)) == set(chosen(turned, 20))
    assert len({frozenset(chosen(task, 20, seed)) for seed in range(10)}) == 10


def test_a_cluster_that_does_not_fit_leaves_its_place_to_others() -> None:
    task = clustered(12, 2)
    large = tuple(dataclasses.replace(each, cluster="large") for each in task_of(40).examples[20:])
    found = chosen(Task("t", task.examples + large), 12)
    assert len(found) == 12
    assert "large" not in found


def test_a_task_of_which_no_cluster_fits_is_told() -> None:
    with pytest.raises(NoPrompts, match="the smallest cluster of t has 10 examples, and `valid"):
        chosen(clustered(40, 10), 9)


def test_clusters_of_one_are_drawn_like_examples_are() -> None:
    assert len(chosen(clustered(30, 1), 7)) == 7


@pytest.mark.parametrize("seed", range(3))
def test_demonstrations_come_from_clusters_that_no_validation_example_is_of(seed: int) -> None:
    task = clustered(80, 4)
    found = draw(task, 2, n=40, validation_seed=seed, count=100, demonstrations="outside")
    asked = {example.cluster for example in found.validation}
    shown = {each.cluster for prompt in found.prompts for each in prompt.demonstrations}
    assert shown
    assert not shown & asked
    assert not sentences(found.notes)


def test_examples_that_would_tell_are_counted() -> None:
    task = clustered(80, 4)
    validation = task.examples[:40]  # half of each cluster
    extra = tuple(dataclasses.replace(each, cluster="q") for each in task_of(90).examples[80:])
    whole = Task("t", task.examples + extra)
    spec = PromptsSpec(shots=[2], count=20, demonstrations="outside")
    found = draw_prompts(whole, validation, spec, 2)
    assert found.pool == 10
    assert sentences(found.notes) == (
        "Examples never used as demonstrations, because they belong to the cluster of a "
        "validation example: 40.",
    )


def test_demonstrations_from_the_validation_set_may_tell_and_that_is_said() -> None:
    found = draw(clustered(40, 4), 2, count=20, demonstrations="leave_out")
    assert sentences(found.notes)[0] == (
        "Demonstrations may belong to the cluster of the example that follows them, because they "
        "come from the validation set: 40 of its 40 examples share their cluster with another one."
    )
    assert not draw(clustered(40, 1), 2, count=20, demonstrations="leave_out").notes
