"""Confidence intervals of an accuracy, beside SciPy's."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest

from pytest_maxrandom.stats.winner import wilson


@pytest.mark.parametrize("confidence", [0.5, 0.89, 0.95, 0.99])
@pytest.mark.parametrize(("correct", "n"), [(0, 1), (1, 1), (0, 20), (7, 20), (20, 20), (500, 999)])
def test_wilsons_interval_is_that_of_scipy(correct: int, n: int, confidence: float) -> None:
    expected = binomtest(correct, n).proportion_ci(confidence, method="wilson")
    assert wilson(correct, n, confidence) == pytest.approx(tuple(expected), abs=1e-12)


@pytest.mark.parametrize(("correct", "n"), [(-1, 3), (4, 3), (0, 0)])
def test_what_is_no_proportion_is_refused(correct: int, n: int) -> None:
    with pytest.raises(ValueError, match="expected 0 <= correct <= n"):
        wilson(correct, n)
