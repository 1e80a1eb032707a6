"""Guessers that are looked at after each new prompt: how many of them turn green at some look."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.stats.looks import spent
from pytest_maxrandom.stats.maximum import MaxRandomBaseline
from pytest_maxrandom.stats.permutation import max_t_of_all, max_t_test
from tests.proof.guessers import GUESSERS, N, Sweep
from tests.proof.scale import LEVEL, WHOLE, most, scaled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from tests.proof.conftest import Measured

pytestmark = pytest.mark.proof

LOOKS = 200
RUNS = scaled(2000, 20)
PERMUTATIONS = 3_999
T = np.arange(1, LOOKS + 1)
SPENT = [spent(LEVEL, t) for t in T.tolist()]


def permutation_p(sweep: Sweep, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the max-T p-value of the first t prompts, for each t at once, and of the best."""
    generator = np.random.default_rng(seed)
    gold = np.tile(sweep.gold.astype(np.float32), (PERMUTATIONS, 1))
    ones = generator.permuted(gold, axis=1, out=gold)
    answers = sweep.answers.astype(np.float32)
    # Both say 1, or both say 0.
    right = N - ones.sum(axis=1)[:, np.newaxis] - answers.sum(axis=1) + 2 * ones @ answers.T
    counts = (sweep.answers == sweep.gold).sum(axis=1)
    best = np.maximum.accumulate(counts)
    # Whole numbers, which single precision holds exactly.
    of_all = (np.maximum.accumulate(right, axis=1) >= best).sum(axis=0)
    bests, which = np.unique([int(np.argmax(counts[:t])) for t in T], return_inverse=True)
    of_best = (right[:, bests] >= counts[bests]).sum(axis=0)[which]
    return (1 + of_all) / (PERMUTATIONS + 1), (1 + of_best) / (PERMUTATIONS + 1)


def p_max(sweep: Sweep, tries: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the p_max of the best of the first prompts, beside that many guessers."""
    best = np.maximum.accumulate((sweep.answers == sweep.gold).sum(axis=1))
    one = np.array([MaxRandomBaseline(N, 0.5, 1).p_value(count) for count in range(N + 1)])
    p: NDArray[np.float64] = -np.expm1(tries * np.log1p(-np.minimum(one[best], 1 - 1e-16)))
    return p


def baselines(tries: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the maximum random baseline of so many prompts, for each number of them."""
    known = {t: MaxRandomBaseline(N, 0.5, t).expected_accuracy for t in set(tries.tolist())}
    return np.array([known[t] for t in tries.tolist()])


def test_all_looks_at_once_are_what_single_looks_are() -> None:
    sweep = GUESSERS["say the label frequencies, 70/30"](np.random.default_rng(0), LOOKS)
    (together, by_itself), beside = permutation_p(sweep, 1), p_max(sweep, T)
    best = np.maximum.accumulate((sweep.answers == sweep.gold).sum(axis=1))
    for t in (1, 20, 200):
        alone = max_t_test(sweep.answers[:t], sweep.gold, permutations=PERMUTATIONS)
        assert together[t - 1] == pytest.approx(alone.p_value, abs=0.02)
        spent_p, *_ = max_t_of_all(sweep.answers[:t], sweep.gold, None, t + 3, level=LEVEL)
        expected = min(1, together[t - 1] + 3 * by_itself[t - 1])
        assert spent_p == pytest.approx(expected, abs=0.03)
        exact = MaxRandomBaseline(N, 0.5, t).p_value(int(best[t - 1]))
        assert beside[t - 1] == pytest.approx(exact, rel=1e-9)


@pytest.mark.parametrize("name", GUESSERS)
def test_a_spent_level_passes_guessers_in_five_of_a_hundred_runs_whenever_one_looks(
    name: str, measured: Measured
) -> None:
    """What is claimed by default: the permutation p, and more than the maximum random baseline."""
    generator = np.random.default_rng(16)
    levels = np.array([look.level for look in SPENT])
    ends = np.array([look.t for look in SPENT])
    at_end, at_once = baselines(ends), baselines(T)
    spending = naive = 0
    for run in range(RUNS):
        sweep = GUESSERS[name](generator, LOOKS)
        shuffled, by_itself = permutation_p(sweep, run)
        of_all = np.minimum(1, shuffled + (ends - T) * by_itself)
        best = np.maximum.accumulate((sweep.answers == sweep.gold).sum(axis=1)) / N
        spending += bool(((best > at_end) & (of_all <= levels)).any())
        naive += bool(((best > at_once) & (shuffled <= LEVEL)).any())
    measured(
        f"{LOOKS} looks ({RUNS} runs)",
        "guessers | .05 each | spent",
        name,
        naive / RUNS,
        spending / RUNS,
    )
    assert spending <= (LEVEL * RUNS if WHOLE else most(RUNS))
