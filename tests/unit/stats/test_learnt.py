"""Learnt chance, against enumeration of all arrangements."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from pytest_maxrandom.stats.arranged import pairs_of, scores_of_pairs
from pytest_maxrandom.stats.gold import right_labels
from pytest_maxrandom.stats.learnt import learnt_chance, mean_accuracies, mean_credits
from pytest_maxrandom.stats.permutation import max_t_of_credits, max_t_test
from pytest_maxrandom.stats.samples import Aggregate, How

N = 6
STRATA = [0, 0, 0, 1, 1, 2]


def everywhere(strata: list[int]) -> list[tuple[int, ...]]:
    """List all arrangements of examples within strata, the identity among them."""
    members = [[i for i, each in enumerate(strata) if each == name] for name in sorted({*strata})]
    found = []
    for parts in product(*(permutations(own) for own in members)):
        order = [0] * len(strata)
        for own, moved in zip(members, parts, strict=True):
            for place, source in zip(own, moved, strict=True):
                order[place] = source
        found.append(tuple(order))
    return found


def enumerated(answers: np.ndarray, gold: list[set[int]], strata: list[int]) -> np.ndarray:
    """Return the accuracy of each prompt under each arrangement, shape (arrangements, t)."""
    return np.array(
        [
            [np.mean([row[i] in gold[order[i]] for i in range(len(strata))]) for row in answers]
            for order in everywhere(strata)
        ]
    )


def drawn(seed: int, t: int) -> tuple[np.ndarray, list[set[int]]]:
    """Draw answers, and references that have several spellings."""
    generator = np.random.default_rng(seed)
    gold = [{*generator.integers(0, 5, size=2).tolist()} for _ in STRATA]
    return generator.integers(0, 6, size=(t, N)), gold


@pytest.mark.parametrize("seed", range(5))
def test_the_mean_of_a_prompt_is_that_of_all_arrangements(seed: int) -> None:
    answers, gold = drawn(seed, 4)
    means = mean_accuracies(answers, gold, strata=STRATA)
    assert means == pytest.approx(enumerated(answers, gold, STRATA).mean(axis=0), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_expectation_and_p_of_the_best_are_those_of_all_arrangements(seed: int) -> None:
    answers, gold = drawn(seed, 4)
    best = enumerated(answers, gold, STRATA).max(axis=1)
    test = max_t_test(answers, gold, strata=STRATA, permutations=40_000)
    found = learnt_chance(mean_accuracies(answers, gold, strata=STRATA), test)
    assert found.expected == pytest.approx(best.mean(), abs=5 * found.error + 1e-12)
    assert test.p_value == pytest.approx(np.mean(best >= test.best - 1e-12), abs=0.015)


@pytest.mark.parametrize("how", ["mean", "pass", "all"])
def test_samples_of_an_example_stay_together(how: How) -> None:
    """Two samples by what they come to, against every arrangement of the references."""
    samples, gold = drawn(7, 6)
    aggregate = Aggregate(how, 2)
    names = [*dict.fromkeys(map(frozenset, gold))]
    kinds = np.array([names.index(frozenset(own)) for own in gold])
    hit = [np.isin(samples, [*own]) for own in names]
    right = np.stack(hit, axis=-1).reshape(3, 2, N, len(names)).sum(axis=1)
    earned = aggregate.credits(right)
    scores = np.array(
        [
            earned[:, np.arange(N), kinds[[*order]]].sum(axis=1) / (N * aggregate.unit)
            for order in everywhere(STRATA)
        ]
    )
    means = mean_credits(earned, kinds, aggregate.unit, strata=STRATA)
    assert means == pytest.approx(scores.mean(axis=0), abs=1e-12)
    test = max_t_of_credits(earned, kinds, unit=aggregate.unit, strata=STRATA, permutations=20_000)
    found = learnt_chance(means, test)
    assert found.expected == pytest.approx(scores.max(axis=1).mean(), abs=5 * found.error + 1e-12)
    observed = scores[everywhere(STRATA).index(tuple(range(N)))].max()
    p = np.mean(scores.max(axis=1) >= observed - 1e-12)
    assert test.p_value == pytest.approx(p, abs=0.02)


def test_one_prompt_is_expected_to_reach_its_mean_exactly() -> None:
    answers, gold = drawn(1, 1)
    test = max_t_test(answers, gold, strata=STRATA, permutations=50)
    means = mean_accuracies(answers, gold, strata=STRATA)
    assert learnt_chance(means, test) == (means[0], means[0], 0.0)


def test_whole_clusters_take_each_others_references() -> None:
    groups = ["a", "a", "b", "b", "c", "c"]
    answers, gold = drawn(2, 3)
    orders = [
        [2 * place + at for place in clusters for at in (0, 1)]
        for clusters in permutations(range(3))
    ]
    expected = np.mean(
        [[np.mean([row[i] in gold[o[i]] for i in range(N)]) for row in answers] for o in orders],
        axis=0,
    )
    found = mean_accuracies(answers, gold, strata=[0] * N, groups=groups)
    assert found == pytest.approx(expected, abs=1e-12)


def test_others_without_answers_raise_what_is_expected() -> None:
    answers, gold = drawn(3, 3)
    best = enumerated(answers, gold, STRATA)
    test = max_t_test(answers, gold, strata=STRATA, permutations=20_000)
    alone = max_t_test(answers[[test.best_prompt]], gold, strata=STRATA, permutations=20_000)
    found = learnt_chance(mean_accuracies(answers, gold, strata=STRATA), test, alone, 2)
    of_one = best[:, test.best_prompt]
    values = np.unique(best)
    below = [np.mean(best.max(axis=1) <= v) * np.mean(of_one <= v) ** 2 for v in values]
    exact = np.sum(values * np.diff(below, prepend=0.0))
    assert found.expected == pytest.approx(exact, abs=6 * found.error)
    assert found.expected > learnt_chance(np.zeros(3), test).expected


def test_many_labels_are_looked_at_by_pairs_with_the_same_numbers() -> None:
    generator = np.random.default_rng(5)
    n, labels = 60, 80
    gold = generator.integers(0, labels, size=n)
    answers = np.where(generator.random((7, n)) < 0.2, gold, generator.integers(0, labels, (7, n)))
    answers[0, :9] = -1
    right = np.array([[label in own for label in range(labels)] for own in right_labels(gold)])
    pairs = pairs_of(answers, right)
    assert pairs is not None
    observed, best = scores_of_pairs(answers, right, pairs)
    asked = answers >= 0
    orders = np.array([np.arange(n), *(generator.permutation(n) for _ in range(20))])
    exact = [((answers == gold[o]) & asked).sum(axis=1) / asked.sum(axis=1) for o in orders]
    assert observed.tolist() == exact[0].tolist()
    assert best(orders).tolist() == [each.max() for each in exact]
    assert pairs_of(answers[:, :5] % 3, right[:5, :3]) is None
