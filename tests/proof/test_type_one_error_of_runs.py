"""Guessers as sweeps of a model: what only those suites have, judged by the function that does."""

from __future__ import annotations

import functools
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

from pytest_maxrandom.claims.assessment import View, assess
from pytest_maxrandom.claims.nulls import Guessers, ScoreGuessers, score_guessers
from pytest_maxrandom.claims.shuffles import Shuffle
from pytest_maxrandom.claims.verdict import EXACT, PERMUTED, Claim
from pytest_maxrandom.record.metrics import METRICS
from pytest_maxrandom.sweeps.prompts.formats import Format, Prompt
from pytest_maxrandom.sweeps.prompts.sampling import PromptSet
from pytest_maxrandom.tasks.task import Layout
from tests.proof.guessers import GUESSERS, N, Sweep
from tests.proof.judging import answers_of, as_run
from tests.proof.scale import most, scaled
from tests.unit.claims.test_assessment import yes_no

if TYPE_CHECKING:
    from pytest_maxrandom.suite.claims import Metric
    from tests.proof.conftest import Measured

pytestmark = pytest.mark.proof

T = 50
RUNS = scaled(2000, 20)
ROWS = (
    "independent, labels 50 to 90 %",
    "share answers, rho = .5, labels 50 to 90 %",
    "say the label frequencies, 70/30",
    "near-constant, 90/10",
)
OTHERS: tuple[Metric, ...] = ("balanced_accuracy", "macro_f1")


@functools.cache
def null_of(metric: Metric, ones: int) -> ScoreGuessers:
    """Return the guessers in a metric, which only counts of right labels determine."""
    prompts = tuple(Prompt((), Format(Layout(task_prefix=f"prompt {p}"))) for p in range(T))
    examples = yes_no("y" * ones + "n" * (N - ones))
    found = score_guessers(metric, PromptSet(prompts, examples, "none", 0, T, ()))
    assert isinstance(found, ScoreGuessers)
    return found


def verdict_on(sweep: Sweep, metric: Metric) -> tuple[float | None, bool]:
    """Return the permutation p of a sweep, and whether its default claim passes.

    It is judged without red flags, which can only fail what passes, and then with them.
    """
    gold = [frozenset({right}) for right in sweep.gold.tolist()]
    shuffle = Shuffle(sweep.answers, gold, [2] * N, [0] * N, None)
    half = Fraction(1, 2)
    view = View(read=answers_of(sweep), t=T, chance=half, metric=metric, shuffles=[shuffle])
    claim = Claim.of(None, EXACT if METRICS[metric].guessers_judge else PERMUTED)
    null = null_of(metric, int(sweep.gold.sum()))
    guessers = Guessers.alike(N, half, T).best
    result = assess(claim, null, guessers, [view], metric=metric, thrifty=True)
    if not result.passed:
        return result.permutation_p, False
    return result.permutation_p, bool(as_run(sweep, metric).passed)


@pytest.mark.parametrize("metric", OTHERS)
def test_a_verdict_on_arrays_is_that_of_a_run(metric: Metric) -> None:
    generator = np.random.default_rng(5)
    for name in ROWS:
        sweep = GUESSERS[name](generator, T)
        record = as_run(sweep, metric)
        assert verdict_on(sweep, metric) == (record.permutation_p, record.passed)


@pytest.mark.parametrize("name", ROWS)
def test_other_metrics_pass_guessers_no_more_often(name: str, measured: Measured) -> None:
    generator = np.random.default_rng(16)
    found = dict.fromkeys(OTHERS, 0)
    for _ in range(RUNS):
        sweep = GUESSERS[name](generator, T)
        for metric in OTHERS:
            found[metric] += verdict_on(sweep, metric)[1]
    shares = (count / RUNS for count in found.values())
    columns = " | ".join(["guessers", *found])
    measured(f"type I, other metrics ({RUNS} runs)", columns, name, *shares)
    assert max(found.values()) <= most(RUNS)
