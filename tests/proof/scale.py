"""How long proofs are: whole, or a cut of each."""

from __future__ import annotations

import os

from scipy import stats

WHOLE = os.environ.get("MAXRANDOM_PROOF") == "whole"
LEVEL = 0.05


def scaled(whole: int, cut: int) -> int:
    """Return how many runs to simulate."""
    return whole if WHOLE else cut


def most(runs: int) -> int:
    """Return how many of them may pass where at most 5 in 100 should.

    Of 1,000 at most 60, as the documentation promises; of fewer what a true level of .05 exceeds in
    one of a thousand simulations.
    """
    return 6 * runs // 100 if runs >= 1000 else int(stats.binom.isf(1e-3, runs, LEVEL))


def least(runs: int, power: float) -> int:
    """Return how many of them must pass where this share should: one of a thousand has fewer."""
    return int(stats.binom.ppf(1e-3, runs, power))
