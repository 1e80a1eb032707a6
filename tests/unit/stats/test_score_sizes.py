"""How many scores a claim takes, compared with the binomial test and with simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.stats.bounded import BoundedMean
from pytest_maxrandom.stats.score_sizes import (
    DIFFERENCES,
    ScoreClaim,
    score_plan,
)


@pytest.mark.parametrize(("true", "bound", "t"), [(0.7, 0.62, 20), (0.6, 0.5, 1), (0.9, 0.8, 200)])
def test_without_a_spread_it_is_nearly_what_right_and_wrong_answers_take(
    true: float, bound: float, t: int
) -> None:
    claim = ScoreClaim(true, bound, t=t)
    n = claim.examples_for(0.8)
    assert n is not None
    least = int(stats.binom.isf(0.05 / t, n, bound)) + 1
    assert stats.binom.sf(least - 1, n, true) == pytest.approx(0.8, abs=0.05)
    assert claim.power(n - 1) < 0.8 <= claim.power(n)


@pytest.mark.parametrize("shape", [(2.0, 2.0), (8.0, 3.0)])
def test_the_power_of_other_scores_is_about_that(shape: tuple[float, float]) -> None:
    law, n = stats.beta(*shape), 80
    true = float(law.mean())
    generator = np.random.default_rng(3)
    passed = [
        BoundedMean(law.rvs(n, random_state=generator), 0.0).p_greater(true - 0.08) <= 0.005
        for _ in range(150)
    ]
    expected = ScoreClaim(true, true - 0.08, float(law.std()), t=10).power(n)
    assert np.mean(passed) == pytest.approx(expected, abs=0.12)


def test_a_plan_answers_what_is_asked() -> None:
    found = score_plan(ScoreClaim(0.05, 0.0, 0.2, t=20, ends=DIFFERENCES), 200)
    few, more = found["n_for_power"].values()
    assert 200 < few < more
    assert found["power"] < 0.8
    for wrong in ({"true": 0.5}, {"spread": 0.9}, {"alpha": 1.0}, {"t": 0}):
        with pytest.raises(ValueError, match=r"must be|expected|spread"):
            ScoreClaim(**{"true": 0.7, "bound": 0.6, **wrong})  # type: ignore[arg-type]
    assert ScoreClaim(0.7, 0.69999).examples_for(0.8) is None
