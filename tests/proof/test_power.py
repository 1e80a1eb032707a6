"""What knows something, as recorded results: how many of them pass the claim made by default."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import stats

from tests.proof.guessers import KNOWING, N, Sweep
from tests.proof.judging import shares_of, verdict_on
from tests.proof.scale import LEVEL, scaled

if TYPE_CHECKING:
    from tests.proof.conftest import Measured

pytestmark = pytest.mark.proof

RUNS = scaled(400, 20)
PERMUTATIONS = 9_999
LOST = 0.03
"""Share of runs that may be lost, compared with the same rule computed by hand."""


def by_hand(sweep: Sweep, permutations: int, generator: np.random.Generator) -> bool:
    """Tell whether the best prompt is above the best of t guessers and of 95 % of permutations."""
    m, best = int(sweep.sizes[0]), int((sweep.answers == sweep.gold).sum(axis=1).max())
    count = np.arange(N)
    expected = float((1 - stats.binom.cdf(count, N, 1 / m) ** len(sweep.answers)).sum())
    order = generator.permuted(np.tile(sweep.gold, (permutations, 1)), axis=1)
    right = sum(
        (order == label).astype(np.float32) @ (sweep.answers == label).astype(np.float32).T
        for label in range(m)
    )
    reached = int((right.max(axis=1) > best - 0.5).sum())
    return best > expected and (1 + reached) / (permutations + 1) <= LEVEL


@pytest.mark.parametrize("name", KNOWING)
def test_knowledge_passes_as_often_as_by_the_same_rule_computed_by_hand(
    name: str, measured: Measured
) -> None:
    generator, permuting = np.random.default_rng(16), np.random.default_rng(17)
    draw, t = KNOWING[name]
    verdicts, expected = [], 0
    for _ in range(RUNS):
        sweep = draw(generator, t)
        verdicts.append(verdict_on(sweep))
        expected += by_hand(sweep, PERMUTATIONS, permuting)
    p_max, permuted, passed = shares_of(verdicts)
    columns = "who | p_max alone | permutation_p alone | the rule by hand | the default claim"
    shares = p_max, permuted, expected / RUNS, passed
    measured(f"power ({RUNS} runs)", columns, name, *shares)
    assert passed >= expected / RUNS - LOST
