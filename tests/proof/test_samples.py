"""Answers of several samples: how often guessers pass by what these come to, and who knows."""

from __future__ import annotations

import functools
import itertools
import zlib
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.stats.permutation import max_t_of_credits, max_t_test
from pytest_maxrandom.stats.sample_chance import BestOfSamples, Kinds
from pytest_maxrandom.stats.samples import Aggregate, voted
from tests.proof.scale import LEVEL, WHOLE, affordable, least, most, scaled

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


def seeded(*names: object) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(repr(names).encode()))


def guesses(
    rng: np.random.Generator, spread: str, frequencies: list[float], shape: tuple[int, int, int]
) -> Labels:
    """Answer by the labels' frequencies, each sample anew; or say each label in turn.

    Returns
    -------
    ndarray of int
        How many of the k samples say which label, shape (t, n, m).
    """
    t, n, k = shape
    m = len(frequencies)
    if spread == "all distinct":
        order = rng.permuted(np.tile(np.arange(m), (t, n, 1)), axis=2) if k % m else np.arange(m)
        return np.broadcast_to(k // m + (order < k % m), (t, n, m)).astype(np.int64)
    if m == 2:  # many times as fast as a multinomial draw
        law = stats.binom.cdf(range(k), k, frequencies[0])
        first = np.searchsorted(law, rng.random((t, n)))
        return np.stack([first, k - first], axis=2)
    return rng.multinomial(k, frequencies, (t, n))


@functools.lru_cache(maxsize=64)
def _votes(n: int, k: int, m: int) -> tuple[Labels, Labels]:
    """Return the vote of each example by how many samples say which label.

    The rows of the second are those of the first, by the numbers of samples as digits.
    """
    counts = [each for each in itertools.product(range(k + 1), repeat=m) if sum(each) == k]
    said = np.array([np.repeat(np.arange(m), each) for each in counts])
    every = np.broadcast_to(said[:, None], (len(said), n, k))
    table = voted(every, lambda _, label: str(label), [*map(str, range(n))])
    rows = np.zeros((k + 1) ** m, dtype=np.int64)
    rows[np.array(counts) @ _digits(k, m)] = range(len(counts))
    return rows, table


def _digits(k: int, m: int) -> Labels:
    return (k + 1) ** np.arange(m)


def judged(counts: Labels, gold: Labels, k: int, how: str, seed: int) -> tuple[float, float, float]:
    """Return the permutation p, the best score and the maximum random baseline."""
    t, n, m = counts.shape
    if how == "vote":
        rows, table = _votes(n, k, m)
        said = table[rows[counts @ _digits(k, m)], np.arange(n)]
        counts, how, k = (said[..., None] == np.arange(m)).astype(np.int64), "mean", 1
    aggregate = Aggregate(how, k)  # type: ignore[arg-type]
    test = max_t_of_credits(
        aggregate.credits(counts), gold, unit=aggregate.unit, permutations=ARRANGEMENTS, seed=seed
    )
    if test.p_value > LEVEL:
        return test.p_value, test.best, 1.0
    spread = -np.sort(-counts, axis=2)[..., :k]
    spread = np.pad(spread, ((0, 0), (0, 0), (0, k - spread.shape[2])))
    kinds = Kinds.of(aggregate, spread, [m] * n, [1] * n)
    return test.p_value, test.best, BestOfSamples.of(kinds, aggregate.unit, t).expected


LABELS: dict[str, list[float]] = {
    "70/30": [0.7, 0.3],
    "50/50": [0.5, 0.5],
    "40/20/20/20": [0.4, 0.2, 0.2, 0.2],
}
SPREADS = [("independent", 1), ("independent", 5), ("independent", 20), ("all distinct", 5)]
CELLS = [
    (labels, spread, k, n, t)
    for labels, (spread, k), n, t in itertools.product(
        LABELS, SPREADS, (30, 100, 400), (1, 10, 200)
    )
    if t < 200 or (labels == "70/30" and k > 1) or (labels == "50/50" and (n < 400 or k == 5))
]
"""One sample is one answer, as it is in other proofs."""


def dear(cell: tuple[str, str, int, int, int]) -> bool:
    """Tell whether a cell has many answers: one of 200 prompts and 100 examples is left."""
    _, _, _, n, t = cell
    return n > 30 and n * t > 3000 and cell != ("70/30", "independent", 5, 100, 200)


@pytest.mark.parametrize(
    ("labels", "spread", "k", "n", "t"),
    affordable(CELLS, dear)
    if WHOLE
    else [each for each in CELLS if each[0] == "70/30" and each[3:] == (30, 10)],
)
def test_no_way_to_spread_samples_helps_a_guesser(
    labels: str, spread: str, k: int, n: int, t: int, measured: Measured
) -> None:
    frequencies = LABELS[labels]
    rng, small, passed = seeded(spread, frequencies, n, k, t), [0] * 4, [0] * 4
    for seed in range(RUNS):
        gold = rng.choice(len(frequencies), n, p=frequencies)
        said = guesses(rng, spread, frequencies, (t, n, k))
        for place, how in enumerate(AGGREGATES):
            p, best, expected = judged(said, gold, k, how, seed // ALIKE)
            small[place] += p <= LEVEL
            passed[place] += p <= LEVEL and best > expected
    shares = [each / RUNS for each in (*small, *passed)]
    columns = " | ".join(
        ["samples are | labels | n | samples | t", *(f"{each}: p" for each in AGGREGATES)]
        + [f"{each}: passes" for each in AGGREGATES]
    )
    row = f"{spread} | {labels} | {n} | {k} | {t}"
    measured(f"type I, several samples ({RUNS} runs)", columns, row, *shares)
    assert max(small) <= most(RUNS)


def test_identical_samples_are_one_answer() -> None:
    """So that the level is that of single answers, whatever k is."""
    rng, frequencies = seeded("identical"), LABELS["40/20/20/20"]
    for seed in range(RUNS // 20):
        gold = rng.choice(4, 30, p=frequencies)
        once = guesses(rng, "independent", frequencies, (10, 30, 1))
        alone = judged(once, gold, 1, "mean", seed)
        for how in AGGREGATES:
            assert judged(once * 5, gold, 5, how, seed) == pytest.approx(alone)


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
            counts = (said[..., None] == np.arange(4)).sum(axis=2)
            p, best, expected = judged(counts, gold, k, how, seed // ALIKE)
            passed += p <= LEVEL and best > expected
            one = max_t_test(said[..., 0], gold, permutations=ARRANGEMENTS, seed=seed // ALIKE)
            single += one.p_value <= LEVEL
        columns = "aggregate | n | samples | t | all samples | the first alone"
        shares = passed / POWER_RUNS, single / POWER_RUNS
        row = f"{how} | 100 | {k} | {t}"
        measured(f"power, several samples ({POWER_RUNS} runs)", columns, row, *shares)
        if how == "mean" and k == 5:
            assert passed >= least(POWER_RUNS, 0.9)
