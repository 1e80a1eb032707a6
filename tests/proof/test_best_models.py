"""Which model is the best: how often the truly best one is left out, and a wrong order is told.

All models are equally good, which is where an order is told wrongly most often; a common part of
each example lets models, and the prompts of a model, answer alike.
"""

from __future__ import annotations

from itertools import combinations, permutations, product
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.stats.best_models import best_models
from pytest_maxrandom.stats.multiplicity import holm
from pytest_maxrandom.stats.paired import mcnemar
from tests.proof.scale import affordable, most, scaled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tests.proof.conftest import Measured

    Scores = NDArray[np.float64]

pytestmark = pytest.mark.proof

RATE, LEVEL = 0.7, 0.05
RUNS = scaled(2000, 10)
RESAMPLES = 1999


def drawn(
    generator: np.random.Generator,
    rates: Sequence[float],
    t: int,
    n: int,
    rho: float,
    size: int = 1,
) -> tuple[list[Scores], NDArray[np.int64]]:
    """Return the right answers of t prompts of each model, and the cluster of each example."""
    groups = np.arange(n) // size
    units = int(groups[-1]) + 1
    shared = np.sqrt(rho) * generator.standard_normal(units)[groups]
    models = []
    for rate in rates:
        own = np.sqrt(1 - rho) * generator.standard_normal((t, n))
        if size > 1:
            own = np.sqrt(1 - rho) * generator.standard_normal((t, units))[:, groups]
        models.append((shared + own > NormalDist().inv_cdf(1 - rate)).astype(float))
    return models, groups


@pytest.mark.parametrize(
    ("n", "many"),
    affordable(product((60, 200), (2, 4, 6)), lambda cell: cell[1] == 6 or cell == (200, 4)),
)
@pytest.mark.parametrize("t", [1, 5, 20])
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_equal_models_are_told_apart_in_five_of_a_hundred_runs(
    many: int, rho: float, t: int, n: int, measured: Measured
) -> None:
    """By hand is Holm's method over McNemar's tests of the best, as if nobody had chosen them."""
    generator = np.random.default_rng(n + t + many)
    wrong = left_out = by_hand = 0
    for _ in range(RUNS):
        models, _ = drawn(generator, [RATE] * many, t, n, rho)
        found = best_models(models, intervals=False, resamples=RESAMPLES)
        wrong += min(each.holm for each in found.orders) <= LEVEL
        left_out += 0 not in found.among_best
        by_hand += min(holm_by_hand(models)) <= LEVEL
    shares = [wrong / RUNS, left_out / RUNS, by_hand / RUNS]
    columns = "models | rho | t | n | a wrong order | the best left out | wrong by hand"
    measured(f"equal models ({RUNS} runs)", columns, f"{many} | {rho} | {t} | {n}", *shares)
    assert wrong <= most(RUNS)
    assert left_out <= most(RUNS)


def holm_by_hand(models: Sequence[Scores]) -> list[float]:
    """Return the adjusted p-values of two-sided tests of each pair of best prompts."""
    best = [each[int(each.mean(axis=1).argmax())] for each in models]
    return holm(
        [
            mcnemar(int((one > other).sum()), int((one < other).sum()))
            for one, other in combinations(best, 2)
        ]
    )


@pytest.mark.parametrize("t", [1, 5])
def test_clusters_and_intervals_keep_the_level(t: int, measured: Measured) -> None:
    generator, runs = np.random.default_rng(t), scaled(2000, 3)
    wrong = missed = 0
    for _ in range(runs):
        models, groups = drawn(generator, [RATE] * 3, t, 120, 0.3, size=3)
        found = best_models(models, clusters=groups.tolist())
        wrong += min(each.holm for each in found.orders) <= LEVEL
        missed += any(not each.low <= 0 <= each.high for each in found.orders)
    columns = "models | t | n | a wrong order | an interval that misses"
    row = f"3 | {t} | 120"
    measured(f"clusters of 3 ({runs} runs)", columns, row, wrong / runs, missed / runs)
    assert wrong <= most(runs)
    assert missed <= most(runs)


def test_tries_that_are_not_at_hand_are_paid_for(measured: Measured) -> None:
    """Of one model the best of 20 prompts is shown, and of the other the worst of 20."""
    generator, wrong, as_one = np.random.default_rng(3), 0, 0
    for _ in range(RUNS):
        (one, other), _ = drawn(generator, [RATE] * 2, 20, 200, 0.5)
        shown = [one[[int(one.mean(axis=1).argmax())]], other[[int(other.mean(axis=1).argmin())]]]
        found = best_models(shown, tried=[20, 20], intervals=False)
        wrong += min(each.holm for each in found.orders) <= LEVEL
        naive = best_models(shown, intervals=False)
        as_one += min(each.holm for each in naive.orders) <= LEVEL
    columns = "t | n | a wrong order | wrong, if nobody says t"
    shares = wrong / RUNS, as_one / RUNS
    measured(f"best of 20 beside worst of 20 ({RUNS} runs)", columns, "20 | 200", *shares)
    assert wrong <= most(RUNS)


def test_many_good_prompts_are_not_better_than_one(measured: Measured) -> None:
    """One model has 20 good prompts, and the other one as good and 19 worse ones."""
    generator, wrong, by_hand = np.random.default_rng(9), 0, 0
    for _ in range(RUNS):
        (many, one), _ = drawn(generator, [RATE] * 2, 20, 200, 0.5)
        (worse,), _ = drawn(generator, [RATE - 0.2], 19, 200, 0.5)
        models = [many, np.vstack([one[:1], worse])]
        found = best_models(models, intervals=False, resamples=RESAMPLES)
        wrong += min(each.holm for each in found.orders) <= LEVEL
        by_hand += min(holm_by_hand(models)) <= LEVEL
    columns, shares = "t | n | a wrong order | wrong by hand", (wrong / RUNS, by_hand / RUNS)
    measured(f"20 good prompts beside one ({RUNS} runs)", columns, "20 | 200", *shares)
    assert wrong <= most(RUNS)


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9])
def test_with_one_prompt_each_as_much_is_found_as_by_hand(rho: float, measured: Measured) -> None:
    """Of four models one is better by .10 than two, and these by .05 than the last."""
    generator, runs = np.random.default_rng(4), scaled(1000, 20)
    rates = [0.8, 0.7, 0.7, 0.65]
    told, by_hand, alone = 0, 0, 0
    for _ in range(runs):
        models, _ = drawn(generator, rates, 1, 200, rho)
        found = best_models(models, intervals=False, resamples=RESAMPLES)
        ps = {(each.first, each.second): each.holm for each in found.orders}
        told += sum(ps[a, b] <= LEVEL for a, b in permutations(range(4), 2) if rates[a] > rates[b])
        hand = dict(zip(combinations(range(4), 2), holm_by_hand(models), strict=True))
        right = [(a, b) for a, b in hand if rates[a] > rates[b]]
        by_hand += sum(hand[a, b] <= LEVEL and found.means[a] > found.means[b] for a, b in right)
        alone += found.among_best == (0,)
    shares = [told / runs / 5, by_hand / runs / 5, alone / runs]
    columns = "models | rho | t | n | told | told by hand | the best is known"
    measured(f"true orders told ({runs} runs)", columns, f"4 | {rho} | 1 | 200", *shares)
    assert shares[0] >= shares[1] - 0.05
