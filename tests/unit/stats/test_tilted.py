"""The test of a margin that does not take a loss that nobody saw for none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pytest_maxrandom.stats.tilted import TiltedTest


@pytest.mark.parametrize(("n", "losses"), [(20, 0), (100, 0), (150, 1), (300, 3)])
def test_where_there_are_losses_only_the_p_value_is_the_binomial_one(n: int, losses: int) -> None:
    exact = stats.binom.cdf(losses, n, 0.02)
    test = TiltedTest([-1.0] * losses + [0.0] * (n - losses))
    if -losses / n > -0.02:
        assert test.p_greater(-0.02) == pytest.approx(exact, abs=1e-9)
    else:
        assert test.p_greater(-0.02) == 1


def test_a_lower_margin_is_excluded_more_easily() -> None:
    test = TiltedTest([-1.0, 0.4] + [0.0] * 60 + [0.2] * 10)
    ps = [test.p_greater(margin) for margin in (-1.0, -0.5, -0.2, -0.1, -0.05, -0.02, 0.0, 0.2)]
    assert ps == sorted(ps)
    assert (ps[0], ps[-1]) == (0, 1)


def test_the_lowest_margin_is_where_the_test_begins_to_exclude() -> None:
    test = TiltedTest([-1.0] + [0.0] * 99)
    low = test.lowest(0.05)
    assert test.p_greater(low) <= 0.05 < test.p_greater(low + 1e-5)
    # Clopper and Pearson's upper limit of 1 loss of 100.
    assert low == pytest.approx(-stats.beta.ppf(0.95, 2, 99), abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "loss", "gain"), [(100, 0.04, 0.02), (200, 0.02, 0.0)])
def test_the_level_holds_at_the_margin(n: int, loss: float, gain: float) -> None:
    random = np.random.default_rng(0)
    values = random.choice([-1.0, 0.0, 1.0], size=(400, n), p=[loss, 1 - loss - gain, gain])
    passed = sum(TiltedTest(row).p_greater(gain - loss) <= 0.05 for row in values)
    # Binomial: more than 36 of 400 at .05 has probability .0003.
    assert passed <= 36
