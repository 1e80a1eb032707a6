"""Graded scores: how many claims pass where no prompt is above the bar, and where one is.

The bar is the true mean score of every prompt, or what a control that is as good really scores.
Each prompt's test counts as one of t. The most flattering cases for a test are scores of which
nearly all are alike and a few are 0: a sample that happens to hold none of them looks certain.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import special

from pytest_maxrandom.stats.bounded import BoundedMean
from pytest_maxrandom.stats.incumbents import best_over_incumbent
from tests.proof.scale import affordable, most, scaled

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from tests.proof.conftest import Measured

    Scores = NDArray[np.float64]

pytestmark = pytest.mark.proof

LEVEL = 0.05
RUNS = scaled(2000, 6)
BESIDE = "t | n | here | t-test | betting"
RHO = 0.8
"""How alike prompts are: the share of examples whose draw they have in common."""


def _two_points(u: Scores) -> Scores:
    return np.where(u < 0.3, 0.0, 0.7)


def _rare_zeros(u: Scores) -> Scores:
    """Return 3 % zeros, else scores close to .6: what flatters every test of a mean."""
    return np.where(u < 0.03, 0.0, 0.58 + 0.04 * (u - 0.03) / 0.97)


def _of_strata(u: Scores) -> Scores:
    """Return heavy scores of one half of the examples, and rare zeros of the other."""
    return np.where(np.arange(u.shape[-1]) % 2, u**9, _rare_zeros(u))


KINDS: dict[str, tuple[Callable[[Scores], Scores], float]] = {
    "constant": (lambda u: np.full_like(u, 0.86), 0.86),
    "two points": (_two_points, 0.49),
    "uniform": (lambda u: u, 0.5),
    "rare zeros": (_rare_zeros, 0.97 * 0.6),
    "zero-inflated": (
        lambda u: np.where(u < 0.4, 0.0, (np.maximum(u - 0.4, 0) / 0.6) ** 0.25),
        0.48,
    ),
    "heavy": (lambda u: u**9, 0.1),
    "two strata": (_of_strata, (0.1 + 0.97 * 0.6) / 2),
    "right or wrong": (lambda u: (u < 0.62).astype(float), 0.62),
}
"""Scores of a uniform draw, and their true mean."""


def drawn(generator: np.random.Generator, kind: str, t: int, n: int, rho: float) -> Scores:
    """Return the scores of t prompts that have a share of their draws in common."""
    shared = generator.random(n)
    own = generator.random((t, n))
    return KINDS[kind][0](np.where(generator.random((t, n)) < rho, shared, own))


def betting(values: Scores, bound: float, level: float) -> bool:
    """Test a mean by betting (Waudby-Smith and Ramdas 2024), the predictable plug-in bets."""
    place = np.arange(1, len(values) + 1)
    means = (0.5 + np.cumsum(values)) / (place + 1)
    spread = (0.25 + np.cumsum((values - means) ** 2)) / (place + 1)
    before = np.append(0.25, spread[:-1])
    bets = np.minimum(np.sqrt(2 * math.log(1 / level) / (len(values) * before)), 0.75 / bound)
    return bool(np.cumsum(np.log1p(bets * (values - bound))).max() >= math.log(1 / level))


def passes(values: Scores, bound: float, level: float) -> tuple[bool, bool, bool]:
    """Tell whether a mean is found to be above a bound: here, by the t-test, by betting."""
    if values.mean() <= bound + 1e-12:
        return False, False, False
    # SciPy's ttest_1samp takes as long as all the rest.
    error = values.std(ddof=1) / math.sqrt(len(values))
    student = -math.inf if error == 0 else (bound - values.mean()) / error
    return (
        BoundedMean(values, 0.0).p_greater(bound) <= level,
        bool(special.stdtr(len(values) - 1, student) <= level),
        betting(values, bound, level),
    )


@pytest.mark.parametrize(
    ("t", "rho", "n"),
    affordable(
        [
            (t, rho, n)
            for t, rho in [(1, 0.0), (10, 0.0), (10, RHO), (200, 0.0), (200, RHO)]
            for n in (30, 100, 400)
        ],
        lambda cell: cell[0] == 200 and cell[2] == 400,
    ),
)
@pytest.mark.parametrize("kind", KINDS)
def test_no_prompt_is_above_the_bar(
    kind: str, rho: float, t: int, n: int, measured: Measured
) -> None:
    generator, bar = np.random.default_rng(n + t), KINDS[kind][1]
    passed = np.zeros(3, dtype=np.int64)
    for _ in range(RUNS):
        scores = drawn(generator, kind, t, n, rho)
        best = scores[int(scores.mean(axis=1).argmax())]
        passed += passes(best, bar, LEVEL / t)
    shares = (passed / RUNS).tolist()
    columns = f"scores | rho | {BESIDE}"
    measured(f"scores at the bar ({RUNS} runs)", columns, f"{kind} | {rho} | {t} | {n}", *shares)
    assert passed[0] <= most(RUNS)


@pytest.mark.parametrize(
    "kind",
    affordable(
        ["rare zeros", "zero-inflated", "uniform", "constant"],
        lambda kind: kind in {"uniform", "constant"},
    ),
)
@pytest.mark.parametrize("clustered", [False, True])
def test_no_prompt_is_better_than_the_control(
    kind: str,
    clustered: bool,
    measured: Measured,
) -> None:
    """The control gains a little everywhere, and loses what is rare: both have the same mean."""
    generator, n, passed = np.random.default_rng(5), 100, 0
    sizes = generator.integers(1, 8, 30)
    groups = np.repeat(np.arange(30), sizes)[:n] if clustered else np.arange(n)
    for _ in range(RUNS):
        units = generator.random((10, int(groups.max()) + 1))
        scores = KINDS[kind][0](units)[:, groups]
        control = np.full(len(groups), KINDS[kind][1])
        found = best_over_incumbent(scores, control, clusters=groups.tolist())
        passed += found.p <= LEVEL
    columns = "scores | examples | t | pass"
    row = f"{kind} | {'clusters of 1 to 7' if clustered else 'independent'} | 10"
    measured(f"no better than the control ({RUNS} runs)", columns, row, passed / RUNS)
    assert passed <= most(RUNS)


@pytest.mark.parametrize("n", [30, 100, 400])
@pytest.mark.parametrize("t", [1, 10, 200])
@pytest.mark.parametrize("kind", ["uniform", "zero-inflated", "right or wrong", "rare zeros"])
def test_power_beside_the_t_test_and_betting(kind: str, t: int, n: int, measured: Measured) -> None:
    generator, bar = np.random.default_rng(n + t), KINDS[kind][1] - 0.1
    found = np.zeros(3, dtype=np.int64)
    for _ in range(RUNS):
        scores = drawn(generator, kind, 1, n, 0.0)[0]
        found += passes(scores, bar, LEVEL / t)
    table = f"a prompt that is .10 above the bar ({RUNS} runs)"
    measured(table, f"scores | {BESIDE}", f"{kind} | {t} | {n}", *(found / RUNS).tolist())
    if n == 400:
        assert found[0] >= found[2] - most(RUNS)
