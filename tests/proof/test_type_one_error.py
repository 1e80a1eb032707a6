"""Guessers as suites of recorded results: how many of them turn green."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.proof.guessers import GUESSERS, SHARED_PASSAGES
from tests.proof.scale import most, scaled
from tests.proof.sessions import judge, shares

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.proof

T = 50
RUNS = scaled(1000, 120)
SESSIONS = scaled(8, 2)
DRAWS = GUESSERS | SHARED_PASSAGES


@pytest.mark.parametrize("name", DRAWS)
def test_a_suite_that_says_nothing_else_passes_guessers_in_five_of_a_hundred_runs(
    name: str, tmp_path: Path, measured: Callable[[str], None]
) -> None:
    generator = np.random.default_rng(16)
    sweeps = [DRAWS[name](generator, T) for _ in range(RUNS)]
    _, claims = judge(tmp_path / "all", sweeps)
    passed = [claim["outcome"] == "passed" for claim in claims]
    measured(f"type I, {name}: {shares(claims)}")
    # What a user sees of one claim is its exit code.
    shown = [*np.flatnonzero(passed)[: SESSIONS // 2], *np.flatnonzero(np.logical_not(passed))]
    for place in shown[:SESSIONS]:
        code, _ = judge(tmp_path / f"one{place}", [sweeps[place]])
        assert (code == pytest.ExitCode.OK) is passed[place]
    assert sum(passed) <= most(RUNS)
