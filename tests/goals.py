"""A critical count, as the claim would give it whose sweep is to be decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_maxrandom.sweeps.predictions import PromptPredictions


@dataclass
class Goal:
    """What a claim whose t is declared is to decide, between two choices.

    Attributes
    ----------
    least : int
        The fewest right answers that pass.
    passes : bool
        Whether one prompt that reaches them is enough.
    """

    least: int
    passes: bool = False
    chance: float = 0.5

    def critical(self) -> int:
        """Return the fewest right answers that pass."""
        return self.least

    def is_reached(self, predictions: PromptPredictions) -> bool:
        """Tell whether one prompt is enough."""
        return self.passes
