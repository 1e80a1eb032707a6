"""What a check costs beyond its claim's own sweep."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pytest_maxrandom.record import Engine

if TYPE_CHECKING:
    from collections.abc import Iterable

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
        if not engines:
            return None
        reasons = [each.engine_reason for each in engines if each.engine_reason]
        return Engine(
            device=_all(each.device for each in engines),
            dtype=_all(each.dtype for each in engines),
            requests=sum(each.requests for each in engines),
            tokens_forwarded=sum(each.tokens_forwarded for each in engines),
            seconds=sum(each.seconds for each in engines),
            trie_nodes=sum(each.trie_nodes or 0 for each in engines),
            engine=_all(each.engine for each in engines if each.engine),
            engine_reason=reasons[0] if reasons else None,
            batch_tokens=max((each.batch_tokens or 0 for each in engines), default=0) or None,
            peak_memory=max((each.peak_memory or 0 for each in engines), default=0) or None,
            reused=sum(each.reused for each in engines),
            reused_seconds=sum(each.reused_seconds for each in engines),
            closest=min((each.closest for each in engines if each.closest), default=None),
        )

    def in_units_of(self, own: Sweep) -> float | None:
        """Return the tokens put through the model, whenever that was, per token of a sweep."""
        if not self._sweeps or not own.tokens:
            return None
        return sum(sweep.tokens for sweep in self._sweeps) / own.tokens


def _all(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))
