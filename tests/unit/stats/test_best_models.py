"""Several models on the same examples, compared with SciPy, exact sums and their own laws."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.stats.best_models import best_models
from pytest_maxrandom.stats.multiplicity import holm

N = 80


def sweep(seed: int, rate: float, prompts: int = 1, n: int = N) -> np.ndarray:
    """Return which answers of some prompts are right."""
    return (np.random.default_rng(seed).random((prompts, n)) < rate).astype(float)


def mcnemar(one: np.ndarray, other: np.ndarray) -> float:
    """Return the one-sided p-value of "one is right more often"."""
    wins, losses = int((one > other).sum()), int((one < other).sum())
    return float(stats.binomtest(wins, wins + losses, alternative="greater").pvalue)


def test_of_one_prompt_each_it_is_mcnemars_test_and_holms_method_over_ordered_pairs() -> None:
    models = [sweep(seed, rate) for seed, rate in ((1, 0.85), (2, 0.7), (3, 0.6), (4, 0.45))]
    found = best_models(models, intervals=False)
    pairs = [*permutations(range(4), 2)]
    assert [(each.first, each.second) for each in found.orders] == pairs
    ps = [mcnemar(models[a][0], models[b][0]) for a, b in pairs]
    higher = [each.difference > 0 for each in found.orders]
    expected = [p if up else 1.0 for p, up in zip(ps, higher, strict=True)]
    assert [each.p for each in found.orders] == pytest.approx(expected)
    assert [each.holm for each in found.orders] == pytest.approx(holm(expected))
    for b in range(4):
        least = min(p for (_, second), p in zip(pairs, expected, strict=True) if second == b)
        assert found.not_best[b] == pytest.approx(min(1.0, 3 * least))
    assert found.among_best == tuple(b for b in range(4) if found.not_best[b] > 0.05)


def test_the_best_of_t_must_beat_every_prompt_of_the_other_and_pays_for_its_own_choice() -> None:
    large, small = sweep(5, 0.85, prompts=6), sweep(6, 0.55, prompts=9)
    found = best_models([large, small], intervals=False)
    best = large[int(large.mean(axis=1).argmax())]
    hardest = max(mcnemar(best, other) for other in small)
    assert found.orders[0].p == pytest.approx(6 * hardest)
    more = best_models([large, small], tried=[10, 12], intervals=False)
    hidden = (10 - 6) + (12 - 9)
    assert more.orders[0].p == pytest.approx(min(1.0, 10 * (1 + hidden) * hardest))


@pytest.mark.parametrize("kind", ["right or wrong", "graded", "clustered", "left out"])
def test_order_and_names_of_models_and_examples_change_nothing(kind: str) -> None:
    generator = np.random.default_rng(7)
    models = [sweep(seed, rate, 3, 30) for seed, rate in ((8, 0.9), (9, 0.75), (10, 0.5))]
    clusters = None
    if kind == "graded":
        models = [np.round(generator.random((3, 30)) * rate, 1) for rate in (1, 0.8, 0.4)]
    if kind == "clustered":
        clusters = [f"c{place // 2}" for place in range(30)]
    if kind == "left out":
        models[1][0, 3] = models[2][1, 4] = np.nan
    found = best_models(models, clusters=clusters)
    order, shuffled = [2, 0, 1], generator.permutation(30)
    moved = best_models(
        [models[place][:, shuffled] for place in order],
        clusters=None if clusters is None else [f"x{clusters[place]}" for place in shuffled],
    )
    assert {order[place] for place in moved.among_best} == {*found.among_best}
    assert [moved.not_best[order.index(place)] for place in range(3)] == pytest.approx(
        found.not_best
    )
    for each in found.orders:
        same = next(
            other
            for other in moved.orders
            if (order[other.first], order[other.second]) == (each.first, each.second)
        )
        assert (same.p, same.low, same.high) == pytest.approx(
            (each.p, each.low, each.high), abs=2e-4
        )


@pytest.mark.parametrize("seed", range(4))
def test_intervals_and_orders_say_the_same(seed: int) -> None:
    models = [sweep(3 * seed + place, 0.9 - 0.15 * place, 2) for place in range(3)]
    found = best_models(models)
    pairs = len(found.orders)
    for each in found.orders:
        assert each.low <= each.difference <= each.high
        opposite = next(o for o in found.orders if (o.first, o.second) == (each.second, each.first))
        assert (each.difference, each.low) == pytest.approx((-opposite.difference, -opposite.high))
        assert (each.low >= 0) == (pairs * each.p <= 0.05)


def test_the_highest_score_is_always_among_the_best() -> None:
    for seed in range(20):
        models = [sweep(100 * seed + place, 0.6, 4, 12) for place in range(4)]
        found = best_models(models, alpha=0.4, intervals=False)
        assert found.means.index(max(found.means)) in found.among_best


def test_equal_models_are_never_told_apart() -> None:
    one = sweep(11, 0.7, 3)
    found = best_models([one, one, one[::-1]])
    assert found.among_best == (0, 1, 2)
    assert {each.p for each in found.orders} == {1.0}
    assert all(each.low < 0 < each.high for each in found.orders)


@pytest.mark.parametrize(
    ("models", "told", "message"),
    [
        ([[[1, 0]]], {}, "found 1 models, expected at least two"),
        ([[[1, 0]], [[1, 0, 1]]], {}, r"must have the shape \(k, n\)"),
        ([[[1, 0]], [[1, 2]]], {}, "numbers from 0 to 1"),
        ([[[1, 0]], [[np.nan, np.nan]]], {}, "was scored on no example"),
        ([[[1, 0]], [[1, 0]]], {"tried": [1]}, "tried has 1 numbers, but there are 2 models"),
        ([[[1, 0]], [[1, 0]]], {"tried": [0, 1]}, "tried"),
        ([[[1, 0]], [[1, 0]]], {"clusters": ["a"]}, "clusters names 1 examples"),
        ([[[1, 0]], [[1, 0]]], {"alpha": 2}, "alpha"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    models: object, told: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        best_models(models, **told)  # type: ignore[arg-type]


def test_with_many_examples_whites_test_beside_each_prompt_pays_for_the_choice() -> None:
    models = [sweep(40 + place, rate, 4, 300) for place, rate in enumerate((0.8, 0.7, 0.66))]
    found = best_models(models)
    assert found.test == "resampled"
    counts = np.random.default_rng(1).multinomial(300, np.full(300, 1 / 300), 4000)
    rises = [counts @ each.T / 300 - each.mean(axis=1) for each in models]

    def by_hand(firsts: list[int], second: int) -> float:
        best = max(models[each].mean(axis=1).max() for each in firsts)
        highest = np.max([rises[each].max(axis=1) for each in firsts], axis=0)
        gaps = best - models[second].mean(axis=1) - 1e-9
        return float(max((highest - rises[second][:, k] >= gaps[k]).mean() for k in range(4)))

    for each in found.orders:
        expected = by_hand([each.first], each.second) if each.difference > 0 else 1.0
        assert each.p == pytest.approx(expected, abs=0.03)
        assert (each.low >= -1e-6) == (each.p <= 0.05 / 6)
    assert found.not_best[1] == pytest.approx(by_hand([0, 2], 1), abs=0.03)


@pytest.mark.parametrize("kind", ["few examples", "one prompt", "hidden", "graded", "left out"])
def test_where_resamples_are_no_test_or_of_no_use_it_is_exact(kind: str) -> None:
    n = 150 if kind == "few examples" else 250
    models = [sweep(seed, 0.7, 1 if kind == "one prompt" else 3, n) for seed in (50, 51)]
    tried = [3, 4] if kind == "hidden" else None
    if kind in ("graded", "left out"):
        models[0][0, 0] = 0.5 if kind == "graded" else np.nan
    assert best_models(models, tried=tried, intervals=False).test == "exact"
    whole = [sweep(seed, 0.7, 3, 250) for seed in (50, 51)]
    assert best_models(whole, intervals=False).test == "resampled"
