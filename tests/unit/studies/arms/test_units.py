"""Units of a comparison: examples or their clusters, prompts, replicates, all crossed."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from pytest_maxrandom.studies.arms.answers import PairedAnswers
from pytest_maxrandom.studies.arms.reduction import Difference
from tests.unit.studies.arms.made import answers, random_answers

LEVEL = 0.05


def most(runs: int) -> float:
    """Return what an estimated rate of .05 stays below with probability .999 (binomial)."""
    return LEVEL + 3.1 * math.sqrt(LEVEL * (1 - LEVEL) / runs)


def paired(differences: np.ndarray, names: range | None = None) -> PairedAnswers:
    """Return answers of two arms of which only the first, only the second or neither is right."""
    examples = tuple(map(str, names or range(differences.shape[1])))
    known = np.ones(differences.shape, dtype=np.bool_)
    return PairedAnswers(examples, differences > 0, differences < 0, known)


def test_six_prompts_are_units_and_five_are_not() -> None:
    made = random_answers(1, t=6, n=20)
    fewer = dataclasses.replace(
        made, first=made.first[:5], second=made.second[:5], evaluated=made.evaluated[:5]
    )
    assert Difference([made]).counted == {"examples": 20, "prompts": 6}
    assert Difference([fewer]).counted == {"examples": 20}


def test_prompts_of_all_replicates_count_where_they_differ() -> None:
    made = [random_answers(k, t=3, n=10) for k in range(2)]
    assert "prompts" not in Difference(made).counted
    own = [dataclasses.replace(each, prompts=tuple(f"{k}{j}" for j in range(3)))
           for k, each in enumerate(made)]  # fmt: skip
    assert Difference(own).counted["prompts"] == 6


def test_prompts_that_disagree_tell_no_difference_however_many_the_examples() -> None:
    # Half of the prompts gain by an arm and half of them lose, but for one: 8 units, not 2,000.
    rows = np.repeat([[1.0]] * 5 + [[-1.0]] * 3, 250, axis=1)
    found = Difference([paired(rows)])
    assert found.tests["examples"].p_value() < 0.001
    assert found.units == "prompts"
    assert found.p_value() == pytest.approx(186 / 256)  # P(at least 5 of 8 on one side)


def test_clusters_are_the_units_of_their_examples() -> None:
    # Five examples of each of eight passages answer alike.
    own = random_answers(4, t=1, n=8)
    copies = PairedAnswers(
        tuple(map(str, range(40))),
        np.repeat(own.first, 5, axis=1),
        np.repeat(own.second, 5, axis=1),
        np.repeat(own.evaluated, 5, axis=1),
        clusters=tuple(f"passage {k // 5}" for k in range(40)),
    )
    found, alone = Difference([copies]), Difference([own])
    assert found.counted == {"clusters": 8}
    assert found.p_value() == alone.p_value()
    assert found.interval(0.9) == pytest.approx(alone.interval(0.9))
    by_examples = Difference([dataclasses.replace(copies, clusters=None)])
    assert by_examples.p_value() < found.p_value()


def test_an_example_without_cluster_stands_alone() -> None:
    one, names = [1, 1, 0, 1, 0, 0], ("x", "x", None, None, "y", "y")
    made = dataclasses.replace(answers([one], [[0] * 6]), clusters=names)
    assert Difference([made]).counted == {"clusters": 4}
    assert Difference([made]).mean == pytest.approx(0.5)


def passed(found: Difference) -> bool:
    """Return whether `better: 0` holds; an interval above 0 must say the same."""
    holds = found.p_greater() <= LEVEL
    low, _ = found.interval(1 - 2 * LEVEL)
    assert (low >= 0) is holds or abs(low) < 1e-4
    return holds


@pytest.mark.slow
@pytest.mark.parametrize(("n", "t"), [(100, 20), (50, 50)])
def test_rare_total_losses_beside_small_gains_pass_for_no_difference(n: int, t: int) -> None:
    # The mean is 0: an example in 100 is lost by all prompts, the others gain a little. Flipped
    # signs alone call the first arm better in .36 and .60 of the runs.
    runs, generator = 100, np.random.default_rng(5)
    flipped = guarded = 0
    for _ in range(runs):
        gains = (generator.random((t, n)) < 0.01 / 0.99).astype(float)
        found = Difference([paired(np.where(generator.random(n) < 0.01, -1, gains))])
        flipped += found.tests["examples"].p_greater() <= LEVEL
        guarded += passed(found)
    assert flipped / runs > 2 * most(runs)
    assert guarded / runs <= most(runs)


@pytest.mark.slow
def test_small_gains_without_losses_are_seen_where_examples_are_enough() -> None:
    # Beside 500 examples a loss of as much as they gain would have been seen.
    runs, generator = 40, np.random.default_rng(6)
    found = [Difference([paired((generator.random((20, 500)) < 0.02).astype(float))])
             for _ in range(runs)]  # fmt: skip
    assert np.mean([passed(each) for each in found]) > 0.8


def interacting(
    generator: np.random.Generator, t: int, n: int, *, mean: float, example: float
) -> PairedAnswers:
    """Return answers whose arms differ by prompt (sd .03) and by example."""
    effect = generator.normal(mean, 0.03, (t, 1)) + generator.normal(0, example, (1, n))
    differ = np.maximum(0.03, abs(effect) / 2)
    drawn = generator.random((t, n))
    gains, losses = drawn < differ + effect / 2, drawn > 1 - differ + effect / 2
    return paired(gains.astype(float) - losses)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("t", "n", "example", "lost"),
    [(10, 1000, 0.0, True), (6, 400, 0.0, True), (20, 200, 0.1, False), (10, 100, 0.1, False)],
)
def test_prompts_that_react_to_an_arm_pass_for_no_difference(
    t: int, n: int, example: float, lost: bool
) -> None:
    runs, generator = 100, np.random.default_rng(t)
    found = [
        Difference([interacting(generator, t, n, mean=0, example=example)]) for _ in range(runs)
    ]
    assert np.mean([each.p_value() <= LEVEL for each in found]) <= most(runs)
    assert np.mean([each.p_greater() <= LEVEL for each in found]) <= most(runs)
    if lost:
        by_examples = [each.tests["examples"].p_value() <= LEVEL for each in found]
        assert np.mean(by_examples) > 2 * most(runs)


@pytest.mark.slow
def test_a_difference_on_new_prompts_is_found() -> None:
    generator = np.random.default_rng(8)
    found = [Difference([interacting(generator, 20, 400, mean=0.04, example=0.1)])
             for _ in range(60)]  # fmt: skip
    assert np.mean([each.p_greater() <= LEVEL for each in found]) > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(4,) * 25, (1,) * 20 + (4,) * 10 + (8,) * 5])
def test_clusters_that_react_alike_pass_for_no_difference(sizes: tuple[int, ...]) -> None:
    runs, generator = 150, np.random.default_rng(len(sizes))
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    by_clusters = by_examples = 0
    for _ in range(runs):
        reacts = generator.choice([-1.0, 0.0, 1.0], len(sizes), p=[0.3, 0.4, 0.3])[clusters]
        made = paired(np.where(generator.random((1, len(clusters))) < 0.8, reacts, 0))
        told = dataclasses.replace(made, clusters=tuple(clusters.tolist()))
        by_clusters += Difference([told]).p_value() <= LEVEL
        by_examples += Difference([made]).p_value() <= LEVEL
    assert by_examples / runs > 2 * most(runs)
    assert by_clusters / runs <= most(runs)
