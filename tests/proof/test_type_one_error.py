"""Guessers as suites of recorded results: how many of them turn green."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.proof.guessers import GUESSERS, SHARED_PASSAGES
from tests.proof.scale import most, scaled
from tests.proof.sessions import judge, shares

if TYPE_CHECKING:
    from pathlib import Path

    from tests.proof.conftest import Measured

pytestmark = pytest.mark.proof

T = 50
RUNS = scaled(1000, 120)
SESSIONS = scaled(8, 2)


@pytest.mark.parametrize("name", GUESSERS)
def test_a_suite_that_says_nothing_else_passes_guessers_in_five_of_a_hundred_runs(
    name: str, tmp_path: Path, measured: Measured
) -> None:
    generator = np.random.default_rng(16)
    sweeps = [GUESSERS[name](generator, T) for _ in range(RUNS)]
    _, claims = judge(tmp_path / "all", sweeps)
    passed = [claim["outcome"] == "passed" for claim in claims]
    measured(f"type I ({RUNS} runs)", name, *shares(claims))
    # What a user sees of one claim is its exit code.
    shown = [*np.flatnonzero(passed)[: SESSIONS // 2], *np.flatnonzero(np.logical_not(passed))]
    for place in shown[:SESSIONS]:
        code, _ = judge(tmp_path / f"one{place}", [sweeps[place]])
        assert (code == pytest.ExitCode.OK) is passed[place]
    assert sum(passed) <= most(RUNS)


@pytest.mark.parametrize("name", SHARED_PASSAGES)
def test_questions_that_share_a_passage_help_no_guesser_where_the_suite_says_so(
    name: str, tmp_path: Path, measured: Measured
) -> None:
    generator = np.random.default_rng(16)
    told = [SHARED_PASSAGES[name](generator, T) for _ in range(RUNS)]
    untold = [replace(sweep, clusters=None) for sweep in told]
    *_, unaware = shares(judge(tmp_path / "untold", untold)[1])
    *_, aware = shares(judge(tmp_path / "told", told)[1])
    measured(f"type I, shared passages ({RUNS} runs)", name, unaware, aware)
    assert unaware > 0.2
    assert round(aware * RUNS) <= most(RUNS)
