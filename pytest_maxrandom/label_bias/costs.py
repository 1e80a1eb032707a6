"""What a check costs beyond its claim's own sweep."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_maxrandom.tally import together

if TYPE_CHECKING:
    from pytest_maxrandom.record import Engine
    from pytest_maxrandom.sweep import Sweep


@dataclass
class Costs:
    """The sweeps of a check, added up."""

    _sweeps: list[Sweep] = field(default_factory=list)

    def add(self, sweep: Sweep) -> Sweep:
        """Take a sweep in, and return it."""
        self._sweeps.append(sweep)
        return sweep

    @property
    def engine(self) -> Engine | None:
        """All of it as one; None where nothing was asked beyond the claim's sweep."""
        engines = [sweep.engine for sweep in self._sweeps]
        return together(engines) if engines else None

    def in_units_of(self, own: Sweep) -> float | None:
        """Return the tokens put through the model, whenever that was, per token of a sweep."""
        if not self._sweeps or not own.tokens:
            return None
        return sum(sweep.tokens for sweep in self._sweeps) / own.tokens
