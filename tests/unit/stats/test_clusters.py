"""What examples that hang together are worth: stated clusters, and copies that are found."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import binomtest

from pytest_maxrandom.stats import copies
from pytest_maxrandom.stats.clusters import design_effect, effective_n, follows, summary
from pytest_maxrandom.stats.copies import answered_alike
from pytest_maxrandom.stats.winner import wilson


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [((1,) * 7, 7), ((4,) * 25, 25), ((100,), 1), ((1, 2, 3), 36 / 14), ((50, *[1] * 50), 3.9216)],
)
def test_the_effective_n_is_that_of_kish(sizes: tuple[int, ...], expected: float) -> None:
    clusters = np.repeat(np.arange(len(sizes)), sizes)
    assert effective_n(clusters.tolist()) == pytest.approx(expected, abs=1e-4)


def test_it_is_the_n_whose_mean_varies_as_much_where_clusters_are_answered_alike() -> None:
    sizes, p = (1, 2, 2, 5), 0.3
    # All ways in which whole clusters are right or wrong, with their probabilities.
    means, chances = [], []
    for right in product((0, 1), repeat=len(sizes)):
        means.append(np.dot(right, sizes) / sum(sizes))
        chances.append(np.prod(np.where(right, p, 1 - p)))
    mean = np.dot(means, chances)
    variance = np.dot((np.array(means) - mean) ** 2, chances)
    assert p * (1 - p) / variance == pytest.approx(effective_n("abbccddddd"))


def test_no_stated_cluster_is_no_cluster() -> None:
    assert summary([None, None]) == (None, None)
    assert summary(["a", "a", None, None]) == (3, 16 / 6)
    with pytest.raises(ValueError, match="at least one example"):
        effective_n([])


def test_right_answers_that_are_one_in_each_cluster_cost_what_kish_says() -> None:
    clusters = [place // 4 for place in range(100)]
    gold = [frozenset({place // 4 % 2}) for place in range(96)] + [frozenset({0})] * 4
    assert 100 / design_effect(gold, clusters) == pytest.approx(effective_n(clusters), rel=0.01)


def test_right_answers_that_do_not_follow_cost_nothing_on_average() -> None:
    rng = np.random.default_rng(5)
    clusters = [place // 4 for place in range(100)]
    gold = [{0}] * 30 + [{1}] * 70
    effects = [
        design_effect([gold[place] for place in rng.permutation(100)], clusters)
        for _ in range(2000)
    ]
    # As shares are known of these 100 examples only, (n - sum of squared sizes / n) / (n - 1).
    assert np.mean(effects) == pytest.approx(96 / 99, abs=0.02)


def test_several_right_answers_count_each() -> None:
    gold = [{0, 1}, {0, 1}, {2}, {2}]
    assert design_effect(gold, "aabb") == pytest.approx(2)
    assert design_effect(gold, "abab") == pytest.approx(0)
    assert design_effect([{1}] * 4, "aabb") == 1


def test_the_p_of_right_answers_that_follow_is_exact_and_keeps_its_level() -> None:
    # Of the 6 ways to place two of four labels, 2 follow the clusters as far.
    assert follows([{0}, {0}, {1}, {1}], "aabb", 20_000) == pytest.approx(1 / 3, abs=0.015)
    rng = np.random.default_rng(1)
    clusters = [place // 5 for place in range(60)]
    low = sum(
        follows([{int(label)} for label in rng.integers(2, size=60)], clusters, 99, seed) <= 0.1
        for seed in range(300)
    )
    assert low <= 44  # the .999 quantile of Bin(300, .1)


def test_wilsons_interval_of_an_effective_n_is_that_of_so_many_examples() -> None:
    expected = binomtest(18, 25).proportion_ci(0.95, method="wilson")
    assert wilson(72, 100, effective_n=25) == pytest.approx(tuple(expected))
    assert wilson(72, 100, effective_n=100) == wilson(72, 100)
    assert wilson(0, 8, effective_n=2.5)[0] == 0
    assert wilson(8, 8, effective_n=2.5)[1] == 1
    for worth in (0, 101):
        with pytest.raises(ValueError, match="expected 0 < effective_n <= n = 100"):
            wilson(72, 100, effective_n=worth)


def test_an_interval_of_clusters_that_are_answered_alike_covers() -> None:
    """Whatever the accuracy, on average; with n in place of the effective n it does not."""
    rng = np.random.default_rng(2)
    truth = rng.uniform(0.2, 0.8, size=4000)
    right = 4 * rng.binomial(25, truth)
    for worth, expected in ((25, 0.95), (100, 0.67)):
        intervals = np.array([wilson(each, 100, effective_n=worth) for each in right.tolist()])
        held = (intervals[:, 0] <= truth) & (truth <= intervals[:, 1])
        assert held.mean() == pytest.approx(expected, abs=0.015)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("at_once", [(512, 1_024), (4, 7)])
def test_pairs_are_those_that_all_prompts_answer_alike(
    seed: int, at_once: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "_PROMPTS", at_once[0])
    monkeypatch.setattr(copies, "_ROWS", at_once[1])
    generator = np.random.default_rng(seed)
    gold = generator.integers(0, 3, 40)
    known = generator.random(40) * 0.9
    answers = np.where(generator.random((13, 40)) < known, gold, generator.integers(0, 3, (13, 40)))
    answers[:, :8] = answers[:, generator.integers(8, 40, 8)]
    found = answered_alike(answers.astype(np.int8), gold.tolist())
    assert len(np.unique(answers, axis=0)) == 13
    usual = np.empty_like(answers)
    for right in range(3):
        own = gold == right
        times = [(answers[:, own] == label).sum(axis=1) for label in range(3)]
        usual[:, own] = np.argmax(times, axis=0)[:, None]
    unlike = (answers != usual).sum(axis=0)
    least = 1 if found.told == "untold" else 3
    expected = [
        (one, other)
        for one, other in combinations(range(40), 2)
        if min(unlike[[one, other]]) >= least and (answers[:, one] == answers[:, other]).all()
    ]
    assert found.pairs == expected
    assert found.pairs
