"""Guessers as recorded results: how many of them pass the claim that suites make by default."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.proof.guessers import GUESSERS, KNOWING, SHARED_PASSAGES, frequent
from tests.proof.judging import shares_of, verdict_on
from tests.proof.more_guessers import MORE
from tests.proof.scale import LEVEL, most, scaled
from tests.proof.sessions import judge

if TYPE_CHECKING:
    from pathlib import Path

    from tests.proof.conftest import Measured

pytestmark = pytest.mark.proof

T = 50
SHARES = "p_max alone | permutation_p alone | the default claim"
RUNS = scaled(2000, 60)
ALL = {**GUESSERS, **MORE, **SHARED_PASSAGES}


@pytest.mark.parametrize("name", [*GUESSERS, *MORE])
def test_a_suite_that_says_nothing_else_passes_guessers_in_five_of_a_hundred_runs(
    name: str, measured: Measured
) -> None:
    generator = np.random.default_rng(16)
    verdicts = [verdict_on(ALL[name](generator, T)) for _ in range(RUNS)]
    passed = [each.passed for each in verdicts]
    measured(f"type I ({RUNS} runs)", f"guessers | {SHARES}", name, *shares_of(verdicts))
    assert None not in passed
    assert sum(map(bool, passed)) <= most(RUNS)


def test_pytest_says_the_same_of_the_same_sweeps(tmp_path: Path) -> None:
    generator = np.random.default_rng(61)
    sweeps = [ALL[name](generator, T) for name in ALL for _ in range(scaled(8, 1))]
    draw, t = KNOWING["all prompts .60, rho = .8"]
    sweeps += [draw(generator, t) for _ in range(4)]
    verdicts = [verdict_on(sweep) for sweep in sweeps]
    assert {each.passed for each in verdicts} == {True, False}
    _, claims = judge(tmp_path / "all", sweeps)
    for claim, verdict in zip(claims, verdicts, strict=True):
        assert tuple(claim[name] for name in verdict._fields) == pytest.approx(verdict)
    # What a user sees of one claim is its exit code.
    for wanted, code in ((True, pytest.ExitCode.OK), (False, pytest.ExitCode.TESTS_FAILED)):
        place = next(place for place, each in enumerate(verdicts) if each.passed is wanted)
        assert judge(tmp_path / str(wanted), [sweeps[place]])[0] == code


@pytest.mark.parametrize("name", SHARED_PASSAGES)
def test_questions_that_share_a_passage_help_no_guesser_where_the_suite_says_so(
    name: str, measured: Measured
) -> None:
    generator = np.random.default_rng(16)
    told = [SHARED_PASSAGES[name](generator, T) for _ in range(RUNS)]
    undeclared = [verdict_on(replace(sweep, clusters=None)) for sweep in told]
    _, permuted, unaware = shares_of(undeclared)
    *_, aware = shares_of([verdict_on(sweep) for sweep in told])
    columns = "guessers | not declared, permutation_p alone | not declared | declared"
    table = f"type I, shared passages ({RUNS} runs)"
    measured(table, columns, name, permuted, unaware, aware)
    assert permuted > 0.2  # what shuffled answers alone would be worth
    assert unaware < permuted  # a red flag fails those whose answers follow the order of the file
    assert round(aware * RUNS) <= most(RUNS)


@pytest.mark.parametrize("t", [10, 50])
@pytest.mark.parametrize("majority", [0.7, 0.8])
def test_where_only_right_and_wrong_are_known_nobody_passes_and_nobody_fails(
    majority: float, t: int, tmp_path: Path, measured: Measured
) -> None:
    generator = np.random.default_rng(16)
    draw = frequent(majority, majority)
    sweeps = [draw(generator, t) for _ in range(RUNS)]
    verdicts = [verdict_on(sweep, right_and_wrong=True) for sweep in sweeps]
    untold = np.mean([each.passed is None for each in verdicts])
    p_max, _, passed = shares_of(verdicts)
    columns = "guessers | t | p_max alone | the default claim | cannot tell"
    row = f"say the label frequencies, {majority:.0%} | {t}"
    measured(f"right and wrong alone ({RUNS} runs)", columns, row, p_max, passed, untold)
    assert p_max > 10 * LEVEL  # what a green run would have been worth
    assert untold == 1
    code, [claim] = judge(tmp_path, [sweeps[0]], right_and_wrong=True)
    assert code == pytest.ExitCode.TESTS_FAILED
    assert (claim["passed"], claim["permutation_p"]) == (None, None)
    assert claim["outcome"] == "cannot tell"
