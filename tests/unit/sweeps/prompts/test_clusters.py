"""Clusters are drawn whole, and no demonstration tells what is asked about."""

from __future__ import annotations

import dataclasses

import pytest

from pytest_maxrandom.suite.prompts import PromptsSpec
from pytest_maxrandom.suite.tasks import ValidationSpec
from pytest_maxrandom.sweeps.prompts.sampling import NoPrompts, draw_prompts, validation_set
from pytest_maxrandom.tasks.task import Task
from tests.notes import sentences
from tests.unit.sweeps.prompts.examples import draw, task_of


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
