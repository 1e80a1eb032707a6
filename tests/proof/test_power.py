"""What knows something, as suites of recorded results: how many of them turn green."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.proof.guessers import KNOWING
from tests.proof.scale import LEVEL, least, scaled
from tests.proof.sessions import judge, shares

if TYPE_CHECKING:
    from pathlib import Path

    from tests.proof.conftest import Measured

pytestmark = pytest.mark.proof

T = 200
RUNS = scaled(300, 30)


@pytest.mark.parametrize("name", KNOWING)
def test_what_keeps_the_level_costs_little_power(
    name: str, tmp_path: Path, measured: Measured
) -> None:
    generator = np.random.default_rng(16)
    draw, power = KNOWING[name]
    _, claims = judge(tmp_path, [draw(generator, T) for _ in range(RUNS)])
    passed = sum(claim["outcome"] == "passed" for claim in claims)
    alone = sum(claim["p_max"] <= LEVEL for claim in claims)
    measured(f"power ({RUNS} runs)", name, *shares(claims))
    assert passed >= least(RUNS, power)
    assert passed >= 0.85 * alone
