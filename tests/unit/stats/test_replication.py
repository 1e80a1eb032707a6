"""What single replicates conclude."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pytest_maxrandom.stats.noncentral import conditional_likelihood
from pytest_maxrandom.stats.paired import Pairs, paired
from pytest_maxrandom.stats.replication import contradicting_share, unreplicated

N = 200


def study(
    seed: int, *, tasks: int = 12, replicates: int = 8, effect: float = 0.0, spread: float = 0.0
) -> Pairs:
    """Simulate pairs: replicates share their task's level; effects spread, in log odds."""
    generator = np.random.default_rng(seed)
    shape = (tasks, replicates)
    level = generator.normal(0, 0.7, (tasks, 1))
    shift = (effect + generator.normal(0, spread, shape)) / 2
    a, b = (generator.binomial(N, 1 / (1 + np.exp(-level - s * shift))) for s in (1, -1))
    names = [f"task {task}" for task in range(tasks) for _ in range(replicates)]
    numbers = [*range(replicates)] * tasks
    n = np.full(tasks * replicates, N)
    return paired(names, numbers, a.ravel(), n, b.ravel(), n)


def test_a_clear_effect_is_found_by_every_draw() -> None:
    found = unreplicated(study(0, effect=0.8), slices=50)
    assert found.all_replicates == "better"
    assert found.model == found.sign_flip == {"better": 1.0, "worse": 0.0, "not shown": 0.0}
    assert (found.model_contradicts, found.sign_flip_contradicts, found.outside) == (0, 0, 1)


def test_swapping_the_arms_swaps_better_and_worse() -> None:
    pairs = study(1, effect=0.15, spread=0.3)
    exchanged = replace(
        pairs,
        correct_a=pairs.correct_b,
        n_a=pairs.n_b,
        correct_b=pairs.correct_a,
        n_b=pairs.n_a,
    )
    found, swapped = unreplicated(pairs, slices=60), unreplicated(exchanged, slices=60)
    assert found.sign_flip["better"] == swapped.sign_flip["worse"] > 0
    assert found.model["better"] == swapped.model["worse"]
    assert found.sign_flip_contradicts == pytest.approx(swapped.sign_flip_contradicts)
    assert found.difference_low == pytest.approx(-swapped.difference_high)
    assert found.outside == swapped.outside


def test_the_order_of_the_replicates_does_not_matter() -> None:
    pairs = study(2, spread=0.3)
    order = np.random.default_rng(0).permutation(len(pairs))
    shuffled = paired(
        [pairs.names[task] for task in pairs.task[order]],
        [int(k) for k in pairs.replicate[order]],
        *(counts[order] for counts in (pairs.correct_a, pairs.n_a, pairs.correct_b, pairs.n_b)),
    )
    assert unreplicated(shuffled, slices=40) == unreplicated(pairs, slices=40)


def test_draws_of_a_single_replicate_are_all_alike() -> None:
    pairs = study(3, replicates=1, effect=0.2, spread=0.3)
    found = unreplicated(pairs, slices=10)
    assert found.difference_low == pytest.approx(found.difference_high)
    assert {*found.model.values(), *found.sign_flip.values()} == {0.0, 1.0}
    assert found.sign_flip[found.all_replicates] == 1
    effect = conditional_likelihood(pairs).posterior(0.89)
    excluded = effect.low > 0 or effect.high < 0
    assert found.model["not shown"] == (not excluded)
    assert found.outside == (abs(effect.mean) > 0.04)


def test_rows_of_the_same_replicate_are_drawn_together() -> None:
    """In replicate 0 both rows favour a, in replicate 1 both favour b: no draw mixes them."""
    rows = [(task, k, 150 - 100 * k, 100) for task in "abcdef" for k in (0, 1) for _ in range(2)]
    task, replicate, a, b = (list(column) for column in zip(*rows, strict=True))
    pairs = paired(task, replicate, a, [N] * len(a), b, [N] * len(b))
    found = unreplicated(pairs, slices=300)
    # The mean of six differences of +.25 or -.25: a mixed replicate would have 0.
    possible = {0.25 * (k - 3) / 3 for k in range(7)}
    for end in (found.difference_low, found.difference_high):
        assert min(abs(end - value) for value in possible) < 1e-9


def test_a_seed_repeats_the_draws() -> None:
    pairs = study(4, spread=0.3)
    first, again, other = (unreplicated(pairs, slices=30, seed=seed) for seed in (1, 1, 2))
    assert first == again != other


def test_with_binomial_pairs_both_keep_their_level_and_with_more_variance_only_the_sign_flip() -> (
    None
):
    plain = unreplicated(study(5, tasks=14, replicates=40), slices=400)
    wide = unreplicated(study(5, tasks=14, replicates=40, spread=0.6), slices=400)
    assert 1 - plain.model["not shown"] == pytest.approx(0.11, abs=0.07)
    assert 1 - plain.sign_flip["not shown"] == pytest.approx(0.11, abs=0.07)
    assert 1 - wide.model["not shown"] > 0.3
    assert 1 - wide.sign_flip["not shown"] == pytest.approx(0.11, abs=0.07)


@pytest.mark.parametrize(
    ("options", "said"),
    [({"slices": 0}, "slices must be at least 1"), ({"confidence": 0.0}, "confidence must be")],
)
def test_arguments_outside_their_domain_are_refused(options: dict[str, int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        unreplicated(study(0), **options)


@pytest.mark.parametrize(
    ("verdicts", "share"),
    [([True], 0.0), ([True, False], 0.5), ([False] * 7 + [True] * 3, 0.3), ("aab", 1 / 3)],
)
def test_the_contradicting_share_is_that_of_the_minority(
    verdicts: list[bool], share: float
) -> None:
    assert contradicting_share(verdicts) == pytest.approx(share)


def test_no_verdict_has_no_majority() -> None:
    with pytest.raises(ValueError, match="at least one verdict"):
        contradicting_share([])
