"""Guessers of tasks without choices: what they reach is learnt from the answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_maxrandom.stats.learnt import LearntChance

_ROUNDING = 1e-12


@dataclass(frozen=True)
class LearntGuessers:
    """Guessers of open answers, whose chance is not known before the answers are.

    What they reach is what the same answers reach with the references of other examples: see
    :mod:`pytest_maxrandom.stats.learnt`. Their score is the number of right answers.
    """

    n: int
    """Examples per prompt."""
    t: int
    """Number of guessers."""
    standard_baseline: float | None = None
    """Mean accuracy of the prompts with the references of other examples; None until the answers
    are known."""
    max_random_baseline: float | None = None
    """Expected accuracy of the best of them so."""
    expected_error: float = 0.0
    """Monte Carlo standard error of that."""
    only_permuted: ClassVar = True

    def learnt(self, chance: LearntChance) -> LearntGuessers:
        """Return the guessers as the answers show them."""
        return LearntGuessers(self.n, self.t, chance.standard, chance.expected, chance.error)

    @property
    def results(self) -> Sequence[int]:
        """All possible counts."""
        return range(self.n + 1)

    def score(self, result: float) -> float:
        """Return the accuracy of a count."""
        return result / self.n

    def against(self, baseline: str, result: float) -> int:
        """Compare with a baseline; before it is known, with what reaches nothing."""
        expected = {"max_random": self.max_random_baseline, "standard": self.standard_baseline}
        difference = result / self.n - (expected[baseline] or 0.0)
        return 0 if abs(difference) <= _ROUNDING else (difference > 0) - (difference < 0)
