"""Answers of several samples: how often guessers pass by what these come to, and who knows."""

from __future__ import annotations

import itertools
import zlib
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.stats.permutation import max_t_of_credits, max_t_test
from pytest_maxrandom.stats.sample_chance import BestOfSamples, Kinds
from pytest_maxrandom.stats.samples import Aggregate, profiles, voted
from tests.proof.scale import LEVEL, WHOLE, least, most, scaled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.proof.conftest import Measured

    Labels = NDArray[np.int64]

pytestmark = pytest.mark.proof

RUNS = scaled(2000, 60)
POWER_RUNS = scaled(500, 40)
ARRANGEMENTS = 99
"""Of each run: with the observed one 100, of which a p-value at the level counts 5."""
ALIKE = 100
"""Runs that share their arrangements, as claims of one suite do."""
AGGREGATES = ["mean", "vote", "pass", "all"]
SPREADS = ["independent", "identical", "all distinct"]


def seeded(*names: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(names).encode()))


def guesses(
    rng: np.random.Generator, spread: str, frequencies: list[float], shape: tuple[int, int, int]
) -> Labels:
    """Answer by the labels' frequencies: each sample anew, once for all, or each label in turn."""
    t, n, k = shape
    m = len(frequencies)
    if spread == "all distinct":
        order = rng.permuted(np.tile(np.arange(m), (t, n, 1)), axis=2)
        return np.take(order, np.arange(k) % m, axis=2)
    drawn = rng.choice(m, (t, n, k if spread == "independent" else 1), p=frequencies)
    return np.broadcast_to(drawn, shape).copy()


def judged(said: Labels, gold: Labels, m: int, how: str, seed: int) -> tuple[float, float, float]:
    """Return the permutation p, the best score and the maximum random baseline."""
    t, n, k = said.shape
    if how == "vote":
        said = voted(said, lambda _, label: str(label), [*map(str, range(n))])[..., None]
        how, k = "mean", 1
    aggregate = Aggregate(how, k)  # type: ignore[arg-type]
    of_answer = np.arange(t * n).reshape(t, n, 1) * m
    right = np.bincount((of_answer + said).ravel(), minlength=t * n * m).reshape(t, n, m)
    test = max_t_of_credits(
        aggregate.credits(right), gold, unit=aggregate.unit, permutations=ARRANGEMENTS, seed=seed
    )
    if test.p_value > LEVEL:
        return test.p_value, test.best, 1.0
    kinds = Kinds.of(aggregate, profiles(said), [m] * n, [1] * n)
    return test.p_value, test.best, BestOfSamples.of(kinds, aggregate.unit, t).expected


def share(
    spread: str, how: str, frequencies: list[float], n: int, k: int, t: int, runs: int
) -> tuple[float, float]:
    """Return the share of runs whose permutation p is at most the level, and that pass."""
    rng = seeded(spread, how, frequencies, n, k, t)
    small = passed = 0
    for seed in range(runs):
        gold = rng.choice(len(frequencies), n, p=frequencies)
        said = guesses(rng, spread, frequencies, (t, n, k))
        p, best, expected = judged(said, gold, len(frequencies), how, seed // ALIKE)
        small += p <= LEVEL
        passed += p <= LEVEL and best > expected
    return small / runs, passed / runs


CELLS = [
    (frequencies, n, k, t)
    for frequencies in ([0.7, 0.3], [0.5, 0.5], [0.4, 0.2, 0.2, 0.2])
    for n in (30, 100, 400)
    for k in (1, 5, 20)
    for t in (1, 10)
]


@pytest.mark.parametrize(("spread", "how"), [*itertools.product(SPREADS, AGGREGATES)])
def test_no_way_to_spread_samples_helps_a_guesser(
    spread: str, how: str, measured: Measured
) -> None:
    highest = 0.0
    for frequencies, n, k, t in CELLS if WHOLE else [([0.7, 0.3], 30, 5, 10)]:
        small, passed = share(spread, how, frequencies, n, k, t, RUNS)
        row = f"{spread} | {how} | {frequencies} | n = {n}, k = {k} | t = {t}"
        measured(f"type I, samples ({RUNS} runs)", row, small, passed)
        highest = max(highest, small)
    assert highest <= most(RUNS) / RUNS


@pytest.mark.parametrize("how", AGGREGATES)
def test_who_knows_some_answers_passes_by_what_samples_come_to(
    how: str, measured: Measured
) -> None:
    """A prompt knows something of .3 of the examples, and says it in half of its samples."""
    for k, t in [(1, 10), (5, 10), (20, 10), (5, 1)] if WHOLE else [(5, 10)]:
        rng, passed, single = seeded("power", how, k, t), 0, 0
        for seed in range(POWER_RUNS):
            gold = rng.integers(0, 4, 100)
            knows = rng.random((t, 100, 1)) < 0.3
            sure = knows & (rng.random((t, 100, k)) < 0.5)
            said = np.where(sure, gold[:, None], rng.integers(0, 4, (t, 100, k)))
            p, best, expected = judged(said, gold, 4, how, seed // ALIKE)
            passed += p <= LEVEL and best > expected
            one = max_t_test(said[..., 0], gold, permutations=ARRANGEMENTS, seed=seed // ALIKE)
            single += one.p_value <= LEVEL
        row = f"{how} | n = 100, k = {k} | t = {t}"
        measured(
            f"power, samples ({POWER_RUNS} runs)", row, passed / POWER_RUNS, single / POWER_RUNS
        )
        if how == "mean" and k == 5:
            assert passed >= least(POWER_RUNS, 0.9)
