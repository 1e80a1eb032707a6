"""Texts that recur beside choices of the questions' own, in recorded results: who prefers one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.proof.scale import LEVEL, scaled
from tests.unit.recorded.test_permutations import listing, p_value, saying_none

if TYPE_CHECKING:
    from tests.proof.conftest import Measured

pytestmark = pytest.mark.proof

RUNS = scaled(2000, 60)
MOST = math.floor(RUNS * (LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / RUNS)))


@pytest.mark.parametrize("share", [0.9, 0.5])
@pytest.mark.parametrize("t", [1, 10])
def test_who_says_none_passes_no_more_than_the_level(
    t: int, share: float, measured: Measured
) -> None:
    random = np.random.default_rng(33)
    sweeps = (saying_none(random, t, share=share) for _ in range(RUNS))
    passed = [p_value(listing(*sweep), seed) <= LEVEL for seed, sweep in enumerate(sweeps)]
    columns, row = "'none' to | 'none' is right to | t | pass", f"{share} | .4 | {t}"
    table = f"recurring texts, choices listed ({RUNS} runs)"
    measured(table, columns, row, float(np.mean(passed)))
    assert sum(passed) <= MOST
