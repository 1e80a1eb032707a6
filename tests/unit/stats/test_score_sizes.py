"""How many scores a claim takes, compared with the binomial test and with simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.stats.bounded import BoundedMean
from pytest_maxrandom.stats.score_sizes import (
    DIFFERENCES,
    power_of_scores,
    score_plan,
    scores_for_power,
)


@pytest.mark.parametrize(("true", "bound", "t"), [(0.7, 0.62, 20), (0.6, 0.5, 1), (0.9, 0.8, 200)])
def test_without_a_spread_it_is_nearly_what_right_and_wrong_answers_take(
    true: float, bound: float, t: int
) -> None:
    n = scores_for_power(0.8, true, bound, t=t)
    assert n is not None
    least = int(stats.binom.isf(0.05 / t, n, bound)) + 1
    assert stats.binom.sf(least - 1, n, true) == pytest.approx(0.8, abs=0.05)
    assert power_of_scores(n - 1, true, bound, t=t) < 0.8 <= power_of_scores(n, true, bound, t=t)


@pytest.mark.parametrize("shape", [(2.0, 2.0), (8.0, 3.0)])
def test_the_power_of_other_scores_is_about_that(shape: tuple[float, float]) -> None:
    law, n = stats.beta(*shape), 80
    true = float(law.mean())
    generator = np.random.default_rng(3)
    passed = [
        BoundedMean(law.rvs(n, random_state=generator), 0.0).p_greater(true - 0.08) <= 0.005
        for _ in range(150)
    ]
    expected = power_of_scores(n, true, true - 0.08, float(law.std()), t=10)
    assert np.mean(passed) == pytest.approx(expected, abs=0.12)


def test_a_plan_answers_what_is_asked() -> None:
    found = score_plan(0.05, 0.0, 0.2, n=200, t=20, ends=DIFFERENCES)
    few, more = found["n_for_power"].values()
    assert 200 < few < more
    assert found["power"] < 0.8
    for wrong in ({"true": 0.5}, {"spread": 0.9}, {"alpha": 1.0}, {"t": 0}):
        with pytest.raises(ValueError, match=r"must be|expected|spread"):
            score_plan(**{"true": 0.7, "bound": 0.6, **wrong})  # type: ignore[arg-type]
    assert scores_for_power(0.8, 0.7, 0.69999) is None
