"""Prompts that leave out their own demonstrations, and answers that depend on their labels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.stats.metrics import ACCURACY, LIFT
from pytest_maxrandom.stats.permutation import max_t_test
from tests.proof.scale import LEVEL, most, scaled

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tests.proof.conftest import Measured

pytestmark = pytest.mark.proof

PROMPTS = 50
RUNS = scaled(2000, 60)

STRATEGIES: dict[str, Callable[[float], float]] = {
    "against them, drawn": lambda share: 1 - share,
    "against them, the rarer always": lambda share: 0.5 if share == 0.5 else float(share < 0.5),
    "copies them": lambda share: share,
}
"""How often a prompt says the rarer label, by its share among the demonstrations."""


def answers(
    generator: np.random.Generator, n: int, k: int, strategy: Callable[[float], float]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what 50 prompts answer with right answers of 70/30, and the right answers."""
    gold = (np.arange(n) >= 0.7 * n).astype(np.int64)
    said = np.empty((PROMPTS, n), dtype=np.int64)
    for row in said:
        shown = generator.choice(n, k, replace=False)
        row[:] = generator.random(n) < strategy(float(gold[shown].mean()))
        row[shown] = -1
    return said, gold


@pytest.mark.parametrize(("n", "k"), [(100, 4), (30, 8)])
@pytest.mark.parametrize("name", STRATEGIES)
def test_what_labels_are_left_out_tells_hardly_anything(
    name: str, n: int, k: int, measured: Measured
) -> None:
    generator = np.random.default_rng(1)
    passed = {ACCURACY: 0, LIFT: 0}
    for seed in range(RUNS):
        said, gold = answers(generator, n, k, STRATEGIES[name])
        for statistic in passed:
            test = max_t_test(
                said, gold, statistic=statistic, permutations=399, stop_after=40, seed=seed
            )
            passed[statistic] += test.p_value <= LEVEL
    plain, lifted = (count / RUNS for count in passed.values())
    columns = "guessers | n | shots | accuracy | lift"
    row = f"{name} | {n} | {k}"
    measured(f"left-out demonstrations ({RUNS} runs)", columns, row, plain, lifted)
    assert passed[LIFT] <= most(RUNS)
    if name == "against them, drawn" and n == 100:
        assert plain > 0.2
